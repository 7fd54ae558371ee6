import type { ElicitationField, ElicitationValue } from '../../acp/model.ts'

// Elicitation: validates the values of a form, and describes its problems.
// https://agentclientprotocol.com/protocol/v2/draft/elicitation
// Both the webview and the host validate: the webview to show problems, the host because it doesn't trust the webview.

/** Why a value is invalid. `limit`: the bound that the value violates. */
export type FieldProblem =
  | { type: 'required' | 'kind' | 'number' | 'integer' | 'choice' | 'repeated' | 'pattern' | 'unfillable' }
  | { type: 'shorter' | 'longer' | 'less' | 'greater' | 'fewer' | 'more'; limit: number }
  | { type: 'format'; format: 'email' | 'uri' | 'date' | 'date-time' }

type ElicitationContent = Record<string, ElicitationValue>
export type CheckedContent =
  | { ok: true; content: ElicitationContent }
  | { ok: false; problems: Record<string, FieldProblem> }

/**
 * Whether a text matches an agent's pattern. An invalid pattern matches every text. A pattern can backtrack for a very long time, so each
 * side has its own protection: the host limits the time, and the webview tests only simple patterns.
 */
export type Matches = (pattern: string, text: string) => boolean

/**
 * Checks a whole form. Only values that the form asks for are kept. An empty text field counts as not filled in, unless its default is an
 * empty text.
 */
export function checkContent(
  fields: readonly ElicitationField[],
  values: Readonly<Record<string, unknown>>,
  matches: Matches,
): CheckedContent {
  const content: Array<[string, ElicitationValue]> = []
  const problems: Array<[string, FieldProblem]> = []
  for (const field of fields) {
    const value = Object.hasOwn(values, field.key) ? values[field.key] : undefined
    const problem = checkField(field, value, matches)
    if (problem) problems.push([field.key, problem])
    else if (isGiven(field, value)) content.push([field.key, value])
  }
  // `fromEntries` also defines a key such as `__proto__` as an own property
  if (problems.length > 0) return { ok: false, problems: Object.fromEntries(problems) }
  return { ok: true, content: Object.fromEntries(content) }
}

/** Returns the problem with the value of one field, if there is one. */
export function checkField(
  field: ElicitationField,
  value: unknown,
  matches: Matches,
): FieldProblem | undefined {
  if (!isGiven(field, value)) return missing(field)
  switch (field.type) {
    case 'text':
      return typeof value === 'string' ? checkText(field, value, matches) : { type: 'kind' }
    case 'number':
    case 'integer':
      if (typeof value === 'number' && Number.isFinite(value)) return checkNumber(field, value)
      return { type: field.type }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : { type: 'kind' }
    case 'select':
      return field.choices.some(choice => choice.value === value) ? undefined : { type: 'choice' }
    case 'multi_select':
      return Array.isArray(value) ? checkChoices(field, value) : { type: 'kind' }
    case 'unknown':
      return { type: 'unfillable' }
  }
}

/** Returns the initial value of a field: the agent's default, if it's valid. */
export function presetOf(field: ElicitationField): ElicitationValue | undefined {
  if (field.type === 'unknown' || field.default === undefined) return undefined
  if (field.type === 'multi_select') {
    const offered = new Set(field.choices.map(choice => choice.value))
    return [...new Set(field.default)].filter(value => offered.has(value))
  }
  if (field.type === 'select' && field.choices.every(choice => choice.value !== field.default))
    return undefined
  return field.default
}

type Field<T extends ElicitationField['type']> = Extract<ElicitationField, { type: T }>

function isGiven(field: ElicitationField, value: unknown): value is ElicitationValue {
  if (value === undefined || value === null) return false
  return !(field.type === 'text' && value === '' && field.default !== '')
}

function missing(field: ElicitationField): FieldProblem | undefined {
  if (!field.required) return undefined
  return { type: field.type === 'unknown' ? 'unfillable' : 'required' }
}

function checkText(field: Field<'text'>, value: string, matches: Matches): FieldProblem | undefined {
  const length = lengthOf(value)
  if (field.minLength !== undefined && length < field.minLength)
    return { type: 'shorter', limit: field.minLength }
  if (field.maxLength !== undefined && length > field.maxLength)
    return { type: 'longer', limit: field.maxLength }
  if (isKnownFormat(field.format) && !formats[field.format](value))
    return { type: 'format', format: field.format }
  if (field.pattern !== undefined && !matches(field.pattern, value)) return { type: 'pattern' }
  return undefined
}

