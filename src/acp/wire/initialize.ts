import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { AgentClient, ConnectOptions } from '../agent.ts'
import type { AgentCapabilities, AuthMethod } from '../model.ts'
import { given } from './content.ts'
import { canForkAt } from './fork-point.ts'
import { anything, maybe, maybeFlag, maybeText, type Report, readList } from './lenient.ts'
import { canSteer } from './steering.ts'

/**
 * Returns Parley's capabilities in the form of v1. A capability is listed only if it works. `_meta` has two conventions that no
 * specification contains: output of the agent's own terminals in tool calls, and commands to sign in.
 */
export function clientCapabilitiesV1(client: Partial<AgentClient>, features: ConnectOptions['features']) {
  const terminalAuth = features?.terminalAuth === true
  return {
    ...(!features?.isRemote && { fs: { readTextFile: true, writeTextFile: true }, terminal: true }),
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    // Not released yet: plans with ids, plans that are documents, and sessions within a session.
    plan: {},
    subagents: {},
    auth: { terminal: terminalAuth },
    ...(client.createElicitation ? { elicitation: { form: {}, url: {} } } : {}),
    _meta: { terminal_output: true, ...(terminalAuth ? { 'terminal-auth': true } : {}) },
  }
}

/** Returns Parley's capabilities in the form of v2. Every v2 client must support what isn't listed. */
export function clientCapabilitiesV2(client: Partial<AgentClient>, features: ConnectOptions['features']) {
  return {
    ...(features?.terminalAuth ? { auth: { terminal: {} } } : {}),
    ...(client.createElicitation ? { elicitation: { form: {}, url: {} } } : {}),
  }
}

/** Returns an `initialize` request that agents of both versions understand, because it has the fields of both. */
export function initializeRequest(
  protocolVersion: number,
  client: Partial<AgentClient>,
  options: Pick<ConnectOptions, 'clientInfo' | 'features'>,
) {
  const { clientInfo, features } = options
  return {
    protocolVersion,
    clientInfo,
    clientCapabilities: clientCapabilitiesV1(client, features),
    info: clientInfo,
    capabilities: clientCapabilitiesV2(client, features),
  }
}

const implementation = maybe(z.object({ name: maybeText, title: maybeText, version: maybeText }))

/**
 * The schema of the response to `initialize`. v1 has `agentInfo` and `agentCapabilities`, and v2 has `info` and `capabilities`; an early
 * draft of v2 mixed them.
 */
export const initializeSchema = z.object({
  protocolVersion: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]),
  authMethods: anything,
  agentCapabilities: anything,
  agentInfo: implementation,
  capabilities: anything,
  info: implementation,
  _meta: anything,
})
export type WireInitialize = z.output<typeof initializeSchema>

export function readInfo(wire: WireInitialize): { name: string; title?: string; version?: string } {
  const { name, title, version } = wire.info ?? wire.agentInfo ?? {}
  return { name: name ?? title ?? '', ...given('title', title), ...given('version', version) }
}

/** Whether a capability is present. It should be an object, but some agents send `true`. */
export function has(parent: unknown, key: string): boolean {
  const value = isRecord(parent) ? parent[key] : undefined
  return value !== undefined && value !== null && value !== false
}

/**
 * Reads unreleased capabilities, extensions and known facts about an agent, which are the same in both versions. `session` and `auth` are
 * the objects that contain the capabilities in the agent's version.
 */
export function readUnstable(
  wire: WireInitialize,
  agent: unknown,
  session: unknown,
  auth: unknown,
): Partial<AgentCapabilities> {
  const can: Partial<AgentCapabilities> = {}
  if (canSteer(wire._meta)) can.steering = true
  if (has(session, 'fork')) can.fork = true
  if (can.fork && canForkAt(readInfo(wire))) can.forkAtMessage = true
  // Gemini CLI hides every tool with this name, including those of MCP servers, because its own tool can't ask over ACP.
  if (readInfo(wire).name === 'gemini-cli') can.hiddenTools = ['ask_user']
  if (has(session, 'title')) can.setTitle = true
  if (has(session, 'archive')) can.archive = true
  if (has(session, 'status')) can.sessionStatus = true
  if (has(auth, 'status')) can.authStatus = true
  if (has(agent, 'providers')) can.providers = true
  if (isRecord(session) && has(session, 'systemPrompt')) {
    const mode = isRecord(session.systemPrompt) ? session.systemPrompt.mode : undefined
    can.systemPrompt = { override: has(mode, 'override') }
  }
  return can
}

