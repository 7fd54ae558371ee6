import { validateHeaderName, validateHeaderValue } from 'node:http'
import { basename, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import * as l10n from '@vscode/l10n'
import type { McpServer } from '../acp/model.ts'
import { isDirectory } from '../agents/environment.ts'
import type { LaunchEnvironment } from '../agents/launch-environment.ts'
import { expandHome } from '../agents/resolve-launch.ts'
import { substitute, type VariableContext, variablesIn } from '../agents/variables.ts'
import { MAX_MCP_FILE_BYTES } from '../common/limits.ts'
import {
  type Environment,
  environmentLookUp,
  findCommand,
  mergeEnvironment,
  pathVariable,
} from '../common/processes/spawn-process.ts'
import { readBounded } from '../common/read-bounded.ts'
import type { InputAnswer } from './inputs.ts'
import {
  inputId,
  inputsIn,
  type McpServerDefinition,
  type RemoteServerDefinition,
  type StdioServerDefinition,
  textsOf,
} from './mcp-settings.ts'

export interface ServerContext {
  environment: LaunchEnvironment
  /** The workspace folders on this machine's disk, absolute. */
  folders: ReadonlyArray<{ name: string; path: string }>
  userHome: string
  /** Resolves `${input:id}`. */
  input(id: string, server: McpServerDefinition): Promise<InputAnswer>
  /** The `envFile` that the user agreed to. Absent: it's read. */
  envFile?: EnvFile
}

export type ServerResolution =
  /** `note`: sentences about a server that works anyway. */
  | { server: McpServer; note?: string }
  /** Why the server can't be passed, as a sentence without values. */
  | { reason: string }

/**
 * Converts a definition for the protocol: with variables and inputs replaced, and an absolute command. Checks everything else first, so
 * that the user isn't asked for inputs of a server that can't be used anyway.
 */
export async function resolveServer(
  definition: McpServerDefinition,
  context: ServerContext,
): Promise<ServerResolution> {
  const texts = new Texts(definition, context)
  const wrong = texts.problem()
  if (wrong !== undefined) return { reason: wrong }
  return definition.type === 'stdio'
    ? resolveStdio(definition, texts, context)
    : resolveRemote(definition, texts)
}

/** The content of a server's `envFile`, or a sentence that says why it can't be used. */
export type EnvFile = { text: string } | { reason: string }

/**
 * Reads a server's `envFile`, which is part of what the user agrees to. `undefined`: there is none, or its path has inputs, which only the
 * user's own servers can have.
 */
export async function readEnvFile(
  definition: McpServerDefinition,
  context: ServerContext,
): Promise<EnvFile | undefined> {
  if (definition.type !== 'stdio' || inputsIn([definition.envFile ?? '']).length > 0) return undefined
  return readEnvFileOf(definition, new Texts(definition, context), context)
}

async function readEnvFileOf(
  { envFile }: StdioServerDefinition,
  texts: Texts,
  context: ServerContext,
): Promise<EnvFile | undefined> {
  if (envFile === undefined) return undefined
  const file = resolve(rootOf(context), expandHome(texts.text(envFile), context.userHome))
  try {
    return { text: await readBounded(file, MAX_MCP_FILE_BYTES) }
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? l10n.t('"envFile" doesn\'t exist: {0}', envFile)
        : l10n.t('Can\'t read "envFile": {0}', envFile)
    return { reason }
  }
}

/** The folder that relative paths start at. */
function rootOf({ folders, userHome }: ServerContext): string {
  return folders[0]?.path ?? userHome
}

async function resolveStdio(
  definition: StdioServerDefinition,
  texts: Texts,
  context: ServerContext,
): Promise<ServerResolution> {
  const { platform } = context.environment
  const root = rootOf(context)
  const place = (path: string) => resolve(root, expandHome(texts.text(path), context.userHome))
  const ownPath = pathVariable(definition.env, platform)
  const missing = await texts.ask([
    definition.command,
    definition.cwd ?? '',
    definition.envFile ?? '',
    ownPath,
  ])
  if (missing !== undefined) return { reason: missing }

  const cwd = definition.cwd === undefined ? undefined : place(definition.cwd)
  if (cwd !== undefined && !(await isDirectory(cwd)))
    return { reason: l10n.t('"cwd" doesn\'t exist: {0}', definition.cwd ?? '') }

  // the file isn't read again after the user agreed to it, since it may have changed meanwhile
  const envFile = context.envFile ?? (await readEnvFileOf(definition, texts, context))
  if (envFile && 'reason' in envFile) return envFile
  const fileEnv = parseEnv(envFile?.text ?? '') as Record<string, string>

  const command = expandHome(texts.text(definition.command), context.userHome)
  const path = ownPath === '' ? pathVariable(fileEnv, platform) : texts.text(ownPath)
  const searchEnv: Environment = path === '' ? {} : { PATH: path }
  const search = await findCommand(command, {
    env: mergeEnvironment(context.environment.env, searchEnv, platform),
    cwd: cwd ?? root,
    platform,
  })
  if ('searched' in search) {
    const reason = /[\\/]/.test(command)
      ? l10n.t("The command {0} wasn't found.", definition.command)
      : l10n.t("The command {0} wasn't found on the PATH.", definition.command)
    return { reason }
  }

  const notGiven = await texts.ask([...definition.args, ...Object.values(definition.env)])
  if (notGiven !== undefined) return { reason: notGiven }
  const args = definition.args.map(arg => texts.text(arg))
  const env = mergeEnvironment(fileEnv, texts.record(definition.env), platform)
  const start = startIn(cwd, search.path, args, platform)
  if (definition.sandboxEnabled) texts.notes.push(l10n.t("Runs without VS Code's sandbox."))
  return {
    server: {
      type: 'stdio',
      name: definition.name,
      command: start.command,
      args: start.args,
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
    },
    ...noteOf([...texts.notes, ...(start.note === undefined ? [] : [start.note])]),
  }
}

/** The protocol has no `cwd` for a server, so a shell changes the directory and executes the server. */
function startIn(
  cwd: string | undefined,
  command: string,
  args: string[],
  platform: NodeJS.Platform,
): { command: string; args: string[]; note?: string } {
  if (cwd === undefined) return { command, args }
  if (platform === 'win32') {
    return {
      command,
      args,
      note: l10n.t('The agent starts the server in its own directory: "cwd" isn\'t supported on Windows.'),
    }
  }
  return { command: '/bin/sh', args: ['-c', 'cd -- "$1" && shift && exec "$@"', 'sh', cwd, command, ...args] }
}

async function resolveRemote(definition: RemoteServerDefinition, texts: Texts): Promise<ServerResolution> {
  const missing = await texts.ask([definition.url])
  if (missing !== undefined) return { reason: missing }
  const url = texts.text(definition.url)
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    return { reason: l10n.t('"url" isn\'t an http or https URL.') }
  }
  const notGiven = await texts.ask(Object.values(definition.headers))
  if (notGiven !== undefined) return { reason: notGiven }
  const headers = Object.entries(texts.record(definition.headers)).map(([name, value]) => ({ name, value }))
  for (const { name, value } of headers) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      return { reason: l10n.t('The header "{0}" contains an invalid character.', name) }
    }
  }
  return {
    server: { type: definition.type, name: definition.name, url, headers },
    ...noteOf(texts.notes),
  }
}

