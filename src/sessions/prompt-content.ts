import { randomUUID } from 'node:crypto'
import type { ContentBlock } from '../acp/model.ts'
import { chipOf } from '../common/block-chip.ts'
import type { Attachment } from '../conversation/attachment.ts'
import type { PromptInput } from './ports.ts'

/** What is sent of what a person wrote and attached; nothing when there is neither. */
export function contentOf({ text, attachments }: PromptInput): ContentBlock[] {
  const written = text.trim()
  return written ? [{ type: 'text', text }, ...attachments] : [...attachments]
}

/** What stands in a prompt besides text, to be written on with. */
export function attachmentOf(content: ContentBlock): Attachment {
  return { id: randomUUID(), ...chipOf(content), content }
}
