import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { Command, ConfigOption, LastOptions, SelectChoice, SessionUpdate } from '../model.ts'
import { given } from './content.ts'
import { anything, maybe, maybeList, maybeShown, maybeText, type Report, readList } from './lenient.ts'
import type { UpdateSink } from './update.ts'

/** The request that sets the value of an option on the wire. */
export type SetVia =
  | { method: 'session/set_mode'; params: { modeId: string } }
  | { method: 'session/set_model'; params: { modelId: string } }
  | {
      method: 'session/set_config_option'
      params: { configId: string; value: string } | { configId: string; type: 'boolean'; value: boolean }
    }

/**
 * The options of one session. v2 reports them only as `configOptions`. v1 has up to three sources: `configOptions`, `modes` and the legacy
 * `models`. `configOptions` win; modes and models become options of category `mode` and `model` unless `configOptions` has an equivalent.
 */
export class SessionOptions {
  #reported: ConfigOption[] | undefined
  #mode: ConfigOption | undefined
  #model: ConfigOption | undefined
  readonly #report: Report
  /** the mode that the agent reported before it had reported any options */
  #early: string | undefined

  constructor(report: Report) {
    this.#report = report
  }

  /** Reads the response to `session/new`, `load` or `resume`. A missing field doesn't change the options. */
  start(wire: WireStart): void {
    this.#reported = readConfigOptions(wire.configOptions, this.#report) ?? this.#reported
    this.#mode = readModes(wire.modes, MODE_ID, this.#report) ?? this.#mode
    this.#model = readModels(wire.models, MODEL_ID, this.#report) ?? this.#model
  }

