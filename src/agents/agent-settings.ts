import { homedir } from 'node:os'
import { isAbsolute, normalize, resolve } from 'node:path'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { AGENT_COLORS } from '../common/agent-icon.ts'
import { isRecord } from '../common/is-record.ts'
import { isMappedRoot } from '../common/path-mapping.ts'
import { protocolChoices } from '../common/settings.ts'
import { type AgentAccount, type AgentDefinition, systemPromptSetting } from './definition.ts'
import { isWebAddress } from './registry/secure-fetch.ts'
import { expandHome } from './resolve-launch.ts'
import { layerOf, mergeLayers, type SettingLayer, type SettingsSource, valueAt } from './setting-layers.ts'
import {
  describeIssue,
  issuePath,
  jsonKind,
  type SettingProblem,
  settingProblem,
  withoutHuge,
} from './setting-problem.ts'

/** The full id of the setting. */
export const AGENTS_SETTING = 'parley.agents'

/** A string that can be a program's argument. No operating system accepts a NUL character in an argument. */
export const processText = z.string().refine(text => !text.includes('\0'), {
  error: () => l10n.t('expected a string without NUL characters, found one'),
})
export const filledText = processText.refine(text => text.trim() !== '', {
  error: () => l10n.t('expected a non-empty string, found an empty one'),
})
export function notAnEnvironmentName(): string {
  return l10n.t('expected the name of an environment variable, found an invalid name')
}
/** Whether a text can be the name of an environment variable. */
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
  color: z.enum(AGENT_COLORS).optional(),
  protocol: z.enum(protocolChoices).optional(),
  systemPrompt: systemPromptSetting.optional(),
  defaultOptions: z
    .record(
      z.string(),
      z.union([z.string(), z.boolean()], {
        error: ({ input }) => l10n.t('expected a string, true or false, found {0}', jsonKind(input)),
      }),
    )
    .optional(),
})
/** The maximum number of path mappings. Each path of an agent is compared with all of them. */
const MAX_MAPPINGS = 100
const ofProcess = { command: true, args: true, env: true, cwd: true } as const
/** The schema of an agent on a server. */
const remoteEntry = agentEntry.omit(ofProcess).extend({
  url: filledText
    .transform(url => url.trim())
    .refine(url => url.includes('${') || isAgentAddress(url), {
      error: () =>
        l10n.t('expected a wss or https URL, or a ws or http URL of this machine, without a user name'),
    }),
  headers: z.record(z.string(), processText).default({}),
  sharesFiles: z.boolean().default(false),
  pathMappings: z
    .array(z.object({ localRoot: mappedRoot('local'), remoteRoot: mappedRoot('remote') }))
    .max(MAX_MAPPINGS)
    .default([]),
})
const ofRemote = ['url', 'headers', 'sharesFiles', 'pathMappings']

/** Returns the schema of a mapped folder's path. A path with variables is checked when the agent starts. */
function mappedRoot(side: 'local' | 'remote') {
  return filledText
    .transform(root => root.trim())
    .refine(root => root.includes('${') || isMappedRoot(root, side), {
      error: () => l10n.t('expected an absolute path'),
    })
}

/** Whether a text is the URL of an agent on a server. An unencrypted URL is allowed only for this machine. */
export function isAgentAddress(url: string): boolean {
  return /^(?:ws|http)s?:/i.test(url) && isWebAddress(url.replace(/^ws/i, 'http'))
}

/** The schema of an entry that changes a well-known agent but not its command. */
const agentChange = agentEntry
  .partial()
  .omit({ command: true })
  .extend({
    args: z.array(processText).optional(),
    env: z.record(z.string(), processText).optional(),
  })
/**
 * The schema of an account's folder. Variables aren't allowed: the folder would depend on the window, and the session would use another
 * account.
 */
