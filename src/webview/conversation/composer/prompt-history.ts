/** Walking through earlier prompts with the arrow keys; what was being written comes back at the end. */
export class PromptHistory<Prompt = string> {
  readonly #textOf: (prompt: Prompt) => string
  #list: readonly Prompt[] = []
  /** position in the list; its length is what is being written */
  #at: number | undefined
  #own: Prompt | undefined

  constructor(textOf: (prompt: Prompt) => string = String) {
    this.#textOf = textOf
  }

  /** An older prompt, or nothing when there is none. `list`: oldest first; `now`: what stands in the composer. */
  older(list: readonly Prompt[], now: Prompt): Prompt | undefined {
    if (this.#at === undefined) {
      this.#list = this.#unlike(list)
      this.#own = now
      this.#at = this.#list.length
    }
    if (this.#at === 0) return undefined
    this.#at--
    return this.#list[this.#at]
  }

  /** Prompts from before the oldest one that it knew; the walk stays where it is. */
  prepend(list: readonly Prompt[]): void {
    if (this.#at === undefined) return
    const all = this.#unlike([...list, ...this.#list])
    this.#at += all.length - this.#list.length
    this.#list = all
  }

  /** A newer one; after the newest, what was being written. */
  newer(): Prompt | undefined {
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

  /** The same prompt twice in a row is walked past at once. */
  #unlike(list: readonly Prompt[]): Prompt[] {
    return list.filter((one, i) => i === 0 || this.#textOf(one) !== this.#textOf(list[i - 1]!))
  }
}
