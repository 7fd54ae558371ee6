import { Owner, toDisposable } from '../../common/disposable.ts'
import { ChangeSet, type TakenChanges } from '../../conversation/change-set.ts'
import type { Session } from '../../conversation/session.ts'
import type { Change, SessionState, TerminalState } from '../../conversation/state.ts'
import type {
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
  PatchOp,
  WaitingPrompt,
} from '../bridge/conversation.ts'
import { diffHead } from './head-diff.ts'

/** How many of the last entries a snapshot carries; the view asks for earlier ones when it scrolls there. */
const SNAPSHOT_ENTRIES = 100
/** The least time between two patches: one frame of a 60 Hz screen, in milliseconds. */
const FRAME_MS = 16
/** While a conversation is being loaded, nobody reads each of its lines: it is sent this often, in milliseconds. */
const LOADING_MS = 100
/** Drawing anew costs what a conversation's length is: one of so many entries is sent a millisecond less often for each. */
const ENTRIES_PER_MS = 50

export interface PatchPumpParts {
  session: () => Session | undefined
  head: () => ConversationHead
  draft: () => ConversationSnapshot['draft']
  composerHeight: () => number | undefined
  waiting: () => WaitingPrompt[]
  sendSnapshot: (snapshot: ConversationSnapshot) => void
  sendPatch: (patch: ConversationPatch) => void
}

/**
 * Gathers what changed in a conversation and sends it to its webview, at most once a frame. A hidden view costs
 * nothing: its changes are not even gathered, and it gets a snapshot when it is shown again.
 */
export class PatchPump extends Owner {
  readonly #parts: PatchPumpParts
  readonly #changes = new ChangeSet()
  #headDirty = false
  #snapshotDue = true
  #hasPage = false
  #inView = true
  #revision = 0
  #lastSent = 0
  #timer: NodeJS.Timeout | undefined
  #sentHead: ConversationHead | undefined
  /** how many entries the view knows of */
  #sentTotal = 0

  constructor(parts: PatchPumpParts) {
    super()
    this.#parts = parts
    this.register(toDisposable(() => clearTimeout(this.#timer)))
  }

  /** The page has loaded, and knows nothing yet. It may be hidden by then. */
  pageReady(): void {
    this.#hasPage = true
    this.reset()
  }

  /** Before its page has loaded a view counts as shown unless it is told otherwise. */
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

  /** Everything is to be sent anew. */
  reset(): void {
    this.#snapshotDue = true
    this.#changes.clear()
    this.#schedule()
  }

  headChanged(): void {
    this.#headDirty = true
    // the end of a load is not waited for
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#schedule()
  }

  /** Sends what waits for the next frame. */
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
    const session = this.#parts.session()
    if (session?.phase !== 'loading') return FRAME_MS
    return Math.max(LOADING_MS, session.state.entries.length / ENTRIES_PER_MS)
  }

  #flush(): void {
    this.#timer = undefined
    this.#lastSent = performance.now()
    const changes = this.#changes.take()
    const session = this.#parts.session()
    const fresh = (session?.state.entries.length ?? 0) - this.#sentTotal
    if (this.#snapshotDue || changes.reset) this.#sendSnapshot(session)
    else if (session && fresh > SNAPSHOT_ENTRIES) this.#sendLast(session, changes)
    else this.#sendPatch(session, changes)
    this.#headDirty = false
  }

  /** So much came that only the end of it is seen: the last of it, and what changed of what the view knew before. */
  #sendLast(session: Session, changes: TakenChanges): void {
    const { terminals, index } = session.state
    const known = this.#sentTotal
    const changed = new Set([...changes.terminals, ...changes.outputs.map(({ terminalId }) => terminalId)])
    this.#sendSnapshot(
      session,
      [...changed].flatMap(id => terminals.get(id) ?? []),
    )
    const before = ({ id }: { id: string }) => (index.get(id) ?? known) < known
    const entries = changes.entries.filter(id => before({ id }))
    const texts = changes.texts.filter(before)
    const ops = opsOf(session.state, { ...changes, entries, texts, terminals: [], outputs: [] })
    if (ops.length > 0) this.#parts.sendPatch({ revision: ++this.#revision, ops })
  }

  #sendSnapshot(
    session: Session | undefined,
    terminals: Iterable<TerminalState> = session?.state.terminals.values() ?? [],
  ): void {
    this.#snapshotDue = false
    this.#sentHead = this.#parts.head()
    const entries = session?.state.entries ?? []
    const first = Math.max(0, entries.length - SNAPSHOT_ENTRIES)
    this.#sentTotal = entries.length
    const waiting = this.#parts.waiting()
    const composerHeight = this.#parts.composerHeight()
    this.#parts.sendSnapshot({
      revision: ++this.#revision,
      head: this.#sentHead,
      entries: entries.slice(first),
      first,
      total: entries.length,
      terminals: [...terminals],
      draft: this.#parts.draft(),
      ...(composerHeight !== undefined && { composerHeight }),
      ...(waiting.length > 0 && { waiting }),
    })
  }

  #sendPatch(session: Session | undefined, changes: TakenChanges): void {
    const ops = session ? opsOf(session.state, changes) : []
    this.#sentTotal = session?.state.entries.length ?? 0
    if (this.#headDirty || changes.head.length > 0) {
      const head = this.#parts.head()
      const op = this.#sentHead && diffHead(this.#sentHead, head)
      this.#sentHead = head
      if (op) ops.push(op)
    }
    if (ops.length > 0) this.#parts.sendPatch({ revision: ++this.#revision, ops })
  }
}

/** Whole entries first and in order, so that a view can append; text goes only to entries that were not sent whole. */
function opsOf(state: SessionState, changes: TakenChanges): PatchOp[] {
  const ops: PatchOp[] = []
  const positions = changes.entries.flatMap(id => state.index.get(id) ?? []).sort((a, b) => a - b)
  for (const index of positions) {
    const entry = state.entries[index]
    if (entry) ops.push({ op: 'entry', index, entry })
  }
  for (const text of changes.texts) ops.push({ op: 'text', ...text })
  for (const terminalId of changes.terminals) {
    const terminal = state.terminals.get(terminalId)
    if (terminal) ops.push({ op: 'terminal', terminal })
  }
  for (const output of changes.outputs) ops.push({ op: 'terminal_output', ...output })
  return ops
}
