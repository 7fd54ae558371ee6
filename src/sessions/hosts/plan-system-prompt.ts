import type { AgentCapabilities, SessionSetup } from '../../acp/model.ts'
import type { SystemPrompt } from '../../agents/definition.ts'
import type { SessionPlan } from '../ports.ts'

/** What a session is given of the person's system prompt, and what is said of it. An agent may refuse what it does not take. */
export function planSystemPrompt(
  wanted: SystemPrompt | undefined,
  can: AgentCapabilities,
): { given?: SessionSetup['systemPrompt'] } & Pick<SessionPlan, 'systemPrompt'> {
  if (!wanted) return {}
  const { mode, text } = wanted
  const taken = can.systemPrompt && (mode === 'append' || can.systemPrompt.override)
  if (!taken) return { systemPrompt: 'not-taken' }
  return {
    given: { mode, content: [{ type: 'text', text }] },
    systemPrompt: mode === 'append' ? 'appended' : 'overrides',
  }
}
