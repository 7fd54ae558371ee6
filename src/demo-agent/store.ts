import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import { DEFAULT_SETTINGS, settingsSchema } from './settings.ts'

const metaSchema = z.object({
  version: z.literal(1),
  sessionId: z.uuid(),
  cwd: z.string().min(1),
  additionalDirectories: z.array(z.string()),
  title: z.string().optional(),
  /** ISO 8601 */
  updatedAt: z.iso.datetime(),
  /** Number of prompts; a session without any isn't listed. */
  prompts: z.int().min(0),
  settings: settingsSchema.catch(DEFAULT_SETTINGS),
  /** The cost of the session's tokens so far, in fictional credits. */
  credits: z.number().min(0).catch(0),
})
/** The metadata of a session, stored separately from its transcript. */
export type SessionMeta = z.infer<typeof metaSchema>

const lineSchema = z.looseObject({ sessionUpdate: z.string() })

/**
 * Sessions on disk, one directory each: `meta.json`, replaced atomically, and `transcript.ndjson`, which is only appended
 * to, one update per line. Several processes may use the same store. Damaged data is ignored: a session with unreadable
 * metadata isn't listed or found, and an incomplete line of a transcript is skipped.
 */
export class SessionStore {
  readonly #directory: string
  readonly #onError: (error: unknown) => void

  /** @param onError reports failed writes; the sessions continue without them */
  constructor(directory: string, onError: (error: unknown) => void = () => {}) {
    this.#directory = path.join(directory, 'sessions')
    this.#onError = onError
  }

  read(sessionId: string): SessionMeta | undefined {
    const directory = this.#directoryOf(sessionId)
    return directory === undefined ? undefined : readMeta(path.join(directory, 'meta.json'), sessionId)
  }

  save(meta: SessionMeta): void {
    const directory = this.#directoryOf(meta.sessionId)
    if (!directory) throw new Error(`Not a session id: ${meta.sessionId}`)
    // Written to a temporary file and renamed, so that a reader sees either the old or the new file, never a part.
    const draft = path.join(directory, `meta.${randomUUID()}.tmp`)
    this.#write(directory, () => {
      fs.writeFileSync(draft, `${JSON.stringify(meta, null, 2)}\n`)
      try {
        fs.renameSync(draft, path.join(directory, 'meta.json'))
      } catch (error) {
        fs.rmSync(draft, { force: true })
        throw error
      }
    })
  }

  /** All readable sessions, newest first. */
  list(): SessionMeta[] {
    let names: string[]
    try {
      names = fs.readdirSync(this.#directory)
    } catch {
      return []
    }
    return names
      .map(name => this.read(name))
      .filter(meta => meta !== undefined)
      .sort((a, b) => compare(b.updatedAt, a.updatedAt) || compare(a.sessionId, b.sessionId))
  }

  append(sessionId: string, updates: SessionUpdate[]): void {
    const directory = this.#directoryOf(sessionId)
    if (!directory || updates.length === 0) return
    const lines = updates.map(update => `${JSON.stringify(update)}\n`).join('')
    this.#write(directory, () => fs.appendFileSync(path.join(directory, 'transcript.ndjson'), lines))
  }

  transcript(sessionId: string): SessionUpdate[] {
    const directory = this.#directoryOf(sessionId)
    if (!directory) return []
    let text: string
    try {
      text = fs.readFileSync(path.join(directory, 'transcript.ndjson'), 'utf8')
    } catch {
      return []
    }
    return text.split('\n').flatMap(line => {
      const parsed = lineSchema.safeParse(parse(line))
      return parsed.success ? [parsed.data as unknown as SessionUpdate] : []
    })
  }

  /** Returns whether the session existed. */
  delete(sessionId: string): boolean {
    const directory = this.#directoryOf(sessionId)
    if (!directory || !fs.existsSync(directory)) return false
    fs.rmSync(directory, { recursive: true, force: true })
    return true
  }

  #write(directory: string, write: () => void): void {
    try {
      fs.mkdirSync(directory, { recursive: true })
      write()
    } catch (error) {
      this.#onError(error)
    }
  }

  /** `undefined` for an invalid id, so that an id from the wire can't lead to another directory. */
  #directoryOf(sessionId: string): string | undefined {
    return z.uuid().safeParse(sessionId).success ? path.join(this.#directory, sessionId) : undefined
  }
}

function readMeta(file: string, sessionId: string): SessionMeta | undefined {
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const meta = metaSchema.safeParse(parse(text))
  return meta.success && meta.data.sessionId === sessionId ? meta.data : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The directory of stored sessions: `PARLEY_DEMO_STATE`, or the operating system's directory for application data. */
export function stateDirectory(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.PARLEY_DEMO_STATE) return path.resolve(env.PARLEY_DEMO_STATE)
  const home = os.homedir()
  if (platform === 'win32') {
    return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'parley-demo-agent')
  }
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'parley-demo-agent')
  return path.join(env.XDG_STATE_HOME || path.join(home, '.local', 'state'), 'parley-demo-agent')
}
