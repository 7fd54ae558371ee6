import * as l10n from '@vscode/l10n'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import { messageOf, UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { hostPlatform } from '../../common/platform.ts'
import type { McpServers } from '../../mcp/mcp-servers.ts'
import { describePlace } from '../../mcp/mcp-settings.ts'
import { type EnteredServer, parseNewServer } from '../../mcp/new-server.ts'
import type { ServerCheck } from '../../mcp/server-check.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { PickItem, Workbench } from '../workbench.ts'
import type { McpPage } from './mcp-page.ts'
import { saveServer } from './saved-servers.ts'

interface McpCommandOptions {
  workbench: Workbench
  settings: SettingsSource
  mcp: McpServers
  mcpPage: Pick<McpPage, 'open' | 'checked'>
  checkNewMcpServer: (name: string, server: object, signal: AbortSignal) => Promise<ServerCheck>
}

type Choice = PickItem & ({ save: 'user' } | { save: 'folder'; folder: string } | { save: 'check' })

export function mcpCommands(options: McpCommandOptions) {
  return {
    [CommandId.showMcpServers]: () => options.mcpPage.open(),
    [CommandId.addMcpServer]: () => addServer(options),
  } satisfies Partial<CommandHandlers>
}

/** Asks for a command or URL and a name, checks the server, and saves it. */
async function addServer(options: McpCommandOptions): Promise<void> {
  const { workbench, mcp } = options
  const { dialogs } = workbench
  if (!workbench.isTrusted)
    throw new UnavailableError(l10n.t("MCP servers don't start until you trust this workspace."))
  const title = l10n.t('Add MCP Server')
  const text = await dialogs.input({
    title,
    prompt: l10n.t('Command or URL of the server'),
    placeholder: l10n.t('For example: npx -y @scope/server, or https://example.com/mcp'),
    ignoreFocusOut: true,
    validate: value =>
      parseNewServer(value, hostPlatform) ? undefined : l10n.t('Enter a command or an http(s) URL.'),
  })
  const entered = text === undefined ? undefined : parseNewServer(text, hostPlatform)
  if (!entered) return
  const taken = new Map((await mcp.plan()).planned.map(one => [one.name, describePlace(one.source)]))
  const name = await dialogs.input({
    title,
    prompt: l10n.t('Name of the server'),
    value: entered.name,
    ignoreFocusOut: true,
    validate: value => {
      if (value.trim() === '') return l10n.t('Enter a name.')
      const place = taken.get(value.trim())
      return place === undefined ? undefined : l10n.t('A server with this name is already in {0}.', place)
    },
  })
  if (name === undefined) return
  await checkAndSave(options, { ...entered, name: name.trim() })
}

async function checkAndSave(options: McpCommandOptions, { name, server }: EnteredServer): Promise<void> {
  const { dialogs, folders } = options.workbench
  let choice: Choice | undefined
  let check: ServerCheck
  do {
    check = await dialogs.progress(
      { title: l10n.t('Checking the MCP server "{0}"', name), where: 'notification', cancellable: true },
      (_report, signal) => options.checkNewMcpServer(name, server, signal),
    )
    choice = await dialogs.pick<Choice>(
      [
        {
          save: 'user',
          icon: 'account',
          label: l10n.t('Save in User Settings'),
          description: l10n.t('For you, in all workspaces'),
        },
        ...folders.map(
          ({ name: folder, path: at }): Choice => ({
            save: 'folder',
            folder: at,
            icon: 'folder',
            label: l10n.t('Save in {0}', folder),
            description: l10n.t('.vscode/mcp.json, which may be shared with others'),
          }),
        ),
        { save: 'check', icon: 'refresh', label: l10n.t('Check Again') },
      ],
      { title: l10n.t('Add MCP Server'), placeholder: resultOf(check), ignoreFocusOut: true },
    )
  } while (choice?.save === 'check')
  if (!choice) return
  try {
    const folder = choice.save === 'folder' ? choice.folder : undefined
    options.mcpPage.checked(await saveServer(options, folder, { name, server }), check)
  } catch (error) {
    void dialogs.error(plainMessage(messageOf(error)))
    return
  }
  const show = l10n.t('MCP Servers')
  const text = l10n.t('MCP server "{0}" added. New sessions use it.', name)
  if ((await dialogs.info(plainMessage(text), show)) === show) options.mcpPage.open()
}

function resultOf(check: ServerCheck): string {
  if ('problem' in check) return check.message
  const { name, version, tools } = check.server
  const program = [name, version].filter(Boolean).join(' ') || l10n.t('The server answered')
  return `${program} · ${tools.length === 1 ? l10n.t('1 tool') : l10n.t('{0} tools', tools.length)}`
}