const accountFolder = filledText
  .transform(folder => expandHome(folder.trim(), homedir()))
  .refine(folder => isAbsolute(folder) && !folder.includes('${'), {
    error: () => l10n.t('expected an absolute path without variables, or one that begins with ~/'),
  })
  .transform(normalize)
const accountEntry = agentChange.extend({ account: z.object({ of: filledText, folder: accountFolder }) })
const known = new Set([...Object.keys(agentEntry.shape), ...ofRemote, 'account'])
/** Properties without which an agent can start. If such a property is invalid, it's reported and ignored. */
const cosmetic = new Set<unknown>(['name', 'icon', 'color', 'protocol', 'systemPrompt', 'defaultOptions'])

export type AgentChange = Partial<
  Pick<
    AgentDefinition,
    'name' | 'args' | 'env' | 'cwd' | 'icon' | 'color' | 'protocol' | 'systemPrompt' | 'defaultOptions'
  >
>

/** An entry for an account of another agent. */
export interface AccountEntry {
  id: string
  /** Absent if the account isn't valid. */
  account?: AgentAccount
  /** The properties that differ from the account's agent. */
  change: AgentChange
  /** Why the account can't be used. Such an account must not start with the agent's own configuration, which belongs to another account. */
  problem?: SettingProblem
}

export interface AgentSettings {
  agents: AgentDefinition[]
  /** by id: changes of well-known agents that keep Parley's command */
  changes: ReadonlyMap<string, AgentChange>
  accounts: AccountEntry[]
  problems: SettingProblem[]
}

/**
 * Reads `parley.agents`: an object of agents by id. The scopes' values are merged as VS Code merges objects, so that a workspace can change
 * a single field of an agent in the user settings. Each problem names the scope of its value. An entry without a command changes the
 * well-known agent with its id. An invalid entry is omitted, and the other entries are used. Unknown keys and invalid names, icons or
 * protocols are reported and ignored. Only the user settings can define accounts.
 *
 * @param wellKnown returns the name and the icon of a well-known agent, which are used if the entry has none
 */
export function readAgentSettings(
  all: readonly SettingLayer[],
  wellKnown: (id: string) => { name: string; icon: string } | undefined = () => undefined,
): AgentSettings {
  const problems: SettingProblem[] = []
  const layers = accountsOfUserOnly(withoutHuge(AGENTS_SETTING, all, problems), problems)
  for (const layer of layers) {
    if (layer.value === undefined || isRecord(layer.value)) continue
    const message = l10n.t('expected an object with agents by ID, found {0}', jsonKind(layer.value))
    problems.push(settingProblem(AGENTS_SETTING, [], layer, message))
  }

  const agents: AgentDefinition[] = []
  const changes = new Map<string, AgentChange>()
  const accounts: AccountEntry[] = []
  for (const [id, raw] of Object.entries(mergeLayers(layers))) {
    const found = readEntry(id, raw, layers, wellKnown(id))
    problems.push(...found.problems)
    if (found.agent) agents.push(found.agent)
    if (found.change) changes.set(id, found.change)
    if (found.account) accounts.push(found.account)
  }
  checkAccounts(accounts, layers, problems)
  return { agents, changes, accounts, problems }
}

/** Returns the folders of the user's accounts, or only those of one agent's accounts. */
export function accountFolders(settings: Pick<SettingsSource, 'layers'>, agentId?: string): string[] {
  return readAgentSettings(settings.layers('agents')).accounts.flatMap(({ account }) =>
    account && (agentId === undefined || account.of === agentId) ? account.folder : [],
  )
}

/** Reports problems between several accounts. */
function checkAccounts(
  accounts: readonly AccountEntry[],
  layers: readonly SettingLayer[],
  problems: SettingProblem[],
): void {
  const ids = new Set(accounts.map(({ id }) => id))
  const places = new Set<string>()
  for (const entry of accounts) {
    if (!entry.account) continue
    const { of, folder } = entry.account
    const problem = (key: string, message: string) => {
      const path = [entry.id, 'account', key]
      entry.problem = settingProblem(AGENTS_SETTING, path, layerOf(layers, path), message)
      problems.push(entry.problem)
    }
    const place = `${of} ${resolve(folder)}`
    if (ids.has(of)) problem('of', l10n.t("expected an agent that isn't an account itself"))
    else if (places.has(place)) problem('folder', l10n.t('expected a folder that no other account has'))
    places.add(place)
  }
}

