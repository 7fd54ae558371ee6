import assert from 'node:assert/strict'
import type { Session } from '../../src/conversation/session.ts'
import type {
  Entry,
  MessageEntry,
  PermissionEntry,
  SessionState,
  ToolCallEntry,
} from '../../src/conversation/state.ts'

/** The mock model's answer to `[[hello]]`. */
export const HELLO =
  'Hello from the **mock** model. Unicode: żółć 日本語 👩‍💻 — done.\n\n```js\nconsole.log(1)\n```\n'

export function entriesOfKind<K extends Entry['kind']>(
  state: SessionState,
  kind: K,
): Array<Extract<Entry, { kind: K }>> {
  return state.entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind)
}

/** The texts of all messages of the agent (or of the user, or of all thoughts), one string per message. */
export function messageTexts(state: SessionState, role: MessageEntry['role'] = 'agent'): string[] {
  return entriesOfKind(state, 'message')
    .filter(entry => entry.role === role)
    .map(entry => entry.blocks.map(block => (block.type === 'text' ? block.text : '')).join(''))
}

/** The tool call that matches; there must be exactly one. */
export function findToolCall(state: SessionState, fits: (entry: ToolCallEntry) => boolean): ToolCallEntry {
  const found = entriesOfKind(state, 'tool_call').filter(fits)
  const all = entriesOfKind(state, 'tool_call').map(({ title, toolKind }) => `${toolKind}: ${title}`)
  assert.equal(found.length, 1, `one such tool call among ${JSON.stringify(all)}`)
  return found[0] as ToolCallEntry
}

export function findPermission(state: SessionState): PermissionEntry {
  const found = entriesOfKind(state, 'permission')
  assert.equal(found.length, 1, 'one question')
  return found[0] as PermissionEntry
}

/** Fails if anything is running or pending. */
export function assertSettled(state: SessionState): void {
  assert.equal(state.activity, 'idle')
  for (const entry of state.entries) {
    if (entry.kind === 'tool_call') {
      assert.ok(!['pending', 'in_progress'].includes(entry.status), `${entry.title} is ${entry.status}`)
    }
    if (entry.kind === 'permission') assert.ok(entry.outcome, `the question “${entry.title}” is open`)
  }
}

/** Resolves as soon as the conversation matches. */
export function waitForState(session: Session, isSo: (state: SessionState) => boolean): Promise<void> {
  return new Promise(resolve => {
    const look = () => {
      if (!isSo(session.state)) return
      subscription.dispose()
      resolve()
    }
    const subscription = session.onDidChange(look)
    look()
  })
}
