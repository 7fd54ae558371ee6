import type { RememberedOption } from '../../bridge/conversation.ts'
import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import { isRecord } from '../../common/is-record.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'

const KEY = 'parley.optionValues'
/** The maximum number of recently used values. The oldest ones are dropped first. */
const MAX_RECENT = 5
const MAX_FAVORITES = 200

/** The models, modes and other values that the user marked as favorites or used, by agent and option. All windows share them. */
export class OptionMemory extends Owner {
  readonly #store: KeyValueStore
  readonly #change = this.register(new Emitter<void>())
  readonly onDidChange = this.#change.event

  constructor(store: KeyValueStore) {
    super()
    this.#store = store
  }

  /** Returns the remembered values of an agent by the option's id. */
  of(agentId: string): Record<string, RememberedOption> {
    const all = this.#all()
    const stored = Object.hasOwn(all, agentId) ? all[agentId] : undefined
    return isRecord(stored)
      ? Object.fromEntries(Object.entries(stored).map(([id, value]) => [id, read(value)]))
      : {}
  }

  toggle(agentId: string, optionId: string, value: string): void {
    const { favorites, recent } = this.#of(agentId, optionId)
    const marked = favorites.includes(value)
      ? favorites.filter(one => one !== value)
      : [...favorites, value].slice(-MAX_FAVORITES)
    this.#set(agentId, optionId, { favorites: marked, recent })
  }

  /** Returns the value that the user chose last for each option, by the option's id. */
  lastUsed(agentId: string): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.of(agentId)).flatMap(([id, { recent }]) =>
        recent.slice(0, 1).map(last => [id, last]),
      ),
    )
  }

  used(agentId: string, optionId: string, value: string | boolean): void {
    const { favorites, recent } = this.#of(agentId, optionId)
    const last = String(value)
    const fresh = [last, ...recent.filter(one => one !== last)].slice(0, MAX_RECENT)
    this.#set(agentId, optionId, { favorites, recent: fresh })
  }

  #of(agentId: string, optionId: string): RememberedOption {
    const options = this.of(agentId)
    const known = Object.hasOwn(options, optionId) ? options[optionId] : undefined
    return known ?? { favorites: [], recent: [] }
  }

  #set(agentId: string, optionId: string, value: RememberedOption): void {
    this.#store.set(KEY, { ...this.#all(), [agentId]: { ...this.of(agentId), [optionId]: value } })
    this.#change.fire()
  }

  #all(): Record<string, unknown> {
    const stored = this.#store.get<unknown>(KEY)
    return isRecord(stored) ? stored : {}
  }
}

/** Reads a stored value, which can have any shape. */
function read(value: unknown): RememberedOption {
  const { favorites, recent } = isRecord(value) ? value : {}
  return { favorites: texts(favorites), recent: texts(recent) }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
