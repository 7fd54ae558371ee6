import * as l10n from '@vscode/l10n'
import type { ConfigOption } from '../acp/model.ts'
import type { DefaultOptions } from '../agents/definition.ts'
import { withTimeout } from '../common/async.ts'
import { messageOf } from '../common/errors.ts'
import { DEFAULT_OPTION_MS } from '../common/limits.ts'
import { shortened, visible } from '../common/visible.ts'
import type { OpenSession } from './open-session.ts'

/** The initial options of a new session. */
export interface StartOptions {
  defaults: DefaultOptions
  /** The last used values by option id. A value replaces the default if the agent still offers it. */
  lastUsed: DefaultOptions
}

type KnownOption = Exclude<ConfigOption, { type: 'unknown' }>

/** Returns the option that a default applies to: the option with the id `key`, else the first option of the category `key`. */
export function optionOf(options: readonly ConfigOption[], key: string): KnownOption | undefined {
  const known = options.filter(option => option.type !== 'unknown')
  return known.find(({ id }) => id === key) ?? known.find(({ category }) => category === key)
}

/** Returns the key of an option's default: an existing key, else the category, which is the same in all versions of the protocol. */
export function defaultOptionKey(
  options: readonly ConfigOption[],
  { id, category }: ConfigOption,
  defaults: DefaultOptions = {},
): string {
  const own = Object.keys(defaults).findLast(key => optionOf(options, key)?.id === id)
  if (own !== undefined) return own
  return category !== undefined && optionOf(options, category)?.id === id ? category : id
}

/** Returns the defaults by option id, for options that the agent offers. */
export function defaultsById(
  options: readonly ConfigOption[],
  defaults: DefaultOptions,
): Record<string, string | boolean> {
  return Object.fromEntries(
    Object.entries(defaults).flatMap(([key, value]) => {
      const option = optionOf(options, key)
      const offered = option && offeredValue(option, value)
      return offered === undefined ? [] : [[option!.id, offered]]
    }),
  )
}

/** Returns the value as the agent offers it, since on/off options may be a choice of two; `undefined` if the agent doesn't offer it. */
function offeredValue(option: KnownOption, value: string | boolean): string | boolean | undefined {
  const text = String(value)
  if (option.type === 'select') return option.choices.some(choice => choice.value === text) ? text : undefined
  return text === 'true' || text === 'false' ? text === 'true' : undefined
}

/**
 * Sets the options of a new session, and tells the user which options the agent doesn't accept. `reported`: missing options that were
 * already reported; they aren't reported again until the agent has had them. Never rejects.
 */
export async function applyStartOptions(
  open: Pick<OpenSession, 'session' | 'agentId' | 'agentName' | 'startOptions'>,
  { defaults, lastUsed }: StartOptions,
  reported: Set<string>,
): Promise<void> {
  const { session, agentId, agentName } = open
  const options = () => session.state.configOptions
  const tell = (title: string, description?: string) =>
    session.notify({ severity: 'warning', title, ...(description && { description }) })
  const wanted = new Map<string, [string, string | boolean]>()
  for (const entry of [
    ...Object.entries(lastUsed).filter(([id]) => optionOf(options(), id)),
    ...Object.entries(defaults),
    ...Object.entries(defaultsById(options(), lastUsed)),
  ])
    wanted.set(optionOf(options(), entry[0])?.id ?? entry[0], entry)
  const isModel = ([key]: [string, unknown]) => optionOf(options(), key)?.category === 'model'
  const all = [...wanted.values()]
  // the choices of other options may depend on the model
  const ordered = [...all.filter(isModel), ...all.filter(one => !isModel(one))]
  for (const [at, [key, value]] of ordered.entries()) {
    if (session.phase !== 'ready') return
    // the window may be reloaded at any time; the next window then sets the remaining options
    open.startOptions = Object.fromEntries(ordered.slice(at))
    const option = optionOf(options(), key)
    const offered = option && offeredValue(option, value)
    const missing = JSON.stringify([agentId, key, value])
    if (offered !== undefined) reported.delete(missing)
    else if (reported.has(missing)) continue
    else reported.add(missing)
    if (!option) {
      tell(l10n.t("{0} has no option “{1}”, so your default for it isn't used.", agentName, shown(key)))
      continue
    }
    const { id, name, currentValue } = option
    if (session.optionChanges.isSet(id)) continue
    if (offered === undefined) {
      tell(l10n.t("{0} “{1}” isn't available. {2} uses its own default.", name, shown(value), agentName))
      continue
    }
    if (offered === currentValue) continue
    try {
      const set = session.optionChanges.set(id, offered)
      const confirmed = set.then(() => true)
      if (await withTimeout(confirmed, DEFAULT_OPTION_MS)) continue
      session.optionChanges.giveUp(id)
      tell(l10n.t("{0} hasn't confirmed {1} “{2}”.", agentName, name, shown(value)))
    } catch (error) {
      tell(l10n.t('{0} refused {1} “{2}”.', agentName, name, shown(value)), messageOf(error))
    }
  }
  open.startOptions = undefined
}

function shown(text: string | boolean): string {
  return visible(shortened(String(text), 100))
}
