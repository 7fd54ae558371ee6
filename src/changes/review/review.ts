/** The user's decisions about agents' changes: keeping and undoing them, and reverting an undo. */
import { isText } from '../../common/file-names.ts'
import type { FilesShared } from '../../editor/files/files.ts'
import { type MergedTexts, sameConflicts } from '../../editor/files/merge-texts.ts'
import { withLineEndsOf } from '../../editor/line-edits.ts'
import { smallestEdit, withLineEnd } from '../../editor/text.ts'
import type { DiskChanges } from '../detect/disk-changes.ts'
import type { FileReader } from '../detect/file-reader.ts'
import type { TrackedFiles } from '../detect/tracked-files.ts'
import type { FileViews } from '../documents/file-views.ts'
import type { Matches } from '../model/change-versions.ts'
import type { ContentHolders } from '../model/content-use.ts'
import { ABSENT, FileChangedError, type FileStates, sameAttributes, sameState } from '../model/file-state.ts'
import { TrackedFile } from '../model/tracked-file.ts'
import {
  type BegunUndo,
  type NoteUndone,
  restored,
  type UndoLog,
  type Undone,
  type UndoneFile,
  type UnrestoredFile,
} from '../model/undo-log.ts'
import type { UnsavedEdits, View } from '../model/unsaved-edits.ts'
import type { ReviewProgress } from './review-progress.ts'

export interface ReviewOptions {
  shared: FilesShared
  files: TrackedFiles
  reader: FileReader
  states: FileStates
  disk: DiskChanges
  unsaved: UnsavedEdits
  views: FileViews
  undoLog: UndoLog
  holders: ContentHolders
  progress: ReviewProgress
  /** Moves a file to the trash; the content is also in the store. Rejects if there is no trash. */
  trash: (path: string) => Promise<void>
}

/**
 * - `undone`: no change is left.
 * - `user`, `agent`: the changes that are left have later changes on top, by the user or another agent.
 * - `unsaved`: the file has unsaved changes that conflict with the undo.
 * - `conflict`: the file has unsaved changes and was written on disk meanwhile. {@link Review.merge} merges both.
 */
export type UndoOutcome = 'undone' | 'user' | 'agent' | 'unsaved' | 'conflict'

export interface UndoOptions {
  ids?: ReadonlySet<number>
  /** Whether to discard the user's later changes. */
  force?: boolean
  /** Whether to undo kept changes, too, as when restoring a checkpoint. */
  kept?: boolean
}

export class Review {
  readonly #shared: FilesShared
  readonly #files: TrackedFiles
  readonly #reader: FileReader
  readonly #states: FileStates
  readonly #disk: DiskChanges
  readonly #unsaved: UnsavedEdits
  readonly #views: FileViews
  readonly #undoLog: UndoLog
  readonly #holders: ContentHolders
  readonly #progress: ReviewProgress
  readonly #trash: (path: string) => Promise<void>

  constructor({
    shared,
    files,
    reader,
    states,
    disk,
    unsaved,
    views,
    undoLog,
    holders,
    progress,
    trash,
  }: ReviewOptions) {
    this.#shared = shared
    this.#files = files
    this.#reader = reader
    this.#states = states
    this.#disk = disk
    this.#unsaved = unsaved
    this.#views = views
    this.#undoLog = undoLog
    this.#holders = holders
    this.#progress = progress
    this.#trash = trash
  }

  /** Undos that can be reverted, newest first. */
  get undone(): readonly Undone[] {
    return this.#undoLog.all
  }

  /**
   * Keeps the matching changes: they become the user's text. Returns a function that makes the changes the agents' again, except for the
   * user's later changes. The function resolves to false if an agent has changed the file since, or if the file is gone.
   */
  keep(path: string, matches: Matches, ids?: ReadonlySet<number>): () => Promise<boolean> {
    const key = this.#files.paths.key(path)
    const file = this.#files.get(key)
    if (!file) return async () => false
    const before = file.clone()
    // keeps the contents in the store as long as the decision can be undone
    this.#holders.add(before, contentsOfFile)
    this.#files.noteDecision(key, file)
    // a change has the same id with and without the user's unsaved changes
    file.keep(matches, ids)
    const undoUnsaved = this.#unsaved.keep(key, matches, ids)
    this.#files.save(key, file, true)
    return () => this.#files.run(key, () => this.#undoKeep(key, before, undoUnsaved))
  }

