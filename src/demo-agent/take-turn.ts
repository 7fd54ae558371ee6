import { randomUUID } from 'node:crypto'
import type { AgentContext, ContentBlock, PromptResponse } from '@agentclientprotocol/sdk'
import type { ClientFeatures } from './client-features.ts'
import { TurnCancelled } from './pace.ts'
import { attachments } from './scenes/attachments.ts'
import { sceneFor } from './scenes/index.ts'
import { tour } from './scenes/tour.ts'
import type { DemoSession } from './session.ts'
import { Turn } from './turn.ts'

const TITLE_LENGTH = 60

/** Answers one prompt: records it, plays its scene, and ends with the usage and the stop reason. */
export async function takeTurn(options: {
  session: DemoSession
  client: AgentContext
  features: ClientFeatures
  signal: AbortSignal
  prompt: readonly ContentBlock[]
  pace: number
}): Promise<PromptResponse> {
  const { session, client, prompt } = options
  return session.runTurn(options.signal, async signal => {
    const turn = new Turn({ ...options, signal })
    const words = prompt.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n')
    try {
      recordPrompt(session, prompt)
      await nameSession(session, client, words)
      const { scene, input } = sceneFor(words)
      const sent = scene === tour ? undefined : attachments(prompt)
      if (sent) await turn.say(sent)
      await scene(turn, input)
      await turn.usage()
      return { stopReason: turn.stopReason }
    } catch (error) {
      if (!(error instanceof TurnCancelled || signal.aborted)) throw error
      await turn.closeOpenCalls()
      return { stopReason: 'cancelled' }
    }
  })
}

function recordPrompt(session: DemoSession, prompt: readonly ContentBlock[]): void {
  const messageId = randomUUID()
  for (const content of prompt) {
    session.record({ sessionUpdate: 'user_message_chunk', messageId, content })
  }
  session.used += Math.ceil(JSON.stringify(prompt).length / 4)
  session.change({ prompts: session.meta.prompts + 1, updatedAt: new Date().toISOString() })
}

/** The first prompt's first line becomes the title. */
async function nameSession(session: DemoSession, client: AgentContext, words: string): Promise<void> {
  if (session.meta.title === undefined) {
    const line = words.trim().split(/\r?\n/, 1)[0] || 'Untitled'
    const characters = [...line]
    const title =
      characters.length > TITLE_LENGTH ? `${characters.slice(0, TITLE_LENGTH - 1).join('')}…` : line
    session.change({ title })
  }
  const { title, updatedAt } = session.meta
  await client.notify('session/update', {
    sessionId: session.id,
    update: { sessionUpdate: 'session_info_update', title, updatedAt },
  })
}
