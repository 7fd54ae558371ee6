import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { ContentBlock, SessionMessagePatch } from '../../acp/model.ts'
import { blockText, lines } from '../block-text.ts'
import { copyBlocks, isBlank, textOf } from '../blocks.ts'
import { blocksMarkdown, folded } from '../markdown.ts'
import type { EntryBase } from '../state-base.ts'
import {
  append,
  appendContent,
  entryAt,
  patchField,
  positionsOf,
  type Reducers,
  type Step,
  touch,
} from '../step.ts'
import type { EntryKind } from './entry-kind.ts'

/** A message between sessions. `from` and `to` are the ids of subagents' sessions or of this session. */
export interface SessionMessageEntry extends EntryBase {
  kind: 'session_message'
  messageId: string
  from?: string
  to?: string
  fromMessageId?: string
  toMessageId?: string
  /** Adjacent text chunks form one text block. */
  blocks: ContentBlock[]
}

export const SESSION_MESSAGE: EntryKind<SessionMessageEntry> = {
  kind: 'session_message',
  schema: () => ({ messageId: z.string(), blocks: z.array(z.unknown()) }),
  isWork: () => false,
  mergeKey: ({ messageId }) => [messageId],
  traits: ({ blocks }) => [textOf(blocks)],
  copy: entry => ({ ...entry, blocks: copyBlocks(entry.blocks) }),
  restore: ({ memory }, { messageId }, position) => {
    positionsOf(memory, SESSION_MESSAGE).set(messageId, position)
  },
  markdown: ({ blocks }) => {
    const text = blocksMarkdown(blocks)
    return text === '' ? '' : folded(l10n.t('Message between sessions'), [text])
  },
  text: ({ blocks }) => ({ head: '', body: lines(blocks.map(block => blockText(block, true))) }),
}

export const SESSION_MESSAGE_REDUCERS: Reducers<'session_message' | 'session_message_chunk'> = {
  session_message: (step, { message }) => sessionMessageUpsert(step, message),
  session_message_chunk: (step, { messageId, content }) => sessionMessageChunk(step, messageId, content),
}

/** Creates or changes a message between sessions: absent fields stay, `null` clears a field. */
function sessionMessageUpsert(step: Step, patch: SessionMessagePatch): void {
  const { memory } = step.state
  const found = positionsOf(memory, SESSION_MESSAGE).get(patch.messageId)
  const position = found ?? createMessage(step, patch.messageId)
  const entry = entryAt(step.state, position, SESSION_MESSAGE)
  if (!entry) return
  patchField(entry, 'from', patch.from)
  patchField(entry, 'to', patch.to)
  patchField(entry, 'fromMessageId', patch.fromMessageId)
  patchField(entry, 'toMessageId', patch.toMessageId)
  if (patch.content !== undefined) entry.blocks = copyBlocks(patch.content)
  if (found !== undefined) touch(step, position)
}

/** Adds a piece of a message between sessions; the agent may report the sender and receiver later. */
function sessionMessageChunk(step: Step, messageId: string, content: ContentBlock): void {
  const { memory } = step.state
  const position = positionsOf(memory, SESSION_MESSAGE).get(messageId)
  if (position === undefined) {
    createMessage(step, messageId, isBlank(content) ? [] : [content])
    return
  }
  const entry = entryAt(step.state, position, SESSION_MESSAGE)
  if (entry) appendContent(step, position, entry.blocks, content)
}

function createMessage(step: Step, messageId: string, content: readonly ContentBlock[] = []): number {
  const position = append(step, SESSION_MESSAGE, { messageId, blocks: copyBlocks(content) })
  positionsOf(step.state.memory, SESSION_MESSAGE).set(messageId, position)
  return position
}
