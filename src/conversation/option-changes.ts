import * as l10n from '@vscode/l10n'
import type { ConfigOption } from '../acp/model.ts'

/** What of the session the changes need. */
export interface OptionSession {
  options(): readonly ConfigOption[]
  /** Shows an option with this value. */
  show(optionId: string, value: string | boolean): void
  /** Tells the agent; rejects when it refuses. */
  send(optionId: string, value: string | boolean): Promise<void>
  /** Told when `ids` changed. */
  changed(): void
}

/** What must be shown of an option after the agent refused a value. */
interface Revert {
  value: string | boolean
}

interface Pending {
  /** the value that the agent is known to have */
  confirmed: string | boolean
  /** the latest change sent */
  sequence: number
  /** the agent told the option's value itself since that was sent */
  reported: boolean
  /** resolved when the person waits no longer for the agent */
  givenUp: { promise: Promise<void>; resolve: () => void }
}

/**
 * The changes of config options that the agent has not confirmed yet. The chosen value is shown at once; when the
 * agent refuses the latest choice, the value it is known to have comes back, unless it told another one meanwhile.
 */
export class OptionChanges {
  readonly #pending = new Map<string, Pending>()
  readonly #session: OptionSession
  #sequence = 0

  constructor(session: OptionSession) {
    this.#session = session
  }

  /** ids of the options that wait */
  get ids(): string[] {
    return [...this.#pending.keys()]
  }

  /**
   * Rejects with the agent's error, or when there is no such option or the value does not fit it. Resolves, too, when
   * the change is given up.
   */
  async set(optionId: string, value: string | boolean): Promise<void> {
    const session = this.#session
    const option = session.options().find(known => known.id === optionId)
    if (!option || option.type === 'unknown')
      throw new RangeError(l10n.t("The option “{0}” doesn't exist.", optionId))
    if (typeof value !== typeof option.currentValue) {
      throw new TypeError(l10n.t('Invalid value for the option “{0}”.', option.name))
    }
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
   * Waits no longer for the agent: what it is known to have is shown. When it takes the value after all, it tells so as
   * it does of any change.
   */
  giveUp(optionId: string): void {
    const pending = this.#pending.get(optionId)
    if (!pending) return
    this.#pending.delete(optionId)
    if (!pending.reported) this.#session.show(optionId, pending.confirmed)
    pending.givenUp.resolve()
    this.#session.changed()
  }

  /** The agent told the values of its options. */
  reported(): void {
    for (const pending of this.#pending.values()) pending.reported = true
  }

  clear(): void {
    this.#pending.clear()
  }

  /** Begins a change from `current`. */
  #begin(optionId: string, current: string | boolean): { sequence: number; givenUp: Promise<void> } {
    this.#sequence += 1
    const before = this.#pending.get(optionId)
    const confirmed = before && !before.reported ? before.confirmed : current
    const sequence = this.#sequence
    const givenUp = before?.givenUp ?? resolvable()
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

function resolvable(): Pending['givenUp'] {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}
