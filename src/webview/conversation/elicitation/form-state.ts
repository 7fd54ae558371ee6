import { type Signal, signal } from '@preact/signals'
import type { ElicitationField, ElicitationValue } from '../../../acp/model.ts'
import { isPlainMatch } from '../../../common/plain-pattern.ts'
import {
  type CheckedContent,
  checkContent,
  checkField,
  type FieldProblem,
  type Matches,
  matchesPattern,
  presetOf,
} from '../../../conversation/elicitation-schema.ts'
import { fromLocalDateTime, toLocalDateTime } from './date-time.ts'

/** A page cannot stop an expression that takes for ever: one that might is left to the host, which looks again and can. */
const matchesAtOnce: Matches = (pattern, text) =>
  !isPlainMatch(pattern, text) || matchesPattern(pattern, text)

/** What stands in a field's control: the text of an input, the state of a checkbox, the values that are chosen. */
export type Written = string | boolean | readonly string[] | undefined

/** What the person filled in so far of one field. */
export class FieldState {
  readonly field: ElicitationField
  readonly written: Signal<Written>
  /** Shown once the person tried to send the form: sooner, it would move what they are about to click. */
  readonly problem = signal<FieldProblem | undefined>(undefined)
  #looked = false

  constructor(field: ElicitationField) {
    this.field = field
    this.written = signal(begin(field))
  }

  write(written: Written): void {
    this.written.value = written
    if (this.#looked) this.check()
  }

  check(): void {
    this.#looked = true
    this.problem.value = checkField(this.field, this.value(), matchesAtOnce)
  }

  value(): ElicitationValue | undefined {
    return read(this.field, this.written.peek())
  }
}

/** A form while it is filled in. It outlives its place on the screen, which scrolling takes away. */
export class FormState {
  readonly fields: readonly FieldState[]

  constructor(fields: readonly ElicitationField[]) {
    this.fields = fields.map(field => new FieldState(field))
  }

  /** Checks everything, and says at each field what is wrong with it. */
  submit(): CheckedContent {
    for (const field of this.fields) field.check()
    const values = this.fields.map(state => [state.field.key, state.value()] as const)
    return checkContent(
      this.fields.map(state => state.field),
      Object.fromEntries(values),
      matchesAtOnce,
    )
  }
}

const forms = new WeakMap<object, FormState>()

/** The form of a question, the same one each time it is drawn. */
export function formOf(owner: object, fields: readonly ElicitationField[]): FormState {
  let form = forms.get(owner)
  if (!form) {
    form = new FormState(fields)
    forms.set(owner, form)
  }
  return form
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
      // a box that is not ticked says no; only where no answer is needed may it say nothing
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
