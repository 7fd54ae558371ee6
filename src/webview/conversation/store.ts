import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { ContentBlock } from '../../acp/model.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
  PatchOp,
} from '../../bridge/conversation.ts'
import { type Deferred, deferred } from '../../common/async.ts'
import { chosenOption } from '../../conversation/requests/permission-text.ts'
import type { Entry, EntryId, PermissionEntry, ToolCallEntry } from '../../conversation/state.ts'
import { isPrompt, isWrittenPrompt } from '../../conversation/user-prompts.ts'
import { RowModel } from './rows/rows.ts'
import { EntrySlot } from './slot.ts'
import { Terminals, Watched } from './terminals.ts'

/** Entries are fetched in pages of this many. */
const PAGE_ENTRIES = 100

export type FetchEntries = (key: string, from: number, to: number) => Promise<Entry[]>

/**
 * The conversation in the view. Receives snapshots and patches, and publishes changes as fine-grained signals: for a part
 * of the head, an entry, a Markdown block, or the list of rows.
 */
export class ConversationStore {
  readonly head = signal<ConversationHead | undefined>(undefined)
  readonly rows: RowModel
  readonly terminals: Terminals
  readonly #viewers = new Map<EntryId, number>()
  readonly #wholeToolCalls: Watched
  /** number of entries, fetched or not */
  readonly total = signal(0)
  /** the entries of the pending requests, oldest first, as reported by the host, whether or not they were fetched */
  readonly waiting: ReadonlySignal<readonly EntryId[]>
  /** whether the agent is waiting for the user */
  readonly asked: ReadonlySignal<boolean>
  /** the last entry, of any kind */
  readonly last = signal<EntrySlot | undefined>(undefined)
  /** tool call entries by session and tool call id, for permission requests */
  readonly #toolCalls = new SlotsByToolCall()
  /** permission requests of the same ids */
  readonly #permissions = new SlotsByToolCall()
  /** Their rows depend on tool calls and permissions that came, or went, since the rows were made. */
  readonly #regrouped = new Set<EntrySlot>()
  /** the turns that the user stopped */
  readonly #stoppedTurns = signal<ReadonlySet<number>>(new Set())
  /** the last entries of the turns that the user has collapsed, by turn */
  readonly #folded = signal<ReadonlyMap<number, EntrySlot>>(new Map())
  readonly #subagents = new Map<string, EntrySlot>()
  /** by session: the number of a subagent */
  readonly #numbers = new Map<string, number>()
  /** by session: the messages to and from it */
  readonly #exchanges = new Map<string, Exchange>()
  readonly #slots = new Map<EntryId, EntrySlot>()
  readonly #open = new Map<string, Signal<boolean>>()
  /** pages that are being fetched, by their first entry */
  readonly #fetching = new Map<number, Promise<void>>()
  /** Entries from before the last snapshot that it didn't contain: they may be outdated. */
  readonly #stale = new Set<EntrySlot>()
  readonly #fetch: FetchEntries
  #revision: number | undefined
  /** settles when the host has the rest of the conversation; absent if it has */
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
    this.#wholeToolCalls = new Watched(() => [...this.#viewers.keys()], showToolCalls)
    let ids: readonly EntryId[] = []
    this.waiting = computed(() => {
      const now = (this.head.value?.pendingRequests ?? []).map(({ entryId }) => entryId)
      if (now.length !== ids.length || now.some((id, i) => id !== ids[i])) ids = now
      return ids
    })
    this.asked = computed(
      () => this.waiting.value.length > 0 || this.head.value?.activity === 'requires_action',
    )
    this.rows = new RowModel(
      id => this.openState(`run/${id}`),
      subagent => this.#lineOf(subagent).some(one => this.#hiddenState(one).peek()),
      slot => this.#endOfFolded(slot) !== undefined,
    )
  }

  /** of the last snapshot or patch */
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
      for (const terminal of snapshot.terminals) this.terminals.get(terminal.terminalId).replace(terminal)
      this.terminals.tellAgain()
      this.#wholeToolCalls.tellAgain()
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
      const kept = new Set(slots)
      for (const slot of this.#slots.values()) if (!kept.has(slot)) this.#drop(slot)
      this.total.value = snapshot.total
      this.#rest?.resolve()
      this.#rest = snapshot.more ? deferred() : undefined
      this.rows.reset(slots, snapshot.more)
      this.#afterEntries()
    })
  }

  /** Applies a patch in one batch; returns false if an earlier one is missing and a snapshot must be requested. */
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

  /** Whether the user has expanded something; kept as long as the conversation. */
  openState(id: string): Signal<boolean> {
    let open = this.#open.get(id)
    if (!open) {
      open = signal(false)
      this.#open.set(id, open)
    }
    return open
  }

  /** Marks a tool call as shown completely, until the returned function is called. */
  showWhole(id: EntryId): () => void {
    this.#viewers.set(id, (this.#viewers.get(id) ?? 0) + 1)
    this.#wholeToolCalls.changed()
    return () => {
      const left = (this.#viewers.get(id) ?? 1) - 1
      if (left > 0) this.#viewers.set(id, left)
      else this.#viewers.delete(id)
      this.#wholeToolCalls.changed()
    }
  }

  slot(id: EntryId): EntrySlot | undefined {
    return this.#slots.get(id)
  }

  /** The tool call of a permission request: the last one above it, since some agents use an id again in a later turn. */
  toolCallOf(permission: EntrySlot): EntrySlot | undefined {
    const calls = this.#toolCalls.get(permission.entry.peek())
    return lastOf(calls.filter(({ index }) => index < permission.index)) ?? calls[0]
  }

  /** The last permission that was asked for a tool call. */
  permissionOf({ permissions }: EntrySlot): PermissionEntry | undefined {
    const asked = permissions.value.at(-1)?.entry.value
    return asked?.kind === 'permission' ? asked : undefined
  }

  /** How the user prevented the tool call from running, if they did. */
  refusalOf(call: EntrySlot): 'rejected' | 'canceled' | undefined {
    const asked = this.permissionOf(call)
    if (!asked?.outcome) return undefined
    if (asked.outcome.type === 'cancelled') return 'canceled'
    return chosenOption(asked)?.kind.startsWith('reject') ? 'rejected' : undefined
  }

  /** Whether the user stopped its turn, or is stopping it. The end of the turn says so, for all that it canceled. */
  isStopped({ turn }: Entry): boolean {
    if (this.#stoppedTurns.value.has(turn)) return true
    return this.head.value?.stopping === true && this.last.value?.entry.peek().turn === turn
  }

  subagent(sessionId: string): EntrySlot | undefined {
    return this.#subagents.get(sessionId)
  }

  /** The messages to and from a session, in order; a component that reads them is updated. */
  messagesOf(sessionId: string): readonly EntrySlot[] {
    const { slots, version } = this.#exchange(sessionId)
    void version.value
    return slots
  }

  #exchange(sessionId: string): Exchange {
    const exchange = this.#exchanges.get(sessionId) ?? { slots: [], version: signal(0) }
    this.#exchanges.set(sessionId, exchange)
    return exchange
  }

  /** The number of a subagent's session, from 0 in order of appearance. */
  numberOf(subagent: string): number {
    const number = this.#numbers.get(subagent) ?? this.#numbers.size
    this.#numbers.set(subagent, number)
    return number
  }

  /** Whether the user has hidden the subagent's entries. */
  isHidden(subagent: string): boolean {
    return this.#hiddenState(subagent).value
  }

  /** Collapses a subagent, or expands it with all its parents. */
  setHidden(subagent: string, hidden: boolean): void {
    const ones = hidden ? [subagent] : this.#lineOf(subagent)
    batch(() => {
      for (const one of ones) this.#hiddenState(one).value = hidden
      const from = Math.min(...ones.map(one => this.#subagents.get(one)?.index ?? 0))
      this.rows.changed(from, this.rows.slots.length)
    })
  }

  /** Whether the user has collapsed the turn that ends with this entry. */
  isFolded(end: EntrySlot): boolean {
    return this.#folded.value.get(end.entry.peek().turn) === end
  }

  /** Collapses a turn to its prompts and the line at its end, or expands it. */
  setFolded(end: EntrySlot, folded: boolean): void {
    batch(() => {
      const { turn } = end.entry.peek()
      const all = new Map(this.#folded.peek())
      if (folded) all.set(turn, end)
      else all.delete(turn)
      this.#folded.value = all
      const { slots } = this.rows
      let from = end.index
      while (from > 0 && (slots[from - 1]?.entry.peek().turn ?? turn) === turn) from--
      this.rows.changed(from, end.index + 1)
    })
  }

  /** Expands the turn of an entry that is to be seen. */
  unfoldFor(slot: EntrySlot): void {
    const end = this.#endOfFolded(slot)
    if (end) this.setFolded(end, false)
  }

  /** The last entry of the collapsed turn in which this one isn't shown. What the user wrote, and why a turn ended, is. */
  #endOfFolded(slot: EntrySlot): EntrySlot | undefined {
    const folded = this.#folded.peek()
    if (folded.size === 0) return undefined
    const entry = slot.entry.peek()
    const end = folded.get(entry.turn)
    if (!end || slot.index > end.index || isPrompt(entry) || entry.kind === 'turn_end') return undefined
    return end
  }

  #hiddenState(subagent: string): Signal<boolean> {
    return this.openState(`hidden/${subagent}`)
  }

  /** The subagent, its parent, and so on. */
  #lineOf(subagent: string): string[] {
    const line: string[] = []
    for (let at: string | undefined = subagent; at !== undefined && !line.includes(at); ) {
      line.push(at)
      at = this.#subagents.get(at)?.entry.peek().within
    }
    return line
  }

  /**
   * The user's last prompts, oldest first, from the entries that are loaded without a gap up to the end. `from`: index of
   * the first of these entries.
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
   * Fetches the entries of a part of the conversation, again those that may have changed while it
   * was hidden; `from` inclusive, `to` exclusive.
   */
  need(from: number, to: number): void {
    // it's fetched when its rows are made
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

  /** An entry by its index, fetched if necessary; `undefined` if it can't be fetched. */
  async load(index: number): Promise<EntrySlot | undefined> {
    const { key } = this
    // the end may come again, for example when the view was hidden
    while (this.#rest && this.key === key) await this.#rest.promise
    if (this.key !== key) return undefined
    this.need(index, index + 1)
    if (!this.rows.slots[index]) await this.#fetching.get(Math.floor(index / PAGE_ENTRIES) * PAGE_ENTRIES)
    return this.key === key ? this.rows.slots[index] : undefined
  }

  /** A signal of one part of the head. */
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
      this.#unlist(slot)
      // the turn goes on, and has no line by which it could be expanded
      if (!entry.turnSummary && this.isFolded(slot)) this.setFolded(slot, false)
      slot.index = index
      slot.replace(entry)
    } else {
      slot = new EntrySlot(index, entry, this.openState(entry.id))
      slot.onReflow = grown => batch(() => this.rows.grown(grown))
      this.#slots.set(entry.id, slot)
    }
    this.#list(slot, true)
    if (entry.kind === 'tool_call') this.#toolCalls.add(slot)
    if (entry.kind === 'permission') this.#permissions.add(slot)
    this.#regroup(entry)
    if (before && keyOfTool(before) !== keyOfTool(entry)) this.#regroup(before)
    if (
      entry.kind === 'turn_end' &&
      entry.stopReason === 'cancelled' &&
      !entry.canceledBy &&
      entry.within === undefined
    ) {
      const stopped = this.#stoppedTurns.peek()
      if (!stopped.has(entry.turn)) this.#stoppedTurns.value = new Set([...stopped, entry.turn])
    }
    if (entry.kind === 'subagent') this.#subagents.set(entry.sessionId, slot)
    if (entry.kind === 'subagent') this.numberOf(entry.sessionId)
    if (entry.within !== undefined) slot.subagent = this.numberOf(entry.within)
    return slot
  }

  /** Adds a message to those of its sessions, or removes it. */
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

  /** Connects the permissions with the tool calls that they are about, for those with the ids of the entry. */
  #regroup(entry: Entry): void {
    if (keyOfTool(entry) === undefined) return
    const permissions = [...this.#permissions.get(entry)].sort((a, b) => a.index - b.index)
    for (const slot of permissions) {
      const call = this.toolCallOf(slot)
      if (slot.call === call) continue
      slot.call = call
      this.#regrouped.add(slot)
    }
    for (const call of this.#toolCalls.get(entry)) {
      const about = permissions.filter(slot => slot.call === call)
      const known = call.permissions.peek()
      if (about.length === known.length && about.every((slot, i) => slot === known[i])) continue
      call.permissions.value = about
      this.#regrouped.add(call)
    }
  }

  #afterEntries(): void {
    for (const slot of this.#regrouped)
      if (this.rows.slots[slot.index] === slot) this.rows.changed(slot.index, slot.index + 1)
    this.#regrouped.clear()
    this.last.value = this.rows.slots.at(-1)
  }

  #drop(slot: EntrySlot): void {
    slot.dispose()
    if (this.isFolded(slot))
      this.#folded.value = new Map([...this.#folded.peek()].filter(([, end]) => end !== slot))
    this.#unlist(slot)
    this.#regroup(slot.entry.peek())
    this.#slots.delete(slot.id)
    this.#stale.delete(slot)
  }

  /** Its entry goes, or is replaced by one that may have other ids. */
  #unlist(slot: EntrySlot): void {
    this.#list(slot, false)
    this.#toolCalls.delete(slot)
    this.#permissions.delete(slot)
  }

  #forget(): void {
    for (const slot of this.#slots.values()) this.#drop(slot)
    this.#subagents.clear()
    this.#exchanges.clear()
    this.#numbers.clear()
    this.#stoppedTurns.value = new Set()
    this.#folded.value = new Map()
    this.#open.clear()
    this.#fetching.clear()
    this.#rest?.resolve()
    this.#rest = undefined
    this.terminals.clear()
  }
}