/** The properties by which users distinguish accounts. */
const SHOWN = ['name', 'icon', 'color']

/**
 * Removes what a workspace sets about accounts. A workspace must not define an account, move the user's account to another folder or agent,
 * or make one account look like another: prompts would go to somebody else's account, or the wrong account would pay.
 */
function accountsOfUserOnly(layers: readonly SettingLayer[], problems: SettingProblem[]): SettingLayer[] {
  const isOfUser = ({ scope }: SettingLayer) => scope === 'default' || scope === 'user'
  const isUserAccount = (id: string) =>
    layers.some(layer => isOfUser(layer) && valueAt(layer.value, [id, 'account']) !== undefined)
  return layers.map(layer => {
    if (isOfUser(layer) || !isRecord(layer.value)) return layer
    const refused = (path: string[]) =>
      problems.push(
        settingProblem(
          AGENTS_SETTING,
          path,
          layer,
          l10n.t('accounts are defined in user settings only'),
          false,
        ),
      )
    const entries = Object.entries(layer.value).flatMap(([id, entry]): Array<[string, unknown]> => {
      const isAccount = isUserAccount(id)
      if (!isRecord(entry)) {
        if (!isAccount) return [[id, entry]]
        refused([id])
        return []
      }
      const wrong = ['account', ...(isAccount ? SHOWN : [])].filter(key => Object.hasOwn(entry, key))
      for (const key of wrong) refused([id, key])
      const others = Object.entries(entry).filter(([key]) => !wrong.includes(key))
      const isUsable = isAccount || wrong.length === 0 || others.length > 0
      return isUsable ? [[id, Object.fromEntries(others)]] : []
    })
    return { ...layer, value: Object.fromEntries(entries) }
  })
}

function readEntry(
  id: string,
  raw: unknown,
  layers: readonly SettingLayer[],
  defaults: { name: string; icon: string } | undefined,
): { agent?: AgentDefinition; change?: AgentChange; account?: AccountEntry; problems: SettingProblem[] } {
  const problems: SettingProblem[] = []
  const problem = (path: Array<string | number>, message: string, fatal = true) => {
    const whole = [id, ...path]
    problems.push(settingProblem(AGENTS_SETTING, whole, layerOf(layers, whole), message, fatal))
  }
  if (id.trim() === '') {
    problem([], l10n.t('expected a non-empty ID, found an empty one'))
    return { problems }
  }
  if (!isRecord(raw)) {
    problem([], l10n.t('expected an object with a "command" or a "url", found {0}', jsonKind(raw)))
    return { problems }
  }

  const entry: Record<string, unknown> = { ...raw }
  for (const key of Object.keys(entry)) {
    if (known.has(key)) continue
    problem([key], l10n.t('unknown agent option (known: {0})', [...known].join(', ')), false)
    delete entry[key]
  }
  if (Object.hasOwn(entry, 'account')) return { account: readAccount(id, entry, problem, problems), problems }
  const isRemote = entry.url !== undefined
  if (isRemote && entry.command !== undefined) {
    problem([], l10n.t('expected either a "command" or a "url", found both'))
    return { problems }
  }
  for (const key of isRemote ? Object.keys(ofProcess) : ofRemote) {
    if (entry[key] === undefined) continue
    const message = isRemote
      ? l10n.t('has no effect for an agent with a "url"')
      : l10n.t('has no effect for an agent without a "url"')
    problem([key], message, false)
    delete entry[key]
  }
  if (isRemote) {
    const parsed = parseEntry(remoteEntry, entry, problem)
    if (!parsed) return { problems }
    const { url, headers, sharesFiles, pathMappings, ...shown } = parsed
    const remote = {
      ...{ url, headers },
      ...(sharesFiles && { sharesFiles }),
      ...(pathMappings.length > 0 && { pathMappings }),
    }
    return { agent: { ...toDefinition(id, shown, defaults), remote }, problems }
  }
  const isChange = entry.command === undefined && (defaults !== undefined || isOnlyDefaults(entry))
  const schema = isChange ? agentChange.extend({ command: z.undefined().optional() }) : agentEntry
  const parsed = parseEntry(schema, entry, problem)
  if (!parsed) return { problems }
  const { command, ...change } = parsed
  if (command === undefined) return { change: withoutAbsent(change), problems }
  return { agent: toDefinition(id, { ...change, command }, defaults), problems }
}

