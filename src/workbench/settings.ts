import * as vscode from 'vscode'
import type { NetworkSettings } from '../agents/environment.ts'
import { LAYERED_SETTINGS, type LayeredSetting, type SettingLayer } from '../agents/setting-layers.ts'
import { distinctNames } from '../common/distinct-names.ts'
import { isRecord } from '../common/is-record.ts'
import {
  readSettingValue,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingValue,
} from '../common/settings.ts'
import { pathOnDisk } from './path-on-disk.ts'

/** Reads and writes `parley.*` in VS Code's settings, which no other module does. Also reads the few other settings that matter. */

const SECTION = 'parley'

/** Returns the value that applies in this window, or the default if the value is invalid. */
export function readSetting<N extends SettingName>(name: N): SettingValue<N> {
  return readSettingValue(name, vscode.workspace.getConfiguration(SECTION).get<unknown>(name))
}

/** Returns all values that apply in this window, unchecked. */
export function settingValues(): Record<SettingName, unknown> {
  const configuration = vscode.workspace.getConfiguration(SECTION)
  const values = SETTING_NAMES.map(name => [name, configuration.get<unknown>(name)])
  return Object.fromEntries(values) as Record<SettingName, unknown>
}

/** Returns VS Code's own network settings. */
export function networkSettings(): NetworkSettings {
  const http = vscode.workspace.getConfiguration('http')
  const isOff = http.get('proxySupport') === 'off'
  return {
    proxy: isOff ? undefined : http.get<string>('proxy')?.trim(),
    noProxy: http.get<string[]>('noProxy'),
    strictSSL: http.get<boolean>('proxyStrictSSL'),
    systemCertificates: http.get<boolean>('systemCertificates'),
  }
}

/** Returns the globs of the files that the user hides. */
export function hiddenFiles(): string[] {
  const globs = vscode.workspace.getConfiguration('files').get<Record<string, unknown>>('exclude') ?? {}
  return Object.entries(globs).flatMap(([glob, isHidden]) => (isHidden === true ? glob : []))
}

/** Returns VS Code's setting for folders of prompt files, unchecked: the values of the user and of the workspace. */
export function promptFilesLocations(): Record<'user' | 'workspace', Record<string, unknown>> {
  const set = vscode.workspace.getConfiguration('chat').inspect<unknown>('promptFilesLocations')
  const table = (value: unknown) => (isRecord(value) ? value : {})
  const workspace = { ...table(set?.workspaceValue), ...table(set?.workspaceFolderValue) }
  return { user: table(set?.globalValue), workspace }
}

/** Returns the unchecked values of each scope, including a folder's if given. */
export function inspectSetting(name: SettingName, folder: vscode.Uri | null = null) {
  return vscode.workspace.getConfiguration(SECTION, folder).inspect<unknown>(name)
}

/** Writes a setting; `undefined` removes it from that scope. Rejects when VS Code can't write the file. */
export async function updateSetting(
  name: SettingName,
  value: unknown,
  target: vscode.ConfigurationTarget,
  folder: vscode.Uri | null = null,
): Promise<void> {
  await vscode.workspace.getConfiguration(SECTION, folder).update(name, value, target)
}

export function onDidChangeSetting(name: SettingName, listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration(event => {
    if (event.affectsConfiguration(`${SECTION}.${name}`)) listener()
  })
}

/**
 * Shows a setting, or all settings, in the Settings editor, in the tab where the user can change it: in a remote window, the
 * user tab omits settings of the machine, and the remote tab omits settings of the application.
 */
export async function openSetting(name?: SettingName): Promise<void> {
  const query = name === undefined ? '@ext:parley.parley' : `@id:${SECTION}.${name}`
  const inRemoteTab = name === undefined || isMachineSetting(name)
  await vscode.commands.executeCommand(
    isRemoteWindow() && inRemoteTab ? 'workbench.action.openRemoteSettings' : 'workbench.action.openSettings',
    { query },
  )
}

/**
 * Shows a setting in the JSON file of the user settings that contains it; in a remote window, that file may be on the remote
 * machine.
 */
export async function openUserSettingsFile(name: SettingName, reveals = true): Promise<void> {
  await vscode.commands.executeCommand(
    isRemoteWindow() && isMachineSetting(name)
      ? 'workbench.action.openRemoteSettingsFile'
      : 'workbench.action.openSettingsJson',
    ...(reveals ? [{ revealSetting: { key: `${SECTION}.${name}` } }] : []),
  )
}

/** Whether each machine has its own user value of the setting. */
function isMachineSetting(name: SettingName): boolean {
  return SETTINGS[name].scope === 'machine-overridable'
}

function isRemoteWindow(): boolean {
  return Boolean(vscode.env.remoteName)
}

/** Returns the settings' values scope by scope. In an untrusted workspace, VS Code itself withholds the values of restricted settings. */
export function settingLayers(): Record<LayeredSetting, SettingLayer[]> {
  const all = vscode.workspace.getConfiguration(SECTION, null)
  // If several folders have the setting, the first folder takes precedence, so it comes last.
  const folders = namedFolders()
    .reverse()
    .map(({ uri, name }) => ({ name, values: vscode.workspace.getConfiguration(SECTION, uri) }))
  const layersOf = (key: LayeredSetting) => {
    const values = all.inspect<unknown>(key)
    const layers: SettingLayer[] = [
      { scope: 'default', value: values?.defaultValue },
      { scope: 'user', value: values?.globalValue },
      { scope: 'workspace', value: values?.workspaceValue },
    ]
    for (const { name, values } of folders)
      layers.push({
        scope: 'folder',
        folder: name,
        value: values.inspect<unknown>(key)?.workspaceFolderValue,
      })
    return layers.filter(({ value }) => value !== undefined)
  }
  const layers = LAYERED_SETTINGS.map(key => [key, layersOf(key)])
  return Object.fromEntries(layers) as Record<LayeredSetting, SettingLayer[]>
}

/** Returns the workspace folders that are on this machine's disk. */
export function localFolders(): Array<{ name: string; path: string }> {
  return namedFolders()
    .filter(({ uri }) => uri.scheme === 'file')
    .map(({ uri, name }) => ({ name, path: pathOnDisk(uri) }))
}

/** Returns the workspace folders with distinct names, since users know a folder by its name, which several folders may share. */
function namedFolders(): Array<{ name: string; uri: vscode.Uri }> {
  const folders = vscode.workspace.workspaceFolders ?? []
  const names = distinctNames(folders.map(({ name, uri }) => ({ name, path: pathOnDisk(uri) })))
  return folders.map(({ uri }, i) => ({ name: names[i]!, uri }))
}
