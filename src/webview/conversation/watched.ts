/** Tells the host what of a kind the view shows: it sends the whole of these only. */
export class Watched {
  readonly #ids: () => string[]
  readonly #tell: (ids: string[]) => void
  #reported = '[]'
  #isDue = false

  constructor(ids: () => string[], tell: (ids: string[]) => void) {
    this.#ids = ids
    this.#tell = tell
  }

  /** Tells which are shown once all that is drawn at the same time has said so. */
  changed(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      const ids = this.#ids()
      const now = JSON.stringify(ids)
      if (now === this.#reported) return
      this.#reported = now
      this.#tell(ids)
    })
  }

  /** The host knows of none. */
  forget(): void {
    this.#reported = '[]'
  }

  /** The host may have forgotten what it was told. */
  tellAgain(): void {
    this.forget()
    this.changed()
  }
}