function checkNumber(field: Field<'number' | 'integer'>, value: number): FieldProblem | undefined {
  if (field.type === 'integer' && !Number.isInteger(value)) return { type: 'integer' }
  if (field.minimum !== undefined && value < field.minimum) return { type: 'less', limit: field.minimum }
  if (field.maximum !== undefined && value > field.maximum) return { type: 'greater', limit: field.maximum }
  return undefined
}

function checkChoices(field: Field<'multi_select'>, value: readonly unknown[]): FieldProblem | undefined {
  const offered = new Set<unknown>(field.choices.map(choice => choice.value))
  if (!value.every(one => offered.has(one))) return { type: 'choice' }
  if (new Set(value).size !== value.length) return { type: 'repeated' }
  if (field.minItems !== undefined && value.length < field.minItems)
    return { type: 'fewer', limit: field.minItems }
  if (field.maxItems !== undefined && value.length > field.maxItems)
    return { type: 'more', limit: field.maxItems }
  return undefined
}

/** Returns the length of a text in code points, as JSON Schema counts characters: a surrogate pair counts as one. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

type Format = Extract<FieldProblem, { type: 'format' }>['format']

function isKnownFormat(format: string | undefined): format is Format {
  return format !== undefined && Object.hasOwn(formats, format)
}

const formats: Record<Format, (text: string) => boolean> = {
  email: text =>
    /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(
      text,
    ),
  uri: text => /^[a-z][a-z0-9+.-]*:(?:%[0-9a-f]{2}|[^\s%"<>\\^`{|}])+$/i.test(text) && URL.canParse(text),
  date: text => isDate(text),
  'date-time': text => {
    const parts = /^(.{10})[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))$/.exec(text)
    if (!parts || !isDate(parts[1] ?? '')) return false
    const [hours, minutes, seconds, offsetHours, offsetMinutes] = parts
      .slice(2)
      .map(part => Number(part ?? 0))
    return hours! < 24 && minutes! < 60 && seconds! < 60 && offsetHours! < 24 && offsetMinutes! < 60
  },
}

/** Whether a text is a date that exists, such as `2024-02-29`. */
function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!parts) return false
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number]
  if (month < 1 || month > 12 || day < 1) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day <= days[month - 1]!
}

/** Translates a sentence into the user's language and replaces `{0}` and so on. The host and the webviews each have their own function. */
export type Translate = (message: string, ...args: Array<string | number>) => string

/** Returns a sentence that describes a valid value. */
export function describeFieldProblem(problem: FieldProblem, t: Translate): string {
  switch (problem.type) {
    case 'required':
      return t('A value is required.')
    case 'kind':
      return t('The value has the wrong type.')
    case 'number':
      return t('Enter a number.')
    case 'integer':
      return t('Enter a whole number.')
    case 'choice':
      return t('Select one of the available values.')
    case 'repeated':
      return t('Select each value only once.')
    case 'pattern':
      return t("The value doesn't match the required format.")
    case 'unfillable':
      return t("Parley doesn't support this type of value.")
    case 'shorter':
      return problem.limit === 1
        ? t('Enter at least 1 character.')
        : t('Enter at least {0} characters.', problem.limit)
    case 'longer':
      return problem.limit === 1
        ? t('Enter at most 1 character.')
        : t('Enter at most {0} characters.', problem.limit)
    case 'less':
      return t('Enter {0} or more.', problem.limit)
    case 'greater':
      return t('Enter {0} or less.', problem.limit)
    case 'fewer':
      return t('Select at least {0}.', problem.limit)
    case 'more':
      return t('Select at most {0}.', problem.limit)
    case 'format':
      return describeFormat(problem.format, t)
  }
}

function describeFormat(format: Extract<FieldProblem, { type: 'format' }>['format'], t: Translate): string {
  switch (format) {
    case 'email':
      return t('Enter an email address.')
    case 'uri':
      return t('Enter a full URL, such as https://example.com.')
    case 'date':
      return t('Enter a date, such as 2026-01-31.')
    case 'date-time':
      return t('Enter a date and a time.')
  }
}
