import { FRESH_MS } from '../editor/files/file-system.ts'

/** The files that the user saved a moment ago: their recent times don't mean that a turn that begins now has written them. */
export class RecentSaves {
  /** milliseconds since the epoch by file, earliest first */
  readonly #times = new Map<string, number>()

  add(file: string, now: number): void {
    this.#times.delete(file)
    this.#times.set(file, now)
    // the clock may have been set back
    for (const [one, at] of this.#times) if (at < now - FRESH_MS || at > now) this.#times.delete(one)
  }

  between(from: number, to: number): string[] {
    return [...this.#times].filter(([, at]) => at >= from && at <= to).map(([file]) => file)
  }
}
