import { Owner } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'

/** Where a server is switched off. */
export type SwitchedOff = 'everywhere' | 'agent' | 'session'

/** The target of one switch. */
export interface McpSwitch {
  /** See `serverKey`. Absent: all servers, of an agent. */
  server?: string
  agentId?: string
  /** Only for the session with this key. */
  session?: string
}

const STORED = 'parley.mcpServersOff'
/** Beyond that, the oldest switches of sessions are forgotten. */
const MAX_STORED = 500

/**
 * The servers that the user switched off: for all sessions, for the sessions of an agent, or for one session. A switch of one session or of
 * the workspace is stored with the workspace, all others for all workspaces.
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
    if (this.#has({ server })) return 'everywhere'
    if (of.agentId !== undefined && this.isAgentOff(of.agentId)) return 'agent'
    if (of.session !== undefined && this.isOffIn(of.session, server)) return 'session'
    return undefined
  }

  /** All servers are off for an agent. */
  isAgentOff(agentId: string): boolean {
    return this.#has({ agentId })
  }

  /** A server is off for a session alone. */
  isOffIn(session: string, server: string): boolean {
    return this.#has({ server, session })
  }

  #has(one: McpSwitch): boolean {
    const text = textOf(one)
    return [this.#global, this.#workspace].some(store => read(store).includes(text))
  }

  /** `ofWorkspace`: the server belongs to the workspace. */
  set(one: McpSwitch, isOn: boolean, ofWorkspace = false): void {
    const text = textOf(one)
    const home = ofWorkspace || one.session !== undefined ? this.#workspace : this.#global
    for (const store of [this.#global, this.#workspace]) {
      const stored = read(store)
      if (store === home && !isOn) {
        if (!stored.includes(text)) store.set(STORED, bounded([...stored, text]))
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

/** A server that was switched off for more than a session never comes back on by itself. */
function bounded(stored: readonly string[]): string[] {
  let surplus = stored.length - MAX_STORED
  return stored.filter(text => text.endsWith(',null]') || surplus-- <= 0)
}

function read(store: KeyValueStore): string[] {
  const stored = store.get<unknown>(STORED)
  return Array.isArray(stored) ? stored.filter(one => typeof one === 'string') : []
}
