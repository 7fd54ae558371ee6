import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { filledText, isEnvironmentName, notAnEnvironmentName, processText } from '../agents/agent-settings.ts'
import type { SettingLayer, SettingScope } from '../agents/setting-layers.ts'
import {
  describeIssue,
  issuePath,
  kindOf,
  type SettingProblem,
  settingProblem,
} from '../agents/setting-problem.ts'
import { isRecord } from '../common/is-record.ts'

const SETTING = 'parley.mcpServers'

/** As in `mcp.json`: a number becomes text, `null` means that the variable isn't set. */
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
/** Properties that VS Code and other clients support, but Parley doesn't need. */
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

/** Other clients' names of the transports. */
const typeNames: Record<string, 'stdio' | 'http' | 'sse'> = {
  stdio: 'stdio',
  http: 'http',
  sse: 'sse',
  'streamable-http': 'http',
  streamableHttp: 'http',
}

export interface McpSettings {
  /** One for each name, from the innermost scope. */
  servers: McpServerDefinition[]
  /** From all scopes; an id may occur once in each. */
  inputs: McpInput[]
  problems: SettingProblem[]
}

/**
 * Reads `parley.mcpServers`. Three formats are supported, since users paste what they have:
 *
 * - VS Code's `mcp.json`: `{ "servers": { "name": {…} }, "inputs": […] }`
 * - most other clients': `{ "mcpServers": { "name": {…} } }`
 * - a plain map: `{ "name": { "command": … } }`
 *
 * A server is `{ type?: "stdio", command, args, env, envFile, cwd }` or `{ type: "http" | "sse", url, headers }`; the
 * type may be omitted. Each scope is read separately: a server of an inner scope replaces one with the same name entirely
 * and can only use inputs of its own scope. So a workspace can't send a secret that was entered for a server of the user
 * settings to another address. Invalid entries are skipped, and the others work.
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
    // An invalid entry also overrides that of an outer scope, which the user didn't intend to start.
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
    if (!isRecord(value)) {
      this.#problem([], l10n.t('expected an object with "servers", found {0}', kindOf(value)))
      return { servers, names, inputs }
    }
    for (const [key, raw] of Object.entries(value)) {
      if (key === 'servers' || key === 'mcpServers') {
        if (!isRecord(raw)) {
          this.#problem([key], l10n.t('expected an object with servers by name, found {0}', kindOf(raw)))
          continue
        }
        for (const [name, server] of Object.entries(raw)) readServer([key, name], name, server)
      } else if (key === 'inputs') {
        inputs = this.#readInputs(raw)
      } else if (isRecord(raw) && ('command' in raw || 'url' in raw)) {
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
    if (!isRecord(raw)) {
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
  /** The scope of the entry; its `${input:…}` refer to inputs of the same scope. */
  scope: SettingScope
  /** The workspace folder's name, for the scope `folder`. */
  folder?: string
  /** It stays in the settings, but isn't passed on. */
  disabled: boolean
}
/** A local MCP server as configured, with unresolved variables. */
export interface StdioServerDefinition extends DefinitionBase {
  type: 'stdio'
  command: string
  args: string[]
  env: Record<string, string>
  /** A file of `NAME=value` lines, under `env`. */
  envFile?: string
  cwd?: string
}
/** A remote MCP server as configured, with unresolved variables. */
export interface RemoteServerDefinition extends DefinitionBase {
  type: 'http' | 'sse'
  url: string
  headers: Record<string, string>
}
export type McpServerDefinition = StdioServerDefinition | RemoteServerDefinition

/** A value to ask for once, referred to as `${input:id}` by servers of the same scope. */
export interface McpInput {
  id: string
  scope: SettingScope
  folder?: string
  type: 'promptString' | 'pickString'
  description?: string
  /** Hidden while the user types. */
  password: boolean
  default?: string
  /** The options of `pickString`; empty for `promptString`. */
  options: Array<{ label: string; value: string }>
}

/** One server of a session, as the view shows it. */
export interface McpServerNote {
  name: string
  type: string
  passed: boolean
  /** Why it wasn't passed, or a note if it was; never contains a secret. */
  reason?: string
}
