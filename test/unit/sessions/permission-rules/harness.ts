import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PermissionOption, PermissionRequest, ToolCallPatch } from '../../../../src/acp/model.ts'
import type { SettingLayer } from '../../../../src/agents/setting-layers.ts'
import { Emitter } from '../../../../src/common/event.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import type { PathMapping } from '../../../../src/common/path-mapping.ts'
import type { SettingName } from '../../../../src/common/settings.ts'
import { toolCallOf } from '../../../../src/conversation/entries/tool-call.ts'
import { createSessionState } from '../../../../src/conversation/reducer/reducing-state.ts'
import type { Links } from '../../../../src/editor/path-guard.ts'
import { PathRules } from '../../../../src/editor/path-rules.ts'
import { ProtectedFiles } from '../../../../src/editor/protected-files.ts'
import {
  PermissionRules,
  type RuleConsent,
} from '../../../../src/sessions/permission-rules/permission-rules.ts'

export const OPTIONS: PermissionOption[] = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Once', kind: 'allow_once' },
  { optionId: 'never', name: 'Never', kind: 'reject_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]

interface Setup {
  options?: PermissionOption[]
  trusted?: boolean
  links?: Links
  lookMs?: number
  layers?: SettingLayer[]
  /** of the user, by name */
  settings?: Partial<Record<SettingName, unknown>>
  agentId?: string
  /** agents by their accounts */
  accountOf?: Readonly<Record<string, string>>
  consent?: RuleConsent
}

/**
 * Permission rules with real folders: `project`, with `src/a.ts` and a link `src/out` that leads out, and `other`.
 */
export class RulesHarness {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'parley-rules-')))
  readonly root = join(this.directory, 'project')
  /** As in a window, one for all requests: it asks Git only now and then. */
  readonly #protectedFiles = new ProtectedFiles(new PathRules())

  constructor() {
    mkdirSync(join(this.root, 'src'), { recursive: true })
    mkdirSync(join(this.directory, 'other'))
    writeFileSync(join(this.root, 'src/a.ts'), '')
    symlinkSync(this.directory, join(this.root, 'src/out'))
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  readonly roots = () => ({ cwd: this.root, additionalDirectories: [join(this.directory, 'other')] })

  /** The agent works on another machine. */
  isRemote = false
  /** The agent has these folders at other paths. */
  pathMappings: PathMapping[] | undefined
  readonly place = () => ({
    ...{ roots: this.roots(), isRemote: this.isRemote },
    ...(this.pathMappings && { pathMappings: this.pathMappings }),
  })

  rules(
    rules: unknown[],
    { trusted = true, links, lookMs, layers, settings, consent, accountOf }: Setup = {},
  ): PermissionRules {
    return new PermissionRules({
      settings: {
        layers: key => {
          if (key === 'permissionRules' && layers) return layers
          const values = { permissionRules: rules, ...settings }
          return key in values ? [{ scope: 'user', value: values[key as keyof typeof values] }] : []
        },
        onDidChange: new Emitter<void>().event,
      },
      trusted: () => trusted,
      log: silentLogger,
      protectedFiles: this.#protectedFiles,
      ...(consent && { consent }),
      ...(accountOf && { accountOf: agentId => accountOf[agentId] }),
      ...(links && { links }),
      ...(lookMs !== undefined && { lookMs }),
    })
  }

  /** What the rules answer: `allow once`, `reject no`, or `ask`. */
  readonly answer = async (rules: unknown[], asked: PermissionRequest, setup: Setup = {}) => {
    const answers = this.rules(rules, setup).answersFor(setup.agentId ?? 'one', this.place)
    const tool = toolCallOf(createSessionState(), asked)
    const request = { ...asked, options: setup.options ?? OPTIONS }
    const given = await answers(request, tool, new AbortController().signal)
    return given && 'rule' in given ? `${given.rule.action} ${given.optionId}` : 'ask'
  }

  /** Why a rule that matches doesn't allow the request. */
  readonly refusal = async (rules: unknown[], asked: PermissionRequest) => {
    const answers = this.rules(rules).answersFor('one', this.place)
    const tool = toolCallOf(createSessionState(), asked)
    const given = await answers({ ...asked, options: OPTIONS }, tool, new AbortController().signal)
    return given && 'refusal' in given ? given.refusal : undefined
  }

  /** The suggested rules for a request, in short. */
  readonly offers = async (asked: PermissionRequest) => {
    const tool = toolCallOf(createSessionState(), asked)
    return (await this.rules([]).suggest('one', this.place(), asked, tool)).map(({ text }) => text)
  }

  readonly edit = (...paths: string[]) =>
    request({ kind: 'edit', title: 'Edit', locations: paths.map(path => ({ path: join(this.root, path) })) })
}

export const request = (toolCall: Partial<ToolCallPatch>): PermissionRequest => ({
  sessionId: 's',
  title: 'May I?',
  subject: { type: 'tool_call', toolCall: { toolCallId: 't', ...toolCall } },
  options: OPTIONS,
})

export const command = (line: string, more: Record<string, unknown> = {}): PermissionRequest =>
  request({ kind: 'execute', title: line, rawInput: { command: line, ...more } })
