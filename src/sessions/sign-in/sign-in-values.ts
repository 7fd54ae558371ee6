import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { AuthMethod } from '../../acp/model.ts'
import { isEnvironmentName } from '../../agents/agent-settings.ts'
import { CancelledError } from '../../common/errors.ts'
import { SecretRegistry } from '../../common/secrets.ts'
import type { SecretStore } from '../../mcp/secret-store.ts'

type AuthVariable = NonNullable<AuthMethod['vars']>[number]

/** Asks the user for the value of a variable; an optional value may be empty. Resolves to `undefined` if the user cancels. */
export type AskVariable = (
  agentId: string,
  method: AuthMethod,
  variable: AuthVariable,
  signal: AbortSignal,
) => Promise<string | undefined>

const storedValues = z.object({
  /** the method that was used last, whose values are used */
  current: z.string(),
  methods: z.record(z.string(), z.record(z.string(), z.string())),
})

/**
 * Signs in with environment variables, which the user enters. Their values are stored in the editor's secret storage by agent, launch and
 * method, and passed to the agent's process when it starts. The values don't appear in settings, logs or protocol messages.
 */
export class SignInValues {
  readonly #stored: LaunchSecrets<z.output<typeof storedValues>>
  readonly #ask: AskVariable
  readonly #held: SecretRegistry

  /** `held` receives all values, to redact them. */
  constructor(secrets: SecretStore, launchOf: LaunchOf, ask: AskVariable, held = new SecretRegistry()) {
    this.#held = held
    this.#stored = new LaunchSecrets(secrets, 'parley.signIn', storedValues, launchOf)
    this.#ask = ask
  }

  /** Asks for all values of the method. Throws `CancelledError` and stores nothing if the user cancels. */
  async signIn(agentId: string, method: AuthMethod, signal: AbortSignal): Promise<void> {
    const values: Record<string, string> = {}
    for (const variable of method.vars ?? []) {
      if (!isEnvironmentName(variable.name))
        throw new Error(l10n.t('The agent requested an invalid environment variable: {0}', variable.name))
      const value = await this.#ask(agentId, method, variable, signal)
      if (value === undefined || signal.aborted) throw new CancelledError()
      this.#held.add(value)
      if (value !== '') values[variable.name] = value
    }
    const methods = (await this.#stored.read(agentId))?.methods
    await this.#stored.write(agentId, {
      current: method.methodId,
      methods: { ...methods, [method.methodId]: values },
    })
  }

  /** Resolves to the variables for the agent's process; empty if the agent's launch differs from when the values were entered. */
  async environment(agentId: string): Promise<Record<string, string>> {
    const { current, methods } = (await this.#stored.read(agentId)) ?? { current: '', methods: {} }
    const values = Object.hasOwn(methods, current) ? { ...methods[current] } : {}
    for (const value of Object.values(values)) this.#held.add(value)
    return values
  }

  /** Registers all values as secrets before the agent's output is read, since the agent got some of them in an earlier window. */
  async hold(agentId: string): Promise<void> {
    for (const { methods } of await this.#stored.readAll(agentId))
      for (const values of Object.values(methods))
        for (const value of Object.values(values)) this.#held.add(value)
  }

  /** Deletes the values of an agent. Resolves to whether there were any. */
  forget(agentId: string): Promise<boolean> {
    return this.#stored.forget(agentId)
  }
}

/** Identifies how an agent is started; `undefined` if there is no such agent. A different launch has a different id. */
export type LaunchOf = (agentId: string) => string | undefined

/** The number of launches per agent whose values are stored; older ones are deleted. */
const LAUNCHES = 8

/**
 * Values in the editor's secret storage for an agent, bound to how the agent is started: an agent with the same id but a different command,
 * which a workspace may define, doesn't get the values.
 */
export class LaunchSecrets<T> {
  readonly #secrets: SecretStore
  readonly #prefix: string
  readonly #value: z.ZodType<T>
  readonly #launchOf: LaunchOf

  /** `prefix`: the prefix of the keys. Values that don't match the schema `value` are ignored. */
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

  /** Resolves to the values of every launch. */
  async readAll(agentId: string): Promise<T[]> {
    return (await this.#all(agentId)).flatMap(([, value]) => this.#value.safeParse(value).data ?? [])
  }

  async write(agentId: string, value: T): Promise<void> {
    const launch = this.#launchOf(agentId)
    if (launch === undefined) return
    const others = (await this.#all(agentId)).filter(([name]) => name !== launch)
    const launches = [...others.slice(1 - LAUNCHES), [launch, value]]
    await this.#secrets.store(this.#key(agentId), JSON.stringify({ launches }))
  }

  /** Removes the stored values of every launch. Resolves to whether there were any. */
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
      return launchesSchema.parse(JSON.parse(text)).launches
    } catch {
      return []
    }
  }

  #key(agentId: string): string {
    return `${this.#prefix}/${agentId}`
  }
}

const launchesSchema = z.object({ launches: z.array(z.tuple([z.string(), z.unknown()])) })
