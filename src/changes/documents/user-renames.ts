/** Follows files and folders that the user renames in the editor: the agents' changes move with them. */

import type { FilesShared } from '../../editor/files/files.ts'
import type { DiskChanges } from '../detect/disk-changes.ts'
import type { FileReader } from '../detect/file-reader.ts'
import type { TrackedFiles } from '../detect/tracked-files.ts'
import { movedBack, movedTo } from '../model/renames.ts'
import { TrackedFile } from '../model/tracked-file.ts'
import type { UndoLog } from '../model/undo-log.ts'
import type { UnsavedEdits } from '../model/unsaved-edits.ts'

/** The user's decisions about files, which move with the files. `moved` returns the new path of a renamed file. */
interface Decided {
  renamed(moved: (path: string) => string | undefined): void
}

export interface UserRenamesOptions {
  shared: FilesShared
  files: TrackedFiles
  reader: FileReader
  disk: DiskChanges
  unsaved: UnsavedEdits
  undoLog: UndoLog
  progress: Decided
}

export class UserRenames {
  readonly #shared: FilesShared
  readonly #files: TrackedFiles
  readonly #reader: FileReader
  readonly #disk: DiskChanges
  readonly #unsaved: UnsavedEdits
  readonly #undoLog: UndoLog
  readonly #progress: Decided

  constructor({ shared, files, reader, disk, unsaved, undoLog, progress }: UserRenamesOptions) {
    this.#shared = shared
    this.#files = files
    this.#reader = reader
    this.#disk = disk
    this.#unsaved = unsaved
    this.#undoLog = undoLog
    this.#progress = progress
  }

  /** Prepares for a rename of files or folders by the user: files that disappear or appear because of the rename aren't changes. */
  renaming(from: string, to: string): void {
    const { rules } = this.#shared
    for (const [key, { path }] of this.#files.entries()) {
      if (rules.contains(from, path) || rules.contains(to, path)) this.#disk.expectRename(key)
    }
  }

  /** Moves the changes of files or folders that the user renamed in the editor. */
  async renamed(from: string, to: string): Promise<void> {
    await this.#files.ready
    const { rules } = this.#shared
    const real = await this.#files.realPath(to)
    for (const [key, file] of this.#files.entries()) {
      if (!rules.contains(from, file.path)) continue
      const path = rules.same(from, file.path) ? real : rules.join(real, rules.relative(from, file.path))
      await this.#files.runLoaded(key, async () => {
        this.#disk.endRename(key)
        if (this.#files.get(key) !== file) return
        const giveUnsaved = this.#unsaved.move(key)
        this.#files.forget(key)
        const next = this.#files.paths.key(path)
        const there = this.#files.get(next)
        const back = there && movedBack(file, there)
        if (there?.isKnown && !back) {
          await this.#giveToUser(there)
          await this.#undoLog.putAside(there)
        }
        const moved = back ?? file.clone(path)
        this.#disk.endRename(next)
        this.#files.set(next, moved)
        giveUnsaved(next, path)
        this.#files.save(next, moved, true)
        this.#files.reportChange([file.path, path])
      })
    }
    this.#progress.renamed(path => {
      if (!rules.contains(from, path)) return undefined
      return rules.same(from, path) ? real : rules.join(real, rules.relative(from, path))
    })
    // a renamed file without agents' changes has replaced a file that an agent removed, so the new file is the user's
    for (const [key, { path }] of this.#files.entries()) {
      if (!rules.contains(real, path) || !this.#disk.isRenaming(key)) continue
      await this.#files.runLoaded(key, async () => {
        this.#disk.endRename(key)
        const file = this.#files.get(key)
        const now = file && (await this.#reader.read(path))
        if (now) this.#files.save(key, file, file.edit(now, 'user'))
      })
    }
  }

  /** Makes the new file of a rename by an agent the user's, with the agents' edits, since the file can't get its old name back. */
  async #giveToUser(deleted: TrackedFile): Promise<void> {
    const added = movedTo(deleted, this.#files.values())
    if (!added) return
    const { path } = added
    const key = this.#files.paths.key(path)
    await this.#files.runLoaded(key, async () => {
      if (this.#files.get(key) !== added) return
      const isText = added.attributes.type === 'text'
      const file = isText ? movedBack(added, deleted)?.clone(path) : TrackedFile.of(path, added.state)
      if (!file) return
      this.#files.set(key, file)
      this.#files.save(key, file, true)
    })
  }
}
