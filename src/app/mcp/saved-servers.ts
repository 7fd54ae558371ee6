import { mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import { MAX_MCP_FILE_BYTES } from '../../common/limits.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { readBounded, TooLargeError } from '../../common/read-bounded.ts'
import { disk, writeAtomically } from '../../editor/files/file-system.ts'
import type { McpServers } from '../../mcp/mcp-servers.ts'
import { describePlace, type McpPlace, serverKey } from '../../mcp/mcp-settings.ts'
import { addToFile, addToSetting, type EnteredServer, removeFromText } from '../../mcp/new-server.ts'
import type { Workbench } from '../workbench.ts'

interface SavedServerOptions {
  workbench: Workbench
  settings: Pick<SettingsSource, 'layers'>
  mcp: Pick<McpServers, 'agree'>
}

/** Saves a server that the user entered, in the user's settings or in a file of a folder. Resolves to the server's key. */
export async function saveServer(
  { workbench, settings, mcp }: SavedServerOptions,
  folder: string | undefined,
  { name, server }: EnteredServer,
): Promise<string> {
  if (folder === undefined) {
    await workbench.settings.update('mcpServers', addToSetting(valueIn(settings, 'user'), name, server))
    return serverKey({ scope: 'user' }, name)
  }
  const file = path.join(folder, '.vscode', 'mcp.json')
  await changeFile(file, text => addToFile(text, name, server))
  // the user has just entered the server, so they needn't agree to it again
  await mcp.agree(file, name)
  return serverKey({ scope: 'folder', file }, name)
}

/**
 * Whether {@link removeServer} can remove servers from the place. VS Code can't write the setting of a single folder, and in a workspace
 * file the servers are a part of other settings.
 */
export function canRemoveFrom({ kind, scope, file }: McpPlace): boolean {
  return file === undefined ? scope !== 'folder' : kind !== 'vscodeWorkspace'
}

/** Removes a server from its setting or file after the user has confirmed. */
export async function removeServer(
  { workbench, settings }: Pick<SavedServerOptions, 'workbench' | 'settings'>,
  place: McpPlace,
  name: string,
): Promise<void> {
  const { file, scope } = place
  const remove = l10n.t('Remove')
  const text = l10n.t('Remove the MCP server "{0}" from {1}?', name, describePlace(place))
  const options =
    file === undefined ? {} : { detail: l10n.t('Other programs that read this file lose it, too.') }
  if ((await workbench.dialogs.confirm(plainMessage(text), options, remove)) !== remove) return
  if (file !== undefined) return changeFile(file, before => removeFromText(before, name))
  const own = scope === 'workspace' ? scope : 'user'
  const value = removeFromText(JSON.stringify(valueIn(settings, own) ?? {}), name)
  await workbench.settings.update('mcpServers', JSON.parse(value), own)
}

/** Changes a file, unless another program writes the file in the meantime. A missing file counts as empty. */
async function changeFile(file: string, change: (text: string) => string): Promise<void> {
  const before = await readBounded(file, MAX_MCP_FILE_BYTES).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error instanceof TooLargeError ? new Error(l10n.t('{0} is larger than 1 MB.', file)) : error
  })
  const after = change(before ?? '')
  await mkdir(path.dirname(file), { recursive: true })
  const folder = await realpath(path.dirname(file))
  const target = before === undefined ? path.join(folder, path.basename(file)) : await realpath(file)
  const existing = before === undefined ? undefined : await disk.stat(target)
  await writeAtomically(disk, target, Buffer.from(after), existing, there =>
    Buffer.from(before ?? '').equals(there),
  )
}

function valueIn(settings: Pick<SettingsSource, 'layers'>, scope: 'user' | 'workspace'): unknown {
  return settings.layers('mcpServers').find(layer => layer.scope === scope)?.value
}
