import { Owner, toDisposable } from '../common/disposable.ts'
import { ChangeSet } from '../conversation/change-set.ts'
import type { Session } from '../conversation/session.ts'
import type { SessionState } from '../conversation/state.ts'
import type { TranscriptChanges } from '../history/transcripts.ts'

/** While an agent works, what changed is written this often, in milliseconds: as much as a crash may cost. */
const WRITE_EVERY_MS = 1000

export interface TranscriptWriter {
  /** Answers whether it is on disk; what is not is written with the next changes. */
  write(agentId: string, sessionId: string, changes: TranscriptChanges): boolean
}

/**
 * Writes a conversation to disk as it grows: only entries that changed, at most once a second, at once when the agent
 * rests. A load that replays the conversation replaces what was kept only when it is whole.
 */
export class TranscriptKeeper extends Owner {
  readonly #agentId: string
  readonly #session: Session
  readonly #writer: TranscriptWriter
  readonly #changes = new ChangeSet()
  #replace = false
  /** A session that never was ready has nothing that is worth more than what was kept before. */
  #wasReady = false
  #timer: NodeJS.Timeout | undefined

  /** `unkept`: nothing of what the session begins with was kept under its id. */
  constructor(agentId: string, session: Session, writer: TranscriptWriter, unkept = false) {
    super()
    this.#agentId = agentId
    this.#session = session
    this.#writer = writer
    // a load of a session that is new here begins without a reset
    this.#replace = unkept || (session.phase === 'loading' && session.state.entries.length === 0)
    this.register(
      session.onDidChange(changes => {
        this.#changes.add(changes)
        this.#schedule(session.state.activity === 'idle' ? 0 : WRITE_EVERY_MS)
      }),
    )
    this.register(
      session.onDidChangeStatus(() => {
        if (session.phase === 'ready') this.#wasReady = true
        this.#schedule(0)
      }),
    )
    this.register(toDisposable(() => this.flush()))
    if (unkept) this.#schedule(0)
  }

  /** Writes now what was not written yet. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { phase } = this.#session
    if (phase === 'ready') this.#wasReady = true
    if (!this.#wasReady || phase === 'loading' || (this.#changes.isEmpty && !this.#replace)) return
    const { state } = this.#session
    const changes = this.#changes.take()
    if (changes.reset) this.#replace = true
    const written = this.#writer.write(
      this.#agentId,
      this.#session.sessionId,
      this.#replace ? everything(state) : changed(state, changes),
    )
    // what is not on disk goes there with the next change
    this.#replace = !written
  }

  #schedule(delay: number): void {
    if (this.#timer && delay > 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), delay)
    this.#timer.unref()
  }
}

function everything(state: SessionState): TranscriptChanges {
  return {
    replace: true,
    entries: state.entries.map((entry, position) => ({ position, entry })),
    terminals: [...state.terminals.values()],
    head: headOf(state),
  }
}

function changed(state: SessionState, changes: ReturnType<ChangeSet['take']>): TranscriptChanges {
  const ids = new Set([...changes.entries, ...changes.texts.map(({ id }) => id)])
  const terminals = new Set([...changes.terminals, ...changes.outputs.map(({ terminalId }) => terminalId)])
  return {
    replace: false,
    entries: [...ids].flatMap(id => {
      const position = state.index.get(id)
      const entry = position === undefined ? undefined : state.entries[position]
      return position === undefined || !entry ? [] : [{ position, entry }]
    }),
    terminals: [...terminals].flatMap(id => state.terminals.get(id) ?? []),
    head: changes.head.length > 0 ? headOf(state) : undefined,
  }
}

function headOf({ title, plans, usage }: SessionState): NonNullable<TranscriptChanges['head']> {
  return { title, plans, usage }
}
