import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { isRecord } from '../common/is-record.ts'
import { protocolChoices } from '../common/settings.ts'
import { type AgentDefinition, systemPromptSetting } from './definition.ts'
import { layerOf, mergeLayers, type SettingLayer } from './setting-layers.ts'
import {
  describeIssue,
  issuePath,
  kindOf,
  type SettingProblem,
  settingProblem,
  withoutHuge,
} from './setting-problem.ts'

const SETTING = 'parley.agents'

/** A string that can be a program's argument: no operating system accepts a NUL in it. */
export const processText = z.string().refine(text => !text.includes('\0'), {
  error: () => l10n.t('expected a string without NUL characters, found one'),
})
export const filledText = processText.refine(text => text.trim() !== '', {
  error: () => l10n.t('expected a non-empty string, found an empty one'),
})
export function notAnEnvironmentName(): string {
  return l10n.t('expected the name of an environment variable, found an invalid name')
}
/** Names an environment variable. */
export function isEnvironmentName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0')
}

const agentEntry = z.object({
  name: filledText.optional(),
  command: filledText,
  args: z.array(processText).default([]),
  env: z.record(z.string(), processText).default({}),
  cwd: filledText.optional(),
  icon: filledText.optional(),
  protocol: z.enum(protocolChoices).optional(),
  systemPrompt: systemPromptSetting.optional(),
  defaultOptions: z
    .record(
      z.string(),
      z.union([z.string(), z.boolean()], {
        error: ({ input }) => l10n.t('expected a string, true or false, found {0}', kindOf(input)),
      }),
    )
    .optional(),
})
/** Settings of a well-known agent that don't set a command. */
const agentChange = agentEntry
  .partial()
  .omit({ command: true })
  .extend({
    args: z.array(processText).optional(),
    env: z.record(z.string(), processText).optional(),
  })
const known = new Set(Object.keys(agentEntry.shape))
/** Properties that an agent can start without: an invalid one is reported and ignored. */
const cosmetic = new Set<unknown>(['name', 'icon', 'protocol', 'systemPrompt', 'defaultOptions'])

export type AgentChange = Partial<
  Pick<
    AgentDefinition,
    'name' | 'args' | 'env' | 'cwd' | 'icon' | 'protocol' | 'systemPrompt' | 'defaultOptions'
  >
>

export interface AgentSettings {
  agents: AgentDefinition[]
  /** by id: settings of well-known agents that keep Parley's command */
  changes: ReadonlyMap<string, AgentChange>
  problems: SettingProblem[]
}

/**
 * Reads `parley.agents`: an object of agents by id. The scopes' values are merged as VS Code merges objects, so that a
 * workspace can change one field of an agent in the user settings; each problem names the scope of its value.
 * An entry without a command changes the well-known agent with its id. An invalid entry is left out and the others work.
 * Unknown keys and invalid names, icons or protocols are reported and ignored.
 *
 * @param wellKnown the name and icon of a well-known agent with this id, used if the entry has none
 */
export function readAgentSettings(
  all: readonly SettingLayer[],
  wellKnown: (id: string) => { name: string; icon: string } | undefined = () => undefined,
): AgentSettings {
  const problems: SettingProblem[] = []
  const layers = withoutHuge(SETTING, all, problems)
  for (const layer of layers) {
    if (layer.value === undefined || isRecord(layer.value)) continue
    const message = l10n.t('expected an object with agents by ID, found {0}', kindOf(layer.value))
    problems.push(settingProblem(SETTING, [], layer, message))
  }

  const agents: AgentDefinition[] = []
  const changes = new Map<string, AgentChange>()
  for (const [id, raw] of Object.entries(mergeLayers(layers))) {
    const found = readEntry(id, raw, layers, wellKnown(id))
    problems.push(...found.problems)
    if (found.agent) agents.push(found.agent)
    if (found.change) changes.set(id, found.change)
  }
  return { agents, changes, problems }
}

function readEntry(
  id: string,
  raw: unknown,
  layers: readonly SettingLayer[],
  defaults: { name: string; icon: string } | undefined,
): { agent?: AgentDefinition; change?: AgentChange; problems: SettingProblem[] } {
  const problems: SettingProblem[] = []
  const problem = (path: Array<string | number>, message: string, fatal = true) => {
    const whole = [id, ...path]
    problems.push(settingProblem(SETTING, whole, layerOf(layers, whole), message, fatal))
  }
  if (id.trim() === '') {
    problem([], l10n.t('expected a non-empty ID, found an empty one'))
    return { problems }
  }
  if (!isRecord(raw)) {
    problem([], l10n.t('expected an object with a "command", found {0}', kindOf(raw)))
    return { problems }
  }

  const entry: Record<string, unknown> = { ...raw }
  for (const key of Object.keys(entry)) {
    if (known.has(key)) continue
    problem([key], l10n.t('unknown agent option (known: {0})', [...known].join(', ')), false)
    delete entry[key]
  }
  const isChange = entry.command === undefined && (defaults !== undefined || isOnlyDefaults(entry))
  const schema = isChange ? agentChange.extend({ command: z.undefined().optional() }) : agentEntry
  let parsed = schema.safeParse(entry)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const isCosmetic = cosmetic.has(issue.path[0])
      problem(issuePath(issue), describeIssue(issue, entry), !isCosmetic)
      if (isCosmetic) dropInvalid(entry, issue.path)
    }
    parsed = schema.safeParse(entry)
  }
  if (!parsed.success) return { problems }

  const { name, command, args, env, cwd, icon, protocol, systemPrompt, defaultOptions } = parsed.data
  for (const key of Object.keys(env ?? {})) {
    if (isEnvironmentName(key)) continue
    problem(['env', key], notAnEnvironmentName())
    return { problems }
  }
  if (command === undefined) {
    const change = { name, args, env, cwd, icon, protocol, systemPrompt, defaultOptions }
    return { change: withoutAbsent(change), problems }
  }
  const agent: AgentDefinition = {
    id,
    name: (name ?? defaults?.name ?? id).trim(),
    command: command.trim(),
    args: args ?? [],
    env: env ?? {},
    source: 'settings',
  }
  if (protocol !== undefined) agent.protocol = protocol
  if (systemPrompt !== undefined) agent.systemPrompt = systemPrompt
  if (defaultOptions !== undefined) agent.defaultOptions = defaultOptions
  if (cwd !== undefined) agent.cwd = cwd.trim()
  const shown = icon ?? defaults?.icon
  if (shown !== undefined) agent.icon = shown.trim()
  return { agent, problems }
}

/** Such an entry stays when its agent is removed. */
function isOnlyDefaults(entry: Record<string, unknown>): boolean {
  return Object.keys(entry).join() === 'defaultOptions'
}

/** Of several default options, only the invalid one is dropped. */
function dropInvalid(entry: Record<string, unknown>, [key, option]: readonly PropertyKey[]): void {
  const { defaultOptions } = entry
  if (key !== 'defaultOptions' || option === undefined || !isRecord(defaultOptions)) delete entry[String(key)]
  else
    entry.defaultOptions = Object.fromEntries(
      Object.entries(defaultOptions).filter(([name]) => name !== option),
    )
}

function withoutAbsent(change: AgentChange): AgentChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
