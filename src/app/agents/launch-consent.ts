import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import type { AgentCapabilities } from '../../acp/model.ts'
import {
  type AgentDefinition,
  type DefaultOptions,
  type SystemPrompt,
  takesSystemPrompt,
} from '../../agents/definition.ts'
import { configuredLaunch } from '../../agents/resolve-launch.ts'
import type { WorkspaceConsent } from '../../agents/workspace-consent.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { visible } from '../../common/visible.ts'
import type { AllowServers, ServerToAllow } from '../../mcp/mcp-servers.ts'
import { isOfWorkspace } from '../../mcp/mcp-settings.ts'
import { quoted, quotedEnvironment } from '../quoted.ts'
import type { Dialogs } from '../workbench.ts'

/** The lengths of the beginning and of the end that a question shows of a long system prompt, in characters. */
const MAX_START = 1500
const MAX_END = 500

interface DefaultOptionsOf {
  agentId: string
  agentName: string
  chosen: DefaultOptions
  /** without the settings of the workspace */
  ofUser: DefaultOptions
}

interface SystemPrompts {
  chosen: SystemPrompt | undefined
  /** without the settings of the workspace */
  ofUser: SystemPrompt | undefined
}

/** Asks before the settings of a workspace start a program, or give instructions to an agent. */
export interface LaunchConsent {
  /** Whether an agent may start in the way that the workspace defines. */
  agent(definition: AgentDefinition): Promise<boolean>
  /** Whether a command that the workspace defines may prepare worktrees. */
  setup(command: string): Promise<boolean>
  /** Resolves to the workspace's system prompt if the user allows it and the agent supports it, else to the user's own. */
  systemPrompt(
    agentName: string,
    prompts: SystemPrompts,
    can: AgentCapabilities,
  ): Promise<SystemPrompt | undefined>
  /** Resolves to the initial options of new sessions: the workspace's if the user allows them, else the user's own. */
  defaultOptions(of: DefaultOptionsOf): Promise<DefaultOptions>
  /** Notes that the user set a default in the workspace settings, so that the default needs no consent. */
  acceptDefault(agentId: string, option: string, value: string | boolean): Promise<unknown>
  /** Decides which MCP servers may be passed to an agent. */
  mcpServers: AllowServers
}

export function launchConsent(consent: WorkspaceConsent, dialogs: Pick<Dialogs, 'confirm'>): LaunchConsent {
  const declined = new Set<string>()
  return {
    agent: definition =>
      consent.request([{ agent: definition.id, ...configuredLaunch(definition) }], async () => {
        const allow = l10n.t('Allow and Start')
        const text = l10n.t('Start {0} with the settings of this workspace?', definition.name)
        const detail = l10n.t(
          'The workspace defines how this agent starts. Allow it only if you trust these values.\n\n{0}',
          agentLines(definition),
        )
        return (await dialogs.confirm(plainMessage(text), { detail }, allow)) === allow
      }),

    setup: command =>
      consent.request([{ setup: command }], async () => {
        const allow = l10n.t('Allow and Run')
        const text = l10n.t('Run the setup command of this workspace in new worktrees?')
        const detail = l10n.t(
          'The workspace defines this command. Allow it only if you trust it.\n\n{0}',
          visible(command),
        )
        return (await dialogs.confirm(text, { detail }, allow)) === allow
      }),

    async systemPrompt(agentName, { chosen, ofUser }, can) {
      if (isDeepStrictEqual(chosen, ofUser)) return ofUser
      // a prompt that the agent doesn't support isn't sent
      const decided = chosen ?? ofUser
      if (!decided || !takesSystemPrompt(decided, can)) return ofUser ?? chosen
      const content = { systemPrompt: chosen ?? null, insteadOf: ofUser ?? null }
      const key = JSON.stringify(content)
      if (declined.has(key)) return ofUser
      const isAllowed = await consent.request([content], async () => {
        const allow = chosen ? l10n.t('Allow System Prompt') : l10n.t('Allow')
        const text = chosen
          ? l10n.t('Send the system prompt of this workspace to {0}?', agentName)
          : l10n.t('Start {0} without your system prompt, as the settings of this workspace say?', agentName)
        const detail = !chosen
          ? ''
          : chosen.mode === 'override'
            ? l10n.t(
                "It replaces the agent's own instructions. Allow it only if you trust it.\n\n{0}",
                shownPrompt(chosen.text),
              )
            : l10n.t(
                'The workspace tells the agent what to do. Allow it only if you trust it.\n\n{0}',
                shownPrompt(chosen.text),
              )
        return (await dialogs.confirm(plainMessage(text), { detail }, allow)) === allow
      })
      // a window asks only once
      if (!isAllowed) declined.add(key)
      return isAllowed ? chosen : ofUser
    },

    async defaultOptions({ agentId, agentName, chosen, ofUser }) {
      const own = Object.entries(chosen).filter(([option, value]) => ofUser[option] !== value)
      const contents = own.map(([option, value]) => defaultContent(agentId, option, value))
      const key = JSON.stringify(contents)
      if (declined.has(key)) return ofUser
      const isAllowed = await consent.request(contents, async () => {
        const allow = l10n.t('Allow Options')
        const text = l10n.t('Start sessions of {0} with the options of this workspace?', agentName)
        const detail = l10n.t(
          'They can let the agent act without asking. Allow them only if you trust these values.\n\n{0}',
          own.map(([option, value]) => `${quoted(option)}: ${quoted(String(value))}`).join('\n'),
        )
        return (await dialogs.confirm(plainMessage(text), { detail }, allow)) === allow
      })
      // a window asks only once
      if (!isAllowed) declined.add(key)
      return isAllowed ? chosen : ofUser
    },

    acceptDefault: (agentId, option, value) =>
      consent.request([defaultContent(agentId, option, value)], async () => true),

    async mcpServers(servers, asks) {
      const accepted = () => servers.filter(({ content }) => consent.accepts(content))
      const open = servers.filter(
        ({ content }) =>
          !consent.accepts(content) && (asks === 'again' || !declined.has(JSON.stringify(content))),
      )
      if (asks === 'agreed')
        await consent.request(
          servers.map(({ content }) => content),
          async () => true,
        )
      else if (asks !== 'never' && open.length > 0) {
        const isAllowed = await consent.request(
          open.map(({ content }) => content),
          async () => {
            const allow = l10n.t('Allow MCP Servers')
            const text = open.some(({ server }) => isOfWorkspace(server))
              ? l10n.t('Pass the MCP servers of this workspace to agents?')
              : l10n.t("Pass MCP servers to agents without VS Code's sandbox?")
            const detail = l10n.t(
              'The agent starts or contacts these servers. Allow them only if you trust these values.\n\n{0}',
              open.map(serverLines).join('\n\n'),
            )
            return (await dialogs.confirm(text, { detail }, allow)) === allow
          },
        )
        // a window asks only once
        if (!isAllowed) for (const { content } of open) declined.add(JSON.stringify(content))
      }
      return new Set(accepted().map(({ key }) => key))
    },
  }
}

