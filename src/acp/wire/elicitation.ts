import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { AgentClient } from '../agent.ts'
import { RpcCode, RpcError } from '../errors.ts'
import type {
  ElicitationChoice,
  ElicitationField,
  ElicitationOutcome,
  ElicitationRequest,
  ElicitationValue,
} from '../model.ts'
import { given } from './content.ts'
import {
  anything,
  maybe,
  maybeAsked,
  maybeFlag,
  maybeNumber,
  maybeShown,
  maybeText,
  type Report,
  readList,
} from './lenient.ts'
import { answer } from './requests.ts'

const count = maybe(z.number().int().nonnegative())
const texts = maybe(z.array(z.string()))

export const elicitationSchema = z.object({
  mode: maybeText,
  message: z.string(),
  sessionId: maybeText,
  /** the id of the client's request that the elicitation belongs to, in place of a session */
  requestId: anything,
  toolCallId: maybeText,
  requestedSchema: anything,
  elicitationId: maybeText,
  url: maybeText,
})
export const formSchema = z.object({
  title: maybeShown,
  description: maybeAsked,
  properties: anything,
  required: texts,
})
/** The schema of a field's property, for all kinds of fields, since the names of their members don't collide. */
export const propertySchema = z.object({
  type: maybeText,
  title: maybeShown,
  description: maybeAsked,
  format: maybeText,
  pattern: maybeText,
  minLength: count,
  maxLength: count,
  minimum: maybeNumber,
  maximum: maybeNumber,
  minItems: count,
  maxItems: count,
  enum: texts,
  oneOf: anything,
  items: anything,
  default: anything,
})
export const enumOptionSchema = z.object({ const: z.string(), title: maybeShown, description: maybeShown })
export const itemsSchema = z.object({ type: maybeText, enum: texts, anyOf: anything, oneOf: anything })

/**
 * Answers `elicitation/create`; returns `undefined` if no view can ask the user. An elicitation that belongs to a client request ends with
 * that request. `requestSignal` returns a signal that aborts when the request with this id ends, or `undefined` if the request isn't
 * pending.
 */
export function answerElicitation(
  client: Pick<AgentClient, 'createElicitation'>,
  params: unknown,
  withdrawal: AbortSignal,
  report: Report,
  requestSignal: (id: unknown) => AbortSignal | undefined,
): Promise<unknown> | undefined {
  if (!client.createElicitation) return undefined
  const ask = client.createElicitation.bind(client)
  return answer(elicitationSchema, params, async wire => {
    const request = readElicitation(wire, report)
    const signal = withRequestSignal(wire, withdrawal, requestSignal)
    if (!signal) {
      report("elicitation/create for a request that isn't pending")
      return outcomeToWire({ action: 'cancel' })
    }
    return outcomeToWire(await ask(request, signal))
  })
}

/** Returns a signal that also aborts when the request ends that the elicitation belongs to; `undefined` if that request has ended. */
function withRequestSignal(
  { sessionId, requestId }: z.output<typeof elicitationSchema>,
  withdrawal: AbortSignal,
  requestSignal: (id: unknown) => AbortSignal | undefined,
): AbortSignal | undefined {
  if (typeof sessionId === 'string' || requestId === undefined || requestId === null) return withdrawal
  const request = requestSignal(requestId)
  return request && AbortSignal.any([withdrawal, request])
}

export function outcomeToWire(outcome: ElicitationOutcome) {
  switch (outcome.action) {
    case 'accept':
      return { action: 'accept' as const, ...given('content', outcome.content) }
    case 'decline':
      return { action: 'decline' as const }
    case 'cancel':
      return { action: 'cancel' as const }
  }
}

/** Reads an elicitation. @throws RpcError if it can't be shown */
export function readElicitation(
  wire: z.output<typeof elicitationSchema>,
  report: Report,
): ElicitationRequest {
  const base = {
    message: wire.message,
    ...given('sessionId', wire.sessionId),
    ...given('toolCallId', wire.toolCallId),
  }
  // Early agents didn't send the mode of a form.
  switch (wire.mode ?? 'form') {
    case 'form': {
      const form = formSchema.safeParse(wire.requestedSchema).data
      if (!form) throw invalid("requestedSchema isn't a schema")
      return {
        ...base,
        mode: 'form',
        ...given('title', form.title),
        ...given('description', form.description),
        fields: readFields(form, report),
      }
    }
    case 'url': {
      const { url, elicitationId } = wire
      if (!url || !URL.canParse(url)) throw invalid("url isn't a valid URL")
      if (!elicitationId) throw invalid('elicitationId is missing')
      return { ...base, mode: 'url', elicitationId, url }
    }
    default:
      throw invalid(`there is no mode ${wire.mode}`)
  }
}

function invalid(problem: string): RpcError {
  return new RpcError(RpcCode.invalidParams, `Invalid params: ${problem}`)
}

function readFields(form: z.output<typeof formSchema>, report: Report): ElicitationField[] {
  if (!isRecord(form.properties)) return []
  const required = new Set(form.required ?? [])
  return Object.entries(form.properties).map(([key, raw]) => readField(key, raw, required.has(key), report))
}

function readField(key: string, raw: unknown, required: boolean, report: Report): ElicitationField {
  const property = propertySchema.safeParse(raw).data
  const base = {
    key,
    title: property?.title || key,
    required,
    ...given('description', property?.description),
  }
  if (!property) return { ...base, type: 'unknown', raw }
  const { type } = property
  const preset = property.default
  switch (type) {
    case 'string': {
      const choices = readChoices(property.enum, property.oneOf, report)
      const words = given('default', onlyText(preset))
      if (choices) return { ...base, type: 'select', choices, ...words }
      return {
        ...base,
        type: 'text',
        ...given('format', property.format),
        ...given('pattern', property.pattern),
        ...given('minLength', property.minLength),
        ...given('maxLength', property.maxLength),
        ...words,
      }
    }
    case 'number':
    case 'integer':
      return {
        ...base,
        type,
        ...given('minimum', property.minimum),
        ...given('maximum', property.maximum),
        ...given('default', typeof preset === 'number' ? preset : undefined),
      }
    case 'boolean':
      return { ...base, type, ...given('default', maybeFlag.parse(preset)) }
    case 'array': {
      const items = itemsSchema.safeParse(property.items).data
      const choices = readChoices(items?.enum, items?.anyOf ?? items?.oneOf, report)
      const newer = typeof items?.type === 'string' && items.type !== 'string'
      if (!choices || newer) return { ...base, type: 'unknown', raw }
      return {
        ...base,
        type: 'multi_select',
        choices,
        ...given('minItems', property.minItems),
        ...given('maxItems', property.maxItems),
        ...given('default', texts.parse(preset)),
      }
    }
    default:
      return { ...base, type: 'unknown', raw }
  }
}

function readChoices(
  values: string[] | null | undefined,
  options: unknown,
  report: Report,
): ElicitationChoice[] | undefined {
  if (Array.isArray(options)) return readList(options, readChoice, report, 'choices')
  return values?.map(value => ({ value, title: value }))
}

function readChoice(raw: unknown): ElicitationChoice | undefined {
  const option = enumOptionSchema.safeParse(raw).data
  if (!option) return undefined
  return {
    value: option.const,
    title: option.title ?? option.const,
    ...given('description', option.description),
  }
}

function onlyText(value: unknown): Extract<ElicitationValue, string> | undefined {
  return typeof value === 'string' ? value : undefined
}

export const elicitationCompleteSchema = z.object({ elicitationId: z.string() })
