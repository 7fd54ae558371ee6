import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import * as z from 'zod'

const MODES = [
  { id: 'ask', name: 'Ask', description: 'Asks before every edit and every command' },
  { id: 'edit', name: 'Edit freely', description: 'Edits without asking, asks before commands' },
  { id: 'plan', name: 'Plan', description: 'Only reads and plans' },
] as const
export type ModeId = (typeof MODES)[number]['id']

/** The models differ in their streaming speed and reported context size. */
const MODELS = [
  {
    id: 'demo-steady',
    name: 'Demo Steady',
    description: 'Streams like most models do',
    pause: 1,
    context: 200_000,
  },
  { id: 'demo-quick', name: 'Demo Quick', description: 'Three times as fast', pause: 0.33, context: 128_000 },
  { id: 'demo-thorough', name: 'Demo Thorough', description: 'Takes its time', pause: 2, context: 1_000_000 },
] as const
export type Model = (typeof MODELS)[number]

export const settingsSchema = z.object({
  mode: z.enum(MODES.map(mode => mode.id)).catch('ask'),
  model: z.enum(MODELS.map(model => model.id)).catch('demo-steady'),
  thoughts: z.boolean().catch(true),
})
export type Settings = z.infer<typeof settingsSchema>

export const DEFAULT_SETTINGS: Settings = { mode: 'ask', model: 'demo-steady', thoughts: true }

export function modelOf(settings: Settings): Model {
  return MODELS.find(model => model.id === settings.model) ?? MODELS[0]
}

export function modeState(settings: Settings): SessionModeState {
  return { currentModeId: settings.mode, availableModes: MODES.map(mode => ({ ...mode })) }
}

/** @param booleans whether the client shows boolean options; without it, the option is omitted, as ACP requires. */
export function configOptions(settings: Settings, booleans: boolean): SessionConfigOption[] {
  const options: SessionConfigOption[] = [
    {
      id: 'mode',
      name: 'Mode',
      description: 'What the agent may do without asking',
      category: 'mode',
      type: 'select',
      currentValue: settings.mode,
      options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
    },
    {
      id: 'model',
      name: 'Model',
      description: 'How fast the demo streams',
      category: 'model',
      type: 'select',
      currentValue: settings.model,
      options: MODELS.map(({ id, name, description }) => ({ value: id, name, description })),
    },
  ]
  if (booleans) {
    options.push({
      id: 'thoughts',
      name: 'Show thoughts',
      description: 'Whether it streams what it thinks',
      category: 'thought_level',
      type: 'boolean',
      currentValue: settings.thoughts,
    })
  }
  return options
}

/** The settings with one option changed, or `undefined` if the option or value is unknown. */
export function withOption(settings: Settings, configId: string, value: unknown): Settings | undefined {
  if (configId === 'mode') {
    const mode = MODES.find(candidate => candidate.id === value)
    return mode && { ...settings, mode: mode.id }
  }
  if (configId === 'model') {
    const model = MODELS.find(candidate => candidate.id === value)
    return model && { ...settings, model: model.id }
  }
  if (configId === 'thoughts' && typeof value === 'boolean') return { ...settings, thoughts: value }
  return undefined
}
