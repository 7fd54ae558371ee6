import type { HostedAgent } from '../acp/agent.ts'
import { Owner, toDisposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { ChangeSet, type TakenChanges } from '../conversation/change-set.ts'
import { INTERRUPTED } from '../conversation/reducer/reduce-turn.ts'
import { type LastSavedFrame, savedBackground } from '../conversation/replay/restore-state.ts'
import type { Session } from '../conversation/session.ts'
import type { Change, Entry, EntryId, SessionState } from '../conversation/state.ts'
import { REOPEN_AFTER_MS } from '../history/database.ts'
import type { TranscriptChanges } from '../history/transcript-rows.ts'
import { growingText } from '../history/transcript-schema.ts'
import type { Transcripts } from '../history/transcripts.ts'
import { asSent, type UnsavedConversation } from './unsaved-conversation.ts'

/** Interval at which appended text is written, in milliseconds, so that a crash loses at most 100 ms of output. */
const APPEND_EVERY_MS = 80
/** Interval at which entries are written whose whole content is replaced repeatedly, such as tool calls, in milliseconds. */
const REWRITE_EVERY_MS = 1000

/**
 * Maximum size of the unwritten changes that are passed on to the agent host, in bytes: normally, and when the window closes. For changes
 * beyond the limit, the host keeps the agent's output.
 */
const MAX_UNSAVED = 4 << 20
const MAX_UNSAVED_AT_END = 64 << 20

/**
 * Saves a conversation as it grows, writing only changes. New entries, statuses, and the user's prompts and answers are written
 * immediately. Of a growing text, only the appended part is written, so that the cost doesn't depend on its length; when the agent is idle,
 * the whole text is written. A load replaces the saved conversation only when it's complete.
 */
export class TranscriptRecorder extends Owner {
  readonly #agentId: string
  readonly #session: Session
  readonly #writer: Pick<Transcripts, 'write'>
  readonly #changes = new ChangeSet()
  /** entries and terminals with appended text that was written */
  readonly #pieced = { entries: new Set<EntryId>(), terminals: new Set<string>() }
  #replace = false
  /** the parts that aren't on disk; `isAll`: the whole conversation */
  readonly #unwritten = { isAll: false, entries: new Set<EntryId>(), terminals: new Set<string>() }
  #unsaved: UnsavedConversation | undefined
  #isUnsavedTooLarge = false
  readonly #change = this.register(new Emitter<void>())
  /** Fires when `unsaved` has changed. */
  readonly onDidChangeUnsaved = this.#change.event
  /** Whether the session began with options that may not be stored yet. */
  #hasStartOptions: boolean
  /** Whether the session was ever ready: a session that failed to open must not overwrite a saved conversation. */
  #wasReady = false
  #isOver = false
  /** the number of the agent's last frame before the first change that isn't written */
  #unwrittenAfter: number | undefined
  readonly #hosted: HostedAgent | undefined
  #timer: NodeJS.Timeout | undefined
  /** the delay of the timer, in milliseconds */
  #delay = 0
  /** by entry or terminal: the stage at its last change */
  readonly #stages = new Map<string, string | undefined>()

  /** `isUnstored`: the initial content of the session isn't saved under its id yet. */
  constructor(agentId: string, session: Session, writer: Pick<Transcripts, 'write'>, isUnstored = false) {
    super()
    this.#agentId = agentId
    this.#session = session
    this.#hosted = session.agent.hosted
    this.#writer = writer
    // an agent that exited while no window was open ends the session at once
    this.#wasReady = session.phase === 'ready'
    // loading a session that wasn't open starts without a reset
    this.#replace = isUnstored || (session.phase === 'loading' && session.state.entries.length === 0)
    this.#hasStartOptions = session.phase === 'ready' && session.state.configOptions.length > 0
    // the interruption was detected when the conversation was restored, so record it now
    const last = session.state.entries.at(-1)
    if (last?.kind === 'turn_end' && last.stopReason === INTERRUPTED)
      this.#changes.add([
        { type: 'entry', id: last.id },
        { type: 'head', key: 'activity' },
      ])
    this.register(
      session.onDidChange(changes => {
        this.#changes.add(changes)
        if (this.#hosted) this.#unwrittenAfter ??= this.#hosted.arrived - 1
        // a replay is written when the change of status reports its end
        if (session.phase === 'loading') return
        const delay = Math.min(...changes.map(change => this.#writeDelay(change)))
        if (delay < 0 && !this.#replace) this.flush()
        else {
          // the conversation can't be stored yet, and the agent is about to get an answer that must be kept before
          if (delay < 0 && this.#hosted && (this.#unsaved || isUnstored))
            this.#passOn(this.#takeUnwritten().said, false)
          this.#schedule(Math.max(0, delay))
        }
      }),
    )
    this.register(
      session.onDidChangeStatus(() => {
        if (session.phase === 'ready') this.#wasReady = true
        this.#schedule(0)
      }),
    )
    this.register(
      toDisposable(() => {
        this.#isOver = true
        this.flush()
      }),
    )
    if (isUnstored) this.#schedule(0)
  }

  /** Number of the agent's last frame that is stored or in `unsaved`; `undefined` if this is so for all handled output. */
  get storedFrame(): number | undefined {
    if (this.isStored || this.#unsaved) return this.#unwrittenAfter
    return this.#unwrittenAfter ?? 0
  }

  /** Changes that couldn't be written, for the agent host, which keeps them in case this window ends first. */
  get unsaved(): UnsavedConversation | undefined {
    return this.#unsaved
  }

  /** Whether the unwritten changes exceed the limit of `unsaved`: the host keeps the agent's further output, as far as it can. */
  get isUnsavedTooLarge(): boolean {
    return this.#isUnsavedTooLarge
  }

  /** Whether the stored conversation is complete except for unwritten changes, so that another window can continue it. */
  get isStored(): boolean {
    const { phase, state } = this.#session
    return phase === 'ready' && (!this.#replace || state.entries.length === 0)
  }

  /** Writes pending changes now. `isLast`: the window closes. */
  flush(isLast = false): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { phase } = this.#session
    if (phase === 'ready') this.#wasReady = true
    if (!this.#wasReady || phase === 'loading' || (this.#changes.isEmpty && !this.#replace)) return
    const { state } = this.#session
    // an empty replay must not overwrite the saved conversation
    if (this.#replace && state.entries.length === 0) return
    if (this.#hasStartOptions) this.#changes.add([{ type: 'head', key: 'configOptions' }])
    this.#hasStartOptions = false
    const { changes, said } = this.#takeUnwritten()
    const written = this.#writer.write(this.#agentId, this.#session.sessionId, {
      ...(this.#replace ? everything(this.#session) : this.#changed(changes)),
      ...(said && { said }),
    })
    if (written) this.#unwrittenAfter = undefined
    this.#passOn(written ? undefined : said, isLast)
    if (!written && !this.#replace) this.#schedule(REWRITE_EVERY_MS)
    // not after the session's end: another recorder may then continue and save the conversation
    else if (!written && !this.#isOver) this.#schedule(REOPEN_AFTER_MS)
    // after a failed write, the next write is the whole conversation, which includes the unwritten changes
    this.#replace = !written
  }

  /** Takes the changes to write. `said`: the last frame of a hosted agent that the changes include. */
  #takeUnwritten(): { changes: TakenChanges; said: LastSavedFrame | undefined } {
    const changes = this.#changes.take()
    if (changes.reset) this.#replace = true
    const { entries, terminals } = this.#unwritten
    // a failed write is repeated for the whole conversation, although only the changes in `#unwritten` are missing on disk
    if (changes.reset || (this.#replace && entries.size === 0 && terminals.size === 0))
      this.#unwritten.isAll = true
    for (const id of changes.entries) entries.add(id)
    for (const { id } of changes.texts) entries.add(id)
    for (const id of changes.terminals) terminals.add(id)
    for (const { terminalId } of changes.outputs) terminals.add(terminalId)
    const said = this.#hosted && { hostedId: this.#hosted.id, frame: this.#hosted.handled }
    return { changes, said }
  }

  /** Updates `unsaved`. `said`: the last frame that couldn't be written; absent if everything is written, or there is no host. */
  #passOn(said: LastSavedFrame | undefined, isLast: boolean): void {
    const { isAll, entries, terminals } = this.#unwritten
    this.#isUnsavedTooLarge = false
    if (!said) {
      this.#unwritten.isAll = false
      entries.clear()
      terminals.clear()
      if (!this.#unsaved) return
      this.#unsaved = undefined
      this.#change.fire()
      return
    }
    const { setup } = this.#session
    const missing: TakenChanges = {
      ...{ reset: false, texts: [], outputs: [], head: ['activity'] },
      ...{ entries: [...entries], terminals: [...terminals] },
    }
    const all = { ...(isAll ? everything(this.#session) : changed(this.#session, missing)), said }
    const changes = asSent(all, isLast ? MAX_UNSAVED_AT_END : MAX_UNSAVED)
    this.#isUnsavedTooLarge = changes === undefined
    if (!changes) return
    this.#unsaved = { cwd: setup.cwd, additionalDirectories: [...setup.additionalDirectories], changes }
    this.#unwrittenAfter = undefined
    this.#change.fire()
  }

  #changed(changes: TakenChanges): TranscriptChanges {
    const { entries, terminals } = this.#pieced
    for (const { id } of changes.texts) entries.add(id)
    for (const { terminalId } of changes.outputs) terminals.add(terminalId)
    const rests = changes.head.includes('activity') && this.#session.state.activity === 'idle'
    if (!rests) return changed(this.#session, changes)
    const whole = {
      ...changes,
      entries: [...new Set([...changes.entries, ...entries])],
      texts: [],
      terminals: [...new Set([...changes.terminals, ...terminals])],
      outputs: [],
    }
    entries.clear()
    terminals.clear()
    return changed(this.#session, whole)
  }

  /** Returns how long a change may wait to be written, in milliseconds; a negative number means to write it synchronously. */
  #writeDelay(change: Change): number {
    const { state } = this.#session
    if (change.type === 'reset') this.#stages.clear()
    if (isGrowth(change)) return APPEND_EVERY_MS
    const isIdle = state.activity === 'idle'
    if (change.type === 'terminal') {
      const stage = JSON.stringify(state.terminals.get(change.terminalId)?.exit)
      return isIdle || this.#isNew(`terminal ${change.terminalId}`, stage) ? 0 : REWRITE_EVERY_MS
    }
    if (change.type !== 'entry') return isIdle ? 0 : APPEND_EVERY_MS
    const entry = state.entries[state.index.get(change.id) ?? -1]
    if (!entry) return 0
    if (this.#isNew(entry.id, stageOf(entry))) return isOfUser(entry) ? -1 : 0
    return isIdle ? 0 : REWRITE_EVERY_MS
  }

  #isNew(id: string, stage: string | undefined): boolean {
    if (this.#stages.has(id) && this.#stages.get(id) === stage) return false
    this.#stages.set(id, stage)
    return true
  }

  #schedule(wanted: number): void {
    // writing a whole conversation takes time, so don't do it while the conversation is being rendered
    const delay = this.#replace ? Math.max(wanted, REWRITE_EVERY_MS) : wanted
    if (this.#timer && delay > 0 && delay >= this.#delay) return
    clearTimeout(this.#timer)
    this.#delay = delay
    this.#timer = setTimeout(() => this.flush(), delay)
    this.#timer.unref()
  }
}

/** Returns a text that changes with the progress of an entry, not with its content. */
function stageOf(entry: Entry): string {
  if (entry.kind === 'tool_call') return entry.status ?? ''
  if (entry.kind === 'permission' || entry.kind === 'elicitation') return JSON.stringify(entry.outcome) ?? ''
  // once the agent takes a prompt for the running turn, the queue drops the prompt: the conversation must be written by then
  if (entry.kind === 'message') return `message ${entry.steering ?? ''}`
  return entry.kind
}

/** Whether the entry is the user's prompt or answer, which is sent to the agent right afterward. */
function isOfUser(entry: Entry): boolean {
  if (entry.kind === 'message') return entry.role === 'user'
  return (entry.kind === 'permission' || entry.kind === 'elicitation') && entry.outcome !== undefined
}

/** Whether the change only appends text to an entry or terminal. */
function isGrowth({ type }: Change): boolean {
  return type === 'text' || type === 'terminal_output'
}

type RecordedSession = Pick<Session, 'conversation' | 'isAtWork'>

function everything(session: RecordedSession): TranscriptChanges {
  const { state } = session.conversation
  return {
    replace: true,
    entries: state.entries.map((entry, position) => ({ position, entry })),
    terminals: [...state.terminals.values()],
    head: savedHead(session),
    ...(state.configOptions.length > 0 && { options: state.configOptions }),
  }
}

function changed(session: RecordedSession, changes: TakenChanges): TranscriptChanges {
  const { state } = session.conversation
  return {
    replace: false,
    entries: changes.entries.flatMap(id => {
      const position = state.index.get(id)
      const entry = position === undefined ? undefined : state.entries[position]
      return position === undefined || !entry ? [] : [{ position, entry }]
    }),
    texts: changes.texts.flatMap(({ id, block, text }) => {
      const position = state.index.get(id)
      if (position === undefined) return []
      const before = () => growingText(state.entries[position], block).slice(0, -text.length)
      return [{ position, block, text, before }]
    }),
    terminals: changes.terminals.flatMap(id => state.terminals.get(id) ?? []),
    outputs: changes.outputs.map(({ terminalId, text }) => {
      const before = () => (state.terminals.get(terminalId)?.output ?? '').slice(0, -text.length)
      return { terminalId, text, before }
    }),
    head: changes.head.length > 0 ? savedHead(session) : undefined,
    // stored separately, since an agent's options may include hundreds of models
    ...(changes.head.includes('configOptions') && { options: state.configOptions }),
  }
}

function savedHead({ conversation, isAtWork }: RecordedSession): NonNullable<TranscriptChanges['head']> {
  const { state } = conversation
  return { ...headOf(state, isAtWork), background: savedBackground(state) }
}

/** Returns the saved properties of a session as a whole. */
export function headOf(
  { title, plans, usage, activity }: SessionState,
  working = activity !== 'idle',
): NonNullable<TranscriptChanges['head']> {
  return { title, plans, usage, working }
}
