import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Entry, EntryId } from '../../conversation/state.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
  PatchOp,
} from '../../views/bridge/conversation.ts'
import { RowModel } from './rows.ts'
import { EntrySlot } from './slot.ts'
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
  /** the last entry, whatever it is */
  readonly last = signal<EntrySlot | undefined>(undefined)
  /** tool call entries by the agent's id of them, for permissions */
  readonly #toolCalls = new Map<string, EntrySlot>()
  readonly #slots = new Map<EntryId, EntrySlot>()
  readonly #waiting = new Set<EntrySlot>()
  readonly #open = new Map<string, Signal<boolean>>()
  readonly #fetching = new Set<number>()
  readonly #fetch: FetchEntries
  #revision: number | undefined

  constructor(fetch: FetchEntries) {
    this.#fetch = fetch
    this.rows = new RowModel(id => this.openState(`run/${id}`))
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
        for (const slot of this.#slots.values()) if (slot.index < snapshot.first) slots[slot.index] = slot
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

  /** What the person wrote so far, oldest first, of the entries that are here. */
  prompts(): string[] {
    const texts: string[] = []
    for (const slot of this.rows.slots) {
      const entry = slot?.entry.peek()
      if (entry?.kind !== 'message' || entry.role !== 'user') continue
      const text = entry.blocks.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('')
      if (text.trim() !== '') texts.push(text)
    }
    return texts
  }

  /** Sees to it that the entries of a part of the conversation come; `from` inclusive, `to` exclusive. */
  need(from: number, to: number): void {
    for (let start = Math.floor(from / page) * page; start < to; start += page) {
      if (!this.#fetching.has(start) && this.#missing(start)) void this.#fetchPage(start)
    }
  }

  /** A part of the head by itself: hears only of its own changes. */
  part<K extends keyof ConversationHead>(key: K): ReadonlySignal<ConversationHead[K] | undefined> {
    return computed(() => this.head.value?.[key])
  }

  #missing(start: number): boolean {
    const end = Math.min(start + page, this.rows.slots.length)
    for (let i = start; i < end; i++) if (!this.rows.slots[i]) return true
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
          if (!this.rows.slots[start + i]) this.rows.slots[start + i] = this.#upsert(start + i, entry)
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
      slot.index = index
      slot.replace(entry)
    } else {
      slot = new EntrySlot(index, entry, this.openState(entry.id))
      slot.onReflow = grown => batch(() => this.rows.grown(grown))
      this.#slots.set(entry.id, slot)
    }
    if (entry.kind === 'tool_call') this.#toolCalls.set(entry.toolCallId, slot)
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
    this.#waiting.delete(slot)
    const entry = slot.entry.peek()
    if (entry.kind === 'tool_call' && this.#toolCalls.get(entry.toolCallId) === slot) {
      this.#toolCalls.delete(entry.toolCallId)
    }
  }

  #forget(): void {
    for (const slot of this.#slots.values()) this.#drop(slot)
    this.#open.clear()
    this.#fetching.clear()
    this.terminals.clear()
  }
}
