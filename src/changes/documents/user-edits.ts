/** Follows what the user does with files in the editor: types, saves, and renames. */
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { FilesShared } from '../../editor/files/files.ts'
import { withLineEndsOf } from '../../editor/line-edits.ts'
import { sameButEnds } from '../../editor/text.ts'
import type { Attribution } from '../detect/attribution.ts'
import type { DiskChanges } from '../detect/disk-changes.ts'
import type { FileReader } from '../detect/file-reader.ts'
import type { TrackedFiles } from '../detect/tracked-files.ts'
import type { TrackedFile } from '../model/tracked-file.ts'
import type { UnsavedEdits } from '../model/unsaved-edits.ts'

export interface UserEditsOptions {
  shared: FilesShared
  files: TrackedFiles
  reader: FileReader
  disk: DiskChanges
  attribution: Attribution
  unsaved: UnsavedEdits
}

export class UserEdits extends Owner {
  readonly #shared: FilesShared
  readonly #files: TrackedFiles
  readonly #reader: FileReader
  readonly #disk: DiskChanges
  readonly #attribution: Attribution
  readonly #unsaved: UnsavedEdits
  readonly #userEdit = this.register(new Emitter<string>())

  /**
   * Fires with the path of a file that the user begins to edit before the agents' changes in it are known. The text on disk isn't the
   * user's edit yet.
   */
  readonly onDidBeginEdit = this.#userEdit.event

  constructor({ shared, files, reader, disk, attribution, unsaved }: UserEditsOptions) {
    super()
    this.#shared = shared
    this.#files = files
    this.#reader = reader
    this.#disk = disk
    this.#attribution = attribution
    this.#unsaved = unsaved
  }

