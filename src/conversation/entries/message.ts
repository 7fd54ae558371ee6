import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { ContentBlock, MessageRole, SteeringOutcome } from '../../acp/model.ts'
import { CONTEXT_SCHEME, chipOf } from '../../common/block-chip.ts'
import { draftOf, inText } from '../../common/draft.ts'
import { blockText, lines } from '../block-text.ts'
import { appendBlock, copyBlocks, isBlank, isText, pushBlock, textOf } from '../blocks.ts'
import { blocksMarkdown, contained, destination, escaped, folded } from '../markdown.ts'
import { dropFinishedPlans } from '../reduce-head.ts'
import type { EntryBase } from '../state-base.ts'
import {
  type Answer,
  append,
  appendContent,
  type Echo,
  endThought,
  entryAt,
  patchField,
  type ReducerState,
  type Reducers,
  type Steered,
  type Step,
  touch,
  withoutRepeated,
} from '../step.ts'
import type { EntryKind } from './entry-kind.ts'
import { type AnswerPart, beginAnswer, readAnswer, releaseAnswer } from './tagged-thoughts.ts'

/**
 * How the agent treated a prompt for the running turn. `sent`: the agent hasn't answered yet. `notTaken`: the prompt returned to the queue,
 * and its entry has no content.
 */
export type Steering = 'sent' | 'injected' | 'startedNewTurn' | 'notTaken'

export interface MessageEntry extends EntryBase {
  kind: 'message'
  role: MessageRole
  messageId?: string
  /** Set if the user sent the message into a running turn. */
  steering?: Steering
  /** The message continues an earlier message with the same id and role, since other work came between the two. See `wholeMessage`. */
  continues?: true
  /** The tag of a thought that the model writes into its answer; set while the thought is open. */
  tag?: string
  /** Adjacent text chunks form one text block, except in a user message without an id. */
  blocks: ContentBlock[]
}

export const MESSAGE: EntryKind<MessageEntry> = {
  kind: 'message',
  schema: () => ({ role: z.string(), blocks: z.array(z.unknown()) }),
  isWork: ({ role }) => role === 'user',
  // agents replay text in different pieces than they streamed, so messages are merged by their texts
  mergeKey: () => undefined,
  copy: entry => ({ ...entry, blocks: copyBlocks(entry.blocks) }),
  restore: ({ memory }, entry, position) => {
    const { id: entryId, role, messageId, continues, steering, blocks } = entry
    if (steering === 'sent')
      memory.steering.set(entryId, { ...expectEcho(position, blocks), content: blocks })
    if (messageId === undefined) return
    const id = key(role, messageId)
    const before = memory.messages.get(id)
    if (continues && before !== undefined)
      memory.messageParts.set(id, [...(memory.messageParts.get(id) ?? [before]), position])
    else memory.messageParts.delete(id)
    memory.messages.set(id, position)
    memory.roles.set(messageId, role)
  },
  markdown: ({ role, blocks }) => {
    const text = role === 'user' ? promptMarkdown(blocks.filter(isPartOfPrompt)) : blocksMarkdown(blocks)
    if (text.trim() === '') return ''
    return role === 'thought' ? folded(l10n.t('Thought'), [text]) : text
  },
  text: ({ role, blocks }) => {
    const text = lines(blocks.filter(isPartOfPrompt).map(block => blockText(block, role !== 'user')))
    return role === 'thought' ? { head: '', body: text } : { head: text, body: '' }
  },
}

/** Whether the user wrote or attached the block. The earlier conversation, which Parley adds for a new agent, isn't part of the prompt. */
function isPartOfPrompt(block: ContentBlock): boolean {
  return block.type !== 'resource' || !block.agentOnly || !block.uri.startsWith(`${CONTEXT_SCHEME}/`)
}

// ---- the texts of messages

