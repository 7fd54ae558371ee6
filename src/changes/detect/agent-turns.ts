/** Attributes changes to turns: those that tool calls report, and those that are found without a report. */
import { lstat } from 'node:fs/promises'
import { onDisk } from '../../common/file-names.ts'
import type { FileText } from '../../editor/diff-texts.ts'
import type { FilesShared } from '../../editor/files/files.ts'
import { Moment } from '../model/change-time.ts'
import type { AgentAuthor } from '../model/change-versions.ts'
import type { ToolChange } from '../model/file-past.ts'
import { type FileState, sameState, textState } from '../model/file-state.ts'
import type { TrackedFile } from '../model/tracked-file.ts'
import { type Attribution, originalState } from './attribution.ts'
import type { DiskChanges } from './disk-changes.ts'
import { encodingOf, type FileReader } from './file-reader.ts'
import { isIgnoredFile } from './repository-files.ts'
import { type RepositoryPosition, repositoryOf } from './repository-moves.ts'
import type { TrackedFiles } from './tracked-files.ts'

export interface AgentTurnsOptions {
  shared: FilesShared
  files: TrackedFiles
  reader: FileReader
  disk: DiskChanges
  attribution: Attribution
}

/** Files that changed during a session's turn but aren't tracked. */
export interface Omitted {
  /** Number of changed files that aren't tracked because they're too many or too large. */
  files: number
  /** The folders where changes by commands can't be detected. */
  folders: readonly string[]
}
const NOTHING: Omitted = { files: 0, folders: [] }

/** The start of a turn, as `detectChanges` of this window or an earlier window recorded it. */
export interface TurnStart {
  /** in milliseconds since the epoch */
  began: number
  /** The positions of the repositories at that time. By default, they're read now. */
  repositories?: RepositoryPosition[]
  /** Settles when the folders' contents from before the turn are known. */
  before?: Promise<unknown>
}

export class AgentTurns {
  readonly #shared: FilesShared
  readonly #files: TrackedFiles
  readonly #reader: FileReader
  readonly #disk: DiskChanges
  readonly #attribution: Attribution
  /** by session: the changed files that aren't tracked */
  readonly #omitted = new Map<string, Omitted>()
  /** by session: keys of files that changed but aren't tracked, since the limit of tracked files was reached */
  readonly #untracked = new Map<string, Set<string>>()

  constructor({ shared, files, reader, disk, attribution }: AgentTurnsOptions) {
    this.#shared = shared
    this.#files = files
    this.#reader = reader
    this.#disk = disk
    this.#attribution = attribution
  }

  /**
   * Records that a turn starts. `isWorking`: whether the turn may be changing files in the roots now. `ranGit`: whether the agent itself
   * may have run Git.
   */
  beginTurn(
    session: string,
    author: AgentAuthor,
    roots: readonly string[],
    isWorking: () => boolean,
    ranGit: () => boolean,
    start: TurnStart,
  ): void {
    const began = new Moment(start.began)
    const { rules } = this.#shared
    let real = roots
    const covers = (path: string) => real.some(root => rules.contains(root, path))
    const repositories = start.repositories
      ? Promise.resolve(start.repositories)
      : Promise.all(roots.map(root => repositoryOf(root))).then(all => all.filter(one => one !== undefined))
    void repositories.then(all => {
      for (const one of all) this.#disk.followRepository(one)
    })
    this.#attribution.beginTurn(session, { author, began, isWorking, covers, ranGit, repositories })
    void Promise.all(roots.map(root => this.#files.realPath(root))).then(paths => {
      real = paths
    })
  }

