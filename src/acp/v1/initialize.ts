import { z } from 'zod'
import type { AgentCapabilities, AuthMethod } from '../model.ts'
import { given } from '../wire/content.ts'
import { anything, isRecord, maybe, maybeFlag, maybeText, type Report, readList } from '../wire/lenient.ts'

const presence = z.unknown().transform(value => value !== undefined && value !== null && value !== false)

const promptCapabilities = z.object({ image: maybeFlag, audio: maybeFlag, embeddedContext: maybeFlag })
const mcpCapabilities = z.object({ http: maybeFlag, sse: maybeFlag })
const sessionCapabilities = z.object({
  list: presence.optional(),
  delete: presence.optional(),
  additionalDirectories: presence.optional(),
  resume: presence.optional(),
  close: presence.optional(),
})
const agentCapabilities = z.object({
  loadSession: maybeFlag,
  promptCapabilities: maybe(promptCapabilities),
  mcpCapabilities: maybe(mcpCapabilities),
  sessionCapabilities: maybe(sessionCapabilities),
  auth: maybe(z.object({ logout: presence.optional() })),
})

export const initializeSchema = z.object({
  protocolVersion: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]),
  agentCapabilities: maybe(agentCapabilities),
  authMethods: anything,
  agentInfo: maybe(z.object({ name: maybeText, title: maybeText, version: maybeText })),
})
export type WireInitialize = z.output<typeof initializeSchema>

/** An absent capability is one the agent has not. */
export function readCapabilities(wire: WireInitialize): AgentCapabilities {
  const { loadSession, promptCapabilities, mcpCapabilities, sessionCapabilities, auth } =
    wire.agentCapabilities ?? {}
  return {
    load: loadSession === true,
    resume: sessionCapabilities?.resume === true,
    list: sessionCapabilities?.list === true,
    close: sessionCapabilities?.close === true,
    delete: sessionCapabilities?.delete === true,
    additionalDirectories: sessionCapabilities?.additionalDirectories === true,
    logout: auth?.logout === true,
    // Every agent must take stdio servers.
    mcp: { stdio: true, http: mcpCapabilities?.http === true, sse: mcpCapabilities?.sse === true },
    prompt: {
      image: promptCapabilities?.image === true,
      audio: promptCapabilities?.audio === true,
      embeddedContext: promptCapabilities?.embeddedContext === true,
    },
  }
}

export const authMethodSchema = z.object({
  id: z.string().min(1),
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
 * A way to sign in. Beside the specification's, two found in the wild: `_meta["terminal-auth"]`, a whole command for
 * a terminal, and `env_var`, which asks for environment variables (its flags default to secret and required).
 */
function readAuthMethod(raw: unknown, report: Report): AuthMethod | undefined {
  const wire = authMethodSchema.safeParse(raw).data
  if (!wire) return undefined
  const method: AuthMethod = {
    methodId: wire.id,
    type: wire.type ?? 'agent',
    name: wire.name ?? wire.id,
    ...given('description', wire.description),
  }
  const terminal = isRecord(wire._meta)
    ? terminalAuthSchema.safeParse(wire._meta['terminal-auth']).data
    : undefined
  if (terminal) {
    method.type = 'terminal'
    method.terminal = {
      args: terminal.args ?? [],
      env: readEnvironment(terminal.env),
      ...given('command', terminal.command),
      ...given('label', terminal.label),
    }
  } else if (method.type === 'terminal') {
    method.terminal = { args: wire.args ?? [], env: readEnvironment(wire.env) }
  } else if (method.type === 'env_var') {
    method.vars = readList(wire.vars, readVariable, report, 'vars')
  }
  return method
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

/** An object of name and value, or a list of `{name, value}`. */
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
