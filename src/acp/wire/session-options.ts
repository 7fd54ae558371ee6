import type { ConfigOption, SessionUpdate } from '../model.ts'
import { readConfigOptions, readModels, readModes, type WireStart } from './config-options.ts'
import type { Report } from './lenient.ts'

/** How the value of an option is set on the wire. */
export type SetVia =
  | { method: 'session/set_mode'; params: { modeId: string } }
  | { method: 'session/set_model'; params: { modelId: string } }
  | {
      method: 'session/set_config_option'
      params: { configId: string; value: string } | { configId: string; type: 'boolean'; value: boolean }
    }

/**
 * The options of one session. v2 has `configOptions` alone; v1 has up to three sources for them: `configOptions`, `modes` and the legacy `models`.
 * The first wins; the others become options of category `mode` and `model` where it has nothing for the same.
 */
export class SessionOptions {
  #told: ConfigOption[] | undefined
  #mode: ConfigOption | undefined
  #model: ConfigOption | undefined
  readonly #report: Report

  constructor(report: Report) {
    this.#report = report
  }

  /** Takes what `session/new`, `load` or `resume` answered; what it does not mention stays. */
  start(wire: WireStart): void {
    this.#told = readConfigOptions(wire.configOptions, this.#report) ?? this.#told
    this.#mode = readModes(wire.modes, MODE_ID, this.#report) ?? this.#mode
    this.#model = readModels(wire.models, MODEL_ID, this.#report) ?? this.#model
  }

  /** All options, or `undefined` when the agent never told of any. */
  get all(): ConfigOption[] | undefined {
    const told = this.#told ?? []
    const extra = [this.#mode, this.#model].filter(option => option !== undefined && !covers(told, option))
    if (this.#told === undefined && extra.length === 0) return undefined
    return [...told, ...(extra as ConfigOption[])]
  }

  /** `config_option_update`, or the same list in the answer to a set. */
  replace(raw: unknown): SessionUpdate {
    this.#told = readConfigOptions(raw, this.#report) ?? []
    return { type: 'config_options', options: this.all ?? [] }
  }

  /** `current_mode_update` */
  modeChanged(modeId: string): SessionUpdate {
    this.#mode = withValue(this.#mode, modeId)
    this.#told = this.#told?.map(option => (option.category === 'mode' ? withValue(option, modeId) : option))
    return { type: 'config_value', category: 'mode', value: modeId }
  }

  /** Whether there is a mode of that id to choose. */
  offersMode(modeId: string): boolean {
    return (this.all ?? []).some(
      option =>
        option.category === 'mode' &&
        option.type === 'select' &&
        option.choices.some(({ value }) => value === modeId),
    )
  }

  /** How to set an option. One that was never told of is set as a config option: the agent may know better. */
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
   * After a set that succeeded: the update to tell, unless the agent told the new value already. An agent whose
   * answer holds all options (`answered`) has had its say, even if it settled on another value.
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
      this.#told = this.#told?.map(option => (option.id === optionId ? withValue(option, value) : option))
    }
    return { type: 'config_options', options: this.all ?? [] }
  }

  #synthesized(optionId: string): ConfigOption | undefined {
    if (this.#told?.some(option => option.id === optionId)) return undefined
    return [this.#mode, this.#model].find(option => option?.id === optionId)
  }
}

/** Ids of the options made of `modes` and `models`; no agent has been seen with such. */
const MODE_ID = 'parley:mode'
const MODEL_ID = 'parley:model'

/** Whether the list has an option for the same thing: of the same category, or with the same values to choose from. */
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