function toDefinition(
  id: string,
  { command = '', ...change }: z.output<typeof agentChange> & { command?: string },
  defaults: { name: string; icon: string } | undefined,
): AgentDefinition {
  const { name, args, env, cwd, icon, color, protocol, systemPrompt, defaultOptions } = change
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
  if (color !== undefined) agent.color = color
  const shown = icon ?? defaults?.icon
  if (shown !== undefined) agent.icon = shown.trim()
  return agent
}

type ReportProblem = (path: Array<string | number>, message: string, fatal?: boolean) => void

/** Parses an entry. Returns `undefined` if the entry can't be used. */
function parseEntry<S extends z.ZodType<object>>(
  schema: S,
  entry: Record<string, unknown>,
  problem: ReportProblem,
): z.output<S> | undefined {
  let parsed = schema.safeParse(entry)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const isCosmetic = cosmetic.has(issue.path[0])
      problem(issuePath(issue), describeIssue(issue, entry), !isCosmetic)
      if (isCosmetic) dropInvalid(entry, issue.path)
    }
    parsed = schema.safeParse(entry)
  }
  if (!parsed.success) return undefined
  const { env = {} } = parsed.data as { env?: Record<string, string> }
  const invalid = Object.keys(env).find(key => !isEnvironmentName(key))
  if (invalid === undefined) return parsed.data
  problem(['env', invalid], notAnEnvironmentName())
  return undefined
}

/** Reads an entry of an account. Whatever is wrong, the entry remains an account, so that it never starts as an agent. */
function readAccount(
  id: string,
  entry: Record<string, unknown>,
  problem: ReportProblem,
  problems: readonly SettingProblem[],
): AccountEntry {
  if (entry.command !== undefined) {
    problem(['command'], l10n.t('expected no command: an account starts as its agent does'), false)
    delete entry.command
  }
  const parsed = parseEntry(accountEntry, entry, problem)
  if (parsed) {
    const { account, ...change } = parsed
    return { id, account: { of: account.of.trim(), folder: account.folder }, change: withoutAbsent(change) }
  }
  const reason = problems.find(({ fatal }) => fatal)
  return { id, change: {}, ...(reason && { problem: reason }) }
}

/** Whether an entry contains only default options. Such an entry is kept when the agent is removed. */
function isOnlyDefaults(entry: Record<string, unknown>): boolean {
  return Object.keys(entry).join() === 'defaultOptions'
}

/** Removes an invalid property of an entry. In `defaultOptions`, removes only the invalid option. */
function dropInvalid(entry: Record<string, unknown>, [key, option]: readonly PropertyKey[]): void {
  const { defaultOptions } = entry
  if (key !== 'defaultOptions' || option === undefined || !isRecord(defaultOptions)) delete entry[String(key)]
  else
    entry.defaultOptions = Object.fromEntries(
      Object.entries(defaultOptions).filter(([name]) => name !== option),
    )
}

function withoutAbsent(change: { [K in keyof AgentChange]: AgentChange[K] | undefined }): AgentChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
