import { randomUUID } from 'node:crypto'
import type { ContentBlock, PromptResponse } from '@agentclientprotocol/sdk'
import { sceneFor } from './scenes/index.ts'
import { attachments, tour } from './scenes/tour.ts'
import { type TokenUsage, Turn, TurnCancelled, type TurnContext } from './turn.ts'
import { nameIn } from './workspace.ts'

const TITLE_LENGTH = 60

/**
 * Answers one prompt: records it, plays its scene, and ends with the usage and the stop reason.
 *
 * @param messageId id of the user's message, if the client knows it (v2)
 */
export function takeTurn(
  context: TurnContext,
  messageId: string = randomUUID(),
): Promise<PromptResponse & { usage: TokenUsage }> {
  const { session, client, prompt } = context
  return session.runTurn(context.signal, async signal => {
    const turn = new Turn({ ...context, signal })
    let sent = session.used
    const words = prompt.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n')
    try {
      for (const content of prompt)
        session.record({ sessionUpdate: 'user_message_chunk', messageId, content })
      session.used += Math.ceil(JSON.stringify(prompt).length / 4)
      sent = session.used
      // The first prompt determines the title.
      const title = session.meta.title ?? promptTitle(prompt)
      const updatedAt = new Date().toISOString()
      session.change({ title, updatedAt, prompts: session.meta.prompts + 1 })
      const update = { sessionUpdate: 'session_info_update' as const, title, updatedAt }
      await client.notify('session/update', { sessionId: session.id, update })
      const { scene, input } = sceneFor(words)
      const attached = scene === tour ? undefined : attachments(prompt)
      if (attached) await turn.say(attached)
      await scene(turn, input)
      return { stopReason: turn.stopReason, usage: await turn.usage(sent) }
    } catch (error) {
      if (!(error instanceof TurnCancelled || signal.aborted)) throw error
      await turn.closeOpenCalls()
      return { stopReason: 'cancelled', usage: await turn.usage(sent) }
    }
  })
}

/** Returns a title for a prompt: its first line, with the names of its resources in place. */
export function promptTitle(prompt: readonly ContentBlock[]): string {
  const lastText = prompt.findLastIndex(block => block.type === 'text')
  const words = prompt.map((block, index) => {
    if (block.type === 'text') return prompt[index - 1]?.type === 'text' ? `\n${block.text}` : block.text
    if (index > lastText) return ''
    if (block.type === 'resource_link') return block.name
    return block.type === 'resource' ? nameIn(block.resource.uri) : ''
  })
  const line = words.join('').trim().split(/\r?\n/, 1)[0] || 'Untitled'
  const characters = [...line]
  return characters.length > TITLE_LENGTH ? `${characters.slice(0, TITLE_LENGTH - 1).join('')}…` : line
}
