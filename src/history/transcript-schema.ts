import * as z from 'zod'
import type { ConfigOption } from '../acp/model.ts'
import { boundDepth } from '../common/bound-depth.ts'
import { entryKindOf } from '../conversation/entries/entry-kinds.ts'
import { growingBlocks } from '../conversation/entries/growing-blocks.ts'
import { serializable, serializableEntry } from '../conversation/replay/restore-state.ts'
import type { Entry, TerminalState } from '../conversation/state.ts'
import { CHANGES_TABLES, countSavedChanges, DECISION_TABLES, SALVAGED_CHANGES } from './changes-schema.ts'
import type { Salvage } from './database.ts'
import { SALVAGED_UNSENT, UNSENT_TABLES } from './unsent-schema.ts'

/** The minimum shape of a row of a saved conversation, checked on reading, since a file may contain anything. */

const text = z.string()
const list = z.array(z.unknown())
const base = { id: text, turn: z.number(), within: text.optional() }

const number = z.number()
const turnSummary = z.looseObject({
  ...{ tools: number, failed: number, took: number.optional() },
  files: z.looseObject({ count: number, added: number.optional(), removed: number.optional() }).optional(),
  cost: z.looseObject({ amount: number, currency: text }).optional(),
})

/** The schemas by kind of entry, each created on first use. */
const schemas = new Map<string, z.ZodType>()

function findSchema(kind: unknown): z.ZodType | undefined {
  const known = entryKindOf(kind)
  if (!known) return undefined
  const schema = schemas.get(known.kind) ?? z.looseObject({ ...base, ...known.schema() })
  schemas.set(known.kind, schema)
  return schema
}

/** The JSON of an entry. An entry that JSON can't represent is reduced, so that the other entries aren't lost. */
export function entryJson(entry: Entry): string {
  try {
    return JSON.stringify(entry)
  } catch {
    return JSON.stringify(serializableEntry(entry))
  }
}

/** The JSON of a value that isn't an entry; `undefined` if JSON can't represent the value. */
export function valueJson(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return JSON.stringify(serializable(value))
  }
}

/**
 * Reads an entry. Damaged JSON becomes an unknown entry, so that the other entries keep their positions. `isOneOfFew`: skips compiling the
 * schemas, which pays off only for thousands of entries.
 */
export function readEntry(json: string, position: number, isOneOfFew = false): Entry {
  const value = parsed(json)
  const kind = typeof value === 'object' && value !== null ? Reflect.get(value, 'kind') : undefined
  const schema = findSchema(kind)
  if (schema?.safeParse(value, { jitless: isOneOfFew }).success) {
    const entry = value as Entry
    // the rest of the entry can be shown without a damaged summary
    if (entry.turnSummary !== undefined && !turnSummary.safeParse(entry.turnSummary).success)
      delete entry.turnSummary
    return entry
  }
  return { kind: 'unknown', id: `e${position}`, turn: 0, updateKind: 'damaged', raw: json.slice(0, 1000) }
}

/** Appends text to a stored entry. Text for a missing block is dropped. */
export function appendText(entry: Entry | undefined, block: number, text: string): void {
  const content = entry && growingBlocks(entry)[block]
  if (content?.type === 'text') content.text += text
}

/** The text to which `appendText` appends. */
export function growingText(entry: Entry | undefined, block: number): string {
  const content = entry && growingBlocks(entry)[block]
  return content?.type === 'text' ? content.text : ''
}

const terminal = z.looseObject({ terminalId: text, output: text, truncated: z.boolean() })

export function readTerminal(json: string): TerminalState | undefined {
  const value = parsed(json)
  return terminal.safeParse(value).success ? (value as TerminalState) : undefined
}

const plan = z.looseObject({ planId: text, entries: list })
const count = z.number().optional()
const tokens = z
  .object({
    of: z.enum(['turn', 'unknown']),
    total: z.number(),
    input: z.number(),
    output: z.number(),
    thought: count,
    cachedRead: count,
    cachedWrite: count,
    models: z
      .array(z.object({ model: text, total: z.number(), input: z.number(), output: z.number() }))
      .optional(),
  })
  .optional()
  .catch(undefined)
