import { useId } from 'preact/hooks'
import type { ElicitationField } from '../../../acp/model.ts'
import { visibleProse } from '../../../common/visible.ts'
import { describeFieldProblem } from '../../../conversation/requests/elicitation.ts'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import type { FieldState } from './form-state.ts'

/** Maximum number of choices that are shown as buttons; more choices are shown in a list. */
const MAX_BUTTONS = 4

type Field<T extends ElicitationField['type']> = Extract<ElicitationField, { type: T }>

interface ControlProps<T extends ElicitationField['type']> {
  state: FieldState
  field: Field<T>
  id: string
  /** ids of the description and the problem */
  describedBy: string | undefined
}

/** A field of a form: its name, control, description and problem. */
export function FormField({ state }: { state: FieldState }) {
  const id = useId()
  const { field } = state
  const problem = state.problem.value
  const describedBy =
    [field.description && `${id}-about`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined
  const grouped = field.type === 'multi_select' || isShownWhole(field)
  const body = (
    <>
      <Control state={state} field={field} id={id} describedBy={describedBy} />
      {field.description && (
        <div class="field-about quiet" id={`${id}-about`} dir="auto">
          {visibleProse(field.description)}
        </div>
      )}
      {problem && (
        <div class="field-problem" id={`${id}-problem`}>
          <Icon name="error" />
          <span>{describeFieldProblem(problem, t)}</span>
        </div>
      )}
    </>
  )
  if (grouped) {
    return (
      <fieldset class="field" aria-describedby={describedBy} data-invalid={problem ? '' : undefined}>
        <legend class="field-label" dir="auto">
          <Label field={field} />
        </legend>
        {body}
      </fieldset>
    )
  }
  return (
    <div class="field" data-invalid={problem ? '' : undefined}>
      {field.type !== 'boolean' && (
        <label class="field-label" for={id} dir="auto">
          <Label field={field} />
        </label>
      )}
      {body}
    </div>
  )
}

function Label({ field }: { field: ElicitationField }) {
  return (
    <>
      {visibleProse(field.title)}
      {!field.required && field.type !== 'boolean' && (
        <span class="quiet field-optional"> {t('(optional)')}</span>
      )}
    </>
  )
}

function Control({ field, ...rest }: ControlProps<ElicitationField['type']>) {
  switch (field.type) {
    case 'text':
      return <TextControl field={field} {...rest} />
    case 'number':
    case 'integer':
      return <NumberControl field={field} {...rest} />
    case 'boolean':
      return <BooleanControl field={field} {...rest} />
    case 'select':
      return isShownWhole(field) ? (
        <RadioControl field={field} {...rest} />
      ) : (
        <SelectControl field={field} {...rest} />
      )
    case 'multi_select':
      return <ChecksControl field={field} {...rest} />
    case 'unknown':
      return <div class="quiet">{describeFieldProblem({ type: 'unfillable' }, t)}</div>
  }
}

/** Whether the choices are shown side by side: a few choices, one of which must be selected. */
function isShownWhole(field: ElicitationField): boolean {
  if (field.type !== 'select') return false
  return field.choices.length <= MAX_BUTTONS && (field.required || field.default !== undefined)
}

const inputTypes: Record<string, 'email' | 'url' | 'date' | 'datetime-local'> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
}

function TextControl({ state, field, id, describedBy }: ControlProps<'text'>) {
  const type = inputTypes[field.format ?? ''] ?? 'text'
  return (
    <input
      {...shared(state, id, describedBy)}
      class="field-input"
      type={type as 'text'}
      step={type === 'datetime-local' ? 1 : undefined}
      dir="auto"
      autocomplete="off"
      value={String(state.written.value ?? '')}
      onInput={event => state.write(event.currentTarget.value)}
    />
  )
}

