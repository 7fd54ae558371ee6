import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import * as z from 'zod'
import type { AgentPlace } from '../acp/model.ts'
import { LOG_IN_USE_MS } from '../common/limits.ts'
import { parseJson } from '../common/parse-json.ts'
import { idOfStored, type SessionId, storedId } from '../common/session-key.ts'
import { readLimits } from '../conversation/session-limit.ts'
import {
  type DatabaseOptions,
  emptyLog,
  type OpenedDatabase,
  openOrRead,
  rollback,
  type Salvage,
} from './database.ts'
import type {
  DayUsage,
  KnownAgent,
  LocalSession,
  ModelUsage,
  SessionSpan,
  SessionStore,
  SessionUsage,
  UsageRecord,
  UsageSum,
} from './session-store.ts'

/** Released migrations never change. */
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
  // both columns are JSON; NULL: unknown
  'ALTER TABLE sessions ADD COLUMN system_prompt TEXT;',
  'ALTER TABLE sessions ADD COLUMN former_titles TEXT;',
  // mark: the reported cost that is already counted; day: the day of the last record
  `CREATE TABLE session_usage (
     agent_id TEXT NOT NULL,
     session_id TEXT NOT NULL,
     currency TEXT NOT NULL,
     day TEXT NOT NULL,
     mark REAL NOT NULL,
     cost REAL NOT NULL,
     total_tokens REAL NOT NULL,
     input_tokens REAL NOT NULL,
     output_tokens REAL NOT NULL,
     PRIMARY KEY (agent_id, session_id, currency)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE daily_usage (
     day TEXT NOT NULL,
     agent_id TEXT NOT NULL,
     currency TEXT NOT NULL,
     cost REAL NOT NULL,
     total_tokens REAL NOT NULL,
     input_tokens REAL NOT NULL,
     output_tokens REAL NOT NULL,
     PRIMARY KEY (day, agent_id, currency)
   ) STRICT, WITHOUT ROWID;`,
  'ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;',
  'ALTER TABLE sessions ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;',
  // only earlier versions use this table: now, the clock is in the database of conversations (see StoredClock)
  'CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), seen TEXT NOT NULL) STRICT;',
  `CREATE TABLE model_usage (
     day TEXT NOT NULL,
     agent_id TEXT NOT NULL,
     model TEXT NOT NULL,
     total_tokens REAL NOT NULL,
     input_tokens REAL NOT NULL,
     output_tokens REAL NOT NULL,
     PRIMARY KEY (day, agent_id, model)
   ) STRICT, WITHOUT ROWID;`,
  // span: JSON
  `CREATE TABLE session_spans (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, span TEXT NOT NULL, PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
  // this isn't a column, since windows of an earlier version may be running, and write all columns of sessions
  `CREATE TABLE continued (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL,
     next_agent_id TEXT NOT NULL, next_session_id TEXT NOT NULL,
     PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
  // place: JSON; only for agents on another machine, or with other paths
  `CREATE TABLE session_places (
     agent_id TEXT NOT NULL, session_id TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (agent_id, session_id)
   ) STRICT, WITHOUT ROWID;`,
]

const SESSIONS = `SELECT sessions.*, next_agent_id, next_session_id, place
  FROM sessions LEFT JOIN continued USING (agent_id, session_id)
  LEFT JOIN session_places USING (agent_id, session_id)`

const TOKEN_SUMS = `total_tokens = total_tokens + excluded.total_tokens,
  input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens`

