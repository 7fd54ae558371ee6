/** Walking through earlier prompts with the arrow keys; what was being written comes back at the end. */
export class PromptHistory {
  #list: readonly string[] = []
  /** position in the list; its length is what is being written */
  #at: number | undefined
  #own = ''

  /** An older prompt, or nothing when there is none. `list`: oldest first; `now`: what stands in the composer. */
  older(list: readonly string[], now: string): string | undefined {
    if (this.#at === undefined) {
      this.#list = withoutRepeats(list)
      this.#own = now
      this.#at = this.#list.length
    }
    if (this.#at === 0) return undefined
    this.#at--
    return this.#list[this.#at]
  }

  /** A newer one; after the newest, what was being written. */
  newer(): string | undefined {
    if (this.#at === undefined) return undefined
    this.#at++
    if (this.#at < this.#list.length) return this.#list[this.#at]
    this.#at = undefined
    return this.#own
  }

  get isWalking(): boolean {
    return this.#at !== undefined
  }

  /** The text was changed by hand or sent: the walk is over. */
  stop(): void {
    this.#at = undefined
  }
}

function withoutRepeats(list: readonly string[]): string[] {
  return list.filter((text, i) => text !== list[i - 1])
}
