import type { ContentBlock, ToolCallContent } from '../../../../src/acp/model.ts'
import type { ConversationHead } from '../../../../src/bridge/conversation.ts'
import type { MessageEntry, PermissionEntry, ToolCallEntry } from '../../../../src/conversation/state.ts'

/** Entries as a host sends them, with defaults for what a test doesn't define. */
export function message(id: string, role: MessageEntry['role'], ...texts: string[]): MessageEntry {
  const blocks = texts.map((text): ContentBlock => ({ type: 'text', text }))
  return { kind: 'message', id, turn: 1, role, blocks }
}

export function toolCall(id: string, more: Partial<ToolCallEntry> = {}): ToolCallEntry {
  const content: ToolCallContent[] = []
  return {
    kind: 'tool_call',
    id,
    turn: 1,
    toolCallId: `call-${id}`,
    title: `Tool ${id}`,
    toolKind: 'other',
    status: 'completed',
    content,
    locations: [],
    canCancel: false,
    ...more,
  }
}

export function permission(id: string, more: Partial<PermissionEntry> = {}): PermissionEntry {
  return {
    kind: 'permission',
    id,
    turn: 1,
    requestId: `request-${id}`,
    title: 'Allow?',
    options: [{ optionId: 'yes', name: 'Allow once', kind: 'allow_once' }],
    ...more,
  }
}

export function head(more: Partial<ConversationHead> = {}): ConversationHead {
  return {
    phase: 'ready',
    key: 'k1',
    activity: 'idle',
    pendingRequests: [],
    queue: [],
    queuePaused: false,
    rewinds: [],
    mcpServers: [],
    plans: [],
    configOptions: [],
    pendingOptions: [],
    rememberedOptions: {},
    defaultOptions: {},
    commands: [],
    prompt: { image: false, audio: false, embeddedContext: false },
    cards: [],
    agents: [],
    ...more,
  }
}