/** Returns a message with all of its parts, including text that continues below other work. */
export function wholeMessage(entries: readonly EntryBase[], index: number): MessageEntry | undefined {
  const entry = entryAt({ entries: entries as EntryBase[] }, index, MESSAGE)
  if (!entry) return undefined
  const partAt = (at: number): MessageEntry | undefined => {
    const other = entryAt({ entries: entries as EntryBase[] }, at, MESSAGE)
    const isPart =
      other?.messageId === entry.messageId && other?.role === entry.role && other.within === entry.within
    return isPart ? other : undefined
  }
  if (entry.messageId === undefined) return entry
  let first: MessageEntry = entry
  let at = index
  while (first.continues && at > 0) {
    first = partAt(--at) ?? first
  }
  const whole: MessageEntry = { ...first, blocks: [] }
  for (const block of first.blocks) appendBlock(whole.blocks, block)
  for (let next = at + 1; next < entries.length; next++) {
    const other = partAt(next)
    if (!other) continue
    if (!other.continues) break
    for (const block of other.blocks) appendBlock(whole.blocks, block)
  }
  return whole
}

/** Returns the plain text of a message; in a prompt, chips are replaced by their labels. */
export function messageText(entry: MessageEntry): string {
  if (entry.role === 'user') return draftOf(standing(entry.blocks), itemOf).text.trim()
  return entry.blocks.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n\n')
}

const itemOf = (block: ContentBlock) => ({ id: '', ...chipOf(block) })

/** Returns the blocks that are part of a prompt's text. */
function standing(list: readonly ContentBlock[]): ContentBlock[] {
  const within = inText(list)
  return list.filter((_, i) => within[i])
}

/** Returns a prompt's text with links in place of its files; other attachments follow the text. */
function promptMarkdown(list: readonly ContentBlock[]): string {
  const within = inText(list)
  const isFile = (one: ContentBlock) => 'uri' in one && !one.uri?.startsWith(CONTEXT_SCHEME)
  const text = list
    .map((one, i) => {
      if (!within[i]) return ''
      if (one.type === 'text') return list[i - 1]?.type === 'text' ? `\n\n${one.text}` : one.text
      const { label } = chipOf(one)
      return isFile(one) && 'uri' in one
        ? `[${escaped(label)}](${destination(one.uri ?? '')})`
        : `*${escaped(label)}*`
    })
    .join('')
  const after = list.filter((one, i) => !within[i] || (one.type !== 'text' && !isFile(one)))
  return [contained(text.trim()), blocksMarkdown(after)].filter(part => part !== '').join('\n\n')
}

// ---- the reducer

/** Indexes the last message of a saved conversation that continues, so that later chunks without an id, and echoes, find the message. */
export function reopenMessage(state: ReducerState): void {
  const { memory } = state
  const position = state.entries.length - 1
  const last = entryAt(state, position, MESSAGE)
  if (!last || last.within !== undefined) return
  if (last.role === 'user') {
    if (memory.running) memory.echo = expectEcho(position, last.blocks)
    return
  }
  if (last.messageId === undefined) memory.openMessage = position
  if (last.role === 'thought' && last.endedAt === undefined) memory.openThought = position
}

export const MESSAGE_REDUCERS: Reducers<'message_chunk' | 'message_end' | 'message'> = {
  message_chunk: (step, { role, messageId, content }) => messageChunk(step, role, messageId, content),
  message_end: endMessage,
  message: (step, { role, messageId, content }) => messageUpsert(step, role, messageId, content),
}

/** Ends the current message: a later chunk without an id starts another message. */
export function endMessage(step: Step): void {
  endThought(step)
  step.state.memory.openMessage = undefined
}

/**
 * Adds a piece of a message. A piece with an id goes to the message with that id, unless the id was used with another role since. A piece
 * without an id continues the last message if that message has the same role and no id, and nothing came after it. If other work came after
 * a message of the agent, the piece starts a new part of the message at the end, where the user reads.
 *
 * Text continues the text before it, except in a user message without an id, which agents don't stream. The pieces of such a message are
 * the blocks of a prompt, or prompts without an answer between them, and stay separate.
 */
function messageChunk(
  step: Step,
  role: MessageRole,
  messageId: string | undefined,
  content: ContentBlock,
): void {
  if (isBlank(content)) return
  if (role === 'user' && isOwnPrompt(step, messageId, [content])) return
  if (role === 'agent') answerChunk(step, messageId, content)
  else {
    releaseHeld(step)
    addToMessage(step, role, messageId, content)
  }
}

