import * as z from 'zod'

/** What a person wants an agent told beyond its own instructions, or in place of them. */
export interface SystemPrompt {
  text: string
  mode: 'append' | 'override'
}

const withMode = z.object({ text: z.string(), mode: z.enum(['append', 'override']).default('append') })

/** As it is written in the settings: the text alone is added to what the agent has. */
export const systemPromptSetting = z.union([
  z.string().transform((text): SystemPrompt => ({ text, mode: 'append' })),
  withMode,
])

/** The agent's own, even an empty one, stands in place of the one for all. Nothing when there is no text. */
export function chooseSystemPrompt(
  ofAgent: SystemPrompt | undefined,
  forAll: unknown,
): SystemPrompt | undefined {
  const chosen = ofAgent ?? systemPromptSetting.safeParse(forAll).data
  return chosen?.text.trim() ? chosen : undefined
}