  /**
   * Handles that the user saved a file in the editor. `likely`: the user may have discarded unsaved changes instead, which also leaves the
   * document unmodified.
   */
  saved(path: string, text: string, { likely = false } = {}): void {
    const at = this.#files.paths.ownKey(path)
    const saving = this.#unsaved.saving(at, text)
    const attributing = this.#ofUser(path, async (key, file) => {
      if (likely && this.#unsaved.isStale(key)) {
        const now = await this.#reader.read(file.path)
        if (now?.attributes.type !== 'text' || !sameButEnds(now.text, text)) return
      }
      const write = this.#attribution.clientWrite(key)
      if (write && (write.shown || sameButEnds(write.content, text))) return
      this.#attribution.pasts.endCorrections(key)
      if (!write) {
        const now = await this.#reader.read(file.path)
        if (now?.attributes.type === 'text' && sameButEnds(now.text, text)) {
          // the file on disk still has changes that were undone in the document: the user has discarded the document's changes
          if (likely && this.#unsaved.isRewritten(key) && sameButEnds(file.text, text)) return
          return this.#disk.attributeSaved(key, file, now)
        }
      }
      // the file may have been written again since it was seen with the saved text
      if (saving.isAttributed && !this.#unsaved.isRewritten(key)) return
      const { known, followed, isOther } = this.#unsaved.save(key, file, () =>
        this.#attribution.pasts.takeEmptied(key, file),
      )
      this.#files.set(key, known)
      const isChanged = known.editText(withLineEndsOf(text, known.text), 'user') || isOther
      const edit = { state: known.state, by: 'user', how: 'saved' } as const
      if (!followed) this.#attribution.pasts.forget(key)
      else if (isChanged) this.#attribution.note(key, followed, followed, known, [edit])
      this.#files.save(key, known, isChanged)
      if (!write) await this.#disk.check(key, known)
    })
    void attributing
      .then(isTracked => (isTracked ? undefined : this.#remember(path, text)))
      .then(() => this.#unsaved.endSaving(at, saving))
  }

  /**
   * Remembers a text that the user saved in an untracked file: if a tool call reports a change of the file later, the user's text isn't
   * taken for the agent's.
   */
  async #remember(path: string, text: string): Promise<void> {
    if (this.#attribution.isQuiet) return
    const key = this.#files.paths.key(await this.#files.realPath(path))
    this.#unsaved.remember(key, text)
  }

  /** Handles that the user saved a file in an editor without a document: a notebook or a custom editor. */
  savedElsewhere(path: string): void {
    void this.#ofUser(path, async (key, file) => {
      if (this.#attribution.clientWrite(key)) return
      const now = await this.#reader.read(file.path)
      if (!now) return
      // the file may have been seen on disk before the editor reported the save
      const known = this.#attribution.pasts.saved(key, file, now)
      if (known) this.#files.set(key, known)
      const before = file.clone()
      const isChanged = !known && file.edit(now, 'user')
      if (isChanged)
        this.#attribution.note(key, file, before, file, [{ state: now, by: 'user', how: 'saved' }])
      this.#files.save(key, known ?? file, known !== undefined || isChanged)
    })
  }

  /** Handles a change of a document. Its text has unsaved changes (`dirty`) or equals the file on disk. */
  typed(path: string, textOf: () => string, dirty: boolean): void {
    const at = this.#files.paths.ownKey(path)
    if (!dirty) this.#unsaved.end(at)
    else if (!this.#files.has(at)) this.#unsaved.begin(at, () => this.#begin(path))
    else if (!this.#unsaved.has(at) && this.#attribution.pasts.isAssumed(at)) this.#userEdit.fire(path)
    if (dirty ? this.#files.size === 0 : !this.#unsaved.has(at) && !this.#files.has(at)) return
    const write = this.#attribution.clientWrite(at)
    // read the text only if its author isn't clear: it may be the agent's, the user's typing before or after it, or the text on disk,
    // because the user has saved meanwhile
    const text = dirty && (write || this.#attribution.pasts.isDocumentBehind(at)) ? textOf() : undefined
    if (dirty) this.#unsaved.follow(at, textOf)
    void this.#ofUser(path, async (key, known) => {
      let file = known
      if (write && text !== undefined) {
        if (sameButEnds(write.content, text)) write.shown = true
        else if (!write.shown) write.typed = text
      } else if (text !== undefined) {
        const typed = this.#attribution.pasts.typed(key, file, text)
        if (typed) {
          file = typed
          this.#files.set(key, file)
          this.#files.save(key, file, true)
        }
      }
      if (!dirty) this.#attribution.pasts.documentReloaded(key)
      const was = this.#unsaved.has(key)
      if (dirty) this.#unsaved.add(key)
      else {
        const had = this.#unsaved.delete(key)
        // the document equals its file now: it was saved, reloaded or closed, or its edits were undone
        await this.#disk.checkUnlessBusy(key, file)
        if (had) this.#files.save(key, file, true)
      }
      if (file.hasChanges && (dirty || was)) this.#files.reportChange([file.path])
    })
  }

  /** Reports that the user begins to edit an untracked file. Returns the file's text on disk. */
  async #begin(path: string): Promise<string | undefined> {
    const state = await this.#reader.stateOf(await this.#files.realPath(path))
    this.#userEdit.fire(path)
    return state?.attributes.type === 'text' ? state.text : undefined
  }

  /**
   * Runs `work` on a tracked file, in the order of the editor's events. Resolves with false if the file isn't tracked. Never
   * rejects.
   */
  async #ofUser(path: string, work: (key: string, file: TrackedFile) => Promise<void>): Promise<boolean> {
    try {
      await this.#files.ready
      if (this.#files.size === 0) return false
      let key = this.#files.paths.ownKey(path)
      if (!this.#files.has(key)) {
        const real = await this.#files.realPath(path)
        this.#files.paths.alias(real, [path])
        key = this.#files.paths.key(real)
      }
      return await this.#files.runLoaded(key, async () => {
        const file = this.#files.get(key)
        if (file) await work(key, file)
        return file !== undefined
      })
    } catch (error) {
      this.#shared.log.debug(`A changed file couldn't be checked: ${messageOf(error)}`)
      return true
    }
  }
}
