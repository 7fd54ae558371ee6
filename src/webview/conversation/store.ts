import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { ContentBlock } from '../../acp/model.ts'
import type { Entry, EntryId } from '../../conversation/state.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
  PatchOp,
} from '../../views/bridge/conversation.ts'
import { RowModel } from './rows/rows.ts'
import { EntrySlot } from './rows/slot.ts'
import { Terminals } from './terminals.ts'

/** Entries are fetched in pages of this many. */
const page = 100

export type FetchEntries = (key: string, from: number, to: number) => Promise<Entry[]>

/**
 * The conversation as the view holds it. Snapshots and patches come in; what changed is told through signals, each as
 * narrow as what it is about: a part of the head, one entry, one markdown block, the list of rows.
 */
export class ConversationStore {
  readonly head = signal<ConversationHead | undefined>(undefined)
  readonly rows: RowModel
  readonly terminals = new Terminals()
  /** number of entries, fetched or not */
  readonly total = signal(0)
  /** ids of the questions that wait for the person, oldest first */
  readonly waiting = signal<readonly EntryId[]>([])
  /** whether the agent waits for the person */
  readonly asked = computed(
    () => this.waiting.value.length > 0 || this.head.value?.activity === 'requires_action',
  )
  /** the last entry, whatever it is */
  readonly last = signal<EntrySlot | undefined>(undefined)
  /** tool call entries by the agent's id of them, for permissions */
  readonly #toolCalls = new Map<string, EntrySlot>()
  readonly #subagents = new Map<string, EntrySlot>()
  /** by session: the number of a subagent */
  readonly #numbers = new Map<string, number>()
  readonly #slots = new Map<EntryId, EntrySlot>()
  readonly #waiting = new Set<EntrySlot>()
  readonly #open = new Map<string, Signal<boolean>>()
  readonly #fetching = new Set<number>()
  /** Entries from before the last snapshot that it did not bring: what changed of them meanwhile is not known. */
  readonly #stale = new Set<EntrySlot>()
  readonly #fetch: FetchEntries
  #revision: number | undefined

  constructor(fetch: FetchEntries) {
    this.#fetch = fetch
    this.rows = new RowModel(
      id => this.openState(`run/${id}`),
      subagent => this.#lineOf(subagent).some(one => this.#hiddenState(one).peek()),
    )
  }

  get key(): string {
    return this.head.peek()?.key ?? ''
  }