function defaultContent(agentId: string, option: string, value: string | boolean) {
  return { defaultOption: option, value, agent: agentId }
}

function shownPrompt(text: string): string {
  const all = [...visible(text.trim())]
  const hidden = all.length - MAX_START - MAX_END
  if (hidden <= 0) return all.join('')
  const more = l10n.t('… {0} more characters …', hidden)
  return `${all.slice(0, MAX_START).join('')}\n${more}\n${all.slice(-MAX_END).join('')}`
}

function agentLines({ command, args, env, cwd, remote }: AgentDefinition): string {
  if (remote) {
    const { url, headers, sharesFiles, pathMappings = [] } = remote
    return lines([
      l10n.t('URL: {0}', quoted(url)),
      Object.keys(headers).length > 0 && l10n.t('Headers: {0}', quotedEnvironment(headers)),
      sharesFiles && l10n.t('Gets access to files and terminals of this machine.'),
      pathMappings.length > 0 &&
        l10n.t(
          'Folders: {0}',
          pathMappings
            .map(({ localRoot, remoteRoot }) => `${quoted(localRoot)} → ${quoted(remoteRoot)}`)
            .join(', '),
        ),
    ])
  }
  return lines([
    l10n.t('Command: {0}', [command, ...args].map(quoted).join(' ')),
    Object.keys(env).length > 0 && l10n.t('Environment: {0}', quotedEnvironment(env)),
    cwd !== undefined && l10n.t('Working directory: {0}', quoted(cwd)),
  ])
}

function serverLines({ server, inputs, folders, place, variables }: ServerToAllow): string {
  const name = l10n.t('Name: {0}', quoted(server.name))
  const definedIn = l10n.t('Defined in: {0}', quoted(place))
  const expanded =
    variables.length > 0 && l10n.t('Gets these environment variables: {0}', variables.map(quoted).join(' '))
  const values = inputs.map(({ id, type, default: preset, options }) =>
    type === 'pickString'
      ? l10n.t('Options of the input {0}: {1}', quoted(id), options.map(optionText).join(' '))
      : preset !== undefined && l10n.t('Default of the input {0}: {1}', quoted(id), quoted(preset)),
  )
  if (server.type !== 'stdio')
    return lines([
      name,
      l10n.t('URL: {0}', quoted(server.url)),
      Object.keys(server.headers).length > 0 && l10n.t('Headers: {0}', quotedEnvironment(server.headers)),
      definedIn,
      expanded,
      ...values,
    ])
  const { command, args, env, envFile, cwd, sandboxEnabled } = server
  return lines([
    name,
    l10n.t('Command: {0}', [command, ...args].map(quoted).join(' ')),
    Object.keys(env).length > 0 && l10n.t('Environment: {0}', quotedEnvironment(env)),
    envFile !== undefined && l10n.t('Environment file: {0}', quoted(envFile)),
    cwd !== undefined && l10n.t('Working directory: {0}', quoted(cwd)),
    definedIn,
    folders.length > 0 && l10n.t('Folder: {0}', folders.map(quoted).join(' ')),
    expanded,
    ...values,
    sandboxEnabled && l10n.t("Sandbox: none. Agents don't have VS Code's sandbox."),
  ])
}

/** Returns an option's label, and its value if the value differs. The list in the question shows only the label. */
function optionText({ label, value }: { label: string; value: string }): string {
  return label === value ? quoted(value) : `${quoted(label)}=${quoted(value)}`
}

function lines(all: ReadonlyArray<string | false | undefined>): string {
  return all.filter(line => typeof line === 'string').join('\n')
}
