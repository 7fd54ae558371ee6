import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import { settingsSchema } from './settings.ts'

const metaSchema = z.object({
  sessionId: z.uuid(),
  cwd: z.string().min(1),
  additionalDirectories: z.array(z.string()),
  title: z.string().optional(),
  /** When the session was last used, as an ISO 8601 date. */
  updatedAt: z.iso.datetime(),
  /** Number of prompts; a session without prompts isn't listed. */
  prompts: z.int().min(0),
  settings: settingsSchema,
  /** The cost of the session's tokens so far, in fictitious credits. */
  credits: z.number().min(0),
})
export type SessionMeta = z.infer<typeof metaSchema>

/** A line of a session's file: an update of the conversation, or the metadata, of which only the last line counts. */
const lineSchema = z.union([z.object({ meta: metaSchema }), z.looseObject({ sessionUpdate: z.string() })])
export type Line = { meta: SessionMeta } | SessionUpdate

/**
 * Sessions on disk, with one file for each session. Lines are only appended to the file, so that several processes may use the same store
 * and no reader sees an incomplete change. Damaged lines are skipped; a session without readable metadata isn't listed or found.
 */
export class SessionStore {
  readonly #directory: string
  readonly #onError: (error: unknown) => void

  /** @param onError called when a write fails; the session continues without the written data */
  constructor(directory: string, onError: (error: unknown) => void = () => {}) {
    this.#directory = path.join(directory, 'sessions')
    this.#onError = onError
  }

  read(sessionId: string): { meta: SessionMeta; updates: SessionUpdate[] } | undefined {
    const file = this.#fileOf(sessionId)
    const text = file && attempt(() => fs.readFileSync(file, 'utf8'))
    let meta: SessionMeta | undefined
    const updates: SessionUpdate[] = []
    for (const line of text?.split('\n') ?? []) {
      const { data } = lineSchema.safeParse(attempt(() => JSON.parse(line)))
      if (data && 'sessionUpdate' in data) updates.push(data as SessionUpdate)
      else if (data?.meta.sessionId === sessionId) meta = data.meta
    }
    return meta && { meta, updates }
  }

  /** Returns all readable sessions, newest first. */
  list(): SessionMeta[] {
    const names = attempt(() => fs.readdirSync(this.#directory)) ?? []
    const sessions = names.flatMap(name => this.read(path.parse(name).name)?.meta ?? [])
    return sessions.sort((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))
  }

  append(sessionId: string, lines: readonly Line[]): void {
    const file = this.#fileOf(sessionId)
    if (!file) return
    try {
      fs.mkdirSync(this.#directory, { recursive: true })
      fs.appendFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Deletes a session. Returns whether the session existed. */
  delete(sessionId: string): boolean {
    const file = this.#fileOf(sessionId)
    if (!file || !fs.existsSync(file)) return false
    fs.rmSync(file, { force: true })
    return true
  }

  /** Returns the path of a session's file; `undefined` for an invalid id, so that an id from the client can't lead to another directory. */
  #fileOf(sessionId: string): string | undefined {
    const isId = z.uuid().safeParse(sessionId).success
    return isId ? path.join(this.#directory, `${sessionId}.ndjson`) : undefined
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Returns the directory of stored sessions: `PARLEY_DEMO_STATE`, or the operating system's directory for application data. */
export function stateDirectory(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.PARLEY_DEMO_STATE) return path.resolve(env.PARLEY_DEMO_STATE)
  const home = os.homedir()
  const data =
    platform === 'win32'
      ? env.LOCALAPPDATA || path.join(home, 'AppData', 'Local')
      : platform === 'darwin'
        ? path.join(home, 'Library', 'Application Support')
        : env.XDG_STATE_HOME || path.join(home, '.local', 'state')
  return path.join(data, 'parley-demo-agent')
}
