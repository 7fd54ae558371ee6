/** Follows the tracked files on disk, and attributes each difference to the user or to agents. */

import { forEachConcurrent } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { FilesShared } from '../../editor/files/files.ts'
import { mergeLines, splitLines, withLineEndsOf } from '../../editor/line-edits.ts'
import { sameButEnds } from '../../editor/text.ts'
import { latestChange } from '../model/change-time.ts'
import type { Author } from '../model/change-versions.ts'
import { type PastEdit, withEdits } from '../model/file-past.ts'
import { type FileState, sameState } from '../model/file-state.ts'
import type { TrackedFile } from '../model/tracked-file.ts'
import type { UnsavedEdits } from '../model/unsaved-edits.ts'
import type { Attribution } from './attribution.ts'
import { CommittedChanges } from './committed-changes.ts'
import type { FileReader } from './file-reader.ts'
import { FileWatch } from './file-watch.ts'
import { type RepositoryPosition, repositoryOf } from './repository-moves.ts'
import type { TrackedFiles } from './tracked-files.ts'

/** Number of files read at the same time. */
const MAX_READS = 8

export interface DiskChangesOptions {
  shared: FilesShared
  files: TrackedFiles
  reader: FileReader
  attribution: Attribution
  unsaved: UnsavedEdits
  /** Keeps the committed changes with these ids, or all changes of the file. */
  keep: (path: string, ids?: ReadonlySet<number>) => void
  /** Resolves when the turns of an earlier window are known, to which changes may belong. */
  agentsBack: Promise<void> | undefined
}

export class DiskChanges extends Owner {
  readonly #shared: FilesShared
  readonly #files: TrackedFiles
  readonly #reader: FileReader
  readonly #attribution: Attribution
  readonly #unsaved: UnsavedEdits
  readonly #committed: CommittedChanges
  /** keys of files that changed on disk while a notebook or custom editor had unsaved changes, and whether the user was notified */
  readonly #elsewhere = new Map<string, { isReported: boolean }>()
  /** keys of files that the user is renaming, whose disappearance or appearance isn't a change */
  readonly #renaming = new Set<string>()
  readonly #conflict = this.register(new Emitter<string>())

  /** Fires with the path of a file that an agent changed on disk while its document, notebook or custom editor had unsaved changes. */
  readonly onDidConflict = this.#conflict.event

