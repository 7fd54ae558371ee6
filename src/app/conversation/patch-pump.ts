import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
  PatchOp,
  ReturnedPrompt,
  TerminalNote,
} from '../../bridge/conversation.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { ChangeSet, type TakenChanges } from '../../conversation/change-set.ts'
import { terminalsIn } from '../../conversation/entries/tool-call.ts'
import {
  type ConversationEnd,
  serializable,
  serializableEntry,
} from '../../conversation/replay/restore-state.ts'
import type { Session } from '../../conversation/session.ts'
import type { Change, Entry, SessionState, TerminalState, ToolCallEntry } from '../../conversation/state.ts'
import { cutToolCall, sentToolCall, toolCallDelta } from './tool-call-delta.ts'

/** The number of entries in a snapshot. The view requests earlier entries when it scrolls to them. */
const SNAPSHOT_ENTRIES = 100
/** Minimum time between two patches: one frame of a 60 Hz screen, in milliseconds. */
const FRAME_MS = 16
/**
 * The interval of patches while a conversation is being loaded, in milliseconds. It's longer, since users read the conversation only
 * afterward.
 */
const LOADING_MS = 500
/** The number of characters in a patch after which the next patches come less often, since nobody reads that much in a frame. */
const MAX_READ_IN_FRAME = 4000
const FAST_MS = 48
/** The number of entries for which the interval is a millisecond longer, since drawing is slower in a long conversation. */
const ENTRIES_PER_MS = 50

interface PatchPumpOptions {
  session: () => Session | undefined
  /** Returns the end of a conversation whose session isn't displayed yet. */
  end: () => ConversationEnd | undefined
  head: () => ConversationHead
  /** Returns the part of the head that changes with entries and terminals. */
  running: () => ConversationHead['running']
  draft: () => ConversationSnapshot['draft']
  composerHeight: () => number | undefined
  /** Returns prompts that go back to the composer. */
  returned: () => ReturnedPrompt[]
  /** Sends a snapshot. Throws or rejects if the message can't be sent. */
  sendSnapshot: (snapshot: ConversationSnapshot) => unknown
  /** Sends a patch. Throws or rejects if the message can't be sent. */
  sendPatch: (patch: ConversationPatch) => unknown
  sendReturned: (prompts: ReturnedPrompt[]) => void
}

/**
 * Collects the changes of a conversation and sends them to its webview, at most once per frame. For a hidden view,
 * changes aren't collected; it gets a snapshot when it's shown again.
 */
export class PatchPump extends Owner {
  readonly #options: PatchPumpOptions
  readonly #changes = new ChangeSet()
  #headDirty = false
  #snapshotDue = true
  #hasPage = false
  #inView = true
  #revision = 0
  #lastSent = 0
  #isFast = false
  #timer: NodeJS.Timeout | undefined
  #sentHead: ConversationHead | undefined
  #sentEnd: ConversationEnd | undefined
  /** the tool calls as they were last sent, since the last snapshot */
  readonly #sentTools = new Map<string, ToolCallEntry>()
  /** terminals whose output the view shows */
  #watched: ReadonlySet<string> = new Set()
  /** ids of tool calls that the view shows completely */
  #shown: ReadonlySet<string> = new Set()
  /** number of entries that the view knows */
  #sentTotal = 0
  /** ids of the pending requests that the view knows */
  #sentPending = new Set<string>()
  /** ids of the entries that are needed to draw pending requests, and that are therefore always sent completely */
  #asked = new Set<string>()
  /** Set once a message couldn't be sent. From then on, each entry and operation is checked by itself and left out if it can't be sent. */
  #checksEach = false

