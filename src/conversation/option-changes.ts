import * as l10n from '@vscode/l10n'
import type { ConfigOption } from '../acp/model.ts'
import { type Deferred, deferred } from '../common/async.ts'

/** The part of a session that `OptionChanges` needs. */
export interface OptionSession {
  options(): readonly ConfigOption[]
  /** Shows this value for an option. */
  show(optionId: string, value: string | boolean): void
  /** Sends the change to the agent. Rejects if the agent refuses the change. */
  send(optionId: string, value: string | boolean): Promise<void>
  /** Called when the `ids` of options with unconfirmed changes have changed. */
  changed(): void
}

/** An option that no longer has the value from before the session was reopened. */
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
  /** the number of the latest change that was sent */
  sequence: number
  /** whether the agent reported a value since the change was sent */
  reported: boolean
  /** resolved when the user stops waiting for the agent */
  givenUp: Deferred<void>
}

/**
 * The changes of config options that the agent hasn't confirmed yet. A chosen value is shown at once. If the agent refuses the latest
 * change, the last confirmed value is shown again, unless the agent has reported another value meanwhile.
 */
export class OptionChanges {
  readonly #pending = new Map<string, Pending>()
  readonly #session: OptionSession
  /** ids of the options that the user set in this window */
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

  /** Whether the option was set in this window. */
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

  /** Remembers the last known options (`before`) of a session that was reopened. */
  reopened(before: readonly ConfigOption[]): void {
    this.#before = before
    if (this.lost.length > 0) this.#session.changed()
  }

  /** Begins a turn: option changes by the agent from now on don't count as lost. */
  turnBegins(): void {
    if (this.#before.length > 0) this.#before = this.lost.map(({ before }) => before)
  }

  /** Forgets the lost options, since the user has seen them. */
  forgetLost(): void {
    this.#before = []
    this.#session.changed()
  }

  /**
   * Sets an option. Resolves when the agent confirms or the user stops waiting. Rejects with the agent's error, or if the option doesn't
   * exist or doesn't accept the value.
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
   * Stops waiting for the agent and shows the last confirmed value. If the agent applies the change later, it reports the new value like
   * any other change.
   */
  giveUp(optionId: string): void {
    const pending = this.#pending.get(optionId)
    if (!pending) return
    this.#pending.delete(optionId)
    if (!pending.reported) this.#session.show(optionId, pending.confirmed)
    pending.givenUp.resolve()
    this.#session.changed()
  }

  /** Notes that the agent reported the values of its options. */
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

/**
 * Whether an option's value changed. Agents may give a value another id in a new version; for the user, a value with the same name is the
 * same.
 */
function isLost(before: ConfigOption, now: ConfigOption): boolean {
  if (before.type === 'boolean' && now.type === 'boolean') return before.currentValue !== now.currentValue
  if (before.type !== 'select' || now.type !== 'select' || before.currentValue === '') return false
  return before.currentValue !== now.currentValue && chosenName(before) !== chosenName(now)
}

/** Returns the name of a select option's value. */
export function chosenName({ choices, currentValue }: ConfigOption & { type: 'select' }): string {
  return choices.find(({ value }) => value === currentValue)?.name ?? currentValue
}