/** The rows to save from a damaged file. */
const SALVAGE: Salvage = {
  tables: {
    sessions: ({ additional_directories: directories }) => String(directories).startsWith('['),
    agents: ({ capabilities }) => String(capabilities).startsWith('{'),
    session_usage: ({ day }) => isDay(day),
    daily_usage: ({ day }) => isDay(day),
    model_usage: ({ day }) => isDay(day),
    // rows of `session_places` look alike
    session_spans: ({ span }) => readSpan(span) !== undefined,
    session_places: ({ place }) => String(place).startsWith('{'),
    continued: ({ next_session_id: next }) => typeof next === 'string',
  },
  complete(db) {
    const count = (sql: string) => Number(db.prepare(`SELECT count(*) AS n FROM (${sql})`).get()?.n)
    const sessions = 'SELECT agent_id, session_id FROM sessions'
    return {
      count: count(sessions),
      of: count(`${sessions} UNION SELECT agent_id, session_id FROM session_usage`),
    }
  },
}

function isDay(value: unknown): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(String(value))
}

/**
 * Keeps sessions in a SQLite database; several windows may use it at once (WAL). Every method may throw SQLite's
 * errors (`errcode`): the disk is full, the file is damaged or locked.
 */
export class SqliteStore implements SessionStore {
  readonly #opened: OpenedDatabase
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  /** the last result of `list` for each agent, and the version of the database then */
  readonly #lists = new Map<string, { version: unknown; sessions: LocalSession[] }>()
  #timer: NodeJS.Timeout | undefined

