import * as l10n from '@vscode/l10n'
import { z } from 'zod'
import type { AuthMethod } from '../acp/model.ts'
import { isEnvironmentName } from '../agents/agent-settings.ts'
import { CancelledError } from '../common/errors.ts'
import type { SecretStore } from '../mcp/inputs.ts'

export type AuthVariable = NonNullable<AuthMethod['vars']>[number]

/** Asks the person for the value of one variable; an optional one may be empty. `undefined`: they do not answer. */
export type AskVariable = (
  agentId: string,
  method: AuthMethod,
  variable: AuthVariable,
  signal: AbortSignal,
) => Promise<string | undefined>

const kept = z.object({
  /** the method that was used last: its values are the ones that count */
  current: z.string(),
  methods: z.record(z.string(), z.record(z.string(), z.string())),
})
type Kept = z.output<typeof kept>

const NOTHING: Kept = { current: '', methods: {} }

/**
 * Signing in by environment variables: asked for, kept in the editor's secret storage by agent and method, and given to
 * the agent's process when it starts. They are in no setting, no log and no message of the protocol.
 */
export class SignInValues {
  readonly #secrets: SecretStore
  readonly #ask: AskVariable

  constructor(secrets: SecretStore, ask: AskVariable) {
    this.#secrets = secrets
    this.#ask = ask
  }

  /** Asks for all that the method needs. Nothing is kept, and `CancelledError` is thrown, when one is not given. */
  async signIn(agentId: string, method: AuthMethod, signal: AbortSignal): Promise<void> {
    const values: Record<string, string> = {}
    for (const variable of method.vars ?? []) {
      if (!isEnvironmentName(variable.name))
        throw new Error(l10n.t('The agent asks for a variable that no system takes: {0}', variable.name))
      const value = await this.#ask(agentId, method, variable, signal)
      if (value === undefined || signal.aborted) throw new CancelledError()
      if (value !== '') values[variable.name] = value
    }
    const { methods } = await this.#read(agentId)
    const all: Kept = { current: method.methodId, methods: { ...methods, [method.methodId]: values } }
    await this.#secrets.store(keyOf(agentId), JSON.stringify(all))
  }

  /** What the agent's process gets besides its own environment. */
  async environment(agentId: string): Promise<Record<string, string>> {
    const { current, methods } = await this.#read(agentId)
    return Object.hasOwn(methods, current) ? { ...methods[current] } : {}
  }

  /** Whether there was anything to forget. */
  async forget(agentId: string): Promise<boolean> {
    const key = keyOf(agentId)
    if ((await this.#secrets.get(key)) === undefined) return false
    await this.#secrets.delete(key)
    return true
  }

  async #read(agentId: string): Promise<Kept> {
    const text = await this.#secrets.get(keyOf(agentId))
    if (text === undefined) return NOTHING
    try {
      return kept.parse(JSON.parse(text))
    } catch {
      return NOTHING
    }
  }
}

function keyOf(agentId: string): string {
  return `parley.signIn/${agentId}`
}
