/** Shortcuts for updates in tests. */
import type {
  ConfigOption,
  ContentBlock,
  ElicitationRequest,
  MessageRole,
  PermissionRequest,
  SessionUpdate,
  ToolCallPatch,
} from '../../../src/acp/model.ts'
import type { Change, Entry, SessionState } from '../../../src/conversation/state.ts'

export const text = (value: string): ContentBlock => ({ type: 'text', text: value })

export const chunk = (role: MessageRole, value: string, messageId?: string): SessionUpdate =>
  messageId === undefined
    ? { type: 'message_chunk', role, content: text(value) }
    : { type: 'message_chunk', role, messageId, content: text(value) }

export const tool = (toolCallId: string, patch: Omit<ToolCallPatch, 'toolCallId'> = {}): SessionUpdate => ({
  type: 'tool_call',
  toolCall: { toolCallId, ...patch },
})

export const running: SessionUpdate = { type: 'state', state: 'running' }
export const idle = (stopReason?: string): SessionUpdate =>
  stopReason === undefined ? { type: 'state', state: 'idle' } : { type: 'state', state: 'idle', stopReason }

export const modes = (currentValue = 'ask'): ConfigOption => ({
  type: 'select',
  id: 'mode',
  name: 'Mode',
  category: 'mode',
  currentValue,
  choices: [
    { value: 'ask', name: 'Ask' },
    { value: 'code', name: 'Code' },
  ],
})

export const permissionRequest = (patch: Partial<PermissionRequest> = {}): PermissionRequest => ({
  sessionId: 's',
  title: 'May I?',
  subject: { type: 'none' },
  options: [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ],
  ...patch,
})

/** A form with one required field, `name`. */
export const form = (patch: Partial<ElicitationRequest> = {}): ElicitationRequest =>
  ({
    sessionId: 's',
    message: 'Who are you?',
    mode: 'form',
    fields: [{ key: 'name', title: 'Name', type: 'text', required: true, maxLength: 10 }],
    ...patch,
  }) as ElicitationRequest

/** A line for each entry: `user: hello`, `tool read: completed`, … */
export function summarize(state: SessionState): string[] {
  return state.entries.map(sketchEntry)
}

function sketchEntry(entry: Entry): string {
  switch (entry.kind) {
    case 'message':
      return `${entry.role}: ${entry.blocks.map(block => (block.type === 'text' ? block.text : `[${block.type}]`)).join('|')}`
    case 'tool_call':
      return `tool ${entry.toolCallId}: ${entry.status}`
    case 'permission':
      return `permission ${entry.title}: ${entry.outcome?.type ?? 'open'}`
    case 'elicitation':
      return `elicitation ${entry.message}: ${entry.outcome?.action ?? 'open'}${entry.visit ? ` ${entry.visit}` : ''}`
    case 'notice':
      return `notice: ${entry.title}`
    case 'compaction':
      return `compaction: ${entry.status}`
    case 'subagent':
      return `subagent ${entry.title ?? entry.sessionId}: ${entry.state?.activity ?? 'not known'}`
    case 'session_message':
      return `session message: ${entry.blocks.map(block => (block.type === 'text' ? block.text : `[${block.type}]`)).join('|')}`
    case 'turn_end':
      return `turn_end: ${entry.stopReason}`
    case 'unknown':
      return `unknown: ${entry.updateKind}`
  }
}

/** A view's state, built only from reported changes. */
export class Follower {
  entries: Entry[] = []
  terminals = new Map<string, unknown>()
  head: Record<string, unknown> = {}

  apply(state: SessionState, changes: readonly Change[]): void {
    for (const change of changes) this.#applyOne(state, change)
  }

  #applyOne(state: SessionState, change: Change): void {
    switch (change.type) {
      case 'entry': {
        const position = state.index.get(change.id)
        if (position === undefined) throw new Error(`no entry ${change.id}`)
        if (position > this.entries.length) throw new Error(`entry ${change.id} leaves a gap`)
        this.entries[position] = structuredClone(state.entries[position]!)
        break
      }
      case 'text': {
        const entry = this.entries.find(known => known.id === change.id)
        const blocks =
          entry?.kind === 'message' || entry?.kind === 'session_message'
            ? entry.blocks
            : entry?.kind === 'compaction'
              ? entry.summary
              : []
        const block = blocks[change.block]
        if (block?.type !== 'text') throw new Error(`no text block ${change.block} in ${change.id}`)
        block.text += change.text
        break
      }
      case 'terminal':
        this.terminals.set(change.terminalId, structuredClone(state.terminals.get(change.terminalId)))
        break
      case 'terminal_output': {
        const terminal = this.terminals.get(change.terminalId) as { output: string } | undefined
        if (!terminal) throw new Error(`no terminal ${change.terminalId}`)
        terminal.output += change.text
        break
      }
      case 'head':
        if (change.key === 'turn') this.#head(state, ['turn', 'turnStartedAt'])
        else this.#head(state, [change.key])
        break
      case 'reset':
        this.take(state)
        break
    }
  }

  /** Replaces everything with the state, like a snapshot. */
  take(state: SessionState): void {
    this.entries = structuredClone(state.entries)
    this.terminals = structuredClone(state.terminals)
    this.#head(state, HEAD)
  }

  #head(state: SessionState, keys: ReadonlyArray<keyof SessionState>): void {
    for (const key of keys) this.head[key] = structuredClone(state[key])
  }
}

const HEAD = [
  'plans',
  'configOptions',
  'commands',
  'usage',
  'title',
  'updatedAt',
  'activity',
  'turn',
  'turnStartedAt',
] as const

/** What a view must contain in the end. */
export function snapshotOf(state: SessionState): Follower {
  const follower = new Follower()
  follower.take(state)
  return follower
}