  async #undoKeep(key: string, before: TrackedFile, undoUnsaved: () => void): Promise<boolean> {
    const now = this.#files.get(key)
    const state = now ? now.state : await this.#reader.read(before.path)
    if (!state || now?.gone || !sameAttributes(state.attributes, before.attributes)) return false
    const known = new Set(before.hunks(() => true).map(({ id }) => id))
    if (now?.hunks(() => true).some(({ id }) => !known.has(id))) return false
    const target = before.clone()
    target.edit(state, 'user')
    undoUnsaved()
    this.#files.set(key, target)
    this.#files.noteDecision(key, target)
    this.#files.save(key, target, true)
    return true
  }

  /**
   * Undoes the matching changes and leaves everything else. Rejects with the file system's error. `note` receives the undone changes, so
   * that {@link restore} can revert the undo.
   */
  async undo(path: string, matches: Matches, options: UndoOptions, note: NoteUndone): Promise<UndoOutcome> {
    const key = this.#files.paths.key(path)
    return this.#files.run(key, async () => {
      const known = this.#files.get(key)
      if (!known) return 'undone'
      await this.#states.checkInPlace(known.path)
      await this.#disk.check(key, known)
      const file = this.#files.get(key)
      if (!file || file.gone) return 'undone'
      const view = this.#views.withDocument(key, file)
      if (!view)
        return this.#unsaved.merge(key, file, this.#files.document(file.path)) ? 'conflict' : 'unsaved'
      const rewound = options.kept ? view.file.rewound(matches, options) : undefined
      if (options.kept && !rewound) return 'undone'
      const target = rewound?.file ?? view.file.clone()
      const conflict = rewound ? rewound.conflict : target.undo(matches, options)
      if (!sameState(target.state, view.file.state)) {
        if (view.document && target.attributes.type !== 'text') return 'unsaved'
        const withdraw = await note({ before: view.file.store(), after: target.store() })
        await this.#replace(key, file, target, view).catch(async (error: unknown) => {
          if (error instanceof FileChangedError) await withdraw()
          throw error
        })
        this.#files.noteDecision(key, file)
      } else if (!view.document && !rewound) {
        // a file that the agent added but that contains only the user's lines becomes the user's
        this.#files.set(key, target)
        this.#files.save(key, target, target.hasChanges !== file.hasChanges)
      }
      return conflict ?? 'undone'
    })
  }

  // ---- unsaved changes of a file that was written meanwhile ----------------------------------------------------------

  /** The file's unsaved changes merged with its content on disk; `undefined` if there is nothing to merge. */
  async unsavedMerge(path: string): Promise<MergedTexts | undefined> {
    const key = this.#files.paths.ownKey(path)
    return this.#files.run(key, async () => {
      const known = this.#files.get(key)
      if (known) await this.#disk.check(key, known)
      const file = this.#files.get(key)
      return file && this.#unsaved.merge(key, file, this.#files.document(file.path))
    })
  }

  /**
   * Merges the file's unsaved changes with its new content on disk, and saves the result. `take`: the side that wins in conflicts. Returns
   * false if the texts aren't `expected` anymore. Rejects with an error for the user.
   */
  async merge(path: string, take: 'mine' | 'theirs', expected: MergedTexts): Promise<boolean> {
    const key = this.#files.paths.ownKey(path)
    return this.#files.run(key, async () => {
      const file = this.#files.get(key)
      if (!file) return false
      await this.#states.checkInPlace(file.path)
      await this.#disk.check(key, file)
      const document = this.#files.document(file.path)
      const merged = this.#unsaved.merge(key, file, document)
      if (!document || !merged || !sameConflicts(merged, expected)) return false
      const before = document.text()
      const text = withLineEnd(merged[take], document.lineEnd)
      const edit = smallestEdit(before, text)
      if (edit && !(await document.replace(edit, before))) return false
      // write the text to disk first: VS Code doesn't save over a newer file, unless the file already has the document's text
      const state = { ...file.state, text: withLineEndsOf(text, file.text) }
      await this.#states.write(file.path, file.state, state, path => this.#discard(path))
      // if the user's lines win, no change of the agent is left to review
      const withoutConflicts =
        take === 'mine' && merged.conflicts.length > 0 ? merged.withoutConflicts : undefined
      const isReset =
        withoutConflicts !== undefined && file.editText(withLineEndsOf(withoutConflicts, file.text), 'user')
      this.#files.save(key, file, file.edit(state, 'user') || isReset)
      this.#unsaved.clearConflict(key)
      this.#unsaved.overwritten(key)
      if (document.isDirty() && !(await document.save()))
        this.#shared.log.warn(`${file.path} was merged, but the editor still shows it as unsaved.`)
      return true
    })
  }

  /** Begins an undo, which is stored on disk before it's done; `end` ends it. `into`: the earlier undo that it becomes part of. */
  async beginUndo(session: string | undefined, into?: Undone): Promise<BegunUndo> {
    await this.#files.ready
    return this.#undoLog.begin(session, into)
  }

  /** Reverts an undo. `only`: reverts it only for this file. Returns the files that were left unchanged. */
  async restore(id: string, only?: string): Promise<UnrestoredFile[]> {
    await this.#files.ready
    const restore = (key: string, one: UndoneFile, session?: string) =>
      this.#files.run(key, () => this.#restore(key, one, session))
    const unrestored = await this.#undoLog.restore(id, path => this.#files.paths.key(path), restore, only)
    this.#progress.restored(
      id,
      unrestored.map(({ path }) => path),
      only,
    )
    return unrestored
  }

  async #restore(key: string, one: UndoneFile, session?: string): Promise<boolean> {
    const { path } = one.before
    await this.#states.checkInPlace(path)
    const known = this.#files.get(key)
    if (known) await this.#disk.check(key, known)
    const now = await this.#reader.read(path, TrackedFile.restore(one.after)?.encoding)
    const file = this.#files.get(key) ?? (now && TrackedFile.of(path, now))
    const view = file && this.#views.withDocument(key, file)
    if (!view) return false
    const target = restored(one, view.file, session)
    if (!target || (view.document && target.attributes.type !== 'text')) return false
    this.#files.set(key, file)
    await this.#replace(key, file, target, view)
    return true
  }

  async #replace(
    key: string,
    file: TrackedFile,
    target: TrackedFile,
    { file: shown, document }: View,
  ): Promise<void> {
    if (document) {
      const before = document.text()
      const after = withLineEnd(target.text, document.lineEnd)
      const edit = smallestEdit(before, after)
      const withdraw = this.#unsaved.rewrite(
        key,
        { file: shown, text: before },
        { file: target, text: after },
      )
      if (edit && !(await document.replace(edit, before))) {
        withdraw()
        throw new Error('The editor rejected the change.')
      }
      const { attributes } = target
      if (
        attributes.type === 'text' &&
        file.attributes.type === 'text' &&
        attributes.mode !== file.attributes.mode
      )
        await this.#states.setMode(file.path, attributes.mode)
      await this.#disk.check(key, file)
      this.#files.reportChange([file.path])
      return
    }
    const expected = file.gone ? ABSENT : file.state
    await this.#states.write(file.path, expected, target.state, path => this.#discard(path))
    this.#files.set(key, target)
    this.#files.save(key, target, true)
  }

  /** Moves a file to the trash, or deletes it if there is none: its content is in the store. */
  async #discard(path: string): Promise<void> {
    const remove = () => this.#shared.fileSystem.remove(path)
    await (isText(path) ? this.#trash(path).catch(remove) : remove())
  }
}

/** The contents that a file refers to. A closure in `keep` would keep the file in memory, so this is a function of its own. */
function contentsOfFile(file: TrackedFile): string[] {
  return file.contents
}
