import * as l10n from '@vscode/l10n'
import picomatch from 'picomatch'
import * as z from 'zod'
import { filledText } from '../../agents/agent-settings.ts'
import type { SettingLayer } from '../../agents/setting-layers.ts'
import {
  describeIssue,
  issuePath,
  jsonKind,
  type SettingProblem,
  settingProblem,
  withoutHuge,
} from '../../agents/setting-problem.ts'
import { isRecord } from '../../common/is-record.ts'
import { foldsCase, hostPlatform } from '../../common/platform.ts'
import { TOOL_KINDS } from '../../common/tool-kinds.ts'
import { parseCommandPattern } from './command-line.ts'
import { type PermissionRule, type PermissionRuleSetting, ruleActions } from './rule.ts'

const SETTING = 'parley.permissionRules'

const entry = z.object({
  agent: filledText.optional(),
  kind: z
    .union([filledText, z.array(filledText).min(1)], {
      error: () => l10n.t('expected a tool kind or an array of tool kinds, found another value'),
    })
    .optional(),
  command: filledText.optional(),
  path: filledText.optional(),
  tool: filledText.optional(),
  action: z.enum(ruleActions),
})
const known = Object.keys(entry.shape)

/**
 * Reads `parley.permissionRules`, an array in each scope: rules of a workspace folder come first, then the workspace's, then the user's;
 * within a scope, rules stay in their order. Ignores invalid rules, including rules with an unknown condition, since a rule must not match
 * more than intended. The other rules apply.
 */
export function readPermissionRules(
  layers: readonly SettingLayer[],
  platform: NodeJS.Platform = hostPlatform,
): { rules: PermissionRule[]; problems: SettingProblem[] } {
  const rules: PermissionRule[] = []
  const problems: SettingProblem[] = []
  for (const layer of withoutHuge(SETTING, layers, problems).reverse()) {
    if (layer.value === undefined || layer.scope === 'default') continue
    if (!Array.isArray(layer.value)) {
      const message = l10n.t('expected an array of rules, found {0}', jsonKind(layer.value))
      problems.push(settingProblem(SETTING, [], layer, message))
      continue
    }
    for (const [position, raw] of layer.value.entries()) {
      const rule = readRule(raw, position, layer, problems, platform)
      if (rule) rules.push(rule)
    }
  }
  return { rules, problems }
}

/** Returns why a rule is invalid, as a sentence; `undefined` if it's valid. */
export function problemOfRule(rule: PermissionRuleSetting): string | undefined {
  const { problems } = readPermissionRules([{ scope: 'user', value: [rule] }])
  return problems[0] && l10n.t('Invalid: {0}.', problems[0].message)
}

function readRule(
  raw: unknown,
  position: number,
  layer: SettingLayer,
  problems: SettingProblem[],
  platform: NodeJS.Platform,
): PermissionRule | undefined {
  const problem = (path: Array<string | number>, message: string, fatal = true): undefined => {
    problems.push(settingProblem(SETTING, [position, ...path], layer, message, fatal))
  }
  if (!isRecord(raw))
    return problem([], l10n.t('expected an object with an "action", found {0}', jsonKind(raw)))
  const strange = Object.keys(raw).find(key => !known.includes(key))
  if (strange !== undefined) {
    return problem([strange], l10n.t('unknown rule property (known: {0})', known.join(', ')))
  }
  const parsed = entry.safeParse(raw)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problem(issuePath(issue), describeIssue(issue, raw))
    return undefined
  }
  const setting = parsed.data
  const agent = setting.agent === undefined || setting.agent.trim() === '*' ? undefined : setting.agent.trim()
  const { kind, command, path, tool, action } = setting
  if ([agent, kind, command, path, tool].every(condition => condition === undefined)) {
    return problem(
      [],
      l10n.t(
        'expected an agent, a kind, a command, a path or a tool: without a condition, the rule would match everything',
      ),
    )
  }
  const kinds = kind === undefined ? undefined : new Set(typeof kind === 'string' ? [kind] : kind)
  for (const one of kinds ?? []) {
    if ((TOOL_KINDS as readonly string[]).includes(one)) continue
    const message = l10n.t('unknown tool kind {0} (known: {1})', JSON.stringify(one), TOOL_KINDS.join(', '))
    problem(['kind'], message, false)
  }
  const pattern = command === undefined ? undefined : parseCommandPattern(command, platform)
  if (command !== undefined && !pattern) {
    return problem(
      ['command'],
      l10n.t('expected one command without shell operators, such as "git log *", found another value'),
    )
  }
  const glob = path === undefined ? undefined : compileGlob(path, platform)
  if (path !== undefined && !glob) {
    return problem(
      ['path'],
      l10n.t('expected a path pattern within the session\'s folders, such as "src/**", found another value'),
    )
  }
  const { scope, folder } = layer
  return {
    action,
    ...(agent !== undefined && { agent }),
    ...(kinds && { kinds }),
    ...(pattern && { command: pattern }),
    ...(glob && { path: glob }),
    ...(tool !== undefined && { tool: toolMatcher(tool) }),
    scope: scope === 'default' ? 'user' : scope,
    ...(folder !== undefined && { folder }),
    position,
    source: setting,
    text: ruleText(setting),
  }
}

/** Returns a rule's conditions in a few words. */
export function ruleText({
  agent,
  kind,
  command,
  path,
  tool,
}: Omit<PermissionRuleSetting, 'action'>): string {
  const kinds = typeof kind === 'string' ? kind : kind?.join(', ')
  const parts = [tool, kinds, command, path].filter(part => part !== undefined && part !== '')
  return parts.length > 0 ? parts.join(' ') : (agent ?? '*')
}

/** Returns a function that matches the names of tools. `tool`: a name such as `vscode.rename_symbol`, or a prefix such as `vscode.*`. */
function toolMatcher(tool: string): (name: string) => boolean {
  const plain = tool.trim()
  if (!plain.endsWith('*')) return name => name === plain
  const start = plain.slice(0, -1)
  return name => name.startsWith(start)
}

/** Returns a function that matches paths relative to a root; `undefined` for a pattern that leads outside of the root. */
function compileGlob(
  pattern: string,
  platform: NodeJS.Platform,
): ((relative: string) => boolean) | undefined {
  const plain = pattern.trim().replace(/^(?:\.\/)+/, '')
  // a backslash is an escape character, as usual in globs
  if (plain === '' || /^[/~]|^[A-Za-z]:[\\/]|(?:^|[/{,(|\\])\.\.(?:[/},)|\\]|$)/.test(plain)) return undefined
  try {
    const fits = picomatch(plain, {
      dot: true,
      nonegate: true,
      strictBrackets: true,
      nocase: foldsCase(platform),
    })
    // only `**` also matches the root itself
    return plain === '**' ? () => true : fits
  } catch {
    return undefined
  }
}
