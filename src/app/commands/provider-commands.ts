import * as l10n from '@vscode/l10n'
import type { Agent } from '../../acp/agent.ts'
import type { Provider } from '../../acp/model.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { AgentRunner } from '../../sessions/runners/agent-runner.ts'
import type { ProviderConfigs } from '../../sessions/sign-in/provider-configs.ts'
import { waitForAgent } from '../ask-agent.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Dialogs, PickItem, Workbench } from '../workbench.ts'
import { agentOf } from './pick-agent.ts'

interface ProviderCommandOptions {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  runner: (agentId: string) => AgentRunner
  providers: ProviderConfigs
  workbench: Workbench
}

/** *Configure Providers…*: sets the endpoints to which an agent sends its model requests, if the agent supports this. */
export function providerCommands(options: ProviderCommandOptions) {
  const { surfaces, agents, workbench } = options
  return {
    [CommandId.configureProviders]: async () => {
      if (!workbench.isTrusted)
        throw new UnavailableError(l10n.t("Agents don't start until you trust this workspace."))
      const agentId = await agentOf(workbench, surfaces, agents)
      if (agentId !== undefined) await configure(options, agentId)
    },
  } satisfies Partial<CommandHandlers>
}

async function configure(
  { runner, providers, workbench: { dialogs } }: ProviderCommandOptions,
  agentId: string,
): Promise<void> {
  const { name } = runner(agentId)
  const wait = <T>(work: (givenUp?: AbortSignal) => Promise<T>) =>
    waitForAgent(dialogs, name, l10n.t('Configure Providers'), work)
  const { agent, list } = await wait(async givenUp => {
    const { agent } = await runner(agentId).ensure(givenUp)
    if (!agent.capabilities.providers || !agent.listProviders)
      throw new UnavailableError(l10n.t("{0} doesn't support provider configuration.", name))
    return { agent, list: await agent.listProviders() }
  })
  const provider = await pickProvider(dialogs, name, list)
  if (!provider) return
  const { providerId } = provider
  const stored = await providers.get(agentId, providerId)
  switch (await pickAction(dialogs, name, provider, stored !== undefined)) {
    case 'set': {
      const wanted = await askConfig(dialogs, name, provider, stored)
      if (!wanted) return
      await wait(() => providers.set(agentId, agent, providerId, wanted))
      void dialogs.info(plainMessage(l10n.t('{0}: “{1}” now uses {2}.', name, providerId, wanted.baseUrl)))
      return
    }
    case 'disable':
      if (stored && !(await mayForget(dialogs, l10n.t('Disable “{0}”?', providerId), l10n.t('Disable'))))
        return
      await wait(() => providers.disable(agentId, agent, providerId))
      void dialogs.info(plainMessage(l10n.t('{0}: “{1}” is disabled.', name, providerId)))
      return
    case 'forget': {
      const question = l10n.t('Delete the stored values of “{0}”?', providerId)
      if (stored && !(await mayForget(dialogs, question, l10n.t('Delete')))) return
      await providers.reset(agentId, providerId)
      void dialogs.info(
        plainMessage(
          l10n.t('The next time {0} starts, it uses its own settings for “{1}”.', name, providerId),
        ),
      )
    }
  }
}

/** Asks before a provider's values are deleted, since only the user knows values such as an API key. Resolves to the answer. */
async function mayForget(dialogs: Dialogs, question: string, forget: string): Promise<boolean> {
  const detail = l10n.t('The stored base URL and headers, such as an API key, are deleted.')
  return (await dialogs.confirm(plainMessage(question), { detail }, forget)) === forget
}

async function pickProvider(
  dialogs: Dialogs,
  agentName: string,
  list: readonly Provider[],
): Promise<Provider | undefined> {
  if (list.length === 0) throw new UnavailableError(l10n.t('{0} has no providers.', agentName))
  const items = list.map(provider => ({
    label: provider.providerId,
    description: provider.current
      ? `${provider.current.apiType} · ${provider.current.baseUrl}`
      : l10n.t('disabled'),
    ...(provider.required && { detail: l10n.t('Required by the agent.') }),
    provider,
  }))
  const picked = await dialogs.pick(items, {
    title: l10n.t('Providers of {0}', agentName),
    placeholder: l10n.t('Select a provider'),
  })
  return picked?.provider
}

type Action = 'set' | 'disable' | 'forget'

