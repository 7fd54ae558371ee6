import * as l10n from '@vscode/l10n'
import type { ConfigOption } from '../acp/model.ts'
import { type Deferred, deferred } from '../common/async.ts'

/** The part of a session that option changes need. */
export interface OptionSession {
  options(): readonly ConfigOption[]
  /** Shows an option with this value. */
  show(optionId: string, value: string | boolean): void
  /** Sends the change to the agent. Rejects if the agent refuses it. */
  send(optionId: string, value: string | boolean): Promise<void>
  /** Called when `ids` changed. */
  changed(): void
}

/** An option whose value has changed since the session was reopened. */
export interface LostOption {
  before: ConfigOption & { type: 'select' | 'boolean' }
  now: ConfigOption & { type: 'select' | 'boolean' }
}

/** The value to show again after the agent refused a change. */
interface Revert {
  value: string | boolean
}

interface Pending {
  /** the last value that the agent confirmed */
  confirmed: string | boolean
  /** the latest change sent */
  sequence: number
  /** the agent reported a value since the change was sent */
  reported: boolean
  /** resolved when the user stops waiting for the agent */
  givenUp: Deferred<void>
}

/**
 * The changes of config options that the agent hasn't confirmed yet. A chosen value is shown at once. If the agent refuses
 * the latest change, the last confirmed value is shown again, unless the agent has reported another one meanwhile.
 */
export class OptionChanges {
  readonly #pending = new Map<string, Pending>()
  readonly #session: OptionSession
  /** ids of the options that were set here */
  readonly #set = new Set<string>()
  #sequence = 0
  /** the options before the session was reopened */
  #before: readonly ConfigOption[] = []

  constructor(session: OptionSession) {
    this.#session = session
  }

  /** ids of the options with unconfirmed changes */
  get ids(): string[] {
    return [...this.#pending.keys()]
  }

  /** Whether the option was set here. */
  isSet(optionId: string): boolean {
    return this.#set.has(optionId)
  }

  /** The options that lost their value when the session was reopened, until the user sets them. */
  get lost(): LostOption[] {
    return this.#before.flatMap(before => {
      const now = this.#session.options().find(({ id }) => id === before.id)
      return now && isLost(before, now) ? [{ before, now } as LostOption] : []
    })
  }

  /** The session was reopened. `before`: the last known options. */
  reopened(before: readonly ConfigOption[]): void {
    this.#before = before
    if (this.lost.length > 0) this.#session.changed()
  }

  /** A turn begins: what the agent changes from now on isn't lost. */
  turnBegins(): void {
    if (this.#before.length > 0) this.#before = this.lost.map(({ before }) => before)
  }

  /** The user has seen which options lost their value. */
  forgetLost(): void {
    this.#before = []
    this.#session.changed()
  }

  /**
   * Rejects with the agent's error, or if the option doesn't exist or doesn't accept the value. Resolves when the agent
   * confirms or the user stops waiting.
   */
  async set(optionId: string, value: string | boolean): Promise<void> {
    const session = this.#session
    const option = session.options().find(known => known.id === optionId)
    if (!option || option.type === 'unknown')
      throw new RangeError(l10n.t("The option “{0}” doesn't exist.", optionId))
    if (typeof value !== typeof option.currentValue) {
      throw new TypeError(l10n.t('Invalid value for the option “{0}”.', option.name))
    }
    this.#set.add(optionId)
    this.#before = this.#before.filter(({ id }) => id !== optionId)
    const { sequence, givenUp } = this.#begin(optionId, option.currentValue)
    session.show(optionId, value)
    session.changed()
    try {
      await Promise.race([session.send(optionId, value), givenUp])
      this.#succeeded(optionId, sequence, value)
    } catch (error) {
      const revert = this.#failed(optionId, sequence)
      if (revert) session.show(optionId, revert.value)
      throw error
    } finally {
      session.changed()
    }
  }

  /**
   * Stops waiting for the agent and shows the last confirmed value. If the agent applies the change later, it reports
   * that like any other change.
   */
  giveUp(optionId: string): void {
    const pending = this.#pending.get(optionId)
    if (!pending) return
    this.#pending.delete(optionId)
    if (!pending.reported) this.#session.show(optionId, pending.confirmed)
    pending.givenUp.resolve()
    this.#session.changed()
  }

  /** The agent reported the values of its options. */
  reported(): void {
    for (const pending of this.#pending.values()) pending.reported = true
  }

  clear(): void {
    this.#pending.clear()
  }

  /** Starts a change from `current`. */
  #begin(optionId: string, current: string | boolean): { sequence: number; givenUp: Promise<void> } {
    this.#sequence += 1
    const before = this.#pending.get(optionId)
    const confirmed = before && !before.reported ? before.confirmed : current
    const sequence = this.#sequence
    const givenUp = before?.givenUp ?? deferred()
    this.#pending.set(optionId, { confirmed, sequence, reported: false, givenUp })
    return { sequence, givenUp: givenUp.promise }
  }

  #succeeded(optionId: string, sequence: number, value: string | boolean): void {
    const pending = this.#pending.get(optionId)
    if (!pending) return
    if (pending.sequence === sequence) this.#pending.delete(optionId)
    else pending.confirmed = value
  }

  #failed(optionId: string, sequence: number): Revert | undefined {
    const pending = this.#pending.get(optionId)
    if (pending?.sequence !== sequence) return undefined
    this.#pending.delete(optionId)
    return pending.reported ? undefined : { value: pending.confirmed }
  }
}

/** Agents may give a value another id in a new version; a value with the same name is the same for the user. */
function isLost(before: ConfigOption, now: ConfigOption): boolean {
  if (before.type === 'boolean' && now.type === 'boolean') return before.currentValue !== now.currentValue
  if (before.type !== 'select' || now.type !== 'select' || before.currentValue === '') return false
  return before.currentValue !== now.currentValue && chosenName(before) !== chosenName(now)
}

/** The name of a select option's value. */
export function chosenName({ choices, currentValue }: ConfigOption & { type: 'select' }): string {
  return choices.find(({ value }) => value === currentValue)?.name ?? currentValue
}
