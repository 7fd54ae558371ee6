import type { PermissionRequest, Roots } from '../../acp/model.ts'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import type { SettingProblem } from '../../agents/setting-problem.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { AnswerByRule, RuleAnswer } from '../../conversation/applied-rule.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import { type Links, PathGuard } from '../../editor/path-guard.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type { RuleConsent } from './consent.ts'
import { decide, look } from './judge.ts'
import { optionFor } from './option.ts'
import { RULES_SETTING, readPermissionRules } from './read-rules.ts'
import type { PermissionRule } from './rule.ts'
import { subjectOf } from './subject.ts'
import { type RuleSuggestion, suggestRules } from './suggest.ts'

/** A file system that does not answer must not keep a question from the person, in milliseconds. */
const LOOK_MS = 2000

export interface PermissionRulesParts {
  settings: SettingsSource
  /** In an untrusted workspace no rule counts. */
  trusted: () => boolean
  log: Logger
  /** Without it every rule counts. */
  consent?: Pick<RuleConsent, 'counts' | 'askAbout'>
  paths?: PathRules
  links?: Links
  /** how long looking at the disk may take, in milliseconds */
  lookMs?: number
}

/** The person's rules for permissions (`parley.permissionRules`): answers what they cover, and says what is wrong in them. */
export class PermissionRules extends Owner {
  readonly #parts: PermissionRulesParts
  readonly #paths: PathRules
  readonly #change = this.register(new Emitter<void>())
  #rules: PermissionRule[] = []
  #problems: SettingProblem[] = []

  /** Rules or problems are others. */
  readonly onDidChange = this.#change.event

  constructor(parts: PermissionRulesParts) {
    super()
    this.#parts = parts
    this.#paths = parts.paths ?? new PathRules()
    this.#read()
    this.register(parts.settings.onDidChange(() => this.#reread()))
  }

  get problems(): SettingProblem[] {
    return [...this.#problems]
  }

  /** The answers to the questions of one session. */
  answersFor(agentId: string, roots: () => Roots): AnswerByRule {
    return (request, tool, signal) =>
      this.#parts.trusted() && this.#rules.length > 0
        ? this.#answer(agentId, roots(), request, tool, signal)
        : undefined
  }

  /** Rules that would answer questions like this one, the narrowest first; none where no rule may count. */
  async suggest(
    agentId: string,
    roots: Roots,
    request: PermissionRequest,
    tool: ToolCallEntry | undefined,
  ): Promise<RuleSuggestion[]> {
    const subject = subjectOf(request, tool)
    if (!subject || !this.#parts.trusted()) return []
    const judged = await this.#look(() => look(subject, this.#guard(roots), this.#paths))
    return judged ? suggestRules(agentId, judged) : []
  }

  async #answer(
    agentId: string,
    roots: Roots,
    request: PermissionRequest,
    tool: ToolCallEntry | undefined,
    signal: AbortSignal,
  ): Promise<RuleAnswer | undefined> {
    const rule = await this.#ruleFor(agentId, roots, request, tool, signal)
    if (!rule || rule.action === 'ask' || signal.aborted || !this.#parts.trusted()) return undefined
    const option = optionFor(rule.action, request.options)
    if (!option) {
      this.#log(agentId, `${describe(rule)} fits, but the agent offers no such answer: ${request.title}`)
      return undefined
    }
    const { action, scope, folder, text } = rule
    this.#log(
      agentId,
      `${action === 'allow' ? 'Allowed' : 'Rejected'} by ${describe(rule)}: ${request.title}`,
    )
    return {
      optionId: option.optionId,
      rule: { action, scope, text, ...(folder !== undefined && { folder }) },
    }
  }

  async #ruleFor(
    agentId: string,
    roots: Roots,
    request: PermissionRequest,
    tool: ToolCallEntry | undefined,
    signal: AbortSignal,
  ): Promise<PermissionRule | undefined> {
    // taken before anything is waited for: the agent may change the tool call meanwhile
    const subject = subjectOf(request, tool)
    if (!subject) return undefined
    const rules = this.#rules
    const judged = await this.#look(() => look(subject, this.#guard(roots), this.#paths), signal)
    return judged && decide(rules, agentId, judged)
  }

  #guard(roots: Roots): PathGuard {
    const { links } = this.#parts
    return new PathGuard(roots, { rules: this.#paths, ...(links && { links }) })
  }

  /** `undefined` when it fails or takes too long. */
  async #look<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), this.#parts.lookMs ?? LOOK_MS)
      signal?.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    try {
      return await Promise.race([work(), late])
    } catch (error) {
      this.#parts.log.debug(`A permission could not be held against the rules: ${messageOf(error)}`)
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }

  #read(): void {
    const { rules, problems } = readPermissionRules(
      this.#parts.settings.layers(RULES_SETTING),
      this.#paths.platform,
    )
    const { consent } = this.#parts
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
    this.#parts.log.info(`${agentId}: ${message}`)
  }
}

function describe({ scope, folder, position, text }: PermissionRule): string {
  const where = scope === 'folder' ? `folder ${folder ?? ''}` : scope
  return `rule ${position + 1} of the ${where} settings (${text})`
}