  /** Restores the options that an earlier window knew last. The response that started the session may have older ones. */
  restore(options: readonly ConfigOption[]): void {
    const own = new Set([MODE_ID, MODEL_ID])
    this.#mode = options.find(({ id }) => id === MODE_ID) ?? this.#mode
    this.#model = options.find(({ id }) => id === MODEL_ID) ?? this.#model
    const reported = options.filter(({ id }) => !own.has(id))
    if (this.#reported || reported.length > 0) this.#reported = reported
  }

  /**
   * Completes the response to `session/load` or `resume` with the last known options, because some agents report their options only once
   * for each session. Agents always report all config options together, so they are only restored if all are missing.
   */
  recall(last: LastOptions): void {
    if (this.#reported) return
    const isUnknown = this.all === undefined
    const options = last() ?? []
    this.#mode ??= options.find(({ id }) => id === MODE_ID)
    this.#model ??= options.find(({ id }) => id === MODEL_ID)
    if (!isUnknown) return
    const reported = options.filter(({ id }) => id !== MODE_ID && id !== MODEL_ID)
    if (reported.length > 0) this.#reported = reported
    if (this.#early !== undefined) this.modeChanged(this.#early)
  }

  /** Returns all options, or `undefined` if the agent never reported any. */
  get all(): ConfigOption[] | undefined {
    const reported = this.#reported ?? []
    const extra = [this.#mode, this.#model].filter(
      option => option !== undefined && !covers(reported, option),
    )
    if (this.#reported === undefined && extra.length === 0) return undefined
    return [...reported, ...(extra as ConfigOption[])]
  }

  /** Replaces the options with the list of a `config_option_update`, or of the answer to a set request. */
  replace(raw: unknown): SessionUpdate {
    this.#reported = readConfigOptions(raw, this.#report) ?? []
    return { type: 'config_options', options: this.all ?? [] }
  }

  /** Reads a `current_mode_update`. */
  modeChanged(modeId: string): SessionUpdate {
    if (this.all === undefined) this.#early = modeId
    this.#mode = withValue(this.#mode, modeId)
    this.#reported = this.#reported?.map(option =>
      option.category === 'mode' ? withValue(option, modeId) : option,
    )
    return { type: 'config_value', category: 'mode', value: modeId }
  }

  /** Whether the agent offers a mode with that id. */
  offersMode(modeId: string): boolean {
    return (this.all ?? []).some(
      option =>
        option.category === 'mode' &&
        option.type === 'select' &&
        option.choices.some(({ value }) => value === modeId),
    )
  }

  /** Returns the request that sets an option. An unknown option is set as a config option, because the agent may know it. */
  route(optionId: string, value: string | boolean): SetVia {
    const synthesized = this.#synthesized(optionId)
    if (synthesized && typeof value === 'string') {
      if (synthesized === this.#mode) return { method: 'session/set_mode', params: { modeId: value } }
      return { method: 'session/set_model', params: { modelId: value } }
    }
    return {
      method: 'session/set_config_option',
      params:
        typeof value === 'boolean'
          ? { configId: optionId, type: 'boolean', value }
          : { configId: optionId, value },
    }
  }

  /**
   * Returns the update to emit after a set request succeeded, or `undefined` if the agent has reported the new value already. `answered`:
   * the response contained all options, which apply even if they have another value.
   */
  confirm(optionId: string, value: string | boolean, answered: boolean): SessionUpdate | undefined {
    if (answered) return undefined
    const current = this.all?.find(option => option.id === optionId)
    if (!current || current.type === 'unknown' || current.currentValue === value) return undefined
    const synthesized = this.#synthesized(optionId)
    if (synthesized && typeof value === 'string') {
      if (synthesized === this.#mode) this.#mode = withValue(this.#mode, value)
      else this.#model = withValue(this.#model, value)
    } else {
      this.#reported = this.#reported?.map(option =>
        option.id === optionId ? withValue(option, value) : option,
      )
    }
    return { type: 'config_options', options: this.all ?? [] }
  }

  #synthesized(optionId: string): ConfigOption | undefined {
    if (this.#reported?.some(option => option.id === optionId)) return undefined
    return [this.#mode, this.#model].find(option => option?.id === optionId)
  }
}

/** The ids of the options that Parley makes from `modes` and `models`. No known agent uses these ids. */
const MODE_ID = 'parley:mode'
const MODEL_ID = 'parley:model'

/** Whether the list has an equivalent option, which has the same category or the same values. */
function covers(options: ConfigOption[], other: ConfigOption): boolean {
  const values = new Set(other.type === 'select' ? other.choices.map(choice => choice.value) : [])
  return options.some(
    option =>
      option.category === other.category ||
      option.id === other.category ||
      (option.type === 'select' &&
        option.choices.length > 0 &&
        option.choices.every(choice => values.has(choice.value))),
  )
}

function withValue<T extends ConfigOption | undefined>(option: T, value: string | boolean): T {
  if (!option || option.type === 'unknown') return option
  if (option.type === 'boolean')
    return typeof value === 'boolean' ? { ...option, currentValue: value } : option
  return typeof value === 'string' ? { ...option, currentValue: value } : option
}

/** v1 calls the id `id`, and v2 calls it `configId`. */
export const configOptionSchema = z.object({
  id: maybeText,
  configId: maybeText,
  name: maybeShown,
  description: maybeShown,
  category: maybeText,
  type: maybeText,
  currentValue: anything,
  options: anything,
})
export const choiceSchema = z.object({ value: z.string(), name: maybeShown, description: maybeShown })
/** v1 calls the group's id `group`, and v2 calls it `groupId`. */
export const choiceGroupSchema = z.object({
  group: maybeText,
  groupId: maybeText,
  name: maybeShown,
  options: z.array(z.unknown()),
})

/** Reads a config option. An option of a type that Parley doesn't know is kept whole. */
function readConfigOption(raw: unknown, report: Report): ConfigOption | undefined {
  const option = configOptionSchema.safeParse(raw).data
  const id = option?.configId || option?.id
  if (!option || !id) return undefined
  const base = {
    id,
    name: option.name ?? id,
    ...given('description', option.description),
    ...given('category', option.category),
  }
  const { currentValue } = option
  const type = option.type ?? (typeof currentValue === 'boolean' ? 'boolean' : 'select')
  if (type === 'boolean' && typeof currentValue === 'boolean') return { ...base, type, currentValue }
  if (type === 'select' && Array.isArray(option.options)) {
    const choices = readList(option.options, readChoices, report, 'options').flat()
    return select(base, typeof currentValue === 'string' ? currentValue : '', choices)
  }
  return { ...base, type: 'unknown', raw }
}

/** Reads one choice or a group of choices. */
function readChoices(raw: unknown, report: Report): SelectChoice[] | undefined {
  // Checking for `options` first is much faster than a parse that fails.
  const isGroup = isRecord(raw) && Array.isArray(raw.options)
  const group = isGroup ? choiceGroupSchema.safeParse(raw).data : undefined
  if (group) {
    const name = group.name ?? group.groupId ?? group.group ?? ''
    return readList(group.options, readChoice, report, 'options').map(choice => ({ ...choice, group: name }))
  }
  const choice = readChoice(raw)
  return choice && [choice]
}

function readChoice(raw: unknown): SelectChoice | undefined {
  const choice = choiceSchema.safeParse(raw).data
  if (!choice) return undefined
  return {
    value: choice.value,
    name: choice.name ?? choice.value,
    ...given('description', choice.description),
  }
}

type OptionBase = Pick<ConfigOption, 'id' | 'name' | 'description' | 'category'>

/** Returns a select option. If the current value isn't among the agent's choices, it's added as a choice. */
function select(base: OptionBase, currentValue: string, choices: SelectChoice[]): ConfigOption {
  const known = currentValue === '' || choices.some(choice => choice.value === currentValue)
  return {
    ...base,
    type: 'select',
    currentValue,
    choices: known ? choices : [{ value: currentValue, name: currentValue }, ...choices],
  }
}

export const modesSchema = z.object({
  currentModeId: maybeText,
  availableModes: z.array(z.unknown()),
})
const modeSchema = z.object({ id: z.string().min(1), name: maybeShown, description: maybeShown })
/** The schema of the legacy `models`, which were never in a released schema, but many agents still send them. */
const modelsSchema = z.object({
  currentModelId: maybeText,
  availableModels: z.array(z.unknown()),
})
const modelSchema = z.object({ modelId: z.string().min(1), name: maybeShown, description: maybeShown })

/** Reads the `modes` of a session as an option; `undefined` if there is nothing to choose from. */
function readModes(raw: unknown, id: string, report: Report): ConfigOption | undefined {
  const modes = modesSchema.safeParse(raw).data
  if (!modes) return undefined
  const read = (item: unknown): SelectChoice | undefined => {
    const mode = modeSchema.safeParse(item).data
    return mode && { value: mode.id, name: mode.name ?? mode.id, ...given('description', mode.description) }
  }
  const choices = readList(modes.availableModes, read, report, 'availableModes')
  if (choices.length === 0) return undefined
  return select({ id, name: 'Mode', category: 'mode' }, modes.currentModeId ?? '', choices)
}

/** Reads the legacy `models` of a session as an option. */
function readModels(raw: unknown, id: string, report: Report): ConfigOption | undefined {
  const models = modelsSchema.safeParse(raw).data
  if (!models) return undefined
  const read = (item: unknown): SelectChoice | undefined => {
    const model = modelSchema.safeParse(item).data
    return (
      model && {
        value: model.modelId,
        name: model.name ?? model.modelId,
        ...given('description', model.description),
      }
    )
  }
  const choices = readList(models.availableModels, read, report, 'availableModels')
  if (choices.length === 0) return undefined
  return select({ id, name: 'Model', category: 'model' }, models.currentModelId ?? '', choices)
}

/** Reads the `configOptions` of a result or an update; `undefined` if they weren't reported. */
function readConfigOptions(raw: unknown, report: Report): ConfigOption[] | undefined {
  return maybeList(raw, readConfigOption, report, 'configOptions')
}

export const startSchema = z.object({
  sessionId: maybeText,
  modes: anything,
  models: anything,
  configOptions: anything,
})
type WireStart = z.output<typeof startSchema>

/** Reads the response that starts a session. `null`, `{}` and anything that isn't an object mean that nothing is reported. */
export function readStart(raw: unknown): WireStart {
  return isRecord(raw) ? (startSchema.safeParse(raw).data ?? {}) : {}
}

export const setOptionResponseSchema = z.object({ configOptions: maybe(z.array(z.unknown())) })

/** The state of a session that both protocol versions store. Also passes on the session's updates. */
export class WireSession implements UpdateSink {
  readonly sessionId: string
  readonly options: SessionOptions
  /** the commands that the agent reported last; some agents don't report them again when the session is loaded or resumed */
  commands: Command[] | undefined
  readonly emit: (update: SessionUpdate) => void
  readonly report: Report

  constructor(sessionId: string, emit: (sessionId: string, update: SessionUpdate) => void, report: Report) {
    this.sessionId = sessionId
    this.emit = update => emit(sessionId, update)
    this.report = problem => report(`session ${sessionId}: ${problem}`)
    this.options = new SessionOptions(this.report)
  }

  replaceOptions(raw: unknown): void {
    this.emit(this.options.replace(raw))
  }

  /** Resets the state of the agent's terminals. Called before their output is replayed. */
  resetTerminals(): void {}
}