  /** Ends the turn: waits for `reported`, attributes the changes until then to the turn, and none after that. */
  async endTurn(session: string, reported?: Promise<unknown>): Promise<void> {
    const turn = this.#attribution.runningTurn(session)
    if (!turn) return
    await this.#files.ready
    await reported
    await this.#disk.refreshIn(turn.covers)
    this.#files.dropCheckpoints()
    for (const key of this.#attribution.endTurn(session, turn)) this.#files.forgetUnlessChanged(key)
    if (this.#attribution.isQuiet) this.#disk.endTurns()
  }

  /** Records the effect of a tool call on a file, as the agent reports it. */
  async tool(path: string, author: AgentAuthor, reported: readonly ToolChange[]): Promise<void> {
    const key = this.#files.paths.key(path)
    const [first] = reported
    if (!first) return
    await this.#files.run(key, async () => {
      const known = this.#files.get(key)
      // the previous text according to the agent; without a reported change, any non-empty text, so that an empty file is read again
      const was = first.change ? (first.change.oldText ?? '') : ' '
      const now = await this.#reader.readWhole({ path, text: known?.text ?? was })
      if (!now) return
      if (!known) {
        const original = originalState(now, first)
        if (original === undefined) {
          // a search for changes will find the previous content
          if (first.begun && first.change && now.attributes.type === 'absent')
            this.#attribution.claim(key, author, reported)
          return
        }
        if (await this.#wasUnknown(path, original, now, author)) return this.#leaveOut(key, author)
        if (!this.#files.track(key, path, original)) return this.#leaveOut(key, author)
        this.#attribution.pasts.assume(key, this.#files.get(key)!, author)
      }
      this.#attribution.claim(key, author, reported)
      let isNamed = false
      const name = () => {
        const named = this.#attribution.nameChanges(key, this.#files.get(key)!, now, first.toolCallId)
        if (!named) return
        this.#disk.correct(key, named)
        isNamed = true
      }
      name()
      await this.#disk.attribute(key, this.#files.get(key)!, now)
      // or name a change that has just been seen
      name()
      if (isNamed) this.#files.save(key, this.#files.get(key)!, true)
      if (first.done && !this.#attribution.release(key, first.toolCallId))
        this.#files.forgetUnlessChanged(key)
    })
  }

  /**
   * Records that a file changed during turns without a report. `before`: the file before the change, or at least its text. `unsure`:
   * `before` may already contain a part of the agent's text. `isDecided`: whether the user has decided about the file since the comparison,
   * perhaps while this call waited.
   */
  async noticed(
    path: string,
    before: FileText | FileState,
    author: AgentAuthor,
    {
      mode,
      unsure,
      isDecided,
    }: { mode?: number | undefined; unsure?: true | undefined; isDecided?: () => boolean } = {},
  ): Promise<void> {
    const key = this.#files.paths.key(path)
    await this.#files.run(key, async () => {
      // an agent is writing the file through the client, so the author is known, or the user has decided about the changes
      if (this.#attribution.clientWrite(key) || isDecided?.()) return
      const file = this.#files.get(key)
      const text = file?.text ?? (typeof before === 'string' ? before : before?.text) ?? ''
      const known = typeof before === 'object' && before !== null ? encodingOf(before) : undefined
      const now = await this.#reader.readWhole({ path, text }, known)
      if (!now) return
      const working = this.#attribution.workingTurns(path)
      // detecting a turn's changes may finish after the next turn has started
      const isLate = author.turns.some(({ session, turn }) => {
        const running = this.#attribution.runningTurn(session)
        return running?.author.turns.every(one => one.turn !== turn)
      })
      const isState = typeof before === 'object' && before !== null
      if (file && isState && !unsure && !isLate) this.#followTo(before, file, author)
      if (file) {
        // any running turn may be the author of changes that weren't reported
        const turns = working.flatMap(([, turn]) => turn.author.turns)
        const possible = turns.length > 0 ? { turns } : author
        const corrected =
          isState && !unsure && this.#attribution.pasts.startFrom(key, file, before, author, possible)
        if (corrected) {
          this.#disk.correct(key, corrected)
          this.#files.save(key, corrected, true)
        }
        return await this.#disk.attribute(
          key,
          corrected || file,
          now,
          isLate ? { ...author, uncertain: true } : 'user',
        )
      }
      const { type } = now.attributes
      if (!isState && type !== 'text' && type !== 'absent') return
      // for a state, the search for changes has already checked whether Git wrote the file
      const stateWith = (...one: Parameters<FileReader['stateWith']>) => this.#reader.stateWith(...one)
      if (!isState && (await this.#attribution.isGits(path, now, stateWith))) return
      const was = isState ? before : textState(before, now, mode)
      if (sameState(was, now)) return
      if (!this.#files.track(key, path, was)) return this.#leaveOut(key, author)
      const tracked = this.#files.get(key)!
      const isOwn = (session: string) => author.turns.some(one => one.session === session)
      const turns = isLate ? working.filter(([session]) => !isOwn(session)) : working
      const others = turns.flatMap(([, turn]) => turn.author.turns)
      const all = isLate ? [...author.turns, ...others] : others.length > 0 ? others : author.turns
      const original = tracked.clone()
      const by = { turns: all, uncertain: true } as const
      const edits = this.#attribution.applyClaims(key, tracked, now)
      await this.#disk.noteConflict(key, original, now, edits)
      // a tool call may report the change later
      if (tracked.edit(now, by)) edits.push({ state: now, by, how: 'seen' })
      this.#attribution.note(key, tracked, original, tracked, edits)
      this.#files.save(key, tracked, edits.length > 0)
      this.#disk.reportConflict(key)
    })
  }

  /** Takes over the file's state at the start of the turn: earlier changes by agents may have been undone unnoticed. */
  #followTo(before: FileState, file: TrackedFile, { turns: [turn] }: AgentAuthor): void {
    const running = turn && this.#attribution.runningTurn(turn.session)
    const at = file.historyAt
    if (running && at !== undefined && running.began.isAfter(at)) file.editOnDisk(before, 'user')
  }

  /**
   * Whether the agent reports a file as new that existed before the turn and that Git ignores, so that searches for changes don't know its
   * text.
   */
  async #wasUnknown(
    path: string,
    original: FileState,
    now: FileState,
    { turns: [turn] }: AgentAuthor,
  ): Promise<boolean> {
    if (original.attributes.type !== 'absent' || now.attributes.type === 'absent') return false
    const created = (await lstat(onDisk(path)).catch(() => undefined))?.birthtimeMs
    const running = turn && this.#attribution.runningTurn(turn.session)
    return created !== undefined && running?.began.isAfter(created) === true && isIgnoredFile(path)
  }

  // ---- changed files that aren't tracked --------------------------------------------------------------------------

  #leaveOut(key: string, { turns }: AgentAuthor): void {
    for (const { session } of turns)
      this.#untracked.set(session, (this.#untracked.get(session) ?? new Set()).add(key))
    this.#files.reportChange([])
  }

  /** Stores which files changed during the session's turn but aren't tracked. */
  omit(session: string, omitted: Omitted): void {
    if (JSON.stringify(this.#omitted.get(session) ?? NOTHING) === JSON.stringify(omitted)) return
    this.#omitted.set(session, omitted)
    this.#files.reportChange([])
  }

  omitted(session: string): Omitted {
    const { files, folders } = this.#omitted.get(session) ?? NOTHING
    return { files: files + (this.#untracked.get(session)?.size ?? 0), folders }
  }
}