/** Maximum number of listed background tasks of each kind in a session, and of sessions with such tasks. */
const MAX_BACKGROUND = 10_000
const ids = z.array(text).max(MAX_BACKGROUND)
const background = z.object({
  within: text.optional(),
  toolCalls: ids,
  terminals: ids,
  subagents: ids,
  others: z.number().int().min(0),
})
const head = z.object({
  title: text.optional().catch(undefined),
  usage: z.looseObject({ used: z.number(), size: z.number(), tokens }).optional().catch(undefined),
  plans: z.array(plan).optional().catch(undefined),
  working: z.boolean().optional().catch(undefined),
  background: z.array(background).max(MAX_BACKGROUND).optional().catch(undefined),
})

export function readHead(json: string): z.output<typeof head> {
  return head.safeParse(parsed(json)).data ?? {}
}

const optionBase = {
  id: text,
  name: text,
  description: text.optional(),
  category: text.optional(),
}
const choice = z.object({
  value: text,
  name: text,
  description: text.optional(),
  group: text.optional(),
})
const option = z.discriminatedUnion('type', [
  z.object({ ...optionBase, type: z.literal('select'), currentValue: text, choices: z.array(choice) }),
  z.object({ ...optionBase, type: z.literal('boolean'), currentValue: z.boolean() }),
  z.object({ ...optionBase, type: z.literal('unknown'), raw: z.unknown() }),
])

export function readOptions(json: string): ConfigOption[] | undefined {
  return z.array(option).safeParse(parsed(json)).data as ConfigOption[] | undefined
}

function parsed(json: string): unknown {
  try {
    return boundDepth(JSON.parse(json), json.length)
  } catch {
    return undefined
  }
}

/** The rows to save from a damaged file. */
export const TRANSCRIPT_SALVAGE: Salvage = {
  tables: {
    ...SALVAGED_CHANGES,
    ...SALVAGED_UNSENT,
    entries: ({ position }) => isPosition(position),
    texts: ({ position }) => isPosition(position),
    terminals: () => true,
    outputs: () => true,
    heads: ({ head }) => String(head).startsWith('{'),
    options: ({ options }) => String(options).startsWith('['),
    // the checks exclude rows of indexes, which look alike
    conversations: ({ revision, written_at: at }) =>
      /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(revision)) &&
      (at === 0 || Number(at) > MIN_TIME),
    said: ({ hosted_id: id }) => /^[0-9a-f]{16}$/.test(String(id)),
  },
  complete(db) {
    countSavedChanges(db)
    // a lost entry is shown as damaged, in its place
    db.exec(`
      WITH RECURSIVE places (agent_id, session_id, position, last) AS (
        SELECT agent_id, session_id, 0, max(position) FROM entries GROUP BY agent_id, session_id
        UNION ALL SELECT agent_id, session_id, position + 1, last FROM places WHERE position < last
      )
      INSERT OR IGNORE INTO entries SELECT agent_id, session_id, position, '' FROM places;
      -- a window that has the conversation open writes all of it again, since it may have more
      UPDATE conversations SET revision = lower(hex(randomblob(16)));
      INSERT OR IGNORE INTO conversations
        SELECT DISTINCT agent_id, session_id, lower(hex(randomblob(16))), 0 FROM entries;`)
    const count = (tables: readonly string[]) => {
      const all = tables.map(table => `SELECT agent_id, session_id FROM ${table}`).join(' UNION ')
      const rows = db.prepare(all).all()
      // the separate copies that windows saved belong to one conversation
      return new Set(rows.map(row => `${row.agent_id} ${String(row.session_id).split('\u0001')[0]}`)).size
    }
    const of = count(['entries', 'texts', 'terminals', 'outputs', 'heads', 'conversations'])
    db.exec(`DELETE FROM conversations WHERE NOT EXISTS (
      SELECT 1 FROM entries AS e WHERE e.agent_id = conversations.agent_id AND e.session_id = conversations.session_id)`)
    return { count: count(['conversations']), of }
  },
}

