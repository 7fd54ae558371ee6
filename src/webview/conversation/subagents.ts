import { type Signal, signal } from '@preact/signals'
import type { EntrySlot } from './slot.ts'

interface Exchange {
  slots: EntrySlot[]
  /** Increases when the slots were replaced. */
  version: Signal<number>
}

/** The subagents of a conversation, by their sessions: their entries, and the messages between sessions. */
export class Subagents {
  readonly #slots = new Map<string, EntrySlot>()
  readonly #numbers = new Map<string, number>()
  /** by session: the messages to and from it */
  readonly #exchanges = new Map<string, Exchange>()

  /** The entry that shows the subagent. */
  get(sessionId: string): EntrySlot | undefined {
    return this.#slots.get(sessionId)
  }

  /** The messages to and from a session, in order; a component that reads them is updated. */
  messagesOf(sessionId: string): readonly EntrySlot[] {
    const { slots, version } = this.#exchange(sessionId)
    void version.value
    return slots
  }

  /** The number of a subagent's session, from 0 in order of appearance. */
  numberOf(sessionId: string): number {
    const number = this.#numbers.get(sessionId) ?? this.#numbers.size
    this.#numbers.set(sessionId, number)
    return number
  }

  /** The ids of the subagent, its parent, and so on. */
  lineOf(sessionId: string): string[] {
    const line: string[] = []
    for (let at: string | undefined = sessionId; at !== undefined && !line.includes(at); ) {
      line.push(at)
      at = this.#slots.get(at)?.entry.peek().within
    }
    return line
  }

  /** A new entry was added, or a removed one was replaced by this one. */
  add(slot: EntrySlot): void {
    this.#list(slot, true)
    const entry = slot.entry.peek()
    if (entry.kind === 'subagent') {
      this.#slots.set(entry.sessionId, slot)
      this.numberOf(entry.sessionId)
    }
    if (entry.within !== undefined) slot.subagent = this.numberOf(entry.within)
  }

  remove(slot: EntrySlot): void {
    this.#list(slot, false)
  }

  clear(): void {
    this.#slots.clear()
    this.#exchanges.clear()
    this.#numbers.clear()
  }

  /** Adds or removes a message in the lists of its sessions. */
  #list(slot: EntrySlot, add: boolean): void {
    const entry = slot.entry.peek()
    if (entry.kind !== 'session_message') return
    for (const party of new Set([entry.from, entry.to])) {
      if (party === undefined) continue
      const { slots, version } = this.#exchange(party)
      if (add) slots.splice(slots.findLastIndex(one => one.index < slot.index) + 1, 0, slot)
      else slots.splice(slots.lastIndexOf(slot), 1)
      version.value++
    }
  }

  #exchange(sessionId: string): Exchange {
    const exchange = this.#exchanges.get(sessionId) ?? { slots: [], version: signal(0) }
    this.#exchanges.set(sessionId, exchange)
    return exchange
  }
}
