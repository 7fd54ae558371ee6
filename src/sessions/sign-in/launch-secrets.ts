import * as z from 'zod'
import type { SecretStore } from '../../mcp/inputs.ts'

/** Names how an agent starts; `undefined`: there is no such agent. Another launch is another name. */
export type LaunchOf = (agentId: string) => string | undefined

/** An agent that is started in ever new ways has what was given to the last ones. */
const LAUNCHES = 8

/**
 * What is kept in the editor's secret storage for an agent, bound to how it starts: an agent of the same id that starts
 * otherwise, as a workspace may define one, gets none of it.
 */
export class LaunchSecrets<T> {
  readonly #secrets: SecretStore
  readonly #prefix: string
  readonly #value: z.ZodType<T>
  readonly #launchOf: LaunchOf

  /** `prefix` begins the keys; what does not fit `value` counts as not kept. */
  constructor(secrets: SecretStore, prefix: string, value: z.ZodType<T>, launchOf: LaunchOf) {
    this.#secrets = secrets
    this.#prefix = prefix
    this.#value = value
    this.#launchOf = launchOf
  }

  async read(agentId: string): Promise<T | undefined> {
    const launch = this.#launchOf(agentId)
    const found = (await this.#all(agentId)).find(([name]) => name === launch)
    return found && this.#value.safeParse(found[1]).data
  }

  async write(agentId: string, value: T): Promise<void> {
    const launch = this.#launchOf(agentId)
    if (launch === undefined) return
    const others = (await this.#all(agentId)).filter(([name]) => name !== launch)
    const launches = [...others.slice(1 - LAUNCHES), [launch, value]]
    await this.#secrets.store(this.#key(agentId), JSON.stringify({ launches }))
  }

  /** Forgets what is kept for every launch. Resolves with whether there was anything. */
  async forget(agentId: string): Promise<boolean> {
    const key = this.#key(agentId)
    if ((await this.#secrets.get(key)) === undefined) return false
    await this.#secrets.delete(key)
    return true
  }

  async #all(agentId: string): Promise<Array<[launch: string, value: unknown]>> {
    const text = await this.#secrets.get(this.#key(agentId))
    if (text === undefined) return []
    try {
      return kept.parse(JSON.parse(text)).launches
    } catch {
      return []
    }
  }

  #key(agentId: string): string {
    return `${this.#prefix}/${agentId}`
  }
}

const kept = z.object({ launches: z.array(z.tuple([z.string(), z.unknown()])) })
