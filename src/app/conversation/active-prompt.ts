import { randomUUID } from 'node:crypto'
import type { Attachment } from '../../conversation/attachment.ts'
import type { ConversationSurfaces } from './conversation-surface.ts'

export type ActivePrompt = ReturnType<typeof activePrompt>

/** The prompt of the active conversation. Each method reveals the conversation afterward. */
export function activePrompt(surfaces: ConversationSurfaces) {
  return {
    /** Adds items and text to the draft. */
    async add(items: readonly Attachment[], text?: string): Promise<void> {
      const { active } = surfaces
      for (const item of items) active.attach(item)
      if (text !== undefined) active.write(text)
      await active.reveal()
    },
    /** Sends the items and text as a separate prompt, or queues the prompt while a turn is running. */
    async send(items: readonly Attachment[], text: string): Promise<void> {
      const { active } = surfaces
      const { controller } = active
      const draft = { text, chips: [], items: [...items] }
      controller.prompts.enqueue(controller.key, { id: randomUUID(), draft })
      await active.reveal()
    },
  }
}