  constructor(sqlite: typeof import('node:sqlite'), file: string, onDamage: DatabaseOptions['onDamage']) {
    // check the whole file, which is quick for a small database: otherwise, the same damage would be found again in every window
    this.#opened = openOrRead({
      ...{ sqlite, file, migrations: MIGRATIONS, salvage: SALVAGE, check: true, onDamage },
    })
    this.#db = this.#opened.db
  }

  get unwritable(): unknown {
    return this.#opened.unwritable
  }

  agentIds(): string[] {
    const rows = this.#prepare('SELECT DISTINCT agent_id FROM sessions').all()
    return rows.map(row => String(row.agent_id))
  }

  /** The agent's sessions, newest first. Reads them again only after a change by this or another window, since there may be thousands. */
  list(agentId: string): LocalSession[] {
    const version = this.#prepare('PRAGMA data_version').get()?.data_version
    const known = this.#lists.get(agentId)
    if (known?.version === version && known) return known.sessions
    const sessions = this.#prepare(`${SESSIONS} WHERE agent_id = ? ORDER BY updated_at DESC`)
      .all(agentId)
      .map(readSession)
    this.#lists.set(agentId, { version, sessions })
    return sessions
  }

  pinned(): SessionId[] {
    return this.#prepare(`${SESSIONS} WHERE pinned = 1`).all().map(readSession)
  }

  get(agentId: string, sessionId: string): LocalSession | undefined {
    const row = this.#prepare(`${SESSIONS} WHERE agent_id = ? AND session_id = ?`).get(
      agentId,
      storedId(sessionId),
    )
    return row && readSession(row)
  }

  put(session: LocalSession): void {
    const list = this.#lists.get(session.agentId)
    this.#lists.delete(session.agentId)
    this.#prepare(
      `INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET cwd = excluded.cwd, additional_directories = excluded.additional_directories,
         title = excluded.title, updated_at = excluded.updated_at, given_title = excluded.given_title,
         archived = excluded.archived, system_prompt = excluded.system_prompt,
         former_titles = excluded.former_titles, pinned = excluded.pinned, imported = excluded.imported`,
    ).run(
      session.agentId,
      storedId(session.sessionId),
      session.cwd,
      JSON.stringify(session.additionalDirectories),
      session.title ?? null,
      session.createdAt,
      session.updatedAt,
      session.givenTitle ?? null,
      session.archived ? 1 : 0,
      session.systemPrompt === undefined ? null : JSON.stringify(session.systemPrompt),
      session.formerTitles ? JSON.stringify(session.formerTitles) : null,
      session.pinned ? 1 : 0,
      session.imported ? 1 : 0,
    )
    this.#putContinued(session)
    this.#putPlace(session)
    const stored = list && this.get(session.agentId, session.sessionId)
    if (!stored) return
    // the version changes only with writes of other connections, so the cached list must be updated here
    const sessions = list.sessions.filter(({ sessionId }) => sessionId !== stored.sessionId)
    const at = sessions.findIndex(({ updatedAt }) => updatedAt <= stored.updatedAt)
    sessions.splice(at < 0 ? sessions.length : at, 0, stored)
    this.#lists.set(session.agentId, { ...list, sessions })
  }

  #putContinued({ agentId, sessionId, continuedIn }: LocalSession): void {
    const id = [agentId, storedId(sessionId)]
    if (continuedIn)
      this.#prepare(
        `INSERT INTO continued VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
           next_agent_id = excluded.next_agent_id, next_session_id = excluded.next_session_id`,
      ).run(...id, continuedIn.agentId, storedId(continuedIn.sessionId))
    else this.#prepare('DELETE FROM continued WHERE agent_id = ? AND session_id = ?').run(...id)
  }

  #putPlace({ agentId, sessionId, place }: LocalSession): void {
    const id = [agentId, storedId(sessionId)]
    if (place)
      this.#prepare(
        'INSERT INTO session_places VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET place = excluded.place',
      ).run(...id, JSON.stringify(place))
    else this.#prepare('DELETE FROM session_places WHERE agent_id = ? AND session_id = ?').run(...id)
  }

  remove(agentId: string, sessionId: string): void {
    this.#lists.delete(agentId)
    for (const table of ['sessions', 'session_usage', 'session_spans', 'session_places', 'continued'])
      this.#prepare(`DELETE FROM ${table} WHERE agent_id = ? AND session_id = ?`).run(
        agentId,
        storedId(sessionId),
      )
    this.#emptyLog()
  }

  /** Empties the write-ahead log; tries again while another window reads the database. */
  #emptyLog(): void {
    clearTimeout(this.#timer)
    if (emptyLog(this.#db)) return
    this.#timer = setTimeout(() => {
      try {
        this.#emptyLog()
      } catch {
        // the disk can't be written; the next change reports this problem
      }
    }, LOG_IN_USE_MS)
    this.#timer.unref()
  }

  agent(agentId: string): KnownAgent | undefined {
    const row = this.#prepare('SELECT capabilities, name FROM agents WHERE agent_id = ?').get(agentId)
    if (!row) return undefined
    const reported = parseJson(String(row.capabilities))
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

  addUsage(record: UsageRecord): void {
    const { agentId, sessionId, day, currency, mark, cost, totalTokens, inputTokens, outputTokens } = record
    const amounts = [cost, totalTokens, inputTokens, outputTokens]
    const sums = `cost = cost + excluded.cost, ${TOKEN_SUMS}`
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      this.#prepare(
        `INSERT INTO session_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET day = excluded.day, mark = excluded.mark, ${sums}`,
      ).run(agentId, storedId(sessionId), currency, day, mark, ...amounts)
      if (amounts.some(amount => amount > 0))
        this.#prepare(
          `INSERT INTO daily_usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${sums}`,
        ).run(day, agentId, currency, ...amounts)
      this.#db.exec('COMMIT')
    } catch (error) {
      rollback(this.#db)
      throw error
    }
  }

  usage(day: string): DayUsage[] {
    return this.#prepare('SELECT * FROM daily_usage WHERE day >= ?')
      .all(day)
      .map(row => ({ day: String(row.day), agentId: String(row.agent_id), ...readSum(row) }))
  }

  sessionUsage(agentId: string, sessionId: string): SessionUsage[] {
    return this.#prepare('SELECT * FROM session_usage WHERE agent_id = ? AND session_id = ?')
      .all(agentId, storedId(sessionId))
      .map(row => ({ mark: Number(row.mark), ...readSum(row) }))
  }

  span(agentId: string, sessionId: string): SessionSpan | undefined {
    const row = this.#prepare('SELECT span FROM session_spans WHERE agent_id = ? AND session_id = ?').get(
      agentId,
      storedId(sessionId),
    )
    return row && readSpan(row.span)
  }

  putSpan({ agentId, sessionId }: SessionId, span: SessionSpan): void {
    this.#prepare(
      'INSERT INTO session_spans VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET span = excluded.span',
    ).run(agentId, storedId(sessionId), JSON.stringify(span))
  }

  addModelUsage({ day, agentId, model, totalTokens, inputTokens, outputTokens }: ModelUsage): void {
    this.#prepare(
      `INSERT INTO model_usage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${TOKEN_SUMS}`,
    ).run(day, agentId, model, totalTokens, inputTokens, outputTokens)
  }

  modelUsage(agentId: string, day: string): ModelUsage[] {
    return this.#prepare('SELECT * FROM model_usage WHERE agent_id = ? AND day >= ?')
      .all(agentId, day)
      .map(row => ({ day: String(row.day), agentId, model: String(row.model), ...readTokenSum(row) }))
  }

  pruneUsage(isOld: (day: string) => boolean): void {
    for (const table of ['daily_usage', 'session_usage', 'model_usage'])
      for (const { day } of this.#prepare(`SELECT DISTINCT day FROM ${table}`).all())
        if (isOld(String(day))) this.#prepare(`DELETE FROM ${table} WHERE day = ?`).run(String(day))
    this.#db.exec(`DELETE FROM session_spans AS span WHERE NOT EXISTS (
      SELECT 1 FROM sessions WHERE agent_id = span.agent_id AND session_id = span.session_id)`)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#statements.clear()
    this.#opened.close()
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

const limits = z.unknown().transform(readLimits)
const spanSchema: z.ZodType<SessionSpan> = z.object({
  ms: z.number().nonnegative(),
  at: z.number().nonnegative().optional(),
  limit: z.object({ steps: limits, limits, warned: limits, stopped: limits }).optional().catch(undefined),
})

/** Reads a stored span; `undefined` if it isn't valid. */
function readSpan(stored: unknown): SessionSpan | undefined {
  return spanSchema.safeParse(parseJson(String(stored))).data
}

/** A place that can't be read counts as another machine's, so that none of its paths is opened here. */
const placeSchema: z.ZodType<AgentPlace> = z
  .object({
    isRemote: z.literal(true).optional(),
    pathMappings: z.array(z.object({ localRoot: z.string(), remoteRoot: z.string() })),
  })
  .catch({ isRemote: true, pathMappings: [] })

const systemPromptSchema = z.object({ mode: z.enum(['append', 'override']), text: z.string() }).nullable()

type Row = Record<string, SQLOutputValue>

function readSession(row: Row): LocalSession {
  const directories = parseJson(String(row.additional_directories))
  const session: LocalSession = {
    agentId: String(row.agent_id),
    sessionId: idOfStored(String(row.session_id)),
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
  if (row.pinned === 1) session.pinned = true
  if (row.imported === 1) session.imported = true
  if (typeof row.next_agent_id === 'string')
    session.continuedIn = {
      agentId: row.next_agent_id,
      sessionId: idOfStored(String(row.next_session_id)),
    }
  if (row.system_prompt !== null) {
    const { success, data } = systemPromptSchema.safeParse(parseJson(String(row.system_prompt)))
    if (success) session.systemPrompt = data
  }
  if (typeof row.place === 'string') session.place = placeSchema.parse(parseJson(row.place))
  const former = row.former_titles === null ? undefined : parseJson(String(row.former_titles))
  if (Array.isArray(former)) session.formerTitles = former.filter(title => typeof title === 'string')
  return session
}

function readSum(row: Row): UsageSum {
  return {
    currency: String(row.currency),
    cost: Number(row.cost),
    ...readTokenSum(row),
  }
}

function readTokenSum(row: Row) {
  return {
    totalTokens: Number(row.total_tokens),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
  }
}