/** A server's URL alone. `undefined`: it isn't valid, or lacks an input. */
export async function resolveUrl(
  definition: RemoteServerDefinition,
  context: ServerContext,
): Promise<string | undefined> {
  const texts = new Texts(definition, context)
  if (texts.problem() !== undefined || (await texts.ask([definition.url])) !== undefined) return undefined
  return texts.text(definition.url)
}

function noteOf(notes: string[]): { note?: string } {
  return notes.length === 0 ? {} : { note: [...new Set(notes)].join(' ') }
}

/** A name with a default, as in `${NAME:-default}`. */
const bareVariable = /^([A-Z_][A-Z0-9_]*)(?::-(.*))?$/s

/** In `.mcp.json`, `${NAME}` and `${NAME:-default}` are environment variables, too. */
function isMcpJson({ file }: McpServerDefinition): boolean {
  return basename(file ?? '') === '.mcp.json'
}

/** The names of the environment variables in a server's texts, each once, in order. */
export function environmentVariablesOf(definition: McpServerDefinition): string[] {
  const names = textsOf(definition)
    .flatMap(variablesIn)
    .flatMap(
      name =>
        /^env:(.+)$/s.exec(name)?.[1] ?? (isMcpJson(definition) ? bareVariable.exec(name)?.[1] : []) ?? [],
    )
  return [...new Set(names)]
}

/** The strings of a server and the values of their variables. */
class Texts {
  readonly notes: string[] = []
  readonly #definition: McpServerDefinition
  readonly #context: ServerContext
  readonly #variables: VariableContext
  readonly #inputs = new Map<string, string>()

  constructor(definition: McpServerDefinition, context: ServerContext) {
    this.#definition = definition
    this.#context = context
    this.#variables = {
      folders: context.folders,
      userHome: context.userHome,
      env: context.environment.env,
      platform: context.environment.platform,
    }
  }

  /** The first problem with a variable, before any input is requested. */
  problem(): string | undefined {
    for (const text of textsOf(this.#definition)) {
      for (const problem of substitute(text, this.#variables, name =>
        inputId(name) ? '' : this.#environmentValue(name),
      ).problems) {
        const unset = isMcpJson(this.#definition) && bareVariable.exec(problem.variable.slice(2, -1))?.[1]
        if (unset) return l10n.t("The environment variable {0} isn't set.", unset)
        const sentence = l10n.t('{0}: {1}.', problem.variable, problem.message)
        if (problem.fatal) return sentence
        this.notes.push(sentence)
      }
    }
    return undefined
  }

  /** Asks for the inputs in these strings, one after the other; stops at the first missing value and returns the reason. */
  async ask(texts: string[]): Promise<string | undefined> {
    for (const id of inputsIn(texts)) {
      if (this.#inputs.has(id)) continue
      const answer = await this.#context.input(id, this.#definition)
      if ('missing' in answer) return answer.missing
      this.#inputs.set(id, answer.value)
    }
    return undefined
  }

  text(text: string): string {
    return substitute(
      text,
      this.#variables,
      name => this.#inputs.get(inputId(name) ?? '') ?? this.#environmentValue(name),
    ).text
  }

  #environmentValue(name: string): string | undefined {
    const [, variable, otherwise] = (isMcpJson(this.#definition) && bareVariable.exec(name)) || []
    if (variable === undefined) return undefined
    const { env, platform } = this.#context.environment
    return environmentLookUp(env, variable, platform) ?? otherwise
  }

  record(texts: Record<string, string>): Record<string, string> {
    return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, this.text(value)]))
  }
}