/** Adds a piece of an answer: its parts go to the answer's message, or to the thought that the model writes into the answer. */
function answerChunk(step: Step, messageId: string | undefined, content: ContentBlock): void {
  const { memory } = step.state
  const answer = answerOf(step, messageId)
  if (memory.holding !== answer) releaseHeld(step)
  if (content.type !== 'text' || content.agentOnly) {
    addParts(step, answer, releaseAnswer(answer.text))
    addPart(step, answer, answer.text.tag === undefined ? 'agent' : 'thought', content)
  } else addParts(step, answer, readAnswer(answer.text, content.text))
  if (answer.text.held === '') delete memory.holding
  else memory.holding = answer
  answer.openMessage = memory.openMessage
  if (step.changes.length > 1) withoutRepeated(step)
}

/** Shows text that was held back because it might begin a tag as normal text, since other content followed. */
export function releaseHeld(step: Step): void {
  const { memory } = step.state
  const answer = memory.holding
  if (!answer) return
  delete memory.holding
  addParts(step, answer, releaseAnswer(answer.text))
  answer.openMessage = memory.openMessage
}

function answerOf({ state }: Step, messageId: string | undefined): Answer {
  const { memory, entries } = state
  const known = memory.answers.get(messageId ?? '')
  if (known && (messageId !== undefined || known.openMessage === memory.openMessage)) return known
  const answer: Answer = { text: beginAnswer(), messageId, openMessage: memory.openMessage }
  memory.answers.set(messageId ?? '', answer)
  // the conversation may continue from its saved state
  const at = (role: MessageRole) =>
    messageId === undefined ? memory.openMessage : memory.messages.get(key(role, messageId))
  const position = at('thought')
  const tag = entryAt({ entries }, position, MESSAGE)?.tag
  if (tag !== undefined)
    return Object.assign(answer, { text: beginAnswer(tag), isSplit: true, thought: position })
  const before = entryAt({ entries }, at('agent'), MESSAGE)
  const last = before?.role === 'agent' ? before.blocks.at(-1) : undefined
  if (last?.type === 'text') {
    readAnswer(answer.text, last.text)
    answer.text.held = ''
  }
  return answer
}

function addParts(step: Step, answer: Answer, parts: readonly AnswerPart[]): void {
  for (const { role, text } of parts) addPart(step, answer, role, { type: 'text', text })
  const { tag } = answer.text
  const open = tag === undefined ? undefined : thoughtOf(step, answer)
  if (answer.thought !== open) setTag(step, answer.thought, null)
  setTag(step, open, tag)
  answer.thought = open
}

/** Returns the position of the thought that continues with the text after an answer's open tag; `undefined` if a new thought begins. */
function thoughtOf({ state }: Step, { messageId }: Answer): number | undefined {
  const { memory } = state
  const position =
    messageId === undefined ? memory.openMessage : memory.messages.get(key('thought', messageId))
  const isLast = messageId === undefined || memory.roles.get(messageId) === 'thought'
  return isLast && entryAt(state, position, MESSAGE)?.role === 'thought' ? position : undefined
}

function setTag(step: Step, position: number | undefined, tag: string | null | undefined): void {
  const thought = entryAt(step.state, position, MESSAGE)
  if (position === undefined || !thought || thought.tag === (tag ?? undefined)) return
  patchField(thought, 'tag', tag)
  touch(step, position)
}

function addPart(step: Step, answer: Answer, role: AnswerPart['role'], content: ContentBlock): void {
  const { memory } = step.state
  const { messageId } = answer
  if (role === 'thought') answer.isSplit = true
  const isPart =
    messageId !== undefined &&
    answer.isSplit &&
    memory.roles.get(messageId) !== role &&
    memory.messages.has(key(role, messageId))
  if (!isPart) {
    addToMessage(step, role, messageId, content)
    return
  }
  continueMessage(step, role, messageId, [content])
  memory.roles.set(messageId, role)
}

function addToMessage(
  step: Step,
  role: MessageRole,
  messageId: string | undefined,
  content: ContentBlock,
): void {
  const { state } = step
  const position = findOpen(step, role, messageId)
  if (position === undefined || (messageId === undefined && beginsAnother(state, position, content))) {
    createMessage(step, role, messageId, [content])
    return
  }
  state.memory.toolEndedSince = false
  if (role !== 'user' && messageId !== undefined && position < state.memory.lastWork) {
    continueMessage(step, role, messageId, [content])
    return
  }
  if (role !== 'thought') endThought(step)
  const entry = entryAt(state, position, MESSAGE)
  if (!entry) return
  if (role === 'user' && messageId === undefined) {
    pushBlock(entry.blocks, content)
    touch(step, position)
  } else appendContent(step, position, entry.blocks, content)
}

