import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { parseJsonAs } from '../common/parse-json.ts'
import type { SalvagedTables } from './salvage.ts'

const mode = z.number().int()
const attributes = z.discriminatedUnion('type', [
  z.object({ type: z.literal('absent') }),
  z.object({ type: z.literal('text'), encoding: z.string(), bom: z.boolean(), mode }),
  z.object({ type: z.literal('binary'), hash: z.string(), size: z.number(), mode }),
  z.object({ type: z.literal('link'), target: z.string() }),
  z.object({ type: z.literal('large'), size: z.number(), modified: z.number(), mode }),
])
const agent = z.object({
  turns: z.array(z.object({ session: z.string(), turn: z.number() })),
  toolCallId: z.string().exactOptional(),
  uncertain: z.literal(true).exactOptional(),
})
const author = z.union([z.literal('user'), agent])
const versions = <T extends z.ZodType>(value: T) => z.array(z.object({ value, by: author, seq: z.number() }))
const segments = z.array(
  z.union([z.number(), z.object({ id: z.number(), versions: versions(z.array(z.string())) })]),
)
const earlierFile = z.object({
  path: z.string(),
  text: z.string(),
  segments,
  attributes: versions(attributes),
  gone: z.boolean().exactOptional(),
  history: z.object({ segments, attributes: versions(attributes), at: z.number() }).exactOptional(),
})
const storedFile = z.object({
  ...earlierFile.shape,
  /** the hash of the text */
  text: z.string(),
  /** earlier versions, which contain their texts */
  earlier: z.array(earlierFile).exactOptional(),
})
const droppedHistories = z.array(
  z.object({
    path: z.string(),
    turns: z.array(z.object({ session: z.string(), turn: z.number() })),
    why: z.enum(['age', 'size']),
  }),
)
const undoneHead = z.object({ id: z.string(), at: z.number(), session: z.string().exactOptional() })
const undoneFile = z.object({ before: storedFile, after: storedFile })

const decidedFile = z.object({
  path: z.string(),
  outcome: z.enum(['kept', 'reverted']),
  changes: z.array(
    z.object({
      sessions: z.array(z.string()),
      count: z.number().int().nonnegative(),
    }),
  ),
  isGone: z.literal(true).exactOptional(),
  undo: z.string().exactOptional(),
})

/** A stored file with agents' changes. */
export type ChangedFile = z.infer<typeof storedFile>
export type UndoneFile = z.infer<typeof undoneFile>
export type UndoneHead = z.infer<typeof undoneHead>
export type DecidedFile = z.infer<typeof decidedFile>
export type DroppedHistories = z.infer<typeof droppedHistories>

/** Reads a stored record; `undefined` if the JSON isn't valid. */
export const readChangedFile = (json: string) => parseJsonAs(storedFile, json)
export const readUndoneFile = (json: string) => parseJsonAs(undoneFile, json)
export const readDecided = (json: string) => parseJsonAs(decidedFile, json)
export const readDropped = (json: string) => parseJsonAs(droppedHistories, json)

/**
 * The hashes of contents that a record refers to: its texts and binary files. A string can't match, since its quotation marks are escaped.
 */
export function hashesIn(record: string): Set<string> {
  return new Set(Array.from(record.matchAll(/"(?:text|hash)":"([0-9a-f]{64})"/g), ([, hash]) => hash!))
}

/** Number of records, or of contents, that are read or written at once, in a few milliseconds. */
export const AT_ONCE = 50

