import type { SalvagedTables } from './salvage.ts'

/**
 * The tables of unsent texts. owner: the window's id; empty if no window has the text; place: the order of a window's texts; at: when the
 * text was last changed, or a window last had it, in milliseconds since the epoch; bytes: the size of the items, which is known without
 * reading them.
 */
export const UNSENT_TABLES = `
  CREATE TABLE unsent (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, workspace TEXT NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL,
    conversation TEXT NOT NULL, entry_id TEXT, text TEXT NOT NULL, items TEXT, at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX unsent_of_owner ON unsent (owner);
  CREATE INDEX unsent_with_items ON unsent (items);
  CREATE TABLE unsent_items (name TEXT PRIMARY KEY, items TEXT NOT NULL, bytes INTEGER NOT NULL) STRICT;
  CREATE TRIGGER items_unused AFTER DELETE ON unsent WHEN old.items IS NOT NULL BEGIN
    DELETE FROM unsent_items
      WHERE name = old.items AND NOT EXISTS (SELECT 1 FROM unsent WHERE items = old.items);
  END;
  CREATE TRIGGER items_replaced AFTER UPDATE OF items ON unsent WHEN old.items IS NOT new.items BEGIN
    DELETE FROM unsent_items
      WHERE name = old.items AND NOT EXISTS (SELECT 1 FROM unsent WHERE items = old.items);
  END;
  -- windows whose texts another window has taken over, until they notice it
  CREATE TABLE taken_over (owner TEXT UNIQUE NOT NULL) STRICT;`

/** The rows to save from a damaged file. */
export const SALVAGED_UNSENT: SalvagedTables = {
  unsent: ({ kind, text }) => /^(?:draft|prompt)$/.test(String(kind)) && String(text).startsWith('{'),
  unsent_items: ({ items }) => String(items).startsWith('['),
}
