import * as z from 'zod'
import type { Agent } from '../../acp/agent.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { SecretRegistry } from '../../common/secrets.ts'
import type { SecretStore } from '../../mcp/secret-store.ts'
import { type LaunchOf, LaunchSecrets } from './sign-in-values.ts'

const config = z.object({
  apiType: z.string(),
  baseUrl: z.string(),
  /** often containing a key */
  headers: z.record(z.string(), z.string()),
})
const configs = z.record(z.string(), z.union([config, z.literal('disabled')]))

export type ProviderConfig = z.output<typeof config>

/**
 * The model providers that the user configured for an agent. An agent forgets its providers when it exits, so they are sent again at every
 * start, before the first session. They are stored in the secret storage, because headers contain keys.
 */
export class ProviderConfigs {
  readonly #stored: LaunchSecrets<z.output<typeof configs>>
  readonly #held: SecretRegistry

  /** `held` receives all headers, to redact them. */
  constructor(secrets: SecretStore, launchOf: LaunchOf, held = new SecretRegistry()) {
    this.#held = held
    this.#stored = new LaunchSecrets(secrets, 'parley.providers', configs, launchOf)
  }

  /** Resolves to the stored configuration; `undefined` if there is none or the provider was disabled. */
  async get(agentId: string, providerId: string): Promise<ProviderConfig | undefined> {
    const all = await this.#read(agentId)
    const known = Object.hasOwn(all, providerId) ? all[providerId] : undefined
    return known === 'disabled' ? undefined : known
  }

  /** Sends a configuration to the agent, and stores it once the agent has accepted it. Rejects with the agent's refusal. */
  async set(agentId: string, agent: Agent, providerId: string, wanted: ProviderConfig): Promise<void> {
    this.#hold(wanted)
    await setProvider(agent, providerId, wanted)
    await this.#keep(agentId, providerId, wanted)
  }

  async disable(agentId: string, agent: Agent, providerId: string): Promise<void> {
    await agent.disableProvider?.(providerId)
    await this.#keep(agentId, providerId, 'disabled')
  }

  /** Deletes the configuration, from the agent's next start on. */
  async reset(agentId: string, providerId: string): Promise<void> {
    await this.#keep(agentId, providerId, undefined)
  }

  /** Sends the stored configurations to an agent that just started. A refusal is logged, and the others are still sent. */
  async apply(agentId: string, agent: Agent, log: Logger): Promise<void> {
    if (!agent.capabilities.providers) return
    for (const [providerId, wanted] of Object.entries(await this.#read(agentId))) {
      try {
        if (wanted === 'disabled') await agent.disableProvider?.(providerId)
        else await setProvider(agent, providerId, wanted)
      } catch (error) {
        log.warn(`The provider ${providerId} couldn't be configured: ${messageOf(error)}`)
      }
    }
  }

  /** Registers the headers as secrets before the agent's output is read, since the agent got them in an earlier window. */
  async hold(agentId: string): Promise<void> {
    for (const all of await this.#stored.readAll(agentId))
      for (const one of Object.values(all)) this.#hold(one)
  }

  async #read(agentId: string): Promise<z.output<typeof configs>> {
    const all = (await this.#stored.read(agentId)) ?? {}
    for (const one of Object.values(all)) this.#hold(one)
    return all
  }

  #hold(one: ProviderConfig | 'disabled'): void {
    if (one !== 'disabled') for (const value of Object.values(one.headers)) this.#held.add(value)
  }

  async #keep(
    agentId: string,
    providerId: string,
    wanted: ProviderConfig | 'disabled' | undefined,
  ): Promise<void> {
    const { [providerId]: _, ...others } = await this.#read(agentId)
    await this.#stored.write(agentId, wanted === undefined ? others : { ...others, [providerId]: wanted })
  }
}

async function setProvider(agent: Agent, providerId: string, wanted: ProviderConfig): Promise<void> {
  const { apiType, baseUrl, headers } = wanted
  const some = Object.keys(headers).length > 0
  await agent.setProvider?.(providerId, { apiType, baseUrl, ...(some && { headers }) })
}
