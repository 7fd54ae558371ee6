import * as l10n from '@vscode/l10n'
import { createTwoFilesPatch } from 'diff'
import * as z from 'zod'
import type {
  FileChange,
  PermissionRequest,
  ToolCallContent,
  ToolCallLocation,
  ToolCallPatch,
  ToolCallStatus,
  ToolKind,
} from '../../acp/model.ts'
import { blockText, lines } from '../block-text.ts'
import { blockMarkdown, fenced, folded, jsonMarkdown, plain } from '../markdown.ts'
import { readableTitle } from '../mcp-tool-call.ts'
import type { EntryBase } from '../state-base.ts'
import {
  append,
  type Background,
  entryAt,
  positionsOf,
  type ReducerMemory,
  type ReducerState,
  type Reducers,
  type Step,
  stopTime,
  touch,
} from '../step.ts'
import { toolOutput, withoutEscapes } from '../tool-output.ts'
import { replacedParts } from './edit-input.ts'
import type { EntryKind, Terminals } from './entry-kind.ts'
import { patchedFiles } from './patch-input.ts'

export interface ToolCallEntry extends EntryBase {
  kind: 'tool_call'
  toolCallId: string
  /** The id of the tool call that this one is part of, in the same session: the call of a subagent without a session of its own. */
  parentId?: string
  title: string
  toolName?: string
  toolKind: ToolKind
  status: ToolCallStatus
  content: ToolCallContent[]
  locations: ToolCallLocation[]
  rawInput?: unknown
  rawOutput?: unknown
  canCancel: boolean
}

export const TOOL_CALL: EntryKind<ToolCallEntry> = {
  kind: 'tool_call',
  schema: () => ({
    toolCallId: z.string(),
    parentId: z.string().optional(),
    title: z.string(),
    toolKind: z.string(),
    status: z.string(),
    content: z.array(z.unknown()),
    locations: z.array(z.unknown()),
    canCancel: z.boolean(),
  }),
  isWork: () => true,
  mergeKey: ({ toolCallId }) => [toolCallId],
  traits: ({ title, toolKind, rawInput }) => [title, toolKind, rawInput],
  merged,
  copy: entry => ({ ...entry, content: [...entry.content] }),
  restore: ({ memory }, { toolCallId, status, content }, position) => {
    positionsOf(memory, TOOL_CALL).set(toolCallId, position)
    noteTerminals(memory, content, position)
    if (status === 'pending' || status === 'in_progress' || status === 'paused') {
      memory.openTools.add(position)
    }
  },
  markdown,
  text: (entry, terminals) => ({
    head: entry.title || (entry.toolName ?? ''),
    body: lines([
      ...entry.content.map(content => contentText(content, entry.toolKind, terminals)),
      entry.content.length === 0 ? rawText(entry.rawOutput) : '',
    ]),
  }),
}

/** The kind for which `positionsOf` returns the positions of tool calls that show a terminal, by the terminal's id. */
export const SHOWN_TERMINAL = { kind: 'shown_terminal' } as const

function noteTerminals(memory: ReducerMemory, content: readonly ToolCallContent[], position: number): void {
  for (const part of content)
    if (part?.type === 'terminal') positionsOf(memory, SHOWN_TERMINAL).set(part.terminalId, position)
}

/** Time limit for comparing two texts, in milliseconds; beyond the limit, only the new text is shown. */
const DIFF_MS = 200

/** The initial fields of a tool call about which nothing is known yet. */
const BLANK = {
  title: '',
  toolKind: 'other',
  status: 'pending',
  canCancel: false,
} as const

export const TOOL_CALL_REDUCERS: Reducers<'tool_call' | 'tool_call_content'> = {
  tool_call: (step, { toolCall, isNew }) => {
    toolCallUpsert(step, toolCall, isNew)
  },
  tool_call_content: (step, { toolCallId, content }) => toolCallContent(step, toolCallId, content),
}