  constructor({ shared, files, reader, attribution, unsaved, keep, agentsBack }: DiskChangesOptions) {
    super()
    this.#shared = shared
    this.#files = files
    this.#reader = reader
    this.#attribution = attribution
    this.#unsaved = unsaved
    this.#committed = new CommittedChanges({
      files: () => files.values(),
      stateWith: (...file) => reader.stateWith(...file),
      keep,
    })
    const watch = new FileWatch(
      shared.watch,
      path => files.paths.ownKey(path),
      keys => void this.#checkReported(keys),
    )
    this.register(watch)
    this.register(files.onDidFill(isFilled => watch.set(isFilled)))
    void Promise.all([files.ready, agentsBack]).then(() => {
      void this.#checkAll(files.keys())
      void this.#followRepositories()
    })
  }

  /** Records that no turn is running anymore. */
  endTurns(): void {
    this.#unsaved.endTurns()
  }

  /** Reads all tracked files from disk again. Never rejects. */
  async refresh(): Promise<void> {
    await this.#files.ready
    await this.#checkAll(this.#files.keys())
    await this.#keepCommitted()
  }

  /** Like {@link refresh}, but only files that `covers` selects. */
  async refreshIn(covers: (path: string) => boolean): Promise<void> {
    await this.#checkAll(this.#files.entries().flatMap(([key, { path }]) => (covers(path) ? key : [])))
    await this.#keepCommitted()
  }

  /** Starts to notice commits in this repository. */
  followRepository(position: RepositoryPosition): void {
    this.#committed.follow(position)
  }

  /** Follows the repositories of the files that were tracked before the window opened. */
  async #followRepositories(): Promise<void> {
    const folders = new Set(this.#files.values().map(({ path }) => this.#shared.rules.dirname(path)))
    for (const folder of folders) {
      const position = await repositoryOf(folder).catch(() => undefined)
      if (position) this.followRepository(position)
    }
  }

  async #keepCommitted(): Promise<void> {
    await this.#committed
      .check()
      .catch(error => this.#shared.log.debug(`Commits couldn't be compared: ${messageOf(error)}`))
  }

  /** Checks the tracked files that are among these changed files and folders, or inside of them. */
  async #checkReported(keys: ReadonlySet<string>): Promise<void> {
    await this.#checkAll(this.#within(keys))
    if ([...keys].some(key => /[\\/]\.git[\\/]/.test(key))) await this.#keepCommitted()
  }

  /** The keys of tracked files that are among these files and folders, or inside of them. */
  #within(keys: ReadonlySet<string>): string[] {
    const { rules } = this.#shared
    const isWithin = (path: string): boolean => {
      for (let at = path, below = ''; at !== below; below = at, at = rules.dirname(at))
        if (keys.has(this.#files.paths.key(at))) return true
      return false
    }
    return this.#files.entries().flatMap(([key, { path }]) => (isWithin(path) ? key : []))
  }

  async #checkAll(keys: readonly string[]): Promise<void> {
    await forEachConcurrent(keys, MAX_READS, key =>
      this.#files
        .run(key, async () => {
          const file = this.#files.get(key)
          if (file) await this.checkUnlessBusy(key, file)
        })
        .catch(error => this.#shared.log.debug(`A changed file couldn't be checked: ${messageOf(error)}`)),
    )
  }

  // ---- files that the user renames ---------------------------------------------------------------------------------

  expectRename(key: string): void {
    this.#renaming.add(key)
  }

  isRenaming(key: string): boolean {
    return this.#renaming.has(key)
  }

  endRename(key: string): void {
    this.#renaming.delete(key)
  }

  // ---- one file, in its queue --------------------------------------------------------------------------------------

  /** Like {@link check}, but does nothing while the file is being written through the client or renamed, since the author is known then. */
  async checkUnlessBusy(key: string, file: TrackedFile): Promise<void> {
    if (!this.#attribution.clientWrite(key) && !this.#renaming.has(key)) await this.check(key, file)
  }

  /** Replaces the tracked file with a version in which a late report has corrected the authors of earlier changes. */
  correct(key: string, file: TrackedFile): void {
    this.#files.set(key, file)
    this.#unsaved.correctEmptied(key, this.#attribution.pasts.beforeEmptied(key, file))
  }

  /** Reads the file, and attributes its changes. */
  async check(key: string, file: TrackedFile): Promise<void> {
    const now = await this.#reader.readWhole(file)
    if (now) await this.attribute(key, file, now)
  }

  /** Like {@link check}. Doesn't report a conflict, which the write through the client that follows may merge. */
  async checkBeforeWrite(key: string, file: TrackedFile): Promise<void> {
    const now = await this.#reader.readWhole(file)
    if (now) await this.#attribute(key, file, now)
  }

  /** Attributes the difference between the last known file and the file as it is now. */
  async attribute(key: string, file: TrackedFile, now: FileState, otherwise: Author = 'user'): Promise<void> {
    await this.#attribute(key, file, now, otherwise)
    this.reportConflict(key)
  }

  async #attribute(
    key: string,
    file: TrackedFile,
    now: FileState,
    otherwise: Author = 'user',
  ): Promise<void> {
    if (!file.gone && sameState(file.state, now)) return
    const stateWith = (...one: Parameters<FileReader['stateWith']>) => this.#reader.stateWith(...one)
    const isGits = await this.#attribution.isGits(file.path, now, stateWith)
    // only if Git has run: otherwise, an agent that makes the same change again is the author of that change
    const mayBeBack = file.hasEarlier && (await this.#attribution.hasGitMoved(file.path))
    const working = this.#attribution.workingTurns(file.path)
    const covers = (path: string) => working.some(([, turn]) => turn.covers(path))
    const latest = await latestChange(file.path, this.#shared.rules, covers)
    const isOtherText = file.text !== now.text
    const unsaved = this.#files.document(file.path)
    // the user may go on typing after the save
    const inEditor = [...this.#unsaved.beingSaved(key), ...(unsaved?.isDirty() ? [unsaved.text()] : [])]
    // an empty editor for a missing file doesn't mean that the user saved an empty file
    const typed = isOtherText && now.attributes.type === 'text' ? inEditor : []
    // the editor has saved the user's text; the event that reports the save follows, or is queued behind this work
    if (typed.some(text => sameButEnds(text, now.text))) return this.attributeSaved(key, file, now)
    const before = file.clone()
    // or the editor has saved the user's text, and the file was written again since
    const edits = typed.flatMap(text => {
      const saved = editSaved(file, text, now.text)
      if (saved.length > 0) this.#unsaved.attributed(key, text)
      return saved
    })
    edits.push(...this.#attribution.applyClaims(key, file, now))
    const by = this.#attribution.authorOf(key, file, now, { otherwise, isGits, changed: latest })
    await this.noteConflict(key, before, now, edits)
    const mayBringBack = mayBeBack || by === 'user'
    if (file.editOnDisk(now, by, mayBringBack))
      edits.push({ state: now, by, how: isGits ? 'known' : 'seen', onDisk: { mayBringBack } })
    const isBehind = unsaved !== undefined && !sameButEnds(unsaved.text(), now.text)
    this.#attribution.note(key, file, before, file, edits, isBehind)
    this.#files.save(key, file, edits.length > 0)
  }

  /**
   * Records that the file changed on disk, since its document may have unsaved changes that are based on the previous content. `edits`: the
   * known parts of the change from `before` to `now`, with their authors.
   */
  async noteConflict(
    key: string,
    before: TrackedFile,
    now: FileState,
    edits: readonly PastEdit[] = [],
  ): Promise<void> {
    if (before.text === now.text) return
    if (!this.#files.isUnsavedElsewhere(before.path)) this.#elsewhere.delete(key)
    else if (!this.#elsewhere.has(key)) this.#elsewhere.set(key, { isReported: false })
    // the editor may have emptied the file to write the user's text
    const isEmptied = now.text === '' && this.#unsaved.beingSaved(key).length > 0
    if (!isEmptied && !this.#files.document(before.path)?.isDirty()) return
    const begunFrom = await this.#unsaved.begunFrom(this.#files.paths.keysOf(before.path))
    if (begunFrom !== undefined && sameButEnds(begunFrom, now.text)) return
    const written = edits.filter(({ state }) => state.text !== '')
    this.#unsaved.changedOnDisk(key, withEdits(before, written), now, begunFrom ?? before.text)
  }

  /**
   * Notifies the user, once, that unsaved changes conflict with an agent's write to disk, if they can be merged, or if they are in a
   * notebook or custom editor.
   */
  reportConflict(key: string): void {
    const file = this.#files.get(key)
    const elsewhere = this.#elsewhere.get(key)
    if (file?.hasChanges && elsewhere && !elsewhere.isReported) {
      elsewhere.isReported = true
      this.#conflict.fire(file.path)
    }
    if (!file?.hasChanges || !this.#unsaved.hasUnreported(key)) return
    if (!this.#unsaved.merge(key, file, this.#files.document(file.path))) return
    this.#unsaved.reported(key)
    this.#conflict.fire(file.path)
  }

  /** Attributes the differences to the user, who has just saved the file in the editor. */
  attributeSaved(key: string, file: TrackedFile, now: FileState): void {
    this.#unsaved.attributed(key, now.text)
    const { known, followed, isOther } = this.#unsaved.save(key, file, () =>
      this.#attribution.pasts.takeEmptied(key, file),
    )
    const isChanged = known.edit(now, 'user') || isOther
    // if nothing changed, the save was seen on disk before: keep the file that was noted then, which a late report needs
    if (isChanged) this.#files.set(key, known)
    if (!followed) this.#attribution.pasts.forget(key)
    else if (isChanged)
      this.#attribution.note(key, followed, followed, known, [{ state: now, by: 'user', how: 'saved' }])
    else this.#attribution.pasts.settle(key, file)
    this.#files.save(key, known, isChanged)
  }
}

/** The edits that lead to the text on disk if it contains everything that the user typed: then that was saved and is the user's. */
function editSaved(file: TrackedFile, typed: string, now: string): PastEdit[] {
  const text = withLineEndsOf(typed, file.text)
  const merged = mergeLines(splitLines(file.text), splitLines(text), splitLines(now))
  if (merged?.join('') !== now || !file.editText(text, 'user')) return []
  return [{ state: file.state, by: 'user', how: 'saved' }]
}
