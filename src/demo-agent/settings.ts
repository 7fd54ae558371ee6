import type { SessionConfigOption } from '@agentclientprotocol/sdk'
import * as z from 'zod'

const MODES = [
  { value: 'ask', name: 'Ask', description: 'Asks before every edit and every command' },
  { value: 'edit', name: 'Edit freely', description: 'Edits without asking, asks before commands' },
  { value: 'plan', name: 'Plan', description: 'Only reads and plans' },
] as const

const MODELS = [
  { value: 'demo-steady', name: 'Demo Steady', description: 'Streams like most models do' },
  { value: 'demo-quick', name: 'Demo Quick', description: 'Three times as fast' },
  { value: 'demo-thorough', name: 'Demo Thorough', description: 'Takes its time' },
] as const

/** Each model's factor of pauses and context size in tokens. */
const TRAITS = {
  'demo-steady': { pause: 1, context: 200_000 },
  'demo-quick': { pause: 0.33, context: 128_000 },
  'demo-thorough': { pause: 2, context: 1_000_000 },
}

export const settingsSchema = z.object({
  mode: z.enum(MODES.map(mode => mode.value)),
  model: z.enum(MODELS.map(model => model.value)),
  thoughts: z.boolean(),
})
export type Settings = z.infer<typeof settingsSchema>

export const DEFAULT_SETTINGS: Settings = { mode: 'ask', model: 'demo-steady', thoughts: true }

export function modelOf(settings: Settings): { pause: number; context: number } {
  return TRAITS[settings.model]
}

/**
 * Returns the config options.
 * @param booleans whether the client shows boolean options; if not, boolean options are omitted, as ACP requires
 */
export function configOptions(settings: Settings, booleans: boolean): SessionConfigOption[] {
  return [
    {
      ...{ id: 'mode', name: 'Mode', description: 'What the agent may do without asking', category: 'mode' },
      ...{ type: 'select', currentValue: settings.mode, options: [...MODES] },
    },
    {
      ...{ id: 'model', name: 'Model', description: 'How fast the demo streams', category: 'model' },
      ...{ type: 'select', currentValue: settings.model, options: [...MODELS] },
    },
    ...(booleans ? [thoughtsOption(settings.thoughts)] : []),
  ]
}

function thoughtsOption(currentValue: boolean): SessionConfigOption {
  const description = 'Whether it streams what it thinks'
  const category = 'thought_level'
  return { id: 'thoughts', name: 'Show thoughts', description, category, type: 'boolean', currentValue }
}

/** Returns the settings with one option changed, or `undefined` if the option or value is unknown. */
export function withOption(settings: Settings, configId: string, value: unknown): Settings | undefined {
  return configId in settings ? settingsSchema.safeParse({ ...settings, [configId]: value }).data : undefined
}
