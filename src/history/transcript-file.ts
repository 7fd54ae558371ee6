import type { DatabaseSync } from 'node:sqlite'
import { DamagedDatabaseError } from './damaged-file.ts'

/** How long a write waits for another window's, milliseconds. Short: it stands still meanwhile. */
const BUSY_TIMEOUT_MS = 250

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
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
  -- another with every write, by which a window sees that somebody else has written
  CREATE TABLE IF NOT EXISTS marks (
    agent_id TEXT NOT NULL, session_id TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (agent_id, session_id)
  ) STRICT, WITHOUT ROWID;
`

/**
 * Opens the database of conversations, or begins it. Throws SQLite's errors. `suspect`: all of the file is looked through
 * for damage, which takes its time.
 */
export function openTranscripts(
  sqlite: typeof import('node:sqlite'),
  file: string,
  suspect = false,
): DatabaseSync {
  const db = new sqlite.DatabaseSync(file)
  try {
    db.exec(
      `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${SCHEMA}`,
    )
    const found = suspect ? db.prepare('PRAGMA quick_check(1)').get()?.quick_check : 'ok'
    if (found !== 'ok') throw new DamagedDatabaseError(String(found))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
