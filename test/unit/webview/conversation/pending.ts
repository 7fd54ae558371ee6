import type {
  ConversationPatch,
  ConversationSnapshot,
  PendingRequestNote,
} from '../../../../src/bridge/conversation.ts'
import type { Entry } from '../../../../src/conversation/state.ts'

/**
 * Adds pending requests (the entries without an outcome) to the messages of a test, like the host. Keeps those that a
 * test defines itself.
 */
export class PendingRequestAdder {
  #notes: PendingRequestNote[] = []

  snapshot(snapshot: ConversationSnapshot): ConversationSnapshot {
    const { head, entries, first } = snapshot
    this.#notes = head.pendingRequests
    if (this.#notes.length === 0) for (const [i, entry] of entries.entries()) this.#note(first + i, entry)
    return { ...snapshot, head: { ...head, pendingRequests: this.#notes } }
  }

  patch(patch: ConversationPatch): ConversationPatch {
    const before = this.#notes
    for (const op of patch.ops) if (op.op === 'entry') this.#note(op.index, op.entry)
    if (this.#notes === before) return patch
    return { ...patch, ops: [...patch.ops, { op: 'head', head: { pendingRequests: this.#notes } }] }
  }

  #note(index: number, entry: Entry): void {
    if (entry.kind !== 'permission' && entry.kind !== 'elicitation') return
    const others = this.#notes.filter(({ entryId }) => entryId !== entry.id)
    const note = { requestId: entry.requestId, entryId: entry.id, index }
    this.#notes = entry.outcome ? others : [...others, note].sort((a, b) => a.index - b.index)
  }
}
