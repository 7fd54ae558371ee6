import { Owner } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'

/** Where a server is switched off. */
export type SwitchedOff = 'everywhere' | 'agent' | 'session'

/** What one switch is about. */
export interface McpSwitch {
  /** See `serverKey`. Absent: all servers. */
  server?: string
  /** Only for this agent. */
  agentId?: string
  /** Only for the session with this key. */
  session?: string
}

const STORED = 'parley.mcpServersOff'
const MAX_STORED = 500

/**
 * The servers that the user switched off: for all sessions, those of an agent, or one session. What belongs to one
 * session or to the workspace is stored with the workspace, everything else for all workspaces.
 */
export class McpSwitches extends Owner {
  readonly #workspace: KeyValueStore
  readonly #global: KeyValueStore
  readonly #changed = this.register(new Emitter<void>())

  constructor(workspace: KeyValueStore, global: KeyValueStore) {
    super()
    this.#workspace = workspace
    this.#global = global
  }

  get onDidChange(): Event<void> {
    return this.#changed.event
  }

  /** Where a server is off for a session; the widest place if there are several. */
  isOff(server: string, of: Omit<McpSwitch, 'server'> = {}): SwitchedOff | undefined {
    const off = new Set([this.#global, this.#workspace].flatMap(store => read(store)))
    const has = (one: McpSwitch) => off.has(textOf(one)) || off.has(textOf({ ...one, server: undefined }))
    if (off.has(textOf({ server }))) return 'everywhere'
    if (of.agentId !== undefined && has({ server, agentId: of.agentId })) return 'agent'
    if (of.session !== undefined && has({ server, session: of.session })) return 'session'
    return undefined
  }

  /** `ofWorkspace`: the server belongs to the workspace. */
  set(one: McpSwitch, isOn: boolean, ofWorkspace = false): void {
    const text = textOf(one)
    const home = ofWorkspace || one.session !== undefined ? this.#workspace : this.#global
    for (const store of [this.#global, this.#workspace]) {
      const stored = read(store)
      if (store === home && !isOn) {
        if (!stored.includes(text)) store.set(STORED, [...stored, text].slice(-MAX_STORED))
      } else if (stored.includes(text))
        store.set(
          STORED,
          stored.filter(each => each !== text),
        )
    }
    this.#changed.fire()
  }
}

function textOf({ server, agentId, session }: McpSwitch): string {
  return JSON.stringify([server ?? null, agentId ?? null, session ?? null])
}

function read(store: KeyValueStore): string[] {
  const stored = store.get<unknown>(STORED)
  return Array.isArray(stored) ? stored.filter(one => typeof one === 'string') : []
}
