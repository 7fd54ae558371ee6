import * as z from 'zod'
import type { ConfigOption, SelectChoice } from '../model.ts'
import { given } from './content.ts'
import { anything, isRecord, maybe, maybeList, maybeText, type Report, readList } from './lenient.ts'

/** v2 names the id `configId`. */
export const configOptionSchema = z.object({
  id: maybeText,
  configId: maybeText,
  name: maybeText,
  description: maybeText,
  category: maybeText,
  type: maybeText,
  currentValue: anything,
  options: anything,
})
export const choiceSchema = z.object({ value: z.string(), name: maybeText, description: maybeText })
/** v2 names the group's id `groupId`. */
export const choiceGroupSchema = z.object({
  group: maybeText,
  groupId: maybeText,
  name: maybeText,
  options: z.array(z.unknown()),
})

/** One config option; of a type newer than Parley it is kept whole. */
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

/** One choice, or a group of them. */
function readChoices(raw: unknown, report: Report): SelectChoice[] | undefined {
  const group = choiceGroupSchema.safeParse(raw).data
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

/** Agents are at times in a state they do not offer: it is shown as a choice of its own. */
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
const modeSchema = z.object({ id: z.string().min(1), name: maybeText, description: maybeText })
/** Never in a released schema, but what many agents still answer. */
const modelsSchema = z.object({
  currentModelId: maybeText,
  availableModels: z.array(z.unknown()),
})
const modelSchema = z.object({ modelId: z.string().min(1), name: maybeText, description: maybeText })

/** `modes` of a session as an option, or `undefined` when there is nothing to choose from. */
export function readModes(raw: unknown, id: string, report: Report): ConfigOption | undefined {
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

/** The legacy `models` of a session as an option. */
export function readModels(raw: unknown, id: string, report: Report): ConfigOption | undefined {
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

/** `configOptions` of a result or an update; `undefined`: nothing was said of them. */
export function readConfigOptions(raw: unknown, report: Report): ConfigOption[] | undefined {
  return maybeList(raw, readConfigOption, report, 'configOptions')
}

export const startSchema = z.object({
  sessionId: maybeText,
  modes: anything,
  models: anything,
  configOptions: anything,
})
export type WireStart = z.output<typeof startSchema>

/** What a session's start answers; `null`, `{}` and anything else that is no object say nothing. */
export function readStart(raw: unknown): WireStart {
  return isRecord(raw) ? (startSchema.safeParse(raw).data ?? {}) : {}
}

export const setOptionResponseSchema = z.object({ configOptions: maybe(z.array(z.unknown())) })
