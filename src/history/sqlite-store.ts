import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import * as z from 'zod'
import { openDatabase } from './database.ts'
import type { KnownAgent, LocalSession, SessionStore } from './session-store.ts'

/** Released ones never change. */
const MIGRATIONS = [
  `CREATE TABLE sessions (
     agent_id TEXT NOT NULL,
     session_id TEXT NOT NULL,
     cwd TEXT NOT NULL,
     additional_directories TEXT NOT NULL,
     title TEXT,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX sessions_by_time ON sessions (agent_id, updated_at DESC);
   CREATE TABLE agents (
     agent_id TEXT PRIMARY KEY,
     capabilities TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE sessions ADD COLUMN given_title TEXT;
   ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;`,
  'ALTER TABLE agents ADD COLUMN name TEXT;',
  // JSON; NULL: not known
  'ALTER TABLE sessions ADD COLUMN system_prompt TEXT;',
  'ALTER TABLE sessions ADD COLUMN former_titles TEXT;',
]

/**
 * Keeps sessions in a SQLite database; several windows may use it at once (WAL). Every method may throw SQLite's
 * errors (`errcode`): the disk is full, the file is damaged or locked.
 */
export class SqliteStore implements SessionStore {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(
    sqlite: typeof import('node:sqlite'),
    file: string,
    onDamage: (error: unknown, aside: string) => void,
  ) {
    // a database of this size is read through in no time; damage found later would come back with every window
    this.#db = openDatabase({ sqlite, file, migrations: MIGRATIONS, check: true, onDamage })
  }

  agentIds(): string[] {
    const rows = this.#prepare('SELECT DISTINCT agent_id FROM sessions').all()
    return rows.map(row => String(row.agent_id))
  }

  list(agentId: string): LocalSession[] {
    return this.#prepare('SELECT * FROM sessions WHERE agent_id = ? ORDER BY updated_at DESC')
      .all(agentId)
      .map(readSession)
  }

  get(agentId: string, sessionId: string): LocalSession | undefined {
    const row = this.#prepare('SELECT * FROM sessions WHERE agent_id = ? AND session_id = ?').get(
      agentId,
      sessionId,
    )
    return row && readSession(row)
  }

  put(session: LocalSession): void {
    this.#prepare(
      `INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET cwd = excluded.cwd, additional_directories = excluded.additional_directories,
         title = excluded.title, updated_at = excluded.updated_at, given_title = excluded.given_title,
         archived = excluded.archived, system_prompt = excluded.system_prompt,
         former_titles = excluded.former_titles`,
    ).run(
      session.agentId,
      session.sessionId,
      session.cwd,
      JSON.stringify(session.additionalDirectories),
      session.title ?? null,
      session.createdAt,
      session.updatedAt,
      session.givenTitle ?? null,
      session.archived ? 1 : 0,
      session.systemPrompt === undefined ? null : JSON.stringify(session.systemPrompt),
      session.formerTitles ? JSON.stringify(session.formerTitles) : null,
    )
  }

  remove(agentId: string, sessionId: string): void {
    this.#prepare('DELETE FROM sessions WHERE agent_id = ? AND session_id = ?').run(agentId, sessionId)
  }

  agent(agentId: string): KnownAgent | undefined {
    const row = this.#prepare('SELECT capabilities, name FROM agents WHERE agent_id = ?').get(agentId)
    if (!row) return undefined
    const reported = readJson(row.capabilities)
    const has = (key: string) =>
      typeof reported === 'object' && reported !== null && Reflect.get(reported, key) === true
    const name = typeof row.name === 'string' ? { name: row.name } : {}
    return {
      ...name,
      list: has('list'),
      load: has('load'),
      resume: has('resume'),
      ...(has('fork') && { fork: true }),
    }
  }

  putAgent(agentId: string, { name, list, load, resume, fork }: KnownAgent): void {
    this.#prepare(
      `INSERT INTO agents VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET capabilities = excluded.capabilities, name = excluded.name`,
    ).run(agentId, JSON.stringify({ list, load, resume, ...(fork && { fork }) }), name ?? null)
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

const systemPromptSchema = z.object({ mode: z.enum(['append', 'override']), text: z.string() }).nullable()

type Row = Record<string, SQLOutputValue>

function readSession(row: Row): LocalSession {
  const directories = readJson(row.additional_directories)
  const session: LocalSession = {
    agentId: String(row.agent_id),
    sessionId: String(row.session_id),
    cwd: String(row.cwd),
    additionalDirectories: Array.isArray(directories)
      ? directories.filter(directory => typeof directory === 'string')
      : [],
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  }
  if (typeof row.title === 'string') session.title = row.title
  if (typeof row.given_title === 'string') session.givenTitle = row.given_title
  if (row.archived === 1) session.archived = true
  const { success, data } = systemPromptSchema.safeParse(readJson(row.system_prompt))
  if (success && row.system_prompt !== null) session.systemPrompt = data
  const former = readJson(row.former_titles)
  if (Array.isArray(former)) session.formerTitles = former.filter(title => typeof title === 'string')
  return session
}

function readJson(text: SQLOutputValue | undefined): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}
