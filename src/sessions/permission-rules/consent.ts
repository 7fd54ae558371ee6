import { createHash } from 'node:crypto'
import type { Keep } from '../ports.ts'
import type { PermissionRule, PermissionRuleSetting } from './rule.ts'

const KEPT = 'parley.acceptedRules'
const MOST = 500

/**
 * Which allowing rules of the workspace's settings the person agreed to. Those settings are a file in a folder where
 * agents write: without this an agent could allow itself anything.
 */
export class RuleConsent {
  readonly #keep: Keep
  readonly #ask: (rules: readonly PermissionRule[], accept: () => void) => void
  readonly #asked = new Set<string>()

  /** `ask` tells the person of rules that do not count yet; `accept` makes them count. */
  constructor(keep: Keep, ask: (rules: readonly PermissionRule[], accept: () => void) => void) {
    this.#keep = keep
    this.#ask = ask
  }

  /** The person's own rules count, and so does every rule that makes things stricter. */
  counts(rule: PermissionRule): boolean {
    return rule.action !== 'allow' || rule.scope === 'user' || this.#accepted().includes(digest(rule.source))
  }

  accept(settings: readonly PermissionRuleSetting[]): void {
    const all = new Set([...this.#accepted(), ...settings.map(digest)])
    this.#keep.set(KEPT, [...all].slice(-MOST))
  }

  /** Asks about rules that do not count, once for each. */
  askAbout(rules: readonly PermissionRule[], changed: () => void): void {
    const fresh = rules.filter(rule => !this.#asked.has(digest(rule.source)))
    if (fresh.length === 0) return
    for (const { source } of fresh) this.#asked.add(digest(source))
    this.#ask(fresh, () => {
      this.accept(fresh.map(({ source }) => source))
      changed()
    })
  }

  #accepted(): string[] {
    const kept = this.#keep.get<unknown>(KEPT)
    return Array.isArray(kept) ? kept.filter(one => typeof one === 'string') : []
  }
}

/** The same for the same rule, in whatever order its parts are written. */
function digest(rule: PermissionRuleSetting): string {
  const parts = Object.entries(rule).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
