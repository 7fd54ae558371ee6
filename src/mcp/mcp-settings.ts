import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { filledText, isEnvironmentName, notAnEnvironmentName, processText } from '../agents/agent-settings.ts'
import { isPlainObject, type SettingLayer, type SettingScope } from '../agents/setting-layers.ts'
import {
  describeIssue,
  issuePath,
  kindOf,
  type SettingProblem,
  settingProblem,
} from '../agents/setting-problem.ts'

const SETTING = 'parley.mcpServers'

/** As in `mcp.json`: a number is its text, `null` is a variable that is not set. */
const environment = z
  .record(
    z.string(),
    z.union([processText, z.number(), z.null()], {
      error: () => l10n.t('expected a string, a number or null, found another value'),
    }),
  )
  .default({})
const stdioEntry = z.object({
  command: filledText,
  args: z.array(processText).default([]),
  env: environment,
  envFile: filledText.optional(),
  cwd: filledText.optional(),
})
const remoteEntry = z.object({
  url: filledText,
  headers: z.record(z.string(), z.string()).default({}),
})
const inputEntry = z.object({
  id: filledText,
  type: z.enum(['promptString', 'pickString']),
  description: z.string().optional(),
  password: z.boolean().default(false),
  default: z.string().optional(),
  options: z
    .array(
      z.union([z.string(), z.object({ label: z.string(), value: z.string() })], {
        error: () => l10n.t('expected a string or an object with a label and a value, found another value'),
      }),
    )
    .default([]),
})
/** What other clients and VS Code itself keep beside a server and Parley has no use for. */
const ofOthers = new Set([
  'autoApprove',
  'alwaysAllow',
  'description',
  'dev',
  'disabled',
  'gallery',
  'timeout',
  'version',
])
const stdioKeys = Object.keys(stdioEntry.shape)
const remoteKeys = Object.keys(remoteEntry.shape)

/** How other clients name the transports. */
const typeNames: Record<string, 'stdio' | 'http' | 'sse'> = {
  stdio: 'stdio',
  http: 'http',
  sse: 'sse',
  'streamable-http': 'http',
  streamableHttp: 'http',
}

export interface McpSettings {
  /** One of each name: the nearest scope's. */
  servers: McpServerDefinition[]
  /** Of all scopes; an id may occur once in each. */
  inputs: McpInput[]
  problems: SettingProblem[]
}

/**
 * Reads `parley.mcpServers`. Three shapes are understood, since users paste what they have:
 *
 * - VS Code's `mcp.json`: `{ "servers": { "name": {…} }, "inputs": […] }`
 * - most other clients': `{ "mcpServers": { "name": {…} } }`
 * - a bare map: `{ "name": { "command": … } }`
 *
 * A server is `{ type?: "stdio", command, args, env, envFile, cwd }` or `{ type: "http" | "sse", url, headers }`; the
 * type may be left out. Each scope is read by itself, as a file of its own: a server of a nearer scope takes the whole
 * place of one with the same name, and has the inputs of its own scope only. So a workspace cannot lead a secret that
 * was given for a server of the user settings to another address. A bad entry is left out, the others work.
 */
export function readMcpSettings(layers: readonly SettingLayer[]): McpSettings {
  const servers = new Map<string, McpServerDefinition>()
  const inputs: McpInput[] = []
  const problems: SettingProblem[] = []
  for (const layer of layers) {
    const reader = new LayerReader(layer)
    const read = reader.read()
    inputs.push(...read.inputs)
    problems.push(...reader.problems)
    // A bad entry hides the farther one too: what would start otherwise is not what is written here.
    for (const name of read.names) servers.delete(name)
    for (const server of read.servers) servers.set(server.name, server)
  }
  return { servers: [...servers.values()], inputs, problems }
}

type Path = Array<string | number>

class LayerReader {
  readonly problems: SettingProblem[] = []
  readonly #layer: SettingLayer

  constructor(layer: SettingLayer) {
    this.#layer = layer
  }