interface Exchange {
  slots: EntrySlot[]
  /** Increases when the slots were replaced. */
  version: Signal<number>
}

/** Slots by the id of the tool call that they show or are about; a subagent has its own ids. Almost always one for each. */
class SlotsByToolCall {
  readonly #slots = new Map<string, EntrySlot[]>()

  get(entry: Entry): readonly EntrySlot[] {
    return this.#slots.get(keyOfTool(entry) ?? '') ?? []
  }

  add(slot: EntrySlot): void {
    const key = keyOfTool(slot.entry.peek())
    if (key === undefined) return
    const known = this.#slots.get(key)
    if (!known) this.#slots.set(key, [slot])
    else if (!known.includes(slot)) known.push(slot)
  }

  delete(slot: EntrySlot): void {
    const key = keyOfTool(slot.entry.peek())
    if (key === undefined) return
    const rest = this.#slots.get(key)?.filter(one => one !== slot) ?? []
    if (rest.length > 0) this.#slots.set(key, rest)
    else this.#slots.delete(key)
  }
}

function keyOfTool(entry: Entry): string | undefined {
  if (entry.kind !== 'tool_call' && entry.kind !== 'permission') return undefined
  return entry.toolCallId === undefined ? undefined : `${entry.within ?? ''}\n${entry.toolCallId}`
}

/** The one furthest down. */
function lastOf(slots: readonly EntrySlot[]): EntrySlot | undefined {
  return slots.reduce<EntrySlot | undefined>(
    (last, slot) => (last && last.index > slot.index ? last : slot),
    undefined,
  )
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
