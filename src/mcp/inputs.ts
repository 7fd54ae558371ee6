import * as l10n from '@vscode/l10n'
import { SecretRegistry } from '../common/secrets.ts'
import type { McpInput, McpServerDefinition } from './mcp-settings.ts'
import { SecretIndex, type SecretStore } from './secret-store.ts'

/** Asks the user. Resolves to `undefined` if they cancel. */
export interface InputPrompter {
  prompt(input: McpInput, serverName: string): Promise<string | undefined>
}

/** `missing`: why there is no value, as a sentence. */
export type InputAnswer = { value: string } | { missing: string }

const PREFIX = 'parley.mcpInput'
/** The list of keys in use. */
const INDEX = `${PREFIX}s`

/**
 * The values of `${input:…}`: entered once, then stored in the secret store. A value belongs to the scope that defines its input: the same
 * id in two workspaces and in the user settings means three different values.
 */
export class McpInputs {
  readonly #prompter: InputPrompter
  readonly #secrets: SecretStore
  readonly #keys: SecretIndex
  readonly #workspace: string
  readonly #held: SecretRegistry
  /** Open input boxes by key, so that two sessions that start at the same time share one question. */
  readonly #open = new Map<string, Promise<InputAnswer>>()
  /** Questions are asked one after the other, since VS Code shows one input box at a time. */
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param workspace identifies the workspace, in every window and after every restart
   * @param held receives every value that isn't visible in settings
   */
  constructor(prompter: InputPrompter, secrets: SecretStore, workspace: string, held = new SecretRegistry()) {
    this.#prompter = prompter
    this.#secrets = secrets
    this.#keys = new SecretIndex(secrets, INDEX)
    this.#workspace = workspace
    this.#held = held
  }

  /** The value of an input that a server uses. Rejects only if the secret store does. */
  async value(id: string, server: McpServerDefinition, inputs: readonly McpInput[]): Promise<InputAnswer> {
    const input = inputOf(id, server, inputs)
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

  /** Returns a stored value without asking. */
  async storedValue(
    id: string,
    server: McpServerDefinition,
    inputs: readonly McpInput[],
  ): Promise<InputAnswer> {
    const input = inputOf(id, server, inputs)
    const value = input && (await this.#secrets.get(this.#key(input)))
    return value === undefined ? { missing: notDefined(id, inputs) } : { value }
  }

  /** Deletes the value of an input, so that the user is asked again. */
  async forget(id: string, server: McpServerDefinition, inputs: readonly McpInput[]): Promise<void> {
    const input = inputOf(id, server, inputs)
    if (!input) return
    const key = this.#key(input)
    await this.#secrets.delete(key)
    await this.#keys.delete(key)
  }

  /** Deletes all values, so that the user is asked for each again. Returns their number. */
  async clear(): Promise<number> {
    const keys = await this.#keys.items()
    for (const key of keys) await this.#secrets.delete(key)
    await this.#keys.delete(...keys)
    return keys.length
  }

  async #ask(key: string, input: McpInput, serverName: string): Promise<InputAnswer> {
    const stored = await this.#secrets.get(key)
    if (stored !== undefined) return { value: stored }
    const asked = this.#last.then(() => this.#prompter.prompt(input, serverName))
    this.#last = asked.catch(() => undefined)
    const value = await asked
    if (value === undefined) return { missing: l10n.t('No value was entered for "{0}".', input.id) }
    await this.#secrets.store(key, value)
    await this.#keys.add(key)
    return { value }
  }

  #key(input: McpInput): string {
    const { id, scope, folder, file } = input
    const isOfUser = scope === 'user' || scope === 'default'
    // keys from before there were files stay as they are
    if (file !== undefined)
      return `${PREFIX}/${JSON.stringify([isOfUser ? '' : this.#workspace, { file }, id])}`
    return isOfUser
      ? `${PREFIX}/user/${id}`
      : `${PREFIX}/${JSON.stringify([this.#workspace, folder ?? null, id])}`
  }
}

/** The input that a server means with `${input:id}`. */
export function inputOf(
  id: string,
  { scope, folder, file }: McpServerDefinition,
  inputs: readonly McpInput[],
): McpInput | undefined {
  return inputs.find(
    each => each.id === id && each.scope === scope && each.folder === folder && each.file === file,
  )
}

function notDefined(id: string, inputs: readonly McpInput[]): string {
  return inputs.some(input => input.id === id)
    ? l10n.t(
        'The input "{0}" and the server are defined in different places. Define both in the same settings or file.',
        id,
      )
    : l10n.t('The input "{0}" isn\'t defined in "inputs".', id)
}

/** A value that is readable in the settings isn't a secret. */
function isInSettings(value: string, input: McpInput): boolean {
  return value === input.default || input.options.some(option => option.value === value)
}
