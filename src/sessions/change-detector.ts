import { stat } from 'node:fs/promises'
import * as z from 'zod'
import { snapshotOf, storedSnapshot, storedSnapshotSchema } from '../changes/detect/stored-snapshot.ts'
import { WorkTree } from '../changes/detect/work-tree.ts'
import type { SessionChanges } from '../changes/session-changes.ts'
import { Owner, toDisposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Event } from '../common/event.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'
import type { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import { FRESH_MS, isWrittenSince } from '../editor/files/file-system.ts'
import { DetectedTurn } from './detected-turn.ts'
import { RecentSaves } from './recent-saves.ts'

/** Maximum share of the time that is spent on checks, and their minimum interval in milliseconds. */
const SHARE = 1 / 8
const MIN_WAIT_MS = 2000

/** A stored turn, which may outlive its window, with a snapshot of the folders from before the turn. */
const storedTurn = z.object({ number: z.number(), began: z.number(), before: storedSnapshotSchema })
type StoredTurn = z.infer<typeof storedTurn>

export interface ChangeDetectorOptions {
  session: Session
  changes: SessionChanges
  /** Fires when the user saved a file in the editor. */
  onDidSave: Event<string>
  log: Logger
  tree?: Pick<WorkTree, 'prepare' | 'snapshot' | 'accept' | 'changed'>
  /** where the turn of an agent that may outlive the window is stored, so that the next window continues it */
  turns?: KeyValueStore | undefined
}

/**
 * Notifies the change tracker when turns run, and of files that changed during a turn although no tool call names them, usually because of
 * commands. Changes that the user saves meanwhile count as the user's.
 */
export class ChangeDetector extends Owner {
  readonly #session: Session
  readonly #changes: SessionChanges
  readonly #log: Logger
  readonly #tree: NonNullable<ChangeDetectorOptions['tree']>
  readonly #turns: KeyValueStore | undefined
  readonly #saves = new RecentSaves()
  /** the running turn */
  #turn: DetectedTurn | undefined
  /** the turns whose changes are being detected, some of which may have ended */
  #detecting: readonly DetectedTurn[] = []
  #timer: NodeJS.Timeout | undefined
  #cost = 0
  /** end of the last turn: earlier writes belong to that turn */
  #endedAt = 0

  constructor({
    session,
    changes,
    onDidSave,
    log,
    tree = new WorkTree(changes),
    turns,
  }: ChangeDetectorOptions) {
    super()
    this.#session = session
    this.#changes = changes
    this.#log = log
    this.#tree = tree
    this.#turns = turns
    this.register(toDisposable(() => this.#end()))
    tree.prepare(this.#folders).catch(this.#failed("The folders couldn't be scanned"))
    this.register(onDidSave(file => this.#accept(file)))
    this.register(changes.onDidDecide(file => this.#accept(file)))
    this.register(changes.onDidBeginEdit(file => void this.#lookBeforeEdit(file)))
    this.#continue()
    this.register(session.onDidChange(changed => this.#follow(changed)))
  }

  get #folders(): string[] {
    const { cwd, additionalDirectories } = this.#session.setup
    return [cwd, ...additionalDirectories]
  }

  #failed(what: string): (error: unknown) => void {
    return error => this.#log.debug(`${what}: ${messageOf(error)}`)
  }

  #end(): void {
    clearTimeout(this.#timer)
    // a live agent may continue in the background, so keep the stored turn unless the session ended
    if (this.#session.phase !== 'ready') this.#turns?.set(this.#changes.session, undefined)
    void this.#changes.endTurn()
  }

  /** Continues a turn of an earlier window. */
  #continue(): void {
    const key = this.#changes.session
    const found = this.#turns?.get<unknown>(key)
    const stored = storedTurn.safeParse(found).data
    const { isAtWork, state } = this.#session
    if (stored && isAtWork && stored.number === state.turn) {
      const turn = this.#begin(undefined, stored)
      for (const entry of state.entries) if (entry.turn === stored.number) turn.note(entry)
    } else if (found !== undefined) this.#turns?.set(key, undefined)
  }

  #follow(changed: readonly Change[]): void {
    const { phase, isAtWork, state } = this.#session
    if (phase !== 'ready') return
    const works = isAtWork || (state.background ?? 0) > 0
    // background work of a turn may still run when the next one starts
    const earlier = this.#turn && this.#turn.number !== state.turn ? this.#turn : undefined
    if (works && (!this.#turn || earlier)) {
      if (earlier) {
        this.#endedAt = Date.now()
        void this.#summarize(earlier)
      }
      this.#begin(earlier)
    }
    const turn = this.#turn
    if (!turn) return
    for (const change of changed)
      if (change.type === 'entry' && turn.note(state.entries[state.index.get(change.id) ?? -1]))
        this.#detectSoon(turn)
    if (works) return
    this.#turn = undefined
    this.#endedAt = Date.now()
    void this.#summarize(turn).then(() => {
      if (this.#turn) return
      this.#turns?.set(this.#changes.session, undefined)
      return this.#changes.endTurn()
    })
  }

  #begin(earlier?: DetectedTurn, stored?: StoredTurn): DetectedTurn {
    const session = this.#session
    // the clock of the file system may be behind, so allow some time: files that the agent writes at once belong to the turn
    const now = Date.now()
    // the clock may have been set back since the last turn
    const began = stored?.began ?? Math.max(now - FRESH_MS, this.#endedAt > now ? 0 : this.#endedAt)
    const before = stored
      ? Promise.resolve(snapshotOf(stored.before))
      : this.#tree.snapshot(this.#folders, began)
    const turn = new DetectedTurn(session.state.turn, began, before, earlier)
    this.#turn = turn
    for (const one of this.#detecting) one.next ??= turn
    // while a request is pending, the agent does nothing
    const isWorking = () => turn.worked && session.state.activity !== 'requires_action'
    const repositories = stored?.before.repositories.map(({ position }) => position)
    this.#changes.beginTurn(turn.number, isWorking, () => turn.ranGit, {
      ...{ began, before },
      ...(repositories && { repositories }),
    })
    for (const file of this.#saves.between(began, now)) this.#acceptIn(turn, file)
    if (!stored) this.#store(turn).catch(this.#failed("A turn couldn't be stored"))
    return turn
  }

  async #store(turn: DetectedTurn): Promise<void> {
    const before = storedSnapshot(await turn.before)
    if (this.#turn !== turn || !this.#session.agent.hosted?.outlivesWindow) return
    const { number, began } = turn
    this.#turns?.set(this.#changes.session, before && ({ number, began, before } satisfies StoredTurn))
  }

  /** Notes that the user saved a file or decided about its changes: its content isn't a change of the turn. */
  #accept(file: string): void {
    this.#saves.add(file, Date.now())
    // a turn that has just ended may still be in detection
    for (const turn of new Set([...(this.#turn ? [this.#turn] : []), ...this.#detecting]))
      this.#acceptIn(turn, file)
  }

  #acceptIn(turn: DetectedTurn, file: string): void {
    const accepting = turn.before
      .then(before => this.#tree.accept(before, file))
      .then(() => this.#store(turn))
    turn.save(file, accepting.catch(this.#failed("A saved file couldn't be checked")))
  }

  /** Checks for changes before the user edits the file: later, a command's changes would be saved with the edit, as the user's. */
  async #lookBeforeEdit(file: string): Promise<void> {
    const turn = this.#turn
    if (!turn?.worked) return
    const info = await stat(file).catch(() => undefined)
    if (info && isWrittenSince(info.ctimeMs, turn.began)) await this.#detect(turn)
  }

  #detectSoon(turn: DetectedTurn): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined
        if (this.#turn === turn) void this.#detect(turn)
      },
      Math.max(MIN_WAIT_MS, this.#cost / SHARE),
    )
  }

  async #detect(turn: DetectedTurn): Promise<void> {
    const changes = this.#changes
    // watch the user's decisions and saves while files are being checked
    const isKeptOrUndone = changes.watchDecisions()
    const isSaved = turn.watchSaves()
    this.#detecting = [...this.#detecting, turn]
    try {
      await turn.accepted
      // first let the tracker handle the files that tool calls have reported
      await changes.reported
      const start = performance.now()
      const found = await this.#tree.changed(await turn.before, {
        isDecided: isKeptOrUndone,
        ranGit: turn.ranGit,
        next: () => turn.next?.before,
      })
      this.#cost = performance.now() - start
      await changes.noticed(found.changes, turn.number, file => isKeptOrUndone(file) || isSaved(file))
      changes.omitted = { files: found.omitted, folders: turn.ran ? found.unseen : [] }
    } catch (error) {
      this.#failed("Changes in the folders couldn't be detected")(error)
    } finally {
      this.#detecting = this.#detecting.toSpliced(this.#detecting.indexOf(turn), 1)
    }
  }

  async #summarize(turn: DetectedTurn): Promise<void> {
    await (turn.worked ? this.#detect(turn) : this.#changes.reported)
    const files = this.#changes.list(turn.number)
    const sum = (side: 'added' | 'removed') => files.reduce((all, file) => all + file[side], 0)
    if (files.length > 0)
      this.#session.noteFiles(turn.number, {
        count: files.length,
        added: sum('added'),
        removed: sum('removed'),
      })
  }
}