/** The schema of a sign-in method. v1 calls the id `id`, and v2 calls it `methodId`. */
export const authMethodSchema = z.object({
  id: maybeText,
  methodId: maybeText,
  name: maybeText,
  description: maybeText,
  type: maybeText,
  args: maybe(z.array(z.string())),
  env: anything,
  vars: anything,
  _meta: anything,
})
const terminalAuthSchema = z.object({
  command: maybeText,
  args: maybe(z.array(z.string())),
  env: anything,
  label: maybeText,
})
const variableSchema = z.object({
  name: z.string().min(1),
  label: maybeText,
  secret: maybeFlag,
  optional: maybeFlag,
})

export function readAuthMethods(raw: unknown, report: Report): AuthMethod[] {
  return readList(raw, readAuthMethod, report, 'authMethods')
}

/**
 * Reads a sign-in method. Also supports two unspecified kinds that agents use: `_meta["terminal-auth"]`, a whole command for a terminal,
 * and `env_var`, which asks for environment variables (secret and required by default). The specified arguments are preferred to the
 * command in `_meta`, which may use another Node than the agent's program.
 */
function readAuthMethod(raw: unknown, report: Report): AuthMethod | undefined {
  const wire = authMethodSchema.safeParse(raw).data
  const methodId = wire?.methodId || wire?.id
  if (!wire || !methodId) return undefined
  const method: AuthMethod = {
    methodId,
    type: wire.type ?? 'agent',
    name: wire.name ?? methodId,
    ...given('description', wire.description),
  }
  const terminal = isRecord(wire._meta)
    ? terminalAuthSchema.safeParse(wire._meta['terminal-auth']).data
    : undefined
  const own = { args: wire.args ?? [], env: readEnvironment(wire.env), ...given('label', terminal?.label) }
  // Without arguments and variables to add, the method would only start the agent's program once more.
  const isOwn = method.type === 'terminal' && (own.args.length > 0 || Object.keys(own.env).length > 0)
  if (isOwn || (method.type === 'terminal' && !terminal)) method.terminal = own
  else if (terminal) {
    method.type = 'terminal'
    method.terminal = {
      ...own,
      args: terminal.args ?? [],
      env: readEnvironment(terminal.env),
      ...given('command', terminal.command),
    }
  } else if (method.type === 'env_var') {
    method.vars = readList(wire.vars, readVariable, report, 'vars')
  } else {
    const variable = keyVariable(wire)
    if (variable !== undefined) method.vars = [{ name: variable, secret: true, optional: false }]
    else if (isRecord(wire._meta) && isRecord(wire._meta.gateway)) method.gateway = true
  }
  return method
}

/** The environment variables from which agents read the API keys of these providers. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
  openai: 'OPENAI_API_KEY',
}

/**
 * Returns the environment variable for a sign-in method that needs an API key. `_meta["api-key"].provider` names the provider (Gemini CLI,
 * Codex), or the method's text mentions only one variable (Qwen Code: `OPENAI_API_KEY`, Droid: `FACTORY_API_KEY`, Grok: `XAI_API_KEY`).
 */
function keyVariable({ name, description, _meta }: z.output<typeof authMethodSchema>): string | undefined {
  const key = isRecord(_meta) ? _meta['api-key'] : undefined
  const provider = isRecord(key) ? key.provider : undefined
  if (typeof provider === 'string' && Object.hasOwn(KEY_VARIABLES, provider)) return KEY_VARIABLES[provider]
  const named = new Set(`${name} ${description}`.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_API_KEY\b/g))
  return named.size === 1 ? [...named][0] : undefined
}

function readVariable(raw: unknown) {
  const wire = variableSchema.safeParse(raw).data
  if (!wire) return undefined
  return {
    name: wire.name,
    secret: wire.secret !== false,
    optional: wire.optional === true,
    ...given('label', wire.label),
  }
}

/** Reads environment variables from an object of names and values, or from a list of `{name, value}`. */
function readEnvironment(raw: unknown): Record<string, string> {
  const pairs: Array<[unknown, unknown]> = Array.isArray(raw)
    ? raw.filter(isRecord).map(item => [item.name, item.value])
    : Object.entries(isRecord(raw) ? raw : {})
  const env: Record<string, string> = {}
  for (const [name, value] of pairs) {
    if (typeof name === 'string' && name !== '' && typeof value === 'string') env[name] = value
  }
  return env
}
