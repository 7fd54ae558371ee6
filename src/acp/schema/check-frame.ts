import * as l10n from '@vscode/l10n'
import { isRecord } from '../../common/is-record.ts'
import { shortened } from '../../common/visible.ts'
import { type Definitions, MAX_VALUE, schemaViolations } from './json-schema.ts'
import { V1, V2 } from './official-schemas.ts'

export interface CheckedFrame {
  version: 1 | 2
  /** `receive`: the agent sent the frame; `send`: the client sent it */
  direction: 'send' | 'receive'
  /** the message: a parsed value, or the value to be serialized */
  message: unknown
  /** the method of the request that a response answers */
  answers?: string
}

type Kind = 'Request' | 'Response' | 'Notification'

/** The names of an official schema's definitions. The key consists of the side that handles the method, the method, and the kind. */
const names = new Map<Definitions, Map<string, string>>()

/**
 * Returns how a frame violates the official schema, unreleased parts included. Each violation is a sentence; without a violation, the frame
 * conforms, as far as the first items of long lists show. The sentences contain values of the frame, so redact them.
 *
 * The schemas are large, so load this module only when it's needed.
 */
export function frameViolations({ version, direction, message, answers }: CheckedFrame): string[] {
  if (!isRecord(message)) return [l10n.t('A message must be a JSON object.')]
  const defs = version === 2 ? V2 : V1
  const found: string[] = []
  if (message.jsonrpc !== '2.0') found.push(l10n.t('jsonrpc must be "2.0".'))
  // The id is `null` in an error about a message whose id couldn't be read.
  if (message.id !== undefined && !(message.id === null && 'error' in message))
    found.push(...schemaViolations(message.id, defs.RequestId ?? {}, defs, 'id'))
  const isFromClient = direction === 'send'
  if (message.method !== undefined) {
    if (typeof message.method !== 'string') return [...found, l10n.t('method must be a string.')]
    const kind = message.id === undefined ? 'Notification' : 'Request'
    found.push(
      ...bodyViolations(defs, isFromClient ? 'agent' : 'client', message.method, kind, message.params),
    )
  } else if ('error' in message === 'result' in message) {
    found.push(l10n.t('A response must have either a result or an error.'))
  } else if ('error' in message) {
    found.push(...schemaViolations(message.error, defs.Error ?? {}, defs, 'error'))
  } else if (answers !== undefined) {
    found.push(
      ...bodyViolations(defs, isFromClient ? 'client' : 'agent', answers, 'Response', message.result),
    )
  }
  return found
}

function bodyViolations(
  defs: Definitions,
  handler: 'agent' | 'client',
  method: string,
  kind: Kind,
  body: unknown,
): string[] {
  const name = definitionName(defs, handler, method, kind)
  if (name !== undefined)
    return schemaViolations(body ?? {}, defs[name] ?? {}, defs, kind === 'Response' ? 'result' : 'params')
  // An unknown method was already reported with its request.
  if (kind === 'Response' || method.startsWith('_')) return []
  const shown = shortened(method, MAX_VALUE)
  return [
    kind === 'Request'
      ? l10n.t(
          "The specification doesn't define a request {0}. The names of extensions start with an underscore.",
          shown,
        )
      : l10n.t(
          "The specification doesn't define a notification {0}. The names of extensions start with an underscore.",
          shown,
        ),
  ]
}

function definitionName(defs: Definitions, handler: string, method: string, kind: Kind): string | undefined {
  let known = names.get(defs)
  if (!known) {
    known = new Map()
    for (const [name, { 'x-side': side, 'x-method': of }] of Object.entries(defs)) {
      const ending = /(Request|Response|Notification)$/.exec(name)?.[1]
      if (side !== undefined && of !== undefined) known.set(`${side} ${of} ${ending}`, name)
    }
    names.set(defs, known)
  }
  return known.get(`${handler} ${method} ${kind}`) ?? known.get(`protocol ${method} ${kind}`)
}
