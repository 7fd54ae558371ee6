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
  } else {
    const variable = keyVariable(wire)
    if (variable !== undefined) method.vars = [{ name: variable, secret: true, optional: false }]
  }
  return method
}

/** Where the agents of these providers read an API key from. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
  openai: 'OPENAI_API_KEY',
}

/**
 * The variable of a plain method that needs an API key: by `_meta["api-key"].provider` (Gemini CLI, Codex), or the only
 * one that its words name (Qwen Code: `OPENAI_API_KEY`, Droid: `FACTORY_API_KEY`, Grok: `XAI_API_KEY`).
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
