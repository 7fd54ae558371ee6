import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import type { ContentBlock } from '../../acp/model.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
  PatchOp,
} from '../../bridge/conversation.ts'
import { type Deferred, deferred } from '../../common/async.ts'
import type { Entry, EntryId, ToolCallEntry } from '../../conversation/state.ts'
import { isWrittenPrompt } from '../../conversation/user-prompts.ts'
import { type Aside, Expansion } from './expansion.ts'
import { endsTurn } from './row.ts'
import { RowModel } from './rows/rows.ts'
import { EntrySlot } from './slot.ts'
import { Subagents } from './subagents.ts'
import { Terminals, Watched } from './terminals.ts'
import { ToolPermissions } from './tool-permissions.ts'

/** Number of entries in a page; entries are fetched page by page. */
const PAGE_ENTRIES = 100

export type FetchEntries = (key: string, from: number, to: number) => Promise<Entry[]>

/**
 * The conversation in the view. Receives snapshots and patches, and publishes changes as fine-grained signals: for a part
 * of the head, an entry, a Markdown block, or the list of rows.
 */
export class ConversationStore {
  readonly head = signal<ConversationHead | undefined>(undefined)
  readonly subagents = new Subagents()
  readonly expansion = new Expansion(this.subagents)
  readonly rows = new RowModel(this.expansion)
  readonly terminals: Terminals
  /** the tool calls that are shown completely */
  readonly wholeToolCalls: Watched
  /** number of entries, fetched or not */
  readonly total = signal(0)
  /** the entries of the pending requests, oldest first, as reported by the host, whether or not they were fetched */
  readonly waiting: ReadonlySignal<readonly EntryId[]>
  /** whether the agent is waiting for the user */
  readonly asked: ReadonlySignal<boolean>
  /** the last entry, of any kind */
  readonly last = signal<EntrySlot | undefined>(undefined)
  readonly #permissions = new ToolPermissions()
  /** the turns that the user stopped */
  readonly #stoppedTurns = signal<ReadonlySet<number>>(new Set())
  readonly #slots = new Map<EntryId, EntrySlot>()
  /** pages that are being fetched, by their first entry */
  readonly #fetching = new Map<number, Promise<void>>()
  /** entries from before the last snapshot that the snapshot didn't contain, so they may be outdated */
  readonly #stale = new Set<EntrySlot>()
  readonly #fetch: FetchEntries
  #revision: number | undefined
  /** resolves when the host has read the whole conversation; absent afterward */
  #rest: Deferred<void> | undefined

  /**
   * @param watchTerminals tells the host which terminals are shown
   * @param showToolCalls tells the host which tool calls are shown completely
   */
  constructor(
    fetch: FetchEntries,
    watchTerminals: (ids: string[]) => void = () => undefined,
    showToolCalls: (ids: EntryId[]) => void = () => undefined,
  ) {
    this.#fetch = fetch
    this.terminals = new Terminals(watchTerminals)
    this.wholeToolCalls = new Watched(showToolCalls)
    let ids: readonly EntryId[] = []
    this.waiting = computed(() => {
      const now = (this.head.value?.pendingRequests ?? []).map(({ entryId }) => entryId)
      if (now.length !== ids.length || now.some((id, i) => id !== ids[i])) ids = now
      return ids
    })
    this.asked = computed(
      () => this.waiting.value.length > 0 || this.head.value?.activity === 'requires_action',
    )
  }

