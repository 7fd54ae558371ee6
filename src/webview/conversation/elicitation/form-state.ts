import { type Signal, signal } from '@preact/signals'
import type { ElicitationField, ElicitationValue } from '../../../acp/model.ts'
import {
  type CheckedContent,
  checkContent,
  checkField,
  type FieldProblem,
  type Matches,
  presetOf,
} from '../../../conversation/requests/elicitation.ts'
import { keepUnsentAnswer, unsentAnswer } from '../unsent-answers.ts'

/** Matches a pattern if that is certain to finish quickly, since a page can't stop a match. The host checks other patterns. */
const matchesPlain: Matches = (pattern, text) => {
  if (!isPlainMatch(pattern, text)) return true
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}

/** The value of a field's control: an input's text, a checkbox's state, the selected values. */
export type Written = string | boolean | readonly string[] | undefined

/** The user's input in a field so far. */
export class FieldState {
  readonly field: ElicitationField
  readonly written: Signal<Written>
  /** the field's problem, shown only after the user tried to send the form: before, it would move elements under the pointer */
  readonly problem = signal<FieldProblem | undefined>(undefined)
  readonly #onWritten: () => void
  #isChecked = false

  /** @param earlier the unchecked input from before the page was reloaded or showed another conversation */
  constructor(field: ElicitationField, earlier: unknown, onWritten: () => void) {
    this.field = field
    this.written = signal(canBeIn(field, earlier) ? earlier : begin(field))
    this.#onWritten = onWritten
  }

  write(written: Written): void {
    this.written.value = written
    this.#onWritten()
    if (this.#isChecked) this.check()
  }

  check(): void {
    this.#isChecked = true
    this.problem.value = checkField(this.field, this.value(), matchesPlain)
  }

  value(): ElicitationValue | undefined {
    return read(this.field, this.written.peek())
  }
}

/** The state of a form that the user fills in. It outlives the form's element, which scrolling may remove, and the page. */
export class FormState {
  readonly fields: readonly FieldState[]

  constructor(requestId: string, fields: readonly ElicitationField[]) {
    const stored = unsentAnswer(requestId)
    const isPair = (one: unknown): one is [unknown, unknown] => Array.isArray(one) && one.length === 2
    const earlier = new Map(Array.isArray(stored) ? stored.filter(isPair) : [])
    const keep = () =>
      keepUnsentAnswer(
        requestId,
        this.fields.map(state => [state.field.key, state.written.peek()]),
      )
    this.fields = fields.map(field => new FieldState(field, earlier.get(field.key), keep))
  }

  /** Validates all fields, and shows the problems. */
  submit(): CheckedContent {
    for (const field of this.fields) field.check()
    const values = this.fields.map(state => [state.field.key, state.value()] as const)
    return checkContent(
      this.fields.map(state => state.field),
      Object.fromEntries(values),
      matchesPlain,
    )
  }
}

const forms = new WeakMap<object, FormState>()

/** Returns the form state of an elicitation, the same object at each rendering. */
export function formOf(owner: object, requestId: string, fields: readonly ElicitationField[]): FormState {
  let form = forms.get(owner)
  if (!form) {
    form = new FormState(requestId, fields)
    forms.set(owner, form)
  }
  return form
}

/** Whether the control of a field can have this value. */
function canBeIn(field: ElicitationField, written: unknown): written is string | boolean | readonly string[] {
  switch (field.type) {
    case 'text':
    case 'number':
    case 'integer':
      return typeof written === 'string'
    case 'boolean':
      return typeof written === 'boolean'
    case 'select':
      return field.choices.some(({ value }) => value === written)
    case 'multi_select':
      return Array.isArray(written) && written.every(one => field.choices.some(({ value }) => value === one))
    case 'unknown':
      return false
  }
}

function begin(field: ElicitationField): Written {
  const preset = presetOf(field)
  switch (field.type) {
    case 'text':
      if (field.format === 'date-time') return toLocalDateTime(String(preset ?? ''))
      return preset === undefined ? '' : String(preset)
    case 'number':
    case 'integer':
      return preset === undefined ? '' : String(preset)
    case 'boolean':
      // an unchecked box means no; only in an optional field can it mean that there's no answer
      return typeof preset === 'boolean' ? preset : field.required ? false : undefined
    case 'select':
      return typeof preset === 'string' ? preset : undefined
    case 'multi_select':
      return Array.isArray(preset) ? preset : field.required ? [] : undefined
    case 'unknown':
      return undefined
  }
}

function read(field: ElicitationField, written: Written): ElicitationValue | undefined {
  if (written === undefined) return undefined
  if (typeof written !== 'string') return typeof written === 'boolean' ? written : [...written]
  switch (field.type) {
    case 'number':
    case 'integer':
      return written.trim() === '' ? undefined : Number(written)
    case 'text':
      return field.format === 'date-time' ? fromLocalDateTime(written) : written
    default:
      return written
  }
}

/** Maximum number of repetitions: with more, the time grows faster than the third power of the length of the text. */
const REPETITIONS = 2
/** Longer text is checked only by the host, which can stop a match. UTF-16 units. */
const MAX_TEXT_LENGTH = 200

/**
 * Whether a regular expression of unknown origin is certain to finish quickly: it doesn't repeat or refer to groups, and has
 * few repetitions. Other expressions may be fast, too.
 */
export function isPlainMatch(pattern: string, text: string): boolean {
  if (text.length > MAX_TEXT_LENGTH || /\\[1-9k]/.test(pattern)) return false
  const bare = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  if (/\)[*+{]/.test(bare)) return false
  return (bare.match(/[*+]|\{\d+(?:,\d*)?\}/g) ?? []).filter(repeats).length <= REPETITIONS
}

/** Whether a quantifier can match in more than one way, unlike `{3}`. */
function repeats(quantifier: string): boolean {
  return !/^\{\d+\}$/.test(quantifier)
}

/** Converts between times on the wire (RFC 3339 with a time zone) and values of a `datetime-local` input (local time). */

/** Converts a time such as `2024-02-29T10:00:00Z` to local time; empty for an invalid time. */
function toLocalDateTime(moment: string): string {
  const date = new Date(moment)
  if (moment === '' || Number.isNaN(date.getTime())) return ''
  const day = `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

/** Returns the date and time with the local time zone; invalid text is unchanged, so that validation reports it. */
function fromLocalDateTime(local: string): string {
  const date = new Date(local)
  if (local === '' || Number.isNaN(date.getTime())) return local
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${pad(Math.trunc(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`
  return toLocalDateTime(local) + zone
}

function pad(number: number, digits = 2): string {
  return String(number).padStart(digits, '0')
}
