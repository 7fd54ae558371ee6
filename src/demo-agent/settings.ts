import type { SessionConfigOption } from '@agentclientprotocol/sdk'
import * as z from 'zod'

const MODES = [
  { id: 'ask', name: 'Ask', description: 'Asks before every edit and every command' },
  { id: 'edit', name: 'Edit freely', description: 'Edits without asking, asks before commands' },
  { id: 'plan', name: 'Plan', description: 'Only reads and plans' },
] as const

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
type Model = (typeof MODELS)[number]

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

/** @param booleans whether the client shows boolean options; without it, the option is omitted, as ACP requires. */
export function configOptions(settings: Settings, booleans: boolean): SessionConfigOption[] {
  const select = (
    id: 'mode' | 'model',
    name: string,
    description: string,
    choices: ReadonlyArray<{ id: string; name: string; description: string }>,
  ): SessionConfigOption => {
    const options = choices.map(({ id: value, name, description }) => ({ value, name, description }))
    return { id, name, description, category: id, type: 'select', currentValue: settings[id], options }
  }
  const thoughts: SessionConfigOption = {
    id: 'thoughts',
    name: 'Show thoughts',
    description: 'Whether it streams what it thinks',
    category: 'thought_level',
    type: 'boolean',
    currentValue: settings.thoughts,
  }
  return [
    select('mode', 'Mode', 'What the agent may do without asking', MODES),
    select('model', 'Model', 'How fast the demo streams', MODELS),
    ...(booleans ? [thoughts] : []),
  ]
}

/** The settings with one option changed, or `undefined` if the option or value is unknown. */
export function withOption(settings: Settings, configId: string, value: unknown): Settings | undefined {
  if (!(configId in settings)) return undefined
  const changed = settingsSchema.parse({ ...settings, [configId]: value })
  // an unknown value was replaced
  return changed[configId as keyof Settings] === value ? changed : undefined
}
