import * as z from 'zod'
import type { AuthMethod } from '../model.ts'
import { given } from './content.ts'
import { anything, isRecord, maybe, maybeFlag, maybeText, type Report, readList } from './lenient.ts'

/** v2 names the id `methodId`. */
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
 * A way to sign in. Beside the specification's, two found in the wild: `_meta["terminal-auth"]`, a whole command for
 * a terminal, and `env_var`, which asks for environment variables (its flags default to secret and required).
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