/**
 * Sets the content of a whole message: absent content keeps the present content, `null` clears it, a list replaces it. If the list only
 * extends the parts above other work, those parts stay and the rest comes after the other work.
 */
function messageUpsert(
  step: Step,
  role: MessageRole,
  messageId: string,
  content: readonly ContentBlock[] | null | undefined,
): void {
  if (role === 'user' && isOwnPrompt(step, messageId, content ?? [])) return
  if (role !== 'agent' || !content) {
    replaceMessage(step, role, messageId, content)
    return
  }
  const answer: Answer = { text: beginAnswer(), messageId }
  const blocks: Record<AnswerPart['role'], ContentBlock[]> = { agent: [], thought: [] }
  for (const block of content) {
    const parts =
      block.type === 'text' && !block.agentOnly
        ? [...readAnswer(answer.text, block.text), ...releaseAnswer(answer.text)]
        : undefined
    if (!parts) blocks[answer.text.tag === undefined ? 'agent' : 'thought'].push(block)
    else for (const { role, text } of parts) blocks[role].push({ type: 'text', text })
  }
  step.state.memory.answers.delete(messageId)
  if (blocks.thought.length === 0) {
    replaceMessage(step, role, messageId, content)
    return
  }
  replaceMessage(step, 'thought', messageId, blocks.thought)
  addParts(step, answer, [])
  if (blocks.agent.length === 0 && !step.state.memory.messages.has(key('agent', messageId))) return
  replaceMessage(step, 'agent', messageId, blocks.agent)
}

function replaceMessage(
  step: Step,
  role: MessageRole,
  messageId: string,
  content: readonly ContentBlock[] | null | undefined,
): void {
  const { state } = step
  const position = state.memory.messages.get(key(role, messageId))
  if (position === undefined) {
    createMessage(step, role, messageId, content ?? [])
    return
  }
  if (content === undefined) return
  const parts = state.memory.messageParts.get(key(role, messageId)) ?? [position]
  const isBehind = role !== 'user' && position < state.memory.lastWork
  const above = isBehind ? parts : parts.slice(0, -1)
  const rest =
    content === null
      ? undefined
      : withoutBeginning(
          content,
          above.flatMap(at => blocksAt(state, at)),
        )
  if (!rest) {
    for (const [i, at] of parts.entries()) setBlocks(step, at, i === 0 ? copyBlocks(content) : [])
  } else if (!isBehind) setBlocks(step, position, rest)
  else if (rest.length > 0) continueMessage(step, role, messageId, rest)
}

function blocksAt(state: ReducerState, position: number): ContentBlock[] {
  return entryAt(state, position, MESSAGE)?.blocks ?? []
}

function setBlocks(step: Step, position: number, blocks: ContentBlock[]): void {
  const entry = entryAt(step.state, position, MESSAGE)
  if (!entry) return
  entry.blocks = blocks
  touch(step, position)
}

/** Returns the content after this beginning; `undefined` if the content starts differently. */
function withoutBeginning(
  content: readonly ContentBlock[],
  beginning: readonly ContentBlock[],
): ContentBlock[] | undefined {
  const rest = copyBlocks(content)
  for (const block of beginning) {
    const first = rest[0]
    if (!first) return undefined
    if (block.type === 'text' && first.type === 'text' && first.text.startsWith(block.text)) {
      first.text = first.text.slice(block.text.length)
      if (first.text === '') rest.shift()
    } else if (JSON.stringify(block) === JSON.stringify(first)) rest.shift()
    else return undefined
  }
  return rest
}

/** Continues a message with a new part below later entries. */
function continueMessage(
  step: Step,
  role: MessageRole,
  messageId: string,
  content: readonly ContentBlock[],
): void {
  const { memory } = step.state
  const id = key(role, messageId)
  const before = memory.messages.get(id)
  const position = appendMessage(step, role, messageId, content)
  const entry = entryAt(step.state, position, MESSAGE)
  if (before === undefined || !entry) return
  entry.continues = true
  memory.messages.set(id, position)
  const parts = memory.messageParts.get(id)
  if (parts) parts.push(position)
  else memory.messageParts.set(id, [before, position])
}