/** A number above this isn't the position of an entry. */
const MAX_POSITION = 1_000_000
/** Rows of indexes have small numbers where conversations have a time. Milliseconds since the epoch. */
const MIN_TIME = 1_000_000_000_000

function isPosition(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= MAX_POSITION
}

/** The tables of the database of conversations. Each migration leads to the next version; released migrations never change. */
export const TRANSCRIPT_MIGRATIONS = [
  // files from before versions were counted already have these tables
  `CREATE TABLE IF NOT EXISTS entries (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, position INTEGER NOT NULL, entry TEXT NOT NULL,
     PRIMARY KEY (agent_id, session_id, position)
   ) STRICT, WITHOUT ROWID;
   -- what was appended to the texts of an entry since it was written as a whole, in the order of their rowids
   CREATE TABLE IF NOT EXISTS texts (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, position INTEGER NOT NULL, block INTEGER NOT NULL,
     text TEXT NOT NULL
   ) STRICT;
   CREATE INDEX IF NOT EXISTS texts_of ON texts (agent_id, session_id, position);
   CREATE TABLE IF NOT EXISTS terminals (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, terminal_id TEXT NOT NULL, terminal TEXT NOT NULL,
     PRIMARY KEY (agent_id, session_id, terminal_id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS outputs (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, terminal_id TEXT NOT NULL, text TEXT NOT NULL
   ) STRICT;
   CREATE INDEX IF NOT EXISTS outputs_of ON outputs (agent_id, session_id, terminal_id);
   CREATE TABLE IF NOT EXISTS heads (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, head TEXT NOT NULL,
     PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE IF NOT EXISTS marks (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
  // revision: changes with every write, so that other windows notice the write
  `CREATE TABLE conversations (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, revision TEXT NOT NULL, written_at INTEGER NOT NULL,
     PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO conversations SELECT agent_id, session_id, mark, 0 FROM marks;
   INSERT OR IGNORE INTO conversations SELECT DISTINCT agent_id, session_id, '', 0 FROM entries;
   DROP TABLE marks;
   CREATE INDEX conversations_by_age ON conversations (written_at);
   -- which window has the session open: only that one writes the conversation itself
   CREATE TABLE leases (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, owner TEXT NOT NULL, host TEXT NOT NULL,
     pid INTEGER NOT NULL, beat INTEGER NOT NULL, wanted_by TEXT,
     PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
  // the last frame of a hosted agent's output that a conversation includes
  `CREATE TABLE said (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, hosted_id TEXT NOT NULL, frame INTEGER NOT NULL,
     PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
  // seen: the times that the clock has shown, as JSON: see SeenClock
  'CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), seen TEXT NOT NULL) STRICT;',
  // the session's last known options, for agents that don't report them when they load a session
  `CREATE TABLE options (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, options TEXT NOT NULL, PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
  // started, beat: milliseconds since the machine started
  `CREATE TABLE windows (
     id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, started INTEGER NOT NULL, beat INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TRIGGER leases_end AFTER DELETE ON windows BEGIN
     DELETE FROM leases WHERE owner = OLD.id;
   END;
   -- windows of earlier versions know others by their leases only; what a crash left isn't theirs
   CREATE TRIGGER leases_renew AFTER UPDATE ON windows BEGIN
     UPDATE leases SET beat = unixepoch() * 1000 WHERE owner = NEW.id;
   END;
   DELETE FROM leases WHERE abs(beat - unixepoch() * 1000) > 20000;`,
  // answered: when the window responded last, on the same clock; state: what the window publishes to other windows; request: the last
  // request of another window to this one
  `ALTER TABLE windows ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE windows ADD COLUMN state TEXT;
   ALTER TABLE windows ADD COLUMN request TEXT;`,
  CHANGES_TABLES,
  DECISION_TABLES,
  UNSENT_TABLES,
]
