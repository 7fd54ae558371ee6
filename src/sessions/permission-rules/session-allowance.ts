import * as l10n from '@vscode/l10n'
import { type Allowance, allowances } from '../../common/allowance.ts'
import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import { isRecord } from '../../common/is-record.ts'
import { readPermissionRules } from './read-rules.ts'
import type { PermissionRule, PermissionRuleSetting } from './rule.ts'

/** The state that the next window needs to continue the session in the same process. */
interface AllowanceState {
  allowed: Allowance
  rules: readonly PermissionRuleSetting[]
}

/**
 * What the agent may do in one session without asking: the permission level that the user chose at the composer, and rules for this session
 * only. The same checks apply as to rules of the settings. Nothing is stored: after the session is reopened, the user is asked again.
 */
export class SessionAllowance extends Owner {
  readonly #change = this.register(new Emitter<void>())
  #state: AllowanceState = { allowed: 'ask', rules: [] }
  /** the rules for this session, then the rule of the permission level */
  #rules: readonly PermissionRule[] = []
  /** Whether the user has confirmed in this session what *Accept Everything* means. */
  isConfirmed = false

  readonly onDidChange = this.#change.event

  get allowed(): Allowance {
    return this.#state.allowed
  }

  get rules(): readonly PermissionRule[] {
    return this.#rules
  }

  /** The state for the next window; `undefined` if nothing is allowed. */
  get state(): AllowanceState | undefined {
    return this.#rules.length > 0 ? this.#state : undefined
  }

  allow(allowed: Allowance): void {
    if (allowed !== this.allowed) this.#set(allowed, this.#own)
  }

  add(rule: PermissionRuleSetting): void {
    this.#set(this.allowed, [...this.#own, ...parsed([rule])])
  }

  /** Replaces or removes a rule. */
  replace(rule: PermissionRule, next: PermissionRuleSetting | undefined): void {
    if (rule.accepts) this.allow('ask')
    else
      this.#set(
        this.allowed,
        this.#own.flatMap(one => (one !== rule ? [one] : next ? parsed([next]) : [])),
      )
  }

  /** Continues with the `state` of the previous window. */
  restore(state: unknown): void {
    if (!isRecord(state)) return
    const allowed = allowances.find(one => one === state.allowed) ?? 'ask'
    this.isConfirmed = allowed === 'everything'
    this.#set(allowed, parsed(state.rules))
  }

  get #own(): PermissionRule[] {
    return this.#rules.filter(({ accepts }) => !accepts)
  }

  #set(allowed: Allowance, own: readonly PermissionRule[]): void {
    this.#state = { allowed, rules: own.map(({ source }) => source) }
    this.#rules = allowed === 'ask' ? own : [...own, toRule(allowed)]
    this.#change.fire()
  }
}

function parsed(rules: unknown): PermissionRule[] {
  return readPermissionRules([{ scope: 'user', value: rules }]).rules.map(rule => ({
    ...rule,
    scope: 'session',
  }))
}

/** Returns the rule of a permission level. */
function toRule(accepts: 'edits' | 'everything'): PermissionRule {
  return {
    action: 'allow',
    ...(accepts === 'edits' && { kinds: new Set(['edit']) }),
    scope: 'session',
    position: 0,
    source: { ...(accepts === 'edits' && { kind: 'edit' }), action: 'allow' },
    accepts,
    text: accepts === 'edits' ? l10n.t('Accept Edits') : l10n.t('Accept Everything'),
  }
}
