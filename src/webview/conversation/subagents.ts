import { type Signal, signal } from '@preact/signals'
import type { EntrySlot } from './slot.ts'

interface Exchange {
  slots: EntrySlot[]
  /** Increases whenever `slots` is replaced. */
  version: Signal<number>
}

/**
 * The subagents of a conversation, by their work (see `EntrySlot.work`): their entries, and the messages between their sessions. A tool
 * call that other tool calls are part of counts as a subagent.
 */
export class Subagents {
  readonly #slots = new Map<string, EntrySlot>()
  readonly #numbers = new Map<string, number>()
  /** by session: the messages to and from it */
  readonly #exchanges = new Map<string, Exchange>()

  /** Returns the entry that shows the subagent. */
  get(work: string): EntrySlot | undefined {
    return this.#slots.get(work)
  }

  /** Returns the messages to and from a session, in order; a component that calls this is updated when they change. */
  messagesOf(sessionId: string): readonly EntrySlot[] {
    const { slots, version } = this.#exchange(sessionId)
    void version.value
    return slots
  }

  /** Returns the number of a subagent, from 0 in the order of appearance. */
  numberOf(work: string): number {
    const number = this.#numbers.get(work) ?? this.#numbers.size
    this.#numbers.set(work, number)
    return number
  }

  /** Returns the work IDs of the subagent, its parent, and so on. */
  lineOf(work: string): string[] {
    const line: string[] = []
    for (let at: string | undefined = work; at !== undefined && !line.includes(at); ) {
      line.push(at)
      at = this.#slots.get(at)?.within
    }
    return line
  }

  /** Adds an entry that is new or replaces a removed entry. */
  add(slot: EntrySlot): void {
    this.#list(slot, true)
    const { work, within } = slot
    if (work !== undefined) {
      this.#slots.set(work, slot)
      if (slot.entry.peek().kind === 'subagent') this.numberOf(work)
      else slot.isParent.value = this.#numbers.has(work)
    }
    if (within === undefined) return
    this.numberOf(within)
    const parent = this.#slots.get(within)
    if (parent) parent.isParent.value = true
  }

  remove(slot: EntrySlot): void {
    this.#list(slot, false)
    const { work } = slot
    if (work !== undefined && this.#slots.get(work) === slot) this.#slots.delete(work)
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