/**
 * Whether a chunk without an id begins another message, although only the end of a tool call came between the chunk and the text before it
 * (zed-codex). If the chunk continues a text that the end of a tool call interrupted, a space is at the boundary, or the boundary is within
 * a word or sentence.
 */
function beginsAnother({ memory, entries }: ReducerState, position: number, content: ContentBlock): boolean {
  if (!memory.toolEndedSince || content.type !== 'text') return false
  const last = entryAt({ entries }, position, MESSAGE)?.blocks.at(-1)
  return (
    last?.type === 'text' &&
    !/\s$/.test(last.text) &&
    /^[^\s\p{Ll}\p{Nd}\p{Pe}\p{Pf}.,;:!?'"%&/…-]/u.test(content.text)
  )
}

function isOwnPrompt(step: Step, messageId: string | undefined, content: readonly ContentBlock[]): boolean {
  const echo = takeEcho(step.state, messageId, content)
  if (typeof echo === 'number') touch(step, echo)
  return echo !== undefined
}

function findOpen(step: Step, role: MessageRole, messageId: string | undefined): number | undefined {
  const { memory } = step.state
  if (messageId !== undefined) {
    return memory.roles.get(messageId) === role ? memory.messages.get(key(role, messageId)) : undefined
  }
  const position = memory.openMessage
  const entry = entryAt(step.state, position, MESSAGE)
  return entry?.role === role && entry.messageId === undefined ? position : undefined
}

function createMessage(
  step: Step,
  role: MessageRole,
  messageId: string | undefined,
  content: readonly ContentBlock[],
): void {
  const { memory } = step.state
  // During a turn that Parley started, another user message belongs to that turn; otherwise the message begins a turn.
  if (role === 'user' && !memory.ownTurn) beginTurn(step)
  const position = appendMessage(step, role, messageId, content)
  if (messageId === undefined) return
  memory.messages.set(key(role, messageId), position)
  memory.messageParts.delete(key(role, messageId))
  memory.roles.set(messageId, role)
}

export function appendMessage(
  step: Step,
  role: MessageRole,
  messageId: string | undefined,
  content: readonly ContentBlock[],
  steering?: Steering,
): number {
  const { memory } = step.state
  const blocks = copyBlocks(content)
  const position = append(step, MESSAGE, {
    role,
    ...(steering && { steering }),
    ...(messageId !== undefined && { messageId }),
    blocks,
  })
  memory.openMessage = position
  if (role === 'thought') memory.openThought = position
  return position
}

export function beginTurn(step: Step): void {
  // A subagent works within the turn that started it.
  if (step.state.within !== undefined) return
  step.state.turn += 1
  step.changes.push({ type: 'head', key: 'turn' })
  dropFinishedPlans(step)
}

function key(role: MessageRole, messageId: string): string {
  return `${role}\n${messageId}`
}

// ---- prompts for the running turn

/** Shows a prompt that the agent is asked to add to the running turn, at the place where it was sent. */
export function steeringSent(step: Step, promptId: string, content: readonly ContentBlock[]): void {
  const { memory } = step.state
  const position = appendMessage(step, 'user', undefined, content, 'sent')
  // A later chunk without an id doesn't continue the user's message.
  memory.openMessage = undefined
  memory.steering.set(promptId, { ...expectEcho(position, content), content })
}

/**
 * Applies the agent's answer. A prompt that the agent didn't take returns to the queue and leaves the conversation; a late answer brings it
 * back.
 */
export function steeringAnswered(step: Step, promptId: string, outcome: SteeringOutcome): void {
  const steered = step.state.memory.steering.get(promptId)
  if (steered) setSteering(step, steered, outcome)
}

/**
 * Forgets prompts of an earlier turn when a new turn begins: the agent won't echo them. Prompts without an answer stay, since it may still
 * come.
 */
export function forgetSteered({ state }: Step): void {
  const { steering } = state.memory
  for (const [promptId, { position }] of steering) {
    const how = entryAt(state, position, MESSAGE)?.steering
    if (how === 'injected' || how === 'startedNewTurn') steering.delete(promptId)
  }
}

/**
 * Removes prompts that the agent won't answer, since it's gone or its answers were for another window. The prompts are in the composer
 * again.
 */
export function dropSteering(step: Step): void {
  const { memory } = step.state
  for (const steered of memory.steering.values())
    if (entryAt(step.state, steered.position, MESSAGE)?.steering === 'sent')
      setSteering(step, steered, 'failed')
  memory.steering.clear()
}

function setSteering(step: Step, { position, content }: Steered, outcome: SteeringOutcome): void {
  const entry = entryAt(step.state, position, MESSAGE)
  if (!entry) return
  const isTaken = outcome === 'injected' || outcome === 'startedNewTurn'
  entry.steering = isTaken ? outcome : 'notTaken'
  if (!isTaken) entry.blocks = []
  else if (entry.blocks.length === 0) entry.blocks = copyBlocks(content)
  touch(step, position)
}

// ---- echoes of the user's prompts

/**
 * Expects the echo of a prompt. A prompt is shown as soon as it's sent; many agents then report the prompt again as a user message.
 *
 * Until the next prompt, the first user message that matches is the echo: the entry keeps the user's text and takes over the echo's message
 * id, and all other content under that id is dropped. Text is compared without white space, because agents re-wrap it. Either the echo is a
 * prefix of the prompt, or the prompt is a prefix of the echo, because agents append the content that they expanded. A block that isn't
 * text matches a block of its type in the prompt that has no echo yet. An echo without message ids must continue the prompt's text. Any
 * user message that doesn't match is a message of its own. If the agent names the message id in its answer to the prompt (v2), only that id
 * counts.
 *
 * A replay contains no prompt of this window, so nothing is dropped from it.
 */
export function expectEcho(position: number, content: readonly ContentBlock[]): Echo {
  return {
    position,
    rest: withoutSpace(textOf(content)),
    others: content.filter(block => !isText(block)).map(block => block.type),
  }
}

/**
 * Returns `'ours'` if a piece of a user message is shown already: it's the echo of a prompt from Parley, or a note of the agent next to the
 * echo. Returns the prompt's position if the echo gives the prompt its message id, and `undefined` if the piece isn't an echo.
 */
function takeEcho(
  state: ReducerState,
  messageId: string | undefined,
  content: readonly ContentBlock[],
): 'ours' | number | undefined {
  const { memory } = state
  if (messageId !== undefined && memory.ownMessages.has(messageId)) return 'ours'
  if (messageId !== undefined && memory.messages.has(`user\n${messageId}`)) return undefined
  const expected = expectedEchoes(state)
  // a note from the agent to its model, next to the prompt
  const isNote = content.length > 0 && content.every(block => 'agentOnly' in block && block.agentOnly)
  if (isNote && expected.length > 0) return 'ours'
  for (const echo of expected) {
    if (messageId === undefined) {
      if (content.every(block => continuesEcho(echo, block))) return 'ours'
      continue
    }
    const first = content[0]
    // The message starts empty: its first piece will show whether the message is an echo.
    if (first === undefined) return 'ours'
    if (!continuesEcho(echo, first)) continue
    claim(state, echo, messageId)
    return echo.position
  }
  return undefined
}

/** Returns the prompts that the agent may still echo. */
function expectedEchoes({ memory, entries }: ReducerState): Echo[] {
  const steered = [...memory.steering.values()].filter(({ position, isEchoed }) => {
    const steering = entryAt({ entries }, position, MESSAGE)?.steering
    return !isEchoed && steering !== 'notTaken'
  })
  return memory.echo ? [memory.echo, ...steered] : steered
}

/** Sets the message id of the prompt that waits for its echo. */
export function claimEcho(state: ReducerState, messageId: string): void {
  const { echo } = state.memory
  if (echo) claim(state, echo, messageId)
}

function claim(state: ReducerState, echo: Echo, messageId: string): void {
  const { memory } = state
  const entry = entryAt(state, echo.position, MESSAGE)
  if (entry) entry.messageId = messageId
  memory.ownMessages.add(messageId)
  if (memory.echo === echo) memory.echo = undefined
  else for (const steered of memory.steering.values()) if (steered === echo) steered.isEchoed = true
}

function continuesEcho(echo: Echo, block: ContentBlock): boolean {
  if (block.type !== 'text') {
    const found = echo.others.indexOf(block.type)
    if (found !== -1) echo.others.splice(found, 1)
    return found !== -1
  }
  const text = withoutSpace(block.text)
  if (echo.rest.startsWith(text)) {
    echo.rest = echo.rest.slice(text.length)
    return true
  }
  if (echo.rest === '' || !text.startsWith(echo.rest)) return false
  echo.rest = ''
  return true
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '')
}