/** The tables of agents' changes in workspaces. A file is identified by a hash of its path, since some paths aren't Unicode. */
export const CHANGES_TABLES = `
  -- bytes: of all records; counted: all files of contents are in the table
  CREATE TABLE workspaces (
    workspace TEXT PRIMARY KEY, used_at INTEGER NOT NULL, dropped TEXT NOT NULL, bytes INTEGER NOT NULL,
    counted INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE changed_files (
    workspace TEXT NOT NULL, file TEXT NOT NULL, written_at INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (workspace, file)
  ) STRICT;
  CREATE TABLE undone_files (
    id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, undo TEXT NOT NULL, at INTEGER NOT NULL, session TEXT,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX undone_of ON undone_files (workspace, undo);
  -- files named by their hash; uses: the number of rows of content_uses
  CREATE TABLE contents (
    workspace TEXT NOT NULL, hash TEXT NOT NULL, bytes INTEGER NOT NULL, uses INTEGER NOT NULL,
    PRIMARY KEY (workspace, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX unused_contents ON contents (workspace) WHERE uses = 0;
  -- a changed file, an undone file, or a window that may be about to refer to it
  CREATE TABLE content_uses (
    workspace TEXT NOT NULL, user TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (workspace, user, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX uses_of_content ON content_uses (workspace, hash);
  CREATE TRIGGER content_used AFTER INSERT ON content_uses BEGIN
    UPDATE contents SET uses = uses + 1 WHERE workspace = new.workspace AND hash = new.hash;
  END;
  CREATE TRIGGER content_unused AFTER DELETE ON content_uses BEGIN
    UPDATE contents SET uses = uses - 1 WHERE workspace = old.workspace AND hash = old.hash;
  END;
  CREATE TRIGGER file_added AFTER INSERT ON changed_files BEGIN
    UPDATE workspaces SET bytes = bytes + octet_length(new.record) WHERE workspace = new.workspace;
  END;
  CREATE TRIGGER file_removed AFTER DELETE ON changed_files BEGIN
    DELETE FROM content_uses WHERE workspace = old.workspace AND user = 'file ' || old.file;
    UPDATE workspaces SET bytes = bytes - octet_length(old.record) WHERE workspace = old.workspace;
  END;
  CREATE TRIGGER undone_added AFTER INSERT ON undone_files BEGIN
    UPDATE workspaces SET bytes = bytes + octet_length(new.record) WHERE workspace = new.workspace;
  END;
  CREATE TRIGGER undone_removed AFTER DELETE ON undone_files BEGIN
    DELETE FROM content_uses WHERE workspace = old.workspace AND user = 'undone ' || old.id;
    UPDATE workspaces SET bytes = bytes - octet_length(old.record) WHERE workspace = old.workspace;
  END;
  CREATE TRIGGER workspace_removed AFTER DELETE ON workspaces BEGIN
    DELETE FROM changed_files WHERE workspace = old.workspace;
    DELETE FROM undone_files WHERE workspace = old.workspace;
    DELETE FROM content_uses WHERE workspace = old.workspace;
    DELETE FROM contents WHERE workspace = old.workspace;
  END;`

/** The user's decisions about agents' changes. */
export const DECISION_TABLES = `
  CREATE TABLE decided_files (
    workspace TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (workspace, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER decisions_end AFTER DELETE ON workspaces BEGIN
    DELETE FROM decided_files WHERE workspace = old.workspace;
  END;`

export const ADD_USE = 'INSERT OR IGNORE INTO content_uses (workspace, user, hash) VALUES (?, ?, ?)'

/** The rows to save from a damaged file. */
export const SALVAGED_CHANGES: SalvagedTables = {
  workspaces: ({ dropped }) => String(dropped).startsWith('['),
  changed_files: ({ record }) => String(record).startsWith('{"path":'),
  decided_files: ({ record }) => String(record).startsWith('{"path":'),
  undone_files: ({ record }) => String(record).startsWith('{"before":'),
  // only the uses by running windows: those by records are counted again
  content_uses: ({ user }) => String(user).startsWith('window '),
}

/** Restores the rows that can be derived from the saved records: the workspaces, and the contents that the records refer to. */
export function countSavedChanges(db: DatabaseSync): void {
  db.exec(`
    INSERT OR IGNORE INTO workspaces SELECT workspace, max(written_at), '[]', 0, 0 FROM changed_files GROUP BY workspace;
    INSERT OR IGNORE INTO workspaces SELECT workspace, max(at), '[]', 0, 0 FROM undone_files GROUP BY workspace;
    UPDATE workspaces SET counted = 0, bytes =
      (SELECT total(octet_length(record)) FROM changed_files AS f WHERE f.workspace = workspaces.workspace) +
      (SELECT total(octet_length(record)) FROM undone_files AS u WHERE u.workspace = workspaces.workspace);`)
  const add = db.prepare(ADD_USE)
  for (const { workspace, user, record } of db
    .prepare(
      `SELECT workspace, 'file ' || file AS user, record FROM changed_files
       UNION ALL SELECT workspace, 'undone ' || id, record FROM undone_files`,
    )
    .iterate())
    for (const hash of hashesIn(String(record))) add.run(String(workspace), String(user), hash)
}
