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
  /** How many prompts it was sent; a session that was never sent one is not listed. */
  prompts: z.int().min(0),
  settings: settingsSchema.catch(DEFAULT_SETTINGS),
  /** What its tokens so far would cost, in credits that nobody pays. */
  credits: z.number().min(0).catch(0),
})
/** What is known of a session without reading its transcript. */
export type SessionMeta = z.infer<typeof metaSchema>

const lineSchema = z.looseObject({ sessionUpdate: z.string() })

/**
 * Sessions on disk, one directory each: `meta.json`, replaced in one step, and `transcript.ndjson`, only ever appended
 * to, one update a line. Two processes may use one store. What is damaged is left out: a session whose meta cannot be
 * read is not listed and not found, a torn line of a transcript is skipped.
 */
export class SessionStore {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = path.join(directory, 'sessions')
  }

  read(sessionId: string): SessionMeta | undefined {
    const directory = this.#directoryOf(sessionId)
    return directory === undefined ? undefined : readMeta(path.join(directory, 'meta.json'), sessionId)
  }

  save(meta: SessionMeta): void {
    const directory = this.#directoryOf(meta.sessionId)
    if (!directory) throw new Error(`Not a session id: ${meta.sessionId}`)
    fs.mkdirSync(directory, { recursive: true })
    // Written beside and renamed over, so that a reader sees the old file or the new one, never half of one.
    const file = path.join(directory, 'meta.json')
    const draft = path.join(directory, `meta.${randomUUID()}.tmp`)
    fs.writeFileSync(draft, `${JSON.stringify(meta, null, 2)}\n`)
    try {
      fs.renameSync(draft, file)
    } catch (error) {
      fs.rmSync(draft, { force: true })
      throw error
    }
  }

  /** Every readable session, the newest first. */
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
    fs.mkdirSync(directory, { recursive: true })
    const lines = updates.map(update => `${JSON.stringify(update)}\n`).join('')
    fs.appendFileSync(path.join(directory, 'transcript.ndjson'), lines)
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

  /** Whether there was such a session. */
  delete(sessionId: string): boolean {
    const directory = this.#directoryOf(sessionId)
    if (!directory || !fs.existsSync(directory)) return false
    fs.rmSync(directory, { recursive: true, force: true })
    return true
  }

  /** `undefined` for anything but an id of ours: an id from the wire never becomes a path elsewhere. */
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

/** Where sessions outlive the process: `PARLEY_DEMO_STATE`, or the place the operating system has for such things. */
export function stateDirectory(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.PARLEY_DEMO_STATE) return path.resolve(env.PARLEY_DEMO_STATE)
  const home = os.homedir()
  if (platform === 'win32') {
    return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'parley-demo-agent')
  }
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'parley-demo-agent')
  return path.join(env.XDG_STATE_HOME || path.join(home, '.local', 'state'), 'parley-demo-agent')
}
