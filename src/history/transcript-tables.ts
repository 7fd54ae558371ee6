/** The tables of the database of conversations. Each migration leads to the next version; released ones never change. */
export const TRANSCRIPT_MIGRATIONS = [
  // files from before versions were counted have these tables already
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
  // revision: another with every write, by which a window sees that somebody else has written
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
]
