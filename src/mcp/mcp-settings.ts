import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { filledText, isEnvironmentName, notAnEnvironmentName, processText } from '../agents/agent-settings.ts'
import type { SettingScope } from '../agents/setting-layers.ts'
import {
  describeIssue,
  describeScope,
  issuePath,
  jsonKind,
  type SettingProblem,
  settingProblem,
} from '../agents/setting-problem.ts'
import { variablesIn } from '../agents/variables.ts'
import { isRecord } from '../common/is-record.ts'
import { MAX_MCP_INPUTS, MAX_MCP_SERVERS } from '../common/limits.ts'

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
  sandboxEnabled: z.boolean().optional(),
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
  'oauth',
  'timeout',
  'version',
])
/** At the top level: `sandbox` configures VS Code's sandbox. */
const topLevelOfOthers = new Set(['$schema', 'sandbox'])
const stdioKeys = Object.keys(stdioEntry.shape)
const remoteKeys = Object.keys(remoteEntry.shape)

/** Names of the transports in other clients. */
const typeNames: Record<string, 'stdio' | 'http' | 'sse'> = {
  stdio: 'stdio',
  http: 'http',
  sse: 'sse',
  'streamable-http': 'http',
  streamableHttp: 'http',
}

/** The kinds of places that define servers. Each but the settings can be turned off with `parley.mcpDiscovery`. */
export const DISCOVERED_SOURCES = ['vscodeFolder', 'vscodeWorkspace', 'vscodeUser', 'mcpJson'] as const
export type McpSourceKind = 'settings' | (typeof DISCOVERED_SOURCES)[number]

/** A place that defines servers. */
export interface McpPlace {
  kind: McpSourceKind
  /** The name for users: the setting's id, or the folder's and the file's name. */
  label: string
  scope: SettingScope
  /** The workspace folder's name, for the scope `folder`. */
  folder?: string
  /** The file that defines the servers; absent for `parley.mcpServers`. */
  file?: string
}

/** One server as configured, valid or not. */
export interface McpEntry {
  name: string
  /** Absent if the server is invalid. */
  server?: McpServerDefinition
}

/** The servers and inputs of one source. */
export interface McpSource extends McpPlace {
  entries: McpEntry[]
  /** Each id occurs only once. */
  inputs: McpInput[]
  problems: SettingProblem[]
  /** The user turned the source off, so it wasn't read. */
  off?: true
}

/**
 * Reads the value of `parley.mcpServers` in one scope, or the content of a file. Three formats are supported, since users
 * paste what they have:
 *
 * - VS Code's `mcp.json`: `{ "servers": { "name": {…} }, "inputs": […] }`
 * - most other clients', also `.mcp.json`: `{ "mcpServers": { "name": {…} } }`
 * - a plain map: `{ "name": { "command": … } }`
 *
 * A server is `{ type?: "stdio", command, args, env, envFile, cwd }` or `{ type: "http" | "sse", url, headers }`; the
 * type may be omitted. Each place is read by itself: a server can only use inputs of its own place. So a workspace can't
 * send a secret that was entered for a server of the user settings to another address. Invalid entries have no server,
 * and the others work.
 */
export function readMcpSource(place: McpPlace, value: unknown): McpSource {
  return new SourceReader(place).read(value)
}

/** How many problems are reported for one entry, and in total for a working source. */
const MAX_ISSUES = 10
const MAX_PROBLEMS = 100

type Path = Array<string | number>

class SourceReader {
  readonly #problems: SettingProblem[] = []
  readonly #place: McpPlace
  /** The properties that say where a server or input is defined. */
  readonly #origin: Pick<McpServerDefinition, 'scope' | 'folder' | 'file'>

  constructor(place: McpPlace) {
    const { scope, folder, file } = place
    this.#place = place
    this.#origin = { scope, ...(folder !== undefined && { folder }), ...(file !== undefined && { file }) }
  }