  constructor(options: PatchPumpOptions) {
    super()
    this.#options = options
    this.register(toDisposable(() => clearTimeout(this.#timer)))
  }

  /**
   * Sends a snapshot to a page without state: the page is still loading, while VS Code queues its messages, or it requested a snapshot. The
   * page may be hidden.
   */
  begin(): void {
    this.#watched = new Set()
    this.#shown = new Set()
    this.#hasPage = true
    this.reset()
  }

  /** Notes whether the view is visible. Before its page has loaded, a view counts as visible unless this says otherwise. */
  setVisible(visible: boolean): void {
    if (visible === this.#inView) return
    this.#inView = visible
    if (visible) this.reset()
    else {
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  get #visible(): boolean {
    return this.#hasPage && this.#inView
  }

  /** Makes the next update send the whole state. */
  reset(): void {
    this.#snapshotDue = true
    this.#changes.clear()
    this.#schedule()
  }

  headChanged(): void {
    this.#headDirty = true
    // a scheduled patch may wait long during a load; its end must be sent without that delay
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#schedule()
  }

  /** Whether the view needs nothing more after this revision. */
  isUpToDate(revision: number): boolean {
    return this.#visible && revision === this.#revision && !this.#timer
  }

  /** Sends pending changes without waiting for the next frame. */
  sendNow(): void {
    if (!this.#timer) return
    clearTimeout(this.#timer)
    this.#flush()
  }

  add(changes: readonly Change[]): void {
    if (!this.#visible || this.#snapshotDue) return
    this.#changes.add(changes)
    this.#schedule()
  }

  #schedule(): void {
    if (!this.#visible || this.#timer) return
    const wait = Math.max(0, this.#lastSent + this.#interval() - performance.now())
    this.#timer = setTimeout(() => this.#flush(), wait)
  }

  #interval(): number {
    const session = this.#options.session()
    if (session?.phase !== 'loading') return this.#isFast ? FAST_MS : FRAME_MS
    return Math.max(LOADING_MS, session.state.entries.length / ENTRIES_PER_MS)
  }

  #flush(): void {
    this.#timer = undefined
    this.#lastSent = performance.now()
    const changes = this.#changes.take()
    this.#isFast = changes.texts.reduce((sum, { text }) => sum + text.length, 0) > MAX_READ_IN_FRAME
    const session = this.#options.session()
    const fresh = (session?.state.entries.length ?? 0) - this.#sentTotal
    const isOther = !session && this.#options.end() !== this.#sentEnd
    if (this.#snapshotDue || changes.reset || isOther) this.#sendSnapshot(session)
    else if (session && fresh > SNAPSHOT_ENTRIES) this.#sendLast(session, changes)
    else {
      this.#sendPatch(session, changes)
      const returned = this.#headDirty ? this.#options.returned() : []
      if (returned.length > 0) this.#options.sendReturned(returned)
    }
    this.#headDirty = false
  }

  /** Sends only the last entries, and changes of entries that the view already has. Used after very many changes. */
  #sendLast(session: Session, changes: TakenChanges): void {
    const { index } = session.state
    const known = this.#sentTotal
    this.#sendSnapshot(session)
    const before = ({ id }: { id: string }) => (index.get(id) ?? known) < known
    const entries = changes.entries.filter(id => before({ id }))
    const texts = changes.texts.filter(before)
    const ops = this.#opsOf(session.state, { ...changes, entries, texts, outputs: [] })
    this.#send(ops)
  }

  #sendSnapshot(session: Session | undefined): void {
    this.#snapshotDue = false
    this.#sentTools.clear()
    this.#sentHead = this.#options.head()
    const end = session ? undefined : this.#options.end()
    this.#sentEnd = end
    const entries = session?.state.entries ?? end?.entries ?? []
    const skipped = end ? 0 : Math.max(0, entries.length - SNAPSHOT_ENTRIES)
    const first = end?.first ?? skipped
    const total = first - skipped + entries.length
    this.#sentTotal = total
    this.#sentPending = pendingIds(session)
    const pendingEntries = placed(session, session?.requests.entries ?? []).filter(
      ({ index }) => index < first,
    )
    const returned = this.#options.returned()
    const composerHeight = this.#options.composerHeight()
    this.#asked = new Set(session?.requests.entries.map(({ id }) => id))
    const sent = (entry: Entry) => {
      const wanted = this.#wanted(entry)
      if (wanted.kind === 'tool_call' && !this.#checksEach)
        this.#sentTools.set(entry.id, sentToolCall(wanted))
      return this.#checksEach ? serializableEntry(wanted) : wanted
    }
    const snapshot: ConversationSnapshot = {
      revision: ++this.#revision,
      head: this.#sentHead,
      entries: entries.slice(skipped).map(sent),
      first,
      total,
      ...(end && { more: true as const }),
      ...(pendingEntries.length > 0 && {
        pendingEntries: pendingEntries.map(({ index, entry }) => ({ index, entry: sent(entry) })),
      }),
      terminals: this.#terminalsOf(session?.state ?? end, entries.slice(skipped)),
      draft: this.#options.draft(),
      ...(composerHeight !== undefined && { composerHeight }),
      ...(returned.length > 0 && { returned }),
    }
    void this.#orCheckEach(() => this.#options.sendSnapshot(snapshot))
  }

  #send(ops: PatchOp[]): void {
    const sent = this.#checksEach ? ops.flatMap(op => serializable(op) ?? []) : ops
    if (sent.length === 0) return
    const patch = { revision: ++this.#revision, ops: sent }
    void this.#orCheckEach(() => this.#options.sendPatch(patch))
  }

  async #orCheckEach(send: () => unknown): Promise<void> {
    try {
      await send()
    } catch {
      // if not even checked messages can be sent, the view was disposed
      if (this.#checksEach) return
      this.#checksEach = true
      this.reset()
    }
  }

  #sendPatch(session: Session | undefined, changes: TakenChanges): void {
    const pending = pendingIds(session)
    const isNew = [...pending].some(id => !this.#sentPending.has(id))
    const differs = isNew || pending.size !== this.#sentPending.size
    this.#sentPending = pending
    // the view may not have fetched the entries that a new request needs
    if (differs) this.#asked = new Set(session?.requests.entries.map(({ id }) => id))
    const drawnWith = isNew ? this.#asked : []
    const entries = [...new Set([...changes.entries, ...drawnWith])]
    const ops = session ? this.#opsOf(session.state, { ...changes, entries }) : []
    this.#sentTotal = session?.state.entries.length ?? 0
    if (this.#headDirty || differs || changes.head.length > 0) {
      const head = this.#options.head()
      const op = this.#sentHead && diffHead(this.#sentHead, head)
      this.#sentHead = head
      if (op) ops.push(op)
    } else if (session && this.#sentHead && mayRunOrEnd(session.state, changes)) {
      const head = { ...this.#sentHead, running: this.#options.running() }
      const op = diffHead(this.#sentHead, head)
      this.#sentHead = head
      if (op) ops.push(op)
    }
    this.#send(ops)
  }

  /** Sets the terminals whose output the view shows. Sends the whole output of the added ones. */
  watchTerminals(ids: readonly string[]): void {
    const fresh = ids.filter(id => !this.#watched.has(id))
    this.#watched = new Set(ids)
    this.#tellTerminals(fresh)
  }

  /** Sets the tool calls that the view shows completely. Sends the added ones as a whole. */
  showToolCalls(ids: readonly string[]): void {
    const fresh = ids.filter(id => !this.#shown.has(id))
    this.#shown = new Set(ids)
    const index = this.#options.session()?.state.index
    const known = fresh.filter(id => index?.has(id))
    if (known.length > 0) this.add(known.map(id => ({ type: 'entry', id })))
  }

  /** Returns fetched entries in the form that the page needs, and sends their terminals. */
  entriesFetched(entries: readonly Entry[]): Entry[] {
    this.#tellTerminals(entries.flatMap(terminalsIn))
    return entries.map(entry => this.#wanted(entry))
  }

  /** Returns an entry in the form that the view needs: a tool call without the content that isn't shown. */
  #wanted(entry: Entry): Entry {
    if (entry.kind !== 'tool_call' || this.#shown.has(entry.id) || this.#asked.has(entry.id)) return entry
    return cutToolCall(entry)
  }

  #tellTerminals(ids: readonly string[]): void {
    const terminals = this.#options.session()?.state.terminals
    const known = ids.filter(id => terminals?.has(id))
    if (known.length > 0) this.add(known.map(terminalId => ({ type: 'terminal', terminalId })))
  }

  /**
   * Returns the operations: first whole entries in order, so that a view can append them, then appended text of entries that aren't sent as
   * a whole.
   */
  #opsOf(state: SessionState, changes: TakenChanges): PatchOp[] {
    const ops: PatchOp[] = []
    const positions = changes.entries.flatMap(id => state.index.get(id) ?? []).sort((a, b) => a - b)
    for (const index of positions) {
      const entry = state.entries[index]
      const op = entry && this.#entryOp(index, entry)
      if (op) ops.push(op)
    }
    for (const text of changes.texts) ops.push({ op: 'text', ...text })
    for (const terminalId of changes.terminals) {
      const terminal = state.terminals.get(terminalId)
      if (terminal) ops.push({ op: 'terminal', terminal: this.#noteOf(terminal) })
    }
    for (const output of changes.outputs)
      if (this.#watched.has(output.terminalId)) ops.push({ op: 'terminal_output', ...output })
    return ops
  }

  /** Returns the operation that sends an entry. Of a tool call that was sent since the last snapshot, only the changes are sent. */
  #entryOp(index: number, whole: Entry): PatchOp | undefined {
    const entry = this.#wanted(whole)
    if (entry.kind !== 'tool_call') return { op: 'entry', index, entry }
    const before = this.#sentTools.get(entry.id)
    this.#sentTools.set(entry.id, sentToolCall(entry))
    return before ? toolCallDelta(before, entry) : { op: 'entry', index, entry }
  }

  #noteOf(terminal: TerminalState): TerminalNote {
    if (this.#watched.has(terminal.terminalId)) return terminal
    const { output: _, ...note } = terminal
    return note
  }

  #terminalsOf(
    state: Pick<SessionState, 'terminals'> | undefined,
    entries: readonly Entry[],
  ): TerminalNote[] {
    return [...new Set([...this.#watched, ...entries.flatMap(terminalsIn)])].flatMap(id => {
      const terminal = state?.terminals.get(id)
      return terminal ? [this.#noteOf(terminal)] : []
    })
  }
}

/** Whether work besides the turn's own may have started or ended. */
function mayRunOrEnd({ entries, index }: SessionState, changes: TakenChanges): boolean {
  if (changes.terminals.length > 0) return true
  return changes.entries.some(id => {
    const kind = entries[index.get(id) ?? -1]?.kind
    return kind === 'tool_call' || kind === 'subagent'
  })
}

function pendingIds(session: Session | undefined): Set<string> {
  return new Set(session?.requests.open.map(({ requestId }) => requestId))
}

function placed(session: Session | undefined, entries: readonly Entry[]) {
  return entries
    .map(entry => ({ index: session?.state.index.get(entry.id) ?? -1, entry }))
    .sort((a, b) => a.index - b.index)
}

/**
 * Returns the operation that updates a view from one head to the next; `undefined` if they are equal. Parts of the session's state are
 * replaced, never changed in place, so long lists are compared by identity. Parts that are created each time are small and compared as
 * JSON.
 */
function diffHead(before: ConversationHead, after: ConversationHead): PatchOp | undefined {
  const head: Partial<ConversationHead> = {}
  const cleared: Array<keyof ConversationHead> = []
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof ConversationHead>) {
    if (same(before[key], after[key])) continue
    if (after[key] === undefined) cleared.push(key)
    else if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) {
      Object.assign(head, { [key]: after[key] })
    }
  }
  if (Object.keys(head).length === 0 && cleared.length === 0) return undefined
  return cleared.length > 0 ? { op: 'head', head, cleared } : { op: 'head', head }
}

function same(before: unknown, after: unknown): boolean {
  if (before === after) return true
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return false
  return before.every((item, index) => item === after[index])
}