/** Whether a status is final. A status that this version of Parley doesn't know counts as running. */
export function isFinalStatus(status: ToolCallStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/**
 * Creates or changes a tool call; its updates may come in any order and more than once. Returns the entry's position. `isNew`: see {@link
 * findToolCall}.
 */
export function toolCallUpsert(step: Step, patch: ToolCallPatch, isNew = false): number {
  const { state } = step
  const found = findToolCall(state, patch, isNew)
  const position = found ?? createToolCall(step, patch.toolCallId)
  const entry = entryAt(state, position, TOOL_CALL)
  if (!entry) return position
  const changed = applyPatch(state, entry, patch)
  if (patch.content) noteTerminals(state.memory, patch.content, position)
  const moved = patch.status !== undefined && setStatus(step, position, entry, patch.status)
  if (found !== undefined && (changed || moved)) touch(step, position)
  return position
}

/**
 * Returns the position of the tool call that a patch is about. Agents that count their tool calls in each turn reuse ids, although an id
 * should be unique within the session. So if the patch announces a tool call (`isNew`), a tool call with this id that finished in an
 * earlier turn is another one, unless it was canceled and the patch reports its end.
 */
function findToolCall(state: ReducerState, patch: ToolCallPatch, isNew: boolean): number | undefined {
  const position = positionsOf(state.memory, TOOL_CALL).get(patch.toolCallId)
  const entry = isNew ? entryAt(state, position, TOOL_CALL) : undefined
  if (!entry || entry.turn === state.turn || !isFinalStatus(entry.status)) return position
  const endsLate = entry.status === 'cancelled' && patch.status && isFinalStatus(patch.status)
  return endsLate ? position : undefined
}

/** Returns the tool call of a request as it would be with the patch, without changing the state. */
function toolCallWith(state: ReducerState, patch: ToolCallPatch, isNew: boolean): ToolCallEntry {
  const known = entryAt(state, findToolCall(state, patch, isNew), TOOL_CALL)
  const entry: ToolCallEntry =
    known !== undefined
      ? { ...known, content: [...known.content] }
      : {
          ...BLANK,
          kind: 'tool_call',
          content: [],
          locations: [],
          id: '',
          turn: state.turn,
          toolCallId: patch.toolCallId,
        }
  applyPatch(state, entry, withEarlierText(known, patch))
  return entry
}

/**
 * Returns a request's patch with the tool call's earlier text, so that the user can read it: the patch may replace the full command with
 * just its name.
 */
export function withEarlierText(known: ToolCallEntry | undefined, patch: ToolCallPatch): ToolCallPatch {
  if (known?.status !== 'pending' || !patch.content) return patch
  const given = new Set(patch.content.map(part => JSON.stringify(part)))
  const earlier = known.content.filter(
    part => part.type === 'content' && part.content.type === 'text' && !given.has(JSON.stringify(part)),
  )
  return earlier.length === 0 ? patch : { ...patch, content: [...earlier, ...patch.content] }
}

/** Returns the tool call of a permission request, updated with the data of the request. */
export function toolCallOf(state: ReducerState, { subject }: PermissionRequest): ToolCallEntry | undefined {
  if (subject.type === 'tool_call') return toolCallWith(state, subject.toolCall, true)
  const known =
    subject.type === 'command' &&
    subject.toolCallId !== undefined &&
    positionsOf(state.memory, TOOL_CALL).has(subject.toolCallId)
  return known ? toolCallWith(state, { toolCallId: subject.toolCallId ?? '' }, false) : undefined
}

/** Appends one piece of content to a tool call. */
function toolCallContent(step: Step, toolCallId: string, content: ToolCallContent): void {
  const { state } = step
  const found = positionsOf(state.memory, TOOL_CALL).get(toolCallId)
  const position = found ?? createToolCall(step, toolCallId)
  const entry = entryAt(state, position, TOOL_CALL)
  if (!entry) return
  entry.content.push(content)
  noteTerminals(state.memory, [content], position)
  if (found !== undefined) touch(step, position)
}

/**
 * Closes the tool calls that the agent left open when its work ended, except background work. A tool call whose status was reported becomes
 * `cancelled`. A tool call without a reported status, or that was allowed, counts as run with the turn: it becomes `completed` unless the
 * turn was cut short. `allowed`: ids of the tool calls that the user, or a rule, allowed in this turn. `only`: closes only these tool
 * calls.
 */
export function closeToolCalls(
  step: Step,
  cutShort: boolean,
  allowed: ReadonlySet<string>,
  background?: Background,
  only?: ReadonlySet<string>,
): void {
  const { memory } = step.state
  for (const position of [...memory.openTools]) {
    const entry = entryAt(step.state, position, TOOL_CALL)
    if (!entry) continue
    if (background && isBackgroundWork(step.state, background, entry.toolCallId)) continue
    if (only && !only.has(entry.toolCallId)) continue
    const ran = memory.toolsWithoutStatus.has(position) || allowed.has(entry.toolCallId)
    const completed = ran && !cutShort
    setStatus(step, position, entry, completed ? 'completed' : 'cancelled')
    touch(step, position)
  }
}

function createToolCall(step: Step, toolCallId: string): number {
  const position = append(step, TOOL_CALL, { ...BLANK, toolCallId, content: [], locations: [] })
  const { memory } = step.state
  positionsOf(memory, TOOL_CALL).set(toolCallId, position)
  memory.openTools.add(position)
  memory.toolsWithoutStatus.add(position)
  return position
}

function applyPatch(state: ReducerState, entry: ToolCallEntry, patch: ToolCallPatch): boolean {
  let changed = false
  const set = <K extends keyof ToolCallEntry>(key: K, value: ToolCallEntry[K]) => {
    if (entry[key] === value) return
    if (value === undefined) delete entry[key]
    else entry[key] = value
    changed = true
  }
  const { parentId } = patch
  // the tool calls of a subagent with its own session are in that session, and the call that runs the subagent is in the session above
  if (
    parentId !== undefined &&
    parentId !== entry.toolCallId &&
    positionsOf(state.memory, TOOL_CALL).has(parentId)
  )
    set('parentId', parentId)
  if (patch.title !== undefined) set('title', patch.title ?? '')
  if (patch.name !== undefined) set('toolName', patch.name ?? undefined)
  if (patch.kind !== undefined) set('toolKind', patch.kind ?? 'other')
  if (patch.canCancel !== undefined) set('canCancel', patch.canCancel ?? false)
  // Lists are copied, since content is appended to them; raw values are never changed.
  if (patch.content !== undefined) set('content', patch.content?.slice() ?? [])
  if (patch.locations !== undefined) set('locations', patch.locations?.slice() ?? [])
  if (patch.rawInput !== undefined) set('rawInput', patch.rawInput ?? undefined)
  if (patch.rawOutput !== undefined) set('rawOutput', patch.rawOutput ?? undefined)
  const says = [patch.content, patch.rawInput, patch.kind, patch.name, patch.title]
  const mayLackDiff = says.some(value => value !== undefined)
  if (mayLackDiff && !hasDiff(entry)) {
    const patched = patchedFiles(entry.rawInput)
    const changes = patched.length > 0 ? patched : replacedParts(entry)
    if (changes.length > 0) set('content', [...entry.content, { type: 'diff', changes: [...changes] }])
  }
  return changed
}

export function hasDiff({ content }: Pick<ToolCallEntry, 'content'>): boolean {
  return content.some(({ type }) => type === 'diff')
}

/** Sets a tool call's status; `null`: the agent cleared the status. */
function setStatus(
  step: Step,
  position: number,
  entry: ToolCallEntry,
  status: ToolCallStatus | null,
): boolean {
  const { memory } = step.state
  if (status === null) memory.toolsWithoutStatus.add(position)
  else memory.toolsWithoutStatus.delete(position)
  const before = entry.status
  entry.status = status ?? 'pending'
  if (isFinalStatus(entry.status)) {
    if (memory.openTools.delete(position)) memory.toolEndedSince = true
    stopTime(step, entry)
  } else {
    memory.openTools.add(position)
    delete entry.endedAt
  }
  return before !== entry.status
}

/** Whether a tool call is still running in the background; if the tool call shows a terminal, only the terminal's state counts. */
export function isBackgroundWork(state: ReducerState, background: Background, toolCallId: string): boolean {
  if (background.toolCalls.has(toolCallId)) return true
  if (background.terminals.size === 0) return false
  const entry = entryAt(state, positionsOf(state.memory, TOOL_CALL).get(toolCallId), TOOL_CALL)
  if (!entry) return false
  return entry.content.some(part => part.type === 'terminal' && background.terminals.has(part.terminalId))
}

/** Returns the ids of the terminals that an entry shows. */
export function terminalsIn(entry: Pick<EntryBase, 'kind'> & { content?: unknown }): string[] {
  if (entry.kind !== 'tool_call') return []
  const { content } = entry as ToolCallEntry
  return content.flatMap(part => (part?.type === 'terminal' ? [part.terminalId] : []))
}

/** Returns the known tool call, completed with data that only the replay has. */
function merged(known: ToolCallEntry, reported: ToolCallEntry): ToolCallEntry {
  const result: ToolCallEntry = { ...reported, ...known }
  // interrupted work is shown as canceled here, but the agent knows how it ended
  const endsLater =
    reported.status !== known.status &&
    isFinalStatus(reported.status) &&
    !hasEnded(known) &&
    reported.status !== 'cancelled'
  if (endsLater || (reported.status === 'in_progress' && !hasEnded(known))) result.status = reported.status
  if (known.title === '') result.title = reported.title
  if (known.toolKind === 'other') result.toolKind = reported.toolKind
  const saysMore = () => JSON.stringify(reported.content).length > JSON.stringify(known.content).length
  if (known.content.length === 0 || (endsLater && saysMore())) result.content = reported.content
  if (known.locations.length === 0) result.locations = reported.locations
  if (endsLater && reported.rawOutput !== undefined) result.rawOutput = reported.rawOutput
  return result
}

function hasEnded({ status }: ToolCallEntry): boolean {
  return status === 'completed' || status === 'failed'
}

function markdown(entry: ToolCallEntry, terminals: Terminals): string {
  const title = readableTitle(entry.title || entry.toolName || entry.toolKind)
  const status = entry.status === 'completed' ? '' : ` (${entry.status})`
  const parts = entry.content.flatMap(content => toolContent(content, entry.toolKind, terminals))
  if (parts.length === 0 && entry.rawOutput !== undefined && entry.rawOutput !== null) {
    parts.push(
      typeof entry.rawOutput === 'string' ? fenced(plain(entry.rawOutput)) : jsonMarkdown(entry.rawOutput),
    )
  }
  if (entry.title.includes('\n')) parts.unshift(fenced(entry.title))
  return folded(title.split('\n', 1)[0] + status, parts)
}

function toolContent(content: ToolCallContent, kind: ToolKind, terminals: Terminals): string[] {
  switch (content.type) {
    case 'content': {
      const output = content.content.type === 'text' ? toolOutput(content.content.text, kind) : undefined
      return [output ? fenced(plain(output.text), output.language) : blockMarkdown(content.content)]
    }
    case 'diff': {
      const texts = content.changes.flatMap(change => diff(change) ?? [])
      if (texts.length < content.changes.length && content.patch)
        texts.push(fenced(content.patch.text, 'diff'))
      return texts
    }
    case 'terminal': {
      const terminal = terminals.get(content.terminalId)
      if (!terminal) return []
      const command = terminal.command ? `$ ${terminal.command}\n` : ''
      const exit = terminal.exit?.exitCode ? `\n[${l10n.t('exit code {0}', terminal.exit.exitCode)}]` : ''
      return [fenced(command + plain(terminal.output).replace(/\n$/, '') + exit, 'console')]
    }
    case 'unknown':
      return [jsonMarkdown(content.raw)]
  }
}

function diff({ path, oldPath, oldText, newText }: FileChange): string | undefined {
  if (oldText === undefined && newText === undefined) return undefined
  const before = oldText ?? ''
  const after = newText ?? ''
  const patch = createTwoFilesPatch(oldPath ?? path, path, before, after, undefined, undefined, {
    context: 3,
    timeout: DIFF_MS,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  })
  return patch === undefined ? fenced(after) : fenced(patch, 'diff')
}

function contentText(content: ToolCallContent, kind: ToolKind, terminals: Terminals): string {
  switch (content.type) {
    case 'content': {
      const output = content.content.type === 'text' ? toolOutput(content.content.text, kind) : undefined
      return output?.text ?? blockText(content.content, true)
    }
    case 'diff':
      return lines(
        content.changes.map(change => lines([change.path, changedLines(change, content.patch?.text)])),
      )
    case 'terminal':
      return withoutEscapes(terminals.get(content.terminalId)?.output ?? '')
    case 'unknown':
      return JSON.stringify(content.raw) ?? ''
  }
}

/**
 * Returns approximately the text of a diff: the part where the texts differ with three lines of context, then the lines that only the old
 * text has.
 */
function changedLines({ oldText, newText }: FileChange, patch: string | undefined): string {
  if (newText === undefined && oldText === undefined) return patch ?? ''
  const before = oldText === undefined ? [] : oldText.split('\n')
  const after = newText === undefined ? [] : newText.split('\n')
  const least = Math.min(before.length, after.length)
  let start = 0
  while (start < least && before[start] === after[start]) start++
  let end = 0
  while (end < least - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const from = Math.max(0, start - 3)
  const shown = after.slice(from, Math.min(after.length, after.length - end + 3))
  const still = new Set(shown)
  const gone = before.slice(start, before.length - end).filter(line => !still.has(line))
  return lines([...gone, ...shown])
}

function rawText(raw: unknown): string {
  if (raw === undefined || raw === null) return ''
  return typeof raw === 'string' ? withoutEscapes(raw) : (JSON.stringify(raw, undefined, 2) ?? '')
}
