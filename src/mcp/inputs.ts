import * as l10n from '@vscode/l10n'
import { SecretRegistry } from '../common/secrets.ts'
import type { McpInput, McpServerDefinition } from './mcp-settings.ts'

/** Asks the user. Resolves to `undefined` when they do not want to answer. */
export interface InputPrompter {
  prompt(input: McpInput, serverName: string): Promise<string | undefined>
}

/** Keeps secrets; VS Code's `SecretStorage` is one. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>
  store(key: string, value: string): PromiseLike<void>
  delete(key: string): PromiseLike<void>
}

/** `missing`: why there is none, as a sentence. */
export type InputAnswer = { value: string } | { missing: string }

const PREFIX = 'parley.mcpInput'
/** A list of the keys in use: a secret store cannot tell what it holds. */
const INDEX = `${PREFIX}s`

/**
 * The values of `${input:…}`: asked for once, kept in the secret store. A value belongs to the place in which its input
 * is defined; that of a workspace is another than that of the user settings, and of another workspace, by the same id.
 */
export class McpInputs {
  readonly #prompter: InputPrompter
  readonly #secrets: SecretStore
  readonly #workspace: string
  readonly #held: SecretRegistry
  /** Questions that are open now, by key: two sessions that start at once ask once. */
  readonly #open = new Map<string, Promise<InputAnswer>>()
  /** One question after the other: VS Code shows one input box at a time. */
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param workspace names the workspace, the same in every window and after every restart
   * @param held receives every value that isn't visible in settings
   */
  constructor(prompter: InputPrompter, secrets: SecretStore, workspace: string, held = new SecretRegistry()) {
    this.#prompter = prompter
    this.#secrets = secrets
    this.#workspace = workspace
    this.#held = held
  }

  /** The value of an input for a server that names it. Rejects only when the secret store does. */
  async value(id: string, server: McpServerDefinition, inputs: readonly McpInput[]): Promise<InputAnswer> {
    const input = inputs.find(
      each => each.id === id && each.scope === server.scope && each.folder === server.folder,
    )
    if (!input) return { missing: notDefined(id, inputs) }
    const key = this.#key(input)
    const open = this.#open.get(key)
    if (open) return open
    const answer = this.#ask(key, input, server.name)
      .then(given => {
        if ('value' in given && !isInSettings(given.value, input)) this.#held.add(given.value)
        return given
      })
      .finally(() => this.#open.delete(key))
    this.#open.set(key, answer)
    return answer
  }

  /** Forgets every value, so that each is asked for again. Returns how many there were. */
  async clear(): Promise<number> {
    const keys = await this.#keys()
    for (const key of keys) await this.#secrets.delete(key)
    await this.#secrets.delete(INDEX)
    return keys.length
  }

  async #ask(key: string, input: McpInput, serverName: string): Promise<InputAnswer> {
    const kept = await this.#secrets.get(key)
    if (kept !== undefined) return { value: kept }
    const asked = this.#last.then(() => this.#prompter.prompt(input, serverName))
    this.#last = asked.catch(() => undefined)
    const value = await asked
    if (value === undefined) return { missing: l10n.t('No value was entered for "{0}".', input.id) }
    await this.#secrets.store(key, value)
    const keys = await this.#keys()
    if (!keys.includes(key)) await this.#secrets.store(INDEX, JSON.stringify([...keys, key]))
    return { value }
  }

  #key(input: McpInput): string {
    if (input.scope === 'user' || input.scope === 'default') return `${PREFIX}/user/${input.id}`
    return `${PREFIX}/${JSON.stringify([this.#workspace, input.folder ?? null, input.id])}`
  }

  async #keys(): Promise<string[]> {
    const kept = await this.#secrets.get(INDEX)
    try {
      const keys: unknown = JSON.parse(kept ?? '[]')
      return Array.isArray(keys) ? keys.filter(key => typeof key === 'string') : []
    } catch {
      return []
    }
  }
}

function notDefined(id: string, inputs: readonly McpInput[]): string {
  return inputs.some(input => input.id === id)
    ? l10n.t(
        'The input "{0}" and the server are defined in different settings. Define both in the same settings.',
        id,
      )
    : l10n.t('The input "{0}" isn\'t defined in "inputs".', id)
}

/** A value that is readable in the settings is no secret. */
function isInSettings(value: string, input: McpInput): boolean {
  return value === input.default || input.options.some(option => option.value === value)
}
