import * as l10n from '@vscode/l10n'
import { z } from 'zod'
import { type AgentDefinition, protocolChoices } from './definition.ts'
import { isPlainObject, layerOf, mergeLayers, type SettingLayer } from './setting-layers.ts'
import { describeIssue, issuePath, kindOf, type SettingProblem, settingProblem } from './setting-problem.ts'

const SETTING = 'parley.agents'

/** A text that can be a program's argument: no operating system takes one with a NUL in it. */
export const processText = z.string().refine(text => !text.includes('\0'), {
  error: () => l10n.t('expected a string without NUL characters, found one'),
})
export const filledText = processText.refine(text => text.trim() !== '', {
  error: () => l10n.t('expected a string that is not empty, found an empty string'),
})
export function notAnEnvironmentName(): string {
  return l10n.t('expected the name of an environment variable, found one that no system takes')
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
})
const known = new Set(Object.keys(agentEntry.shape))
/** What an agent starts as well without; a bad one is told and left out alone. */
const cosmetic = new Set<unknown>(['name', 'icon', 'protocol'])

/**
 * Reads `parley.agents`: an object of agents by id. The scopes' values are merged as VS Code merges objects, so that a
 * workspace can change one field of an agent in the user settings; each problem names the scope its value stands in.
 * A bad entry is left out, the others work. Unknown keys and bad names, icons or protocols are told and do no harm.
 *
 * @param wellKnown what a well-known agent of this id is called and looks like, when the entry does not say it
 */
export function readAgentSettings(
  layers: readonly SettingLayer[],
  wellKnown: (id: string) => { name: string; icon: string } | undefined = () => undefined,
): { agents: AgentDefinition[]; problems: SettingProblem[] } {
  const problems: SettingProblem[] = []
  for (const layer of layers) {
    if (layer.value === undefined || isPlainObject(layer.value)) continue
    const message = l10n.t('expected an object of agents by their ids, found {0}', kindOf(layer.value))
    problems.push(settingProblem(SETTING, [], layer, message))
  }

  const agents: AgentDefinition[] = []
  for (const [id, raw] of Object.entries(mergeLayers(layers))) {
    const found = readEntry(id, raw, layers, wellKnown(id))
    problems.push(...found.problems)
    if (found.agent) agents.push(found.agent)
  }
  return { agents, problems }
}

function readEntry(
  id: string,
  raw: unknown,
  layers: readonly SettingLayer[],
  defaults: { name: string; icon: string } | undefined,
): { agent?: AgentDefinition; problems: SettingProblem[] } {
  const problems: SettingProblem[] = []
  const problem = (path: Array<string | number>, message: string, fatal = true) => {
    const whole = [id, ...path]
    problems.push(settingProblem(SETTING, whole, layerOf(layers, whole), message, fatal))
  }
  if (id.trim() === '') {
    problem([], l10n.t('expected an id that is not empty, found an empty one'))
    return { problems }
  }
  if (!isPlainObject(raw)) {
    problem([], l10n.t('expected an object with a "command", found {0}', kindOf(raw)))
    return { problems }
  }

  const entry: Record<string, unknown> = { ...raw }
  for (const key of Object.keys(entry)) {
    if (known.has(key)) continue
    problem([key], l10n.t('there is no such option for an agent (known: {0})', [...known].join(', ')), false)
    delete entry[key]
  }
  let parsed = agentEntry.safeParse(entry)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const isCosmetic = cosmetic.has(issue.path[0])
      problem(issuePath(issue), describeIssue(issue, entry), !isCosmetic)
      if (isCosmetic) delete entry[String(issue.path[0])]
    }
    parsed = agentEntry.safeParse(entry)
  }
  if (!parsed.success) return { problems }

  const { name, command, args, env, cwd, icon, protocol } = parsed.data
  for (const key of Object.keys(env)) {
    if (isEnvironmentName(key)) continue
    problem(['env', key], notAnEnvironmentName())
    return { problems }
  }
  const agent: AgentDefinition = {
    id,
    name: (name ?? defaults?.name ?? id).trim(),
    command: command.trim(),
    args,
    env,
    source: 'settings',
  }
  if (protocol !== undefined) agent.protocol = protocol
  if (cwd !== undefined) agent.cwd = cwd.trim()
  const shown = icon ?? defaults?.icon
  if (shown !== undefined) agent.icon = shown.trim()
  return { agent, problems }
}
