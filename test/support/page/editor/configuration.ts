/** VS Code's settings: the defaults of package.json, the user's, those of the workspace file and of the folders. */
import { watch } from 'node:fs'
import { dirname, join } from 'node:path'
import type { URI } from 'vscode-uri'
import { readJson, writeJson } from './json-file.ts'
import { ConfigurationTarget, EventEmitter } from './values.ts'

type Values = Record<string, unknown>

interface SettingGroup {
  properties: Record<string, { default?: unknown }>
}

export interface ConfigurationOptions {
  /** the extension's package.json */
  manifest: { contributes: { configuration: SettingGroup[] } }
  userFile: string
  /** the `.code-workspace` file, if any */
  workspaceFile?: string
  folders: readonly string[]
}

interface Layers {
  defaults: Values
  user: Values
  workspace: Values
  /** by the folder's path */
  folders: Map<string, Values>
}

export class Configuration {
  readonly #options: ConfigurationOptions
  readonly #changed = new EventEmitter<{ affectsConfiguration(section: string): boolean }>()
  readonly onDidChange = this.#changed.event
  #layers: Layers

  constructor(options: ConfigurationOptions) {
    this.#options = options
    this.#layers = this.#read()
    // a folder, since editors and tests replace the file
    for (const file of [options.userFile, ...(options.workspaceFile ? [options.workspaceFile] : [])])
      watch(dirname(file), () => this.#refresh()).unref()
  }

  /** Like `workspace.getConfiguration`. */
  section(section?: string, scope?: URI | { uri: URI } | null) {
    const prefix = section === undefined || section === '' ? '' : `${section}.`
    const uri = scope && 'uri' in scope ? scope.uri : scope
    const folder = uri && this.#options.folders.find(path => `${uri.fsPath}/`.startsWith(`${path}/`))
    const inspect = (name: string) => {
      const { defaults, user, workspace, folders } = this.#layers
      const key = prefix + name
      return {
        key,
        defaultValue: defaults[key],
        globalValue: user[key],
        workspaceValue: workspace[key],
        workspaceFolderValue:
          folder === undefined || folder === null ? undefined : folders.get(folder)?.[key],
      }
    }
    const get = (name: string, otherwise?: unknown) => {
      const { workspaceFolderValue, workspaceValue, globalValue, defaultValue } = inspect(name)
      const all = [defaultValue, globalValue, workspaceValue, workspaceFolderValue].filter(
        value => value !== undefined,
      )
      // objects of several scopes are merged
      const isObject = (value: unknown) =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
      if (all.length > 1 && all.every(isObject)) return Object.assign({}, ...all)
      return all.at(-1) ?? otherwise
    }
    const update = async (name: string, value: unknown, target: number | boolean | null = null) => {
      const isUser = target === true || target === ConfigurationTarget.Global
      const isFolder =
        target === ConfigurationTarget.WorkspaceFolder && folder !== undefined && folder !== null
      const { userFile, workspaceFile } = this.#options
      if (isUser) write(userFile, values => assign(values, prefix + name, value))
      else if (isFolder) write(settingsOf(folder), values => assign(values, prefix + name, value))
      else if (workspaceFile !== undefined)
        write(workspaceFile, file => {
          const settings = (file.settings ?? {}) as Values
          assign(settings, prefix + name, value)
          file.settings = settings
        })
      this.#refresh()
    }
    return { get, inspect, update, has: (name: string) => get(name) !== undefined }
  }

  #refresh(): void {
    const before = this.#layers
    try {
      this.#layers = this.#read()
    } catch {
      // half written: there will be another event
      return
    }
    const after = this.#layers
    const parts = ({ user, workspace, folders }: Layers) => [user, workspace, ...folders.values()]
    const keys = new Set(parts(before).concat(parts(after)).flatMap(Object.keys))
    const changed = [...keys].filter(key =>
      parts(before).some((values, at) => !isSame(values[key], parts(after)[at]?.[key])),
    )
    if (changed.length === 0) return
    this.#changed.fire({
      affectsConfiguration: section =>
        changed.some(
          key => key === section || key.startsWith(`${section}.`) || section.startsWith(`${key}.`),
        ),
    })
  }

  #read(): Layers {
    const { manifest, userFile, workspaceFile, folders } = this.#options
    return {
      defaults: defaultsOf(manifest.contributes.configuration),
      user: readValues(userFile),
      workspace: workspaceFile === undefined ? {} : ((readValues(workspaceFile).settings ?? {}) as Values),
      folders: new Map(folders.map(folder => [folder, readValues(settingsOf(folder))])),
    }
  }
}

const settingsOf = (folder: string) => join(folder, '.vscode', 'settings.json')

function readValues(file: string): Values {
  const values = readJson(file) ?? {}
  if (typeof values !== 'object' || values === null) throw new Error(`${file} isn't an object`)
  return values as Values
}

function write(file: string, change: (values: Values) => void): void {
  const values = readValues(file)
  change(values)
  writeJson(file, values)
}

function assign(values: Values, key: string, value: unknown): void {
  if (value === undefined) delete values[key]
  else values[key] = value
}

function defaultsOf(groups: readonly SettingGroup[]): Values {
  const values: Values = {}
  for (const { properties } of groups)
    for (const [name, property] of Object.entries(properties)) values[name] = property.default
  return values
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