  /** The revision of the last snapshot or patch. */
  get revision(): number {
    return this.#revision ?? 0
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
      this.expansion.setAsides(snapshot.head.rewinds)
      for (const terminal of snapshot.terminals) this.terminals.get(terminal.terminalId).replace(terminal)
      this.terminals.tellAgain()
      this.wholeToolCalls.tellAgain()
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
      for (const { index, entry } of snapshot.pendingEntries ?? []) slots[index] = this.#upsert(index, entry)
      const current = new Set(slots)
      for (const slot of this.#slots.values()) if (!current.has(slot)) this.#drop(slot)
      this.total.value = snapshot.total
      this.#rest?.resolve()
      this.#rest = snapshot.more ? deferred() : undefined
      this.rows.reset(slots, snapshot.more)
      this.#afterEntries()
    })
  }

  /** Applies a patch in one batch; returns false if an earlier patch is missing, so that a snapshot must be requested. */
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

  slot(id: EntryId): EntrySlot | undefined {
    return this.#slots.get(id)
  }

  /** Whether the user has stopped the entry's turn or is stopping it, which the end of the turn says for all its entries. */
  isStopped({ turn }: Entry): boolean {
    if (this.#stoppedTurns.value.has(turn)) return true
    return this.head.value?.stopping === true && this.last.value?.entry.peek().turn === turn
  }

  /** Collapses a subagent, or expands it with all its parents. */
  setHidden(subagent: string, hidden: boolean): void {
    batch(() => this.rows.changed(this.expansion.setHidden(subagent, hidden), this.rows.slots.length))
  }

  /** Collapses the turn that ends with this entry, or expands it. */
  setFolded(end: EntrySlot, folded: boolean): void {
    batch(() => {
      const { turn } = end.entry.peek()
      this.expansion.setFolded(end, folded)
      const { slots } = this.rows
      let from = end.index
      while (from > 0 && (slots[from - 1]?.entry.peek().turn ?? turn) === turn) from--
      this.rows.changed(from, end.index + 1)
    })
  }

  /** Collapses all turns that end with a line, including those whose entries are fetched later, or expands all. */
  setAllFolded(folded: boolean): void {
    batch(() => {
      const { slots } = this.rows
      const ends = slots.filter((slot): slot is EntrySlot => slot !== undefined && endsTurn(slot))
      this.expansion.setAllFolded(ends, folded)
      this.rows.changed(0, slots.length)
    })
  }

  /** Shows or hides the turns that a restore set aside. */
  setAsideShown({ id, first, end }: Aside, shown: boolean): void {
    batch(() => {
      this.expansion.asideState(id).value = shown
      this.rows.changed(first, Math.min(end, this.rows.slots.length))
    })
  }

  /** Expands the turn and the subagent of an entry that should be visible, and the turns that were set aside with it. */
  expandFor(slot: EntrySlot): void {
    const aside = this.expansion.hiddenAsideAt(slot.index)
    if (aside) this.setAsideShown(aside, true)
    const end = this.expansion.foldedEnd(slot)
    if (end) this.setFolded(end, false)
    const { within } = slot
    if (within !== undefined && this.rows.rowsOf(slot.index).length === 0) this.setHidden(within, false)
  }

  /**
   * Returns the user's last prompts, oldest first, among the entries that are loaded without a gap up to the end. `from`: the
   * index of the first of these entries.
   */
  lastPrompts(): { prompts: ContentBlock[][]; from: number } {
    const prompts: ContentBlock[][] = []
    const { slots } = this.rows
    let from = slots.length
    while (from > 0 && slots[from - 1]) {
      const entry = slots[--from]!.entry.peek()
      if (isWrittenPrompt(entry)) prompts.unshift(entry.blocks)
    }
    return { prompts, from }
  }

  /**
   * Fetches missing entries of a part of the conversation, and entries that may have changed while the view was hidden; `to` is
   * exclusive.
   */
  need(from: number, to: number): void {
    // while the host reads the conversation, nothing can be fetched; entries are fetched when their rows are made
    if (this.#rest) return
    for (let start = Math.floor(from / PAGE_ENTRIES) * PAGE_ENTRIES; start < to; start += PAGE_ENTRIES) {
      if (
        this.#fetching.has(start) ||
        !this.#missing(Math.max(start, from), Math.min(start + PAGE_ENTRIES, to))
      )
        continue
      const fetched = this.#fetchPage(start).finally(() => {
        if (this.#fetching.get(start) === fetched) this.#fetching.delete(start)
      })
      this.#fetching.set(start, fetched)
    }
  }

  /** Resolves to the entry at an index, fetched if necessary; `undefined` if it can't be fetched. */
  async load(index: number): Promise<EntrySlot | undefined> {
    const { key } = this
    // a snapshot with only the end may arrive again, for example after the view was hidden
    while (this.#rest && this.key === key) await this.#rest.promise
    if (this.key !== key) return undefined
    this.need(index, index + 1)
    if (!this.rows.slots[index]) await this.#fetching.get(Math.floor(index / PAGE_ENTRIES) * PAGE_ENTRIES)
    return this.key === key ? this.rows.slots[index] : undefined
  }

  /** Returns a signal of one part of the head. */
  part<K extends keyof ConversationHead>(key: K): ReadonlySignal<ConversationHead[K] | undefined> {
    return computed(() => this.head.value?.[key])
  }

  #missing(from: number, to: number): boolean {
    const end = Math.min(to, this.rows.slots.length)
    for (let i = from; i < end; i++) {
      const slot = this.rows.slots[i]
      if ((!slot || this.#stale.has(slot)) && !this.expansion.hiddenAsideAt(i)) return true
    }
    return false
  }

  async #fetchPage(start: number): Promise<void> {
    const { key } = this
    const to = Math.min(start + PAGE_ENTRIES, this.rows.slots.length)
    try {
      const entries = await this.#fetch(key, start, to)
      if (this.key !== key) return
      batch(() => {
        for (const [i, entry] of entries.entries()) {
          const slot = this.rows.slots[start + i]
          if (!slot || this.#stale.has(slot)) this.rows.slots[start + i] = this.#upsert(start + i, entry)
        }
        this.rows.changed(start, start + entries.length)
        for (const slot of this.rows.slots.slice(start, start + entries.length))
          if (slot && endsTurn(slot) && this.expansion.foldsWhenFetched(slot)) this.setFolded(slot, true)
        this.#afterEntries()
      })
    } catch {
      // the host is gone or shows another conversation: retry when the rows are next in view
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
      case 'tool': {
        const slot = this.#slots.get(op.id)
        if (!slot) return false
        this.#putEntry(slot.index, patchedToolCall(slot.entry.peek(), op))
        return true
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
        const changed = op.head.rewinds && this.expansion.setAsides(op.head.rewinds)
        const count = this.rows.slots.length
        if (changed && changed.from < count) this.rows.changed(changed.from, Math.min(changed.to, count))
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
    // an entry before the first fetched one will be fetched with its page
    if (known || index >= from) this.rows.changed(from, index + 1)
  }

  #upsert(index: number, entry: Entry): EntrySlot {
    let slot = this.#slots.get(entry.id)
    const before = slot?.entry.peek()
    if (slot) {
      this.#stale.delete(slot)
      this.subagents.remove(slot)
      this.#permissions.remove(slot)
      // the turn continues, so it no longer has a line to expand it
      if (!entry.turnSummary && this.expansion.isFolded(slot)) this.setFolded(slot, false)
      slot.index = index
      slot.replace(entry)
    } else {
      slot = new EntrySlot(index, entry, this.expansion.state(entry.id))
      slot.onReflow = grown => batch(() => this.rows.grown(grown))
      this.#slots.set(entry.id, slot)
    }
    this.subagents.add(slot)
    this.#permissions.add(slot, before)
    if (
      entry.kind === 'turn_end' &&
      entry.stopReason === 'cancelled' &&
      !entry.canceledBy &&
      entry.within === undefined
    ) {
      const stopped = this.#stoppedTurns.peek()
      if (!stopped.has(entry.turn)) this.#stoppedTurns.value = new Set([...stopped, entry.turn])
    }
    return slot
  }

  #afterEntries(): void {
    for (const slot of this.#permissions.changed)
      if (this.rows.slots[slot.index] === slot) this.rows.changed(slot.index, slot.index + 1)
    this.#permissions.changed.clear()
    this.last.value = this.rows.slots.at(-1)
  }

  #drop(slot: EntrySlot): void {
    slot.dispose()
    this.expansion.drop(slot)
    this.subagents.remove(slot)
    this.#permissions.drop(slot)
    this.#slots.delete(slot.id)
    this.#stale.delete(slot)
  }

  #forget(): void {
    for (const slot of this.#slots.values()) this.#drop(slot)
    this.subagents.clear()
    this.#stoppedTurns.value = new Set()
    this.expansion.clear()
    this.#fetching.clear()
    this.#rest?.resolve()
    this.#rest = undefined
    this.terminals.clear()
  }
}

function patchedToolCall(entry: Entry, { set, cleared, content }: Extract<PatchOp, { op: 'tool' }>): Entry {
  if (entry.kind !== 'tool_call') return entry
  const patched: ToolCallEntry = { ...entry, ...set }
  for (const key of cleared ?? []) delete patched[key]
  if (!content) return patched
  patched.content = entry.content.slice(0, content.keep)
  const grown = entry.content[content.keep]
  if (content.append !== undefined && grown?.type === 'content' && grown.content.type === 'text')
    patched.content.push({
      ...grown,
      content: { ...grown.content, text: grown.content.text + content.append },
    })
  patched.content.push(...content.add)
  return patched
}