  read(value: unknown): McpSource {
    const entries = new Map<string, McpEntry>()
    let inputs: McpInput[] = []
    let surplus = 0
    const readServer = (path: Path, name: string, raw: unknown) => {
      if (entries.size >= MAX_MCP_SERVERS && !entries.has(name)) {
        surplus++
        return
      }
      const server = this.#readServer(path, name, raw)
      // a plain map beside "servers" may repeat a name; the first one counts
      if (!entries.has(name)) entries.set(name, { name, ...(server && { server }) })
    }
    const all = () => ({
      ...this.#place,
      entries: [...entries.values()],
      inputs,
      problems: this.#problems,
    })
    if (value === undefined) return all()
    if (!isRecord(value)) {
      this.#problem([], l10n.t('expected an object with "servers", found {0}', jsonKind(value)))
      return all()
    }
    for (const [key, raw] of Object.entries(value)) {
      if (key === 'servers' || key === 'mcpServers') {
        if (!isRecord(raw)) {
          this.#problem([key], l10n.t('expected an object with servers by name, found {0}', jsonKind(raw)))
          continue
        }
        for (const [name, server] of Object.entries(raw)) readServer([key, name], name, server)
      } else if (key === 'inputs') {
        inputs = this.#readInputs(raw)
      } else if (isRecord(raw) && ('command' in raw || 'url' in raw)) {
        readServer([key], key, raw)
      } else if (!topLevelOfOthers.has(key)) {
        this.#problem(
          [key],
          l10n.t('expected "servers" or "inputs" here, or a server with a "command" or a "url"'),
          false,
        )
      }
    }
    if (surplus > 0)
      this.#problem(
        [],
        l10n.t('expected at most {0} servers, found {1}', MAX_MCP_SERVERS, MAX_MCP_SERVERS + surplus),
        false,
      )
    return all()
  }

  #readServer(path: Path, name: string, raw: unknown): McpServerDefinition | undefined {
    if (name.trim() === '')
      return this.#problem(path, l10n.t('expected a non-empty name, found an empty one'))
    if (!isRecord(raw)) {
      return this.#problem(
        path,
        l10n.t('expected an object with a "command" or a "url", found {0}', jsonKind(raw)),
      )
    }
    const type = this.#serverType(path, raw)
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
      ...this.#origin,
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
      // the user agrees to the file's content, before anything is asked for
      if (isOfWorkspace(this.#place) && inputsIn([entry.envFile ?? '']).length > 0)
        return this.#problem(
          [...path, 'envFile'],
          l10n.t("expected a path without inputs, which aren't supported here in a workspace"),
        )
      const { sandboxEnabled, ...rest } = entry
      return {
        ...base,
        type,
        ...rest,
        command: entry.command.trim(),
        env,
        ...(sandboxEnabled && { sandboxEnabled }),
      }
    }
    const entry = this.#parse(remoteEntry, path, raw)
    return entry && { ...base, type, ...entry, url: entry.url.trim() }
  }

  #serverType(path: Path, raw: Record<string, unknown>): 'stdio' | 'http' | 'sse' | undefined {
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
    const found = typeof raw.type === 'string' ? l10n.t('another string') : jsonKind(raw.type)
    return (
      type ?? this.#problem([...path, 'type'], l10n.t('expected "stdio", "http" or "sse", found {0}', found))
    )
  }

  #readInputs(raw: unknown): McpInput[] {
    if (!Array.isArray(raw)) {
      this.#problem(['inputs'], l10n.t('expected an array, found {0}', jsonKind(raw)))
      return []
    }
    const inputs: McpInput[] = []
    const ids = new Set<string>()
    if (raw.length > MAX_MCP_INPUTS)
      this.#problem(
        ['inputs'],
        l10n.t('expected at most {0} inputs, found {1}', MAX_MCP_INPUTS, raw.length),
        false,
      )
    for (const [at, each] of raw.slice(0, MAX_MCP_INPUTS).entries()) {
      const path = ['inputs', at]
      const entry = this.#parse(inputEntry, path, each)
      if (!entry) continue
      if (ids.has(entry.id)) {
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
      ids.add(entry.id)
      inputs.push({
        ...entry,
        ...this.#origin,
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
    for (const issue of parsed.error.issues.slice(0, MAX_ISSUES)) {
      this.#problem([...path, ...issuePath(issue)], describeIssue(issue, raw))
    }
    return undefined
  }

  #problem(path: Path, message: string, fatal = true): undefined {
    // fatal problems are always kept: they say why a server can't be used
    if (fatal || this.#problems.length < MAX_PROBLEMS)
      this.#problems.push(placeProblem(this.#place, path, message, fatal))
    return undefined
  }
}

/** A problem in the settings or in a file. */
export function placeProblem(
  place: McpPlace,
  path: ReadonlyArray<string | number>,
  message: string,
  fatal = true,
): SettingProblem {
  const problem = settingProblem(place.label, path, place, message, fatal)
  return place.file === undefined ? problem : { ...problem, file: place.file }
}

interface DefinitionBase {
  name: string
  /** The scope of the entry; its `${input:…}` refer to inputs of the same scope. */
  scope: SettingScope
  /** The workspace folder's name, for the scope `folder`. */
  folder?: string
  /** The file that defines it; absent for `parley.mcpServers`. */
  file?: string
  /** The server stays in the settings, but isn't passed to agents. */
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
  /** The server should run in VS Code's sandbox, which agents don't have. */
  sandboxEnabled?: true
}
/** A remote MCP server as configured, with unresolved variables. */
export interface RemoteServerDefinition extends DefinitionBase {
  type: 'http' | 'sse'
  url: string
  headers: Record<string, string>
}
export type McpServerDefinition = StdioServerDefinition | RemoteServerDefinition

/** Identifies a server by its place and name, across windows. */
export function serverKey(
  { scope, folder, file }: Pick<McpPlace, 'scope' | 'folder' | 'file'>,
  name: string,
) {
  return JSON.stringify([file ?? (scope === 'folder' ? `folder ${folder}` : scope), name])
}

/** `user settings`, `api/.mcp.json` */
export function describePlace(place: McpPlace): string {
  return place.file === undefined ? describeScope(place) : place.label
}

/** Whether others may have written the source, since it's a file of the workspace. */
export function isOfWorkspace({ scope }: Pick<McpPlace, 'scope'>): boolean {
  return scope === 'workspace' || scope === 'folder'
}

/** The texts of a server that may contain variables. */
export function textsOf(server: McpServerDefinition): string[] {
  if (server.type !== 'stdio') return [server.url, ...Object.values(server.headers)]
  const { command, args, env, envFile, cwd } = server
  return [command, ...args, ...Object.values(env), envFile ?? '', cwd ?? '']
}

/** The id in `input:id`, the name of a variable. */
export function inputId(name: string): string | undefined {
  return name.startsWith('input:') && name.length > 'input:'.length ? name.slice('input:'.length) : undefined
}

/** The ids of the inputs in texts, in order; one may occur more than once. */
export function inputsIn(texts: readonly string[]): string[] {
  return texts
    .flatMap(variablesIn)
    .map(inputId)
    .filter(id => id !== undefined)
}

/** A value to ask for once, referred to as `${input:id}` by servers of the same scope. */
export interface McpInput {
  id: string
  scope: SettingScope
  folder?: string
  file?: string
  type: 'promptString' | 'pickString'
  /** The owner of the input, if that isn't the MCP server that needs it. */
  title?: string
  description?: string
  /** Hidden while the user types. */
  password: boolean
  default?: string
  /** The options of `pickString`; empty for `promptString`. */
  options: Array<{ label: string; value: string }>
}