  read(): { servers: McpServerDefinition[]; names: string[]; inputs: McpInput[] } {
    const { value } = this.#layer
    const servers: McpServerDefinition[] = []
    const names: string[] = []
    let inputs: McpInput[] = []
    const readServer = (path: Path, name: string, raw: unknown) => {
      names.push(name)
      const server = this.#readServer(path, name, raw)
      if (server) servers.push(server)
    }
    if (value === undefined) return { servers, names, inputs }
    if (!isPlainObject(value)) {
      this.#problem([], l10n.t('expected an object with "servers", found {0}', kindOf(value)))
      return { servers, names, inputs }
    }
    for (const [key, raw] of Object.entries(value)) {
      if (key === 'servers' || key === 'mcpServers') {
        if (!isPlainObject(raw)) {
          this.#problem([key], l10n.t('expected an object with servers by name, found {0}', kindOf(raw)))
          continue
        }
        for (const [name, server] of Object.entries(raw)) readServer([key, name], name, server)
      } else if (key === 'inputs') {
        inputs = this.#readInputs(raw)
      } else if (isPlainObject(raw) && ('command' in raw || 'url' in raw)) {
        readServer([key], key, raw)
      } else {
        this.#problem(
          [key],
          l10n.t('expected "servers" or "inputs" here, or a server with a "command" or a "url"'),
          false,
        )
      }
    }
    return { servers, names, inputs }
  }

  #readServer(path: Path, name: string, raw: unknown): McpServerDefinition | undefined {
    if (name.trim() === '')
      return this.#problem(path, l10n.t('expected a non-empty name, found an empty one'))
    if (!isPlainObject(raw)) {
      return this.#problem(
        path,
        l10n.t('expected an object with a "command" or a "url", found {0}', kindOf(raw)),
      )
    }
    const type = this.#typeOf(path, raw)
    if (type === undefined) return undefined
    for (const key of Object.keys(raw)) {
      if (key === 'type' || ofOthers.has(key) || (type === 'stdio' ? stdioKeys : remoteKeys).includes(key))
        continue
      const message =
        type === 'stdio'
          ? l10n.t('unknown option for a server with a command (known: {0})', stdioKeys.join(', '))
          : l10n.t('unknown option for a server with a URL (known: {0})', remoteKeys.join(', '))
      this.#problem([...path, key], message, false)
    }
    const base = {
      name,
      scope: this.#layer.scope,
      ...(this.#layer.folder === undefined ? {} : { folder: this.#layer.folder }),
      disabled: raw.disabled === true,
    }
    if (type === 'stdio') {
      const entry = this.#parse(stdioEntry, path, raw)
      if (!entry) return undefined
      const env: Record<string, string> = {}
      for (const [key, value] of Object.entries(entry.env)) {
        if (!isEnvironmentName(key)) {
          return this.#problem([...path, 'env', key], notAnEnvironmentName())
        }
        if (value !== null) env[key] = String(value)
      }
      return { ...base, type, ...entry, command: entry.command.trim(), env }
    }
    const entry = this.#parse(remoteEntry, path, raw)
    return entry && { ...base, type, ...entry, url: entry.url.trim() }
  }

  #typeOf(path: Path, raw: Record<string, unknown>): 'stdio' | 'http' | 'sse' | undefined {
    if (raw.type === undefined) {
      if (raw.command !== undefined && raw.url !== undefined) {
        return this.#problem(
          path,
          l10n.t('expected either a "command" or a "url", found both; set "type" to choose one'),
        )
      }
      if (raw.command !== undefined) return 'stdio'
      if (raw.url !== undefined) return 'http'
      return this.#problem(path, l10n.t('expected a "command" or a "url", found neither'))
    }
    const type =
      typeof raw.type === 'string' && Object.hasOwn(typeNames, raw.type) ? typeNames[raw.type] : undefined
    const found = typeof raw.type === 'string' ? l10n.t('another string') : kindOf(raw.type)
    return (
      type ?? this.#problem([...path, 'type'], l10n.t('expected "stdio", "http" or "sse", found {0}', found))
    )
  }

  #readInputs(raw: unknown): McpInput[] {
    if (!Array.isArray(raw)) {
      this.#problem(['inputs'], l10n.t('expected an array, found {0}', kindOf(raw)))
      return []
    }
    const inputs: McpInput[] = []
    for (const [at, each] of raw.entries()) {
      const path = ['inputs', at]
      const entry = this.#parse(inputEntry, path, each)
      if (!entry) continue
      if (inputs.some(input => input.id === entry.id)) {
        this.#problem(
          [...path, 'id'],
          l10n.t('expected a unique ID, found one that another input already uses'),
        )
        continue
      }
      if (entry.type === 'pickString' && entry.options.length === 0) {
        this.#problem([...path, 'options'], l10n.t('expected at least one option, found none'))
        continue
      }
      inputs.push({
        ...entry,
        scope: this.#layer.scope,
        ...(this.#layer.folder === undefined ? {} : { folder: this.#layer.folder }),
        options: entry.options.map(option =>
          typeof option === 'string' ? { label: option, value: option } : option,
        ),
      })
    }
    return inputs
  }

  #parse<T>(schema: z.ZodType<T>, path: Path, raw: unknown): T | undefined {
    const parsed = schema.safeParse(raw)
    if (parsed.success) return parsed.data
    for (const issue of parsed.error.issues) {
      this.#problem([...path, ...issuePath(issue)], describeIssue(issue, raw))
    }
    return undefined
  }

  #problem(path: Path, message: string, fatal = true): undefined {
    this.problems.push(settingProblem(SETTING, path, this.#layer, message, fatal))
    return undefined
  }
}

interface DefinitionBase {
  name: string
  /** The scope of the entry; its `${input:…}` are those of the same scope. */
  scope: SettingScope
  /** The workspace folder's name, for the scope `folder`. */
  folder?: string
  /** Kept in the settings, but not to be passed on. */
  disabled: boolean
}
/** An MCP server on this machine, as it is written: variables are still in it. */
export interface StdioServerDefinition extends DefinitionBase {
  type: 'stdio'
  command: string
  args: string[]
  env: Record<string, string>
  /** A file of `NAME=value` lines, under `env`. */
  envFile?: string
  cwd?: string
}
/** An MCP server elsewhere, as it is written: variables are still in it. */
export interface RemoteServerDefinition extends DefinitionBase {
  type: 'http' | 'sse'
  url: string
  headers: Record<string, string>
}
export type McpServerDefinition = StdioServerDefinition | RemoteServerDefinition

/** A value to ask for once, named `${input:id}` in a server of the same place. */
export interface McpInput {
  id: string
  scope: SettingScope
  folder?: string
  type: 'promptString' | 'pickString'
  description?: string
  /** Typed unseen. */
  password: boolean
  default?: string
  /** What `pickString` offers; empty for `promptString`. */
  options: Array<{ label: string; value: string }>
}

/** One server of a session, as the view shows it. */
export interface McpServerNote {
  name: string
  type: string
  passed: boolean
  /** Why it was not passed, or what to know though it was; never holds a secret. */
  reason?: string
}
