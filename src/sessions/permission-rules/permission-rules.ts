import { createHash } from 'node:crypto'
import type { PermissionOption, PermissionRequest, Roots } from '../../acp/model.ts'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import type { SettingProblem } from '../../agents/setting-problem.ts'
import { type Allowance, allowances } from '../../common/allowance.ts'
import { raceAbort, withTimeout } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { RULE_CHECK_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import type { PathMapping } from '../../common/path-mapping.ts'
import type { AnswerByRule, RuleAnswer, RuleRefusal, ToolCallEntry } from '../../conversation/state.ts'
import { type Links, PathGuard } from '../../editor/path-guard.ts'
import { PathRules } from '../../editor/path-rules.ts'
import { ProtectedFiles } from '../../editor/protected-files.ts'
import { type AnalyzedRequest, analyze, applicableRule, IN_FILES, refusingRule } from './match-rules.ts'
import { readPermissionRules } from './read-rules.ts'
import { type RuleSubject, subjectOf } from './request-subject.ts'
import { type PermissionRule, type PermissionRuleSetting, refusalText } from './rule.ts'
import type { SessionAllowance } from './session-allowance.ts'
import { type RuleSuggestion, suggestRules } from './suggest.ts'

/** Where the session or subagent that requests permission works. */
export interface RequestPlace {
  /** roots of the session */
  roots: Roots
  /** directory of a subagent, if it isn't the session's */
  cwd?: string
  /** Whether the files are on another machine, whatever their paths are. */
  isRemote?: boolean
  /** If present, paths belong to another machine, except in these folders. */
  pathMappings?: readonly PathMapping[]
}

export interface PermissionRulesOptions {
  settings: SettingsSource
  /** In an untrusted workspace, no rules apply. A window never loses its trust. */
  trusted: () => boolean
  log: Logger
  /** Decides which rules of the workspace the user accepts; if absent, all rules apply. */
  consent?: Pick<RuleConsent, 'counts' | 'askAbout'>
  paths?: PathRules
  protectedFiles?: ProtectedFiles
  /** Returns the agent of an account: rules for that agent also apply to the account. */
  accountOf?: (agentId: string) => string | undefined
  links?: Links
  /** time limit for accessing the disk, in milliseconds */
  lookMs?: number
}

/** The user's rules for permissions (`parley.permissionRules`): answers the requests that they match, and reports problems in them. */
export class PermissionRules extends Owner {
  readonly #options: PermissionRulesOptions
  readonly #paths: PathRules
  readonly #protected: ProtectedFiles
  readonly #change = this.register(new Emitter<void>())
  /** in the order of the scopes, including rules that are inactive until the user allows them */
  #all: PermissionRule[] = []
  #rules: PermissionRule[] = []
  #problems: SettingProblem[] = []
  #isEverythingOff = false
  /** rules that were reported because they allow nothing: each is reported once */
  readonly #reported = new Set<string>()

  /** Fires when the rules or the problems in them changed. */
  readonly onDidChange = this.#change.event

  constructor(options: PermissionRulesOptions) {
    super()
    this.#options = options
    this.#paths = options.paths ?? new PathRules()
    this.#protected = options.protectedFiles ?? new ProtectedFiles(this.#paths)
    this.#read()
    this.register(options.settings.onDidChange(() => this.#reread()))
  }

  /** Returns all rules of the settings, including rules that are inactive until the user allows them. */
  list(): PermissionRule[] {
    return [...this.#all]
  }

  get problems(): SettingProblem[] {
    return [...this.#problems]
  }

  /** Returns the permission levels that the user can choose for a session, besides *Ask*. */
  allowances(): Allowance[] {
    if (!this.#options.trusted()) return []
    return allowances.filter(one => one !== 'ask' && !(one === 'everything' && this.#isEverythingOff))
  }

  /** Returns a function that answers permission requests of a session and its subagents. `allowance`: the session's permissions. */
  answersFor(
    agentId: string,
    placeOf: (sessionId: string) => RequestPlace,
    allowance?: Pick<SessionAllowance, 'rules'>,
  ): AnswerByRule {
    return (request, tool, signal) => {
      if (!this.#options.trusted()) return undefined
      const offered = this.allowances()
      const own = (allowance?.rules ?? []).filter(
        ({ accepts }) => !accepts || (offered.includes(accepts) && !isQuestion(request.options)),
      )
      const rules = [...this.#applicableRules(agentId), ...own]
      if (rules.length === 0) return undefined
      const stillApplies = (rule: PermissionRule) =>
        rule.scope !== 'session' || allowance?.rules.includes(rule) === true
      const place = placeOf(request.sessionId)
      return this.#answer({ agentId, place, rules, stillApplies, request, tool, signal })
    }
  }

  #applicableRules(agentId: string): PermissionRule[] {
    const of = this.#options.accountOf?.(agentId)
    if (of === undefined) return this.#rules
    return this.#rules.map(rule => (rule.agent === of ? { ...rule, agent: agentId } : rule))
  }

  /** Resolves to suggested rules that would allow requests like this one, the narrowest rule first; empty if no rule may allow them. */
  async suggest(
    agentId: string,
    place: RequestPlace,
    request: PermissionRequest,
    tool: ToolCallEntry | undefined,
  ): Promise<RuleSuggestion[]> {
    const subject = subjectOf(request, tool, this.#paths.platform)
    if (!subject || !this.#options.trusted()) return []
    const analyzed = await this.#analyze(subject, place)
    return analyzed ? suggestRules(agentId, analyzed) : []
  }

  async #answer(asked: Asked): Promise<RuleAnswer | RuleRefusal | undefined> {
    const { agentId, request, signal, stillApplies } = asked
    const rule = await this.#ruleFor(asked)
    if (!rule || signal.aborted) return undefined
    if ('refusal' in rule) return rule
    if (rule.action === 'ask' || !stillApplies(rule)) return undefined
    const option = optionFor(rule.action, request.options)
    if (!option) {
      this.#log(agentId, `${describe(rule)} fits, but the agent offers no such answer: ${request.title}`)
      return undefined
    }
    const { action, scope, folder, text, accepts } = rule
    this.#log(
      agentId,
      `${action === 'allow' ? 'Allowed' : 'Rejected'} by ${describe(rule)}: ${request.title}`,
    )
    return {
      optionId: option.optionId,
      rule: { action, scope, text, ...(folder !== undefined && { folder }), ...(accepts && { accepts }) },
    }
  }

  async #ruleFor(asked: Asked): Promise<PermissionRule | RuleRefusal | undefined> {
    const { agentId, place, rules, request, tool, signal } = asked
    // read before waiting, since the agent may change the tool call meanwhile
    const subject = subjectOf(request, tool, this.#paths.platform)
    if (!subject) return undefined
    const analyzed = await this.#analyze(subject, place, signal)
    if (!analyzed) return undefined
    const applicable = applicableRule(rules, agentId, analyzed)
    if (applicable) return applicable
    const refused = refusingRule(rules, agentId, analyzed)
    if (!refused || signal.aborted) return undefined
    if (refused.refusal.why === 'program') {
      const rule = digest(refused.rule.source)
      if (this.#reported.has(rule)) return undefined
      this.#reported.add(rule)
    }
    return { refusal: refusalText(refused.rule.text, refused.refusal) }
  }

  /** Analyzes the subject. Resolves to `undefined` if the analysis fails or takes too long. */
  async #analyze(
    subject: RuleSubject,
    { roots, cwd, isRemote = false, pathMappings }: RequestPlace,
    signal?: AbortSignal,
  ): Promise<AnalyzedRequest | undefined> {
    const { links } = this.#options
    const rules = this.#paths
    const guard = new PathGuard(roots, { rules, ...(links && { links }), ...(cwd !== undefined && { cwd }) })
    // a request about files that names no path is about the whole folder
    const isOfCwd =
      subject.shown.includes('execute') || (IN_FILES.has(subject.kind) && subject.paths.length === 0)
    const placed = cwd !== undefined && isOfCwd ? { ...subject, cwd: subject.cwd ?? cwd } : subject
    const work = analyze(placed, {
      ...{ guard, rules, protectedFiles: this.#protected, isRemote },
      ...(pathMappings && { pathMappings }),
    })
    try {
      return await withTimeout(raceAbort(work, signal), this.#options.lookMs ?? RULE_CHECK_MS)
    } catch (error) {
      if (signal?.aborted) return undefined
      this.#options.log.debug(
        `A permission request couldn't be checked against the rules: ${messageOf(error)}`,
      )
      return undefined
    }
  }

  #read(): void {
    const { rules, problems } = readPermissionRules(
      this.#options.settings.layers('permissionRules'),
      this.#paths.platform,
    )
    const { consent, settings } = this.#options
    this.#isEverythingOff = settings.layers('acceptEverything').some(({ value }) => value === false)
    this.#all = rules
    this.#rules = consent ? rules.filter(rule => consent.counts(rule)) : rules
    this.#problems = problems
    const waiting = rules.filter(rule => !this.#rules.includes(rule))
    if (waiting.length > 0) consent?.askAbout(waiting, () => this.#reread())
  }

  #reread(): void {
    this.#read()
    this.#change.fire()
  }

  #log(agentId: string, message: string): void {
    this.#options.log.info(`${agentId}: ${message}`)
  }
}

interface Asked {
  agentId: string
  place: RequestPlace
  rules: readonly PermissionRule[]
  /** Whether a rule still applies: the user may turn off the switch at the composer while a request is checked. */
  stillApplies: (rule: PermissionRule) => boolean
  request: PermissionRequest
  tool: ToolCallEntry | undefined
  signal: AbortSignal
}

/** Whether there are several ways to allow the request, a choice that only the user can make. */
function isQuestion(options: readonly PermissionOption[]): boolean {
  return options.filter(({ kind }) => kind === 'allow_once').length > 1
}

/** Returns the option that a rule selects, which applies only once. Returns `undefined` if the user must be asked. */
export function optionFor(
  action: 'allow' | 'reject',
  options: readonly PermissionOption[],
): PermissionOption | undefined {
  return options.find(({ kind }) => kind === `${action}_once`)
}

function describe({ scope, folder, position, text, accepts }: PermissionRule): string {
  if (accepts) return `the switch of the session (${text})`
  if (scope === 'session') return `a rule of the session (${text})`
  const where = scope === 'folder' ? `folder ${folder ?? ''}` : scope
  return `rule ${position + 1} of the ${where} settings (${text})`
}

const ACCEPTED_RULES = 'parley.acceptedRules'
const MAX_ACCEPTED = 500

/**
 * The allowing rules in the workspace settings that the user has accepted. Agents can write the settings file, so without consent an agent
 * could allow itself anything.
 */
export class RuleConsent {
  readonly #store: KeyValueStore
  readonly #ask: (rules: readonly PermissionRule[], accept: () => void) => void
  readonly #asked = new Set<string>()

  /** `ask` shows rules that aren't allowed yet; `accept` allows them. */
  constructor(store: KeyValueStore, ask: (rules: readonly PermissionRule[], accept: () => void) => void) {
    this.#store = store
    this.#ask = ask
  }

  /** Whether the rule applies: it's in the user settings, it doesn't allow anything, or the user has accepted it. */
  counts(rule: PermissionRule): boolean {
    return rule.action !== 'allow' || rule.scope === 'user' || this.#accepted().includes(digest(rule.source))
  }

  accept(settings: readonly PermissionRuleSetting[]): void {
    const all = new Set([...this.#accepted(), ...settings.map(digest)])
    this.#store.set(ACCEPTED_RULES, [...all].slice(-MAX_ACCEPTED))
  }

  /** Asks the user about ignored rules, once about each rule. */
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
    const stored = this.#store.get<unknown>(ACCEPTED_RULES)
    return Array.isArray(stored) ? stored.filter(one => typeof one === 'string') : []
  }
}

/** Returns a key that is the same for equal rules, regardless of the order of their properties. */
function digest(rule: PermissionRuleSetting): string {
  const parts = Object.entries(rule).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
