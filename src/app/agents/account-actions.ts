import { existsSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import * as l10n from '@vscode/l10n'
import { accountEnvironmentOf } from '../../agents/account-definitions.ts'
import type { CatalogAgent } from '../../agents/agent-catalog.ts'
import { agentPresets } from '../../agents/presets.ts'
import { type SettingsSource, withMember } from '../../agents/setting-layers.ts'
import { AGENT_COLORS, type AgentColor, iconInColor } from '../../common/agent-icon.ts'
import { messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { makePrivateFolder } from '../../common/private-files.ts'
import { CommandId } from '../ids.ts'
import type { Workbench } from '../workbench.ts'

export interface AccountActionsOptions {
  workbench: Workbench
  settings: SettingsSource
  definitions: () => readonly CatalogAgent[]
  /** Where the folders of new accounts are. */
  folder: string
  /** Deletes the values stored for signing in. */
  forget: (agentId: string) => Promise<unknown>
}

const MAX_NAME = 100
/** The maximum length of an account's id and folder name, in characters. Both come from the account's name. */
const MAX_SLUG = 40

/** Adds an account of an agent: asks for its name and color, and writes it to the user settings. */
export async function addAccount(options: AccountActionsOptions, agentId: string): Promise<void> {
  const { workbench, definitions } = options
  const { dialogs, settings, execute } = workbench
  const agents = definitions()
  const agent = agents.find(({ id }) => id === agentId)
  if (!agent || agent.account || !accountEnvironmentOf(agentId, agentPresets)) return
  const title = l10n.t('Add Account: {0}', agent.name)
  // where there's little room, the end of a name is cut off, so the agent's name comes last
  const nameOf = (text: string) => `${text.trim()} (${agent.name})`
  const text = await dialogs.input({
    title,
    prompt: l10n.t('Name of the account, such as Work or Personal'),
    validate: value => {
      if (value.trim() === '') return l10n.t('Enter a name.')
      if (value.length > MAX_NAME) return l10n.t('Enter at most {0} characters.', MAX_NAME)
      return definitions().some(({ name }) => name === nameOf(value))
        ? l10n.t('{0} exists already.', nameOf(value))
        : undefined
    },
  })
  if (text === undefined) return
  const color = await pickColor(workbench, title, agents)
  if (color === undefined) return

  const before = accountsBefore(options.settings)
  const id = freeId(
    `${agentId}-${slugOf(text)}`,
    [...Object.keys(before ?? {}), ...agents.map(one => one.id)],
    one => existsSync(join(options.folder, one)),
  )
  const folder = join(options.folder, id)
  try {
    makePrivateFolder(folder)
  } catch (error) {
    throw new Error(l10n.t("Can't create the folder of the account: {0}", messageOf(error)))
  }
  const entry = { account: { of: agentId, folder }, name: nameOf(text), color }
  try {
    await settings.update('agents', withMember(before, id, entry), 'user')
  } catch (error) {
    // Removes the folder, so that the next attempt can use the same id. A folder with content can't be removed and stays.
    try {
      rmdirSync(folder)
    } catch {}
    throw error
  }
  const signIn = l10n.t('Sign In')
  const added = plainMessage(l10n.t('{0} was added.', nameOf(text)))
  const answer = await dialogs.info(added, ...(workbench.isTrusted ? [signIn] : []))
  if (answer === signIn) await execute(CommandId.signIn, id)
}

/** Removes an account from the user settings. The agent's stored data of the account stays. */
export async function removeAccount(options: AccountActionsOptions, agentId: string): Promise<void> {
  const { workbench, settings, definitions, forget } = options
  const { dialogs } = workbench
  const agent = definitions().find(({ id }) => id === agentId)
  if (!agent?.account) return
  const { folder } = agent.account
  const remove = l10n.t('Remove')
  const stays =
    folder === ''
      ? l10n.t('Its sessions stay in the history and can be read.')
      : l10n.t(
          'Its sessions stay in the history and can be read. Its folder with the sign-in stays, too: {0}',
          folder,
        )
  const question = plainMessage(l10n.t('Remove the account {0}?', agent.name))
  if ((await dialogs.confirm(question, { detail: stays }, remove)) !== remove) return
  await workbench.settings.update('agents', withMember(accountsBefore(settings), agentId, undefined), 'user')
  await forget(agentId)
  const show = l10n.t('Show Folder')
  const removed = plainMessage(l10n.t('{0} was removed.', agent.name))
  const answer = await dialogs.info(removed, ...(folder === '' ? [] : [show]))
  if (answer === show) await workbench.showFolder(folder)
}

/** Returns the agents in the user settings. Throws if the setting is not a map of agents by id, because writing would lose its value. */
function accountsBefore(settings: SettingsSource): Record<string, unknown> | undefined {
  const before = settings.layers('agents').find(({ scope }) => scope === 'user')?.value
  if (before === undefined || isRecord(before)) return before
  throw new Error(l10n.t("Can't change the accounts: {0} isn't valid.", 'parley.agents'))
}

/** Lets the user pick a color. The colors that no agent has come first. */
async function pickColor(
  { dialogs }: Workbench,
  title: string,
  agents: readonly CatalogAgent[],
): Promise<AgentColor | undefined> {
  const names: Record<AgentColor, string> = {
    'charts.blue': l10n.t('Blue'),
    'charts.green': l10n.t('Green'),
    'charts.orange': l10n.t('Orange'),
    'charts.purple': l10n.t('Purple'),
    'charts.red': l10n.t('Red'),
    'charts.yellow': l10n.t('Yellow'),
  }
  const usedBy = (color: AgentColor) => agents.find(agent => agent.color === color)?.name
  const items = AGENT_COLORS.map(color => {
    const user = usedBy(color)
    return {
      label: names[color],
      icon: iconInColor('circle-filled', color),
      ...(user !== undefined && { description: l10n.t('used by {0}', user) }),
      color,
    }
  })
  items.sort((one, other) => Number('description' in one) - Number('description' in other))
  const picked = await dialogs.pick(items, {
    title,
    placeholder: l10n.t('Select the color that distinguishes its sessions'),
  })
  return picked?.color
}

/** Returns the text with only the characters that any folder's name can contain. */
function slugOf(text: string): string {
  const slug = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  return slug.replaceAll(/^-+|-+$/g, '').slice(0, MAX_SLUG) || '2'
}

/** Returns the first id that is neither taken nor has a folder. An existing folder may contain the sign-in of a removed account. */
function freeId(wanted: string, taken: readonly string[], isThere: (id: string) => boolean): string {
  let id = wanted
  for (let count = 2; taken.includes(id) || isThere(id); count++) id = `${wanted}-${count}`
  return id
}