  applySnapshot(snapshot: ConversationSnapshot): void {
    batch(() => {
      const same = snapshot.head.key === this.key
      if (!same) this.#forget()
      this.#revision = snapshot.revision
      this.head.value = snapshot.head
      for (const terminal of snapshot.terminals) this.terminals.get(terminal.terminalId).replace(terminal)
      const slots = new Array<EntrySlot | undefined>(snapshot.total).fill(undefined)
      if (same) {
        for (const slot of this.#slots.values()) {
          if (slot.index >= snapshot.first) continue
          slots[slot.index] = slot
          this.#stale.add(slot)
        }
      }
      for (const [i, entry] of snapshot.entries.entries()) {
        slots[snapshot.first + i] = this.#upsert(snapshot.first + i, entry)
      }
      const kept = new Set(slots)
      for (const slot of this.#slots.values()) if (!kept.has(slot)) this.#drop(slot)
      this.total.value = snapshot.total
      this.rows.reset(slots)
      this.#afterEntries()
    })
  }

  /** Applies a patch in one batch; false when one before it is missing and a snapshot must be asked for. */
  applyPatch(patch: ConversationPatch): boolean {
    if (this.#revision === undefined || patch.revision !== this.#revision + 1) return false
    this.#revision = patch.revision
    batch(() => {
      const grown = new Set<EntrySlot>()
      let entries = false
      for (const op of patch.ops) entries = this.#apply(op, grown) || entries
      for (const slot of grown) {
        slot.flush()
        this.rows.grown(slot)
      }
      if (entries) this.#afterEntries()
    })
    return true
  }

  /** Whether something was opened by the person; kept while the conversation is. */
  openState(id: string): Signal<boolean> {
    let open = this.#open.get(id)
    if (!open) {
      open = signal(false)
      this.#open.set(id, open)
    }
    return open
  }

  slot(id: EntryId): EntrySlot | undefined {
    return this.#slots.get(id)
  }

  toolCall(toolCallId: string): EntrySlot | undefined {
    return this.#toolCalls.get(toolCallId)
  }

  subagent(sessionId: string): EntrySlot | undefined {
    return this.#subagents.get(sessionId)
  }

  /** Which subagent a session is, counted from 0 in the order in which they were met. */
  numberOf(subagent: string): number {
    const number = this.#numbers.get(subagent) ?? this.#numbers.size
    this.#numbers.set(subagent, number)
    return number
  }

  /** The person does not want to see what the subagent does. */
  isHidden(subagent: string): boolean {
    return this.#hiddenState(subagent).value
  }

  /** Hides what a subagent does, or shows it, with all that it was begun in. */
  setHidden(subagent: string, hidden: boolean): void {
    const ones = hidden ? [subagent] : this.#lineOf(subagent)
    batch(() => {
      for (const one of ones) this.#hiddenState(one).value = hidden
      const from = Math.min(...ones.map(one => this.#subagents.get(one)?.index ?? 0))
      this.rows.changed(from, this.rows.slots.length)
    })
  }

  #hiddenState(subagent: string): Signal<boolean> {
    return this.openState(`hidden/${subagent}`)
  }

  /** The subagent, the one that it was begun in, and so on. */
  #lineOf(subagent: string): string[] {
    const line: string[] = []
    for (let at: string | undefined = subagent; at !== undefined && !line.includes(at); ) {
      line.push(at)
      at = this.#subagents.get(at)?.entry.peek().within
    }
    return line
  }

  /**
   * What the person wrote last, oldest first: of the entries that are here without a gap up to the end. `from`: index of
   * the first of these entries.
   */
  lastPrompts(): { prompts: ContentBlock[][]; from: number } {
    const prompts: ContentBlock[][] = []
    const { slots } = this.rows
    let from = slots.length
    while (from > 0 && slots[from - 1]) {
      const entry = slots[--from]!.entry.peek()
      if (entry.kind !== 'message' || entry.role !== 'user' || entry.within !== undefined) continue
      if (entry.blocks.some(block => block.type === 'text' && block.text.trim() !== ''))
        prompts.unshift(entry.blocks)
    }
    return { prompts, from }
  }

  /**
   * Sees to it that the entries of a part of the conversation come, those anew that may have changed while nobody
   * looked; `from` inclusive, `to` exclusive.
   */
  need(from: number, to: number): void {
    for (let start = Math.floor(from / page) * page; start < to; start += page) {
      if (!this.#fetching.has(start) && this.#missing(Math.max(start, from), Math.min(start + page, to)))
        void this.#fetchPage(start)
    }
  }

  /** A part of the head by itself: hears only of its own changes. */
  part<K extends keyof ConversationHead>(key: K): ReadonlySignal<ConversationHead[K] | undefined> {
    return computed(() => this.head.value?.[key])
  }

  #missing(from: number, to: number): boolean {
    const end = Math.min(to, this.rows.slots.length)
    for (let i = from; i < end; i++) {
      const slot = this.rows.slots[i]
      if (!slot || this.#stale.has(slot)) return true
    }
    return false
  }

  async #fetchPage(start: number): Promise<void> {
    const { key } = this
    const to = Math.min(start + page, this.rows.slots.length)
    this.#fetching.add(start)
    try {
      const entries = await this.#fetch(key, start, to)
      if (this.key !== key) return
      batch(() => {
        for (const [i, entry] of entries.entries()) {
          const slot = this.rows.slots[start + i]
          if (!slot || this.#stale.has(slot)) this.rows.slots[start + i] = this.#upsert(start + i, entry)
        }
        this.rows.changed(start, start + entries.length)
        this.#afterEntries()
      })
    } catch {
      // the host is gone or busy with another conversation: asked for again when the rows are next in view
    } finally {
      this.#fetching.delete(start)
    }
  }

  #apply(op: PatchOp, grown: Set<EntrySlot>): boolean {
    switch (op.op) {
      case 'entry':
        this.#putEntry(op.index, op.entry)
        return true
      case 'text': {
        const slot = this.#slots.get(op.id)
        if (!slot) return false
        slot.appendText(op.block, op.text)
        grown.add(slot)
        return false
      }
      case 'terminal':
        this.terminals.get(op.terminal.terminalId).replace(op.terminal)
        return false
      case 'terminal_output':
        this.terminals.get(op.terminalId).append(op.text)
        return false
      case 'head': {
        const head = { ...this.head.peek()!, ...op.head }
        for (const key of op.cleared ?? []) delete head[key]
        this.head.value = head
        return false
      }
    }
  }

  #putEntry(index: number, entry: Entry): void {
    const { slots } = this.rows
    const from = Math.min(index, slots.length)
    const known = slots[index] !== undefined
    while (slots.length < index) slots.push(undefined)
    slots[index] = this.#upsert(index, entry)
    if (slots.length > this.total.peek()) this.total.value = slots.length
    // an entry before the first one fetched comes with its page
    if (known || index >= from) this.rows.changed(from, index + 1)
  }

  #upsert(index: number, entry: Entry): EntrySlot {
    let slot = this.#slots.get(entry.id)
    if (slot) {
      this.#stale.delete(slot)
      slot.index = index
      slot.replace(entry)
    } else {
      slot = new EntrySlot(index, entry, this.openState(entry.id))
      slot.onReflow = grown => batch(() => this.rows.grown(grown))
      this.#slots.set(entry.id, slot)
    }
    if (entry.kind === 'tool_call') this.#toolCalls.set(entry.toolCallId, slot)
    if (entry.kind === 'subagent') this.#subagents.set(entry.sessionId, slot)
    if (entry.kind === 'subagent') this.numberOf(entry.sessionId)
    if (entry.within !== undefined) slot.subagent = this.numberOf(entry.within)
    if ((entry.kind === 'permission' || entry.kind === 'elicitation') && !entry.outcome)
      this.#waiting.add(slot)
    else this.#waiting.delete(slot)
    return slot
  }

  #afterEntries(): void {
    this.last.value = this.rows.slots.at(-1)
    const waiting = [...this.#waiting].sort((a, b) => a.index - b.index).map(slot => slot.id)
    const now = this.waiting.peek()
    if (waiting.length !== now.length || waiting.some((id, i) => id !== now[i])) this.waiting.value = waiting
  }

  #drop(slot: EntrySlot): void {
    slot.dispose()
    this.#slots.delete(slot.id)
    this.#stale.delete(slot)
    this.#waiting.delete(slot)
    const entry = slot.entry.peek()
    if (entry.kind === 'tool_call' && this.#toolCalls.get(entry.toolCallId) === slot) {
      this.#toolCalls.delete(entry.toolCallId)
    }
  }

  #forget(): void {
    for (const slot of this.#slots.values()) this.#drop(slot)
    this.#subagents.clear()
    this.#numbers.clear()
    this.#open.clear()
    this.#fetching.clear()
    this.terminals.clear()
  }
}
