/** What must be shown of an option after the agent refused a value. */
export interface Revert {
  value: string | boolean
}

interface Pending {
  /** the value that the agent is known to have */
  confirmed: string | boolean
  /** the latest change sent */
  sequence: number
  /** the agent told the option's value itself since that was sent */
  told: boolean
}

/**
 * The changes of config options that the agent has not confirmed yet. The chosen value is shown at once; when the
 * agent refuses the latest choice, the value it is known to have comes back, unless it told another one meanwhile.
 */
export class OptionChanges {
  readonly #pending = new Map<string, Pending>()
  #sequence = 0

  /** ids of the options that wait */
  get ids(): string[] {
    return [...this.#pending.keys()]
  }

  /** Begins a change from `current`; returns its number. */
  begin(optionId: string, current: string | boolean): number {
    this.#sequence += 1
    const before = this.#pending.get(optionId)
    const confirmed = before && !before.told ? before.confirmed : current
    this.#pending.set(optionId, { confirmed, sequence: this.#sequence, told: false })
    return this.#sequence
  }

  /** The agent told the values of its options. */
  told(): void {
    for (const pending of this.#pending.values()) pending.told = true
  }

  succeeded(optionId: string, sequence: number, value: string | boolean): void {
    const pending = this.#pending.get(optionId)
    if (!pending) return
    if (pending.sequence === sequence) this.#pending.delete(optionId)
    else pending.confirmed = value
  }

  failed(optionId: string, sequence: number): Revert | undefined {
    const pending = this.#pending.get(optionId)
    if (pending?.sequence !== sequence) return undefined
    this.#pending.delete(optionId)
    return pending.told ? undefined : { value: pending.confirmed }
  }

  clear(): void {
    this.#pending.clear()
  }
}