function NumberControl({ state, field, id, describedBy }: ControlProps<'number' | 'integer'>) {
  return (
    <input
      {...shared(state, id, describedBy)}
      class="field-input field-number"
      type="text"
      inputMode={field.type === 'integer' ? 'numeric' : 'decimal'}
      autocomplete="off"
      value={String(state.written.value ?? '')}
      onInput={event => state.write(event.currentTarget.value)}
      onKeyDown={event => step(event, state, field)}
    />
  )
}

function BooleanControl({ state, field, id, describedBy }: ControlProps<'boolean'>) {
  return (
    <label class="field-choice">
      <input
        {...shared(state, id, describedBy)}
        type="checkbox"
        checked={state.written.value === true}
        onChange={event => state.write(event.currentTarget.checked)}
      />
      <span dir="auto">{visibleProse(field.title)}</span>
    </label>
  )
}

function RadioControl({ state, field, id }: ControlProps<'select'>) {
  return (
    <div class="field-choices">
      {field.choices.map((choice, index) => (
        <label key={choice.value} class="field-choice" title={choice.description}>
          <input
            id={index === 0 ? id : undefined}
            type="radio"
            name={id}
            checked={state.written.value === choice.value}
            onChange={() => state.write(choice.value)}
          />
          <ChoiceText choice={choice} />
        </label>
      ))}
    </div>
  )
}

/** A list of choices, identified by their position, since an empty string as a value would look like no selection. */
function SelectControl({ state, field, id, describedBy }: ControlProps<'select'>) {
  const chosen = field.choices.findIndex(choice => choice.value === state.written.value)
  return (
    <select
      {...shared(state, id, describedBy)}
      class="field-input field-select"
      value={String(chosen)}
      onChange={event => state.write(field.choices[Number(event.currentTarget.value)]?.value)}
    >
      <option value="-1">{field.required ? t('Select…') : t('No answer')}</option>
      {field.choices.map((choice, index) => (
        <option key={choice.value} value={String(index)} title={choice.description}>
          {visibleProse(choice.title)}
        </option>
      ))}
    </select>
  )
}

function ChecksControl({ state, field, id }: ControlProps<'multi_select'>) {
  const chosen = new Set(Array.isArray(state.written.value) ? state.written.value : [])
  const toggle = (value: string, on: boolean) => {
    if (on) chosen.add(value)
    else chosen.delete(value)
    // in the order of the choices, not of the clicks
    state.write(field.choices.map(choice => choice.value).filter(one => chosen.has(one)))
  }
  return (
    <div class="field-choices">
      {field.choices.map((choice, index) => (
        <label key={choice.value} class="field-choice" title={choice.description}>
          <input
            id={index === 0 ? id : undefined}
            type="checkbox"
            checked={chosen.has(choice.value)}
            onChange={event => toggle(choice.value, event.currentTarget.checked)}
          />
          <ChoiceText choice={choice} />
        </label>
      ))}
    </div>
  )
}

function shared(state: FieldState, id: string, describedBy: string | undefined) {
  return {
    id,
    'aria-describedby': describedBy,
    'aria-invalid': state.problem.value ? true : undefined,
    'aria-required': state.field.required ? true : undefined,
  } as const
}

/**
 * Changes the value by the arrow keys, as in a number input. A number input isn't used because it drops invalid text and
 * reacts to the mouse wheel.
 */
function step(event: KeyboardEvent, state: FieldState, field: Field<'number' | 'integer'>): void {
  const by = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0
  const now = Number(state.written.peek() || 0)
  if (by === 0 || event.altKey || event.ctrlKey || event.metaKey || Number.isNaN(now)) return
  event.preventDefault()
  const least = field.minimum ?? Number.NEGATIVE_INFINITY
  const most = field.maximum ?? Number.POSITIVE_INFINITY
  state.write(String(Math.min(most, Math.max(least, now + by))))
}

function ChoiceText({ choice }: { choice: { title: string; description?: string } }) {
  return (
    <span dir="auto">
      {visibleProse(choice.title)}
      {choice.description && <span class="quiet field-choice-about">{visibleProse(choice.description)}</span>}
    </span>
  )
}