async function pickAction(
  dialogs: Dialogs,
  agentName: string,
  { providerId, required, current }: Provider,
  isStored: boolean,
): Promise<Action | undefined> {
  const items: Array<PickItem & { action: Action }> = [
    {
      label: `$(link) ${l10n.t('Set Base URL…')}`,
      description: l10n.t('and headers'),
      action: 'set',
    },
  ]
  if (current && !required) items.push({ label: `$(circle-slash) ${l10n.t('Disable')}`, action: 'disable' })
  if (isStored || (!current && !required))
    items.push({
      label: `$(discard) ${l10n.t('Let the agent decide')}`,
      description: l10n.t('deletes the stored values'),
      action: 'forget',
    })
  const picked = await dialogs.pick(items, { title: `${agentName}: ${providerId}` })
  return picked?.action
}

type Config = Parameters<ProviderConfigs['set']>[3]

async function askConfig(
  dialogs: Dialogs,
  agentName: string,
  provider: Provider,
  stored: Config | undefined,
): Promise<Config | undefined> {
  const { providerId, current, supported } = provider
  const title = `${agentName}: ${providerId}`
  const before = stored?.apiType ?? current?.apiType
  const apiType =
    supported.length > 1 ? await pickApi(dialogs, title, supported, before) : (supported[0] ?? before)
  if (apiType === undefined) return undefined
  const baseUrl = await dialogs.input({
    title,
    prompt: l10n.t('Base URL of the service ({0})', apiType),
    value: stored?.baseUrl ?? current?.baseUrl ?? '',
    ignoreFocusOut: true,
    validate: text => (isWebAddress(text) ? undefined : l10n.t('Enter an http or https URL.')),
  })
  if (baseUrl === undefined) return undefined
  const headers = await askHeaders(dialogs, title, stored?.headers ?? {})
  return headers && { apiType, baseUrl: baseUrl.trim(), headers }
}

async function pickApi(
  dialogs: Dialogs,
  title: string,
  supported: readonly string[],
  before: string | undefined,
): Promise<string | undefined> {
  const items = supported.map(label => ({ label }))
  // the current one comes first, because Enter accepts the first item
  items.sort((a, b) => Number(b.label === before) - Number(a.label === before))
  const placeholder = l10n.t('Select the API of the service')
  return (await dialogs.pick(items, { title, placeholder, ignoreFocusOut: true }))?.label
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text.trim())
  return url?.protocol === 'https:' || url?.protocol === 'http:'
}

/** Returns a function that sends the stored providers to an agent that has just started, before the agent gets a session. */
export function applyProviders(
  providers: ProviderConfigs,
  logFor: (agentId: string) => Logger,
): (agentId: string, agent: Agent) => Promise<void> {
  return (agentId, agent) => providers.apply(agentId, agent, logFor(agentId))
}

/** The syntax of an HTTP header's name (RFC 9110, token). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

type Item = PickItem & { choice: 'done' | 'add' | { name: string } }

/** Lets the user add and remove headers, whose values aren't shown. Resolves to `undefined` if the user cancels. */
async function askHeaders(
  dialogs: Dialogs,
  title: string,
  before: Record<string, string>,
): Promise<Record<string, string> | undefined> {
  const headers = new Map(Object.entries(before))
  for (;;) {
    const items: Item[] = [
      { label: `$(check) ${l10n.t('Done')}`, choice: 'done' },
      { label: `$(add) ${l10n.t('Add Header…')}`, choice: 'add' },
      ...[...headers.keys()].map(name => ({
        label: `$(trash) ${l10n.t('Remove {0}', name)}`,
        description: '••••••',
        choice: { name },
      })),
    ]
    const picked = await dialogs.pick(items, {
      title,
      placeholder: l10n.t(
        "Headers to send with each request, such as an API key. Stored in VS Code's secret storage.",
      ),
      ignoreFocusOut: true,
    })
    if (!picked) return undefined
    if (picked.choice === 'done') return Object.fromEntries(headers)
    if (picked.choice === 'add') await addHeader(dialogs, title, headers)
    else headers.delete(picked.choice.name)
  }
}

async function addHeader(dialogs: Dialogs, title: string, headers: Map<string, string>): Promise<void> {
  const name = await dialogs.input({
    title,
    prompt: l10n.t('Header name, such as Authorization'),
    ignoreFocusOut: true,
    validate: text => (NAME.test(text.trim()) ? undefined : l10n.t('Invalid header name.')),
  })
  if (name === undefined) return
  const value = await dialogs.input({
    title,
    prompt: l10n.t("{0}. Stored in VS Code's secret storage.", name.trim()),
    password: true,
    ignoreFocusOut: true,
    validate: text => (/[\r\n\0]/.test(text) ? l10n.t('Invalid header value.') : undefined),
  })
  if (value !== undefined) headers.set(name.trim(), value)
}
