import type { Logger } from '../../common/logger.ts'
import type { GuardedPath } from '../path-guard.ts'
import { smallestEdit, withLineEnd } from '../text.ts'
import { FileError, fileErrorOf } from './file-system.ts'
import { type Storage, type TextFiles, withoutMark } from './text-files.ts'

/** A text document that the editor has open, as `SessionFiles` sees it. */
export interface OpenDocument {
  /** the whole text, unsaved changes included, with the document's own line ends */
  text(): string
  isDirty(): boolean
  /** It was closed meanwhile and can't be changed anymore. */
  isClosed(): boolean
  /** The document's line end, which inserted text gets. */
  readonly lineEnd: '\n' | '\r\n'
  /** VS Code's name of the encoding in which it's saved: `utf8`, `utf8bom`, `windows1252`, … */
  readonly encoding: string
  /**
   * Replaces the UTF-16 units from `start` to `end` as one undo step, if the text is still `expected`. Returns false if
   * the text has changed or the editor refused the edit.
   */
  replace(edit: { start: number; end: number; text: string }, expected: string): Promise<boolean>
  /** Returns false if the editor didn't save it (it shows the user why). */
  save(): Promise<boolean>
}

/** The editor's open documents of files on this machine's disk. */
export interface Documents {
  /** The document for any of these spellings of a path. */
  find(paths: readonly string[]): OpenDocument | undefined
}

/** Used without an editor. */
export const noDocuments: Documents = { find: () => undefined }

/** How often an edit is retried if the user types at the same moment. */
const EDIT_TRIES = 5

/** Writes an agent's text through a document that the editor has open, so that it can be undone there. */
export class DocumentWriter {
  readonly #files: TextFiles
  readonly #log: Logger

  constructor(files: TextFiles, log: Logger) {
    this.#files = files
    this.#log = log
  }

  /**
   * Returns false if the file must be written directly instead. `checkUnmoved` rejects if the file's path leads elsewhere
   * by now. Undoing restores the user's unsaved changes, and what was
   * on disk but not in the document.
   */
  async write(
    document: OpenDocument,
    file: GuardedPath,
    content: string,
    checkUnmoved: () => Promise<void>,
  ): Promise<boolean> {
    const info = await this.#files.stat(file, 'write')
    // Reported before anything is changed in the editor.
    await this.#files.checkWritable(file, info)
    const text = withLineEnd(withoutMark(content), document.lineEnd)
    if (!document.isDirty()) {
      if (info) {
        const onDisk = await this.#files.current(file, info, document.encoding)
        // The editor hasn't noticed the change on disk yet: it will load it as an undo step. Saving the document would
        // cause a conflict.
        if (!onDisk || withLineEnd(onDisk.text, document.lineEnd) !== document.text()) return false
        if (document.text() === text) return true
      } else if (document.text() === text) {
        // Saving recreates a deleted file, but not if there is nothing to save.
        return false
      }
    }
    if (!(await this.#put(document, file, text))) return false
    if (!document.isDirty()) return true
    // The editor saves to wherever the path leads by then.
    await checkUnmoved()
    if (await document.save()) return true
    await this.#force(document, file, text)
    return true
  }

  /**
   * The editor didn't save, usually because the file on disk is newer than the document with its unsaved changes. Makes
   * the text on disk an undo step and then replaces the file, so that the document equals the file and can be saved.
   */
  async #force(document: OpenDocument, file: GuardedPath, text: string): Promise<void> {
    this.#log.info(`The editor didn't save ${file.path}, so it's written directly.`)
    try {
      const info = await this.#files.stat(file, 'write')
      const onDisk = await this.#files.current(file, info, document.encoding)
      const other = onDisk && withLineEnd(onDisk.text, document.lineEnd)
      if (other !== undefined && other !== text && (await this.#put(document, file, other))) {
        await this.#put(document, file, text)
      }
      await this.#files.replace(file, info, text, onDisk ?? storageOf(document))
    } catch (error) {
      throw new FileError(
        'not-saved',
        `${fileErrorOf(error, 'write', file.path).message} The new text is in the editor, not saved.`,
        { cause: error },
      )
    }
    if (document.isClosed() || !document.isDirty() || (await document.save())) return
    this.#log.warn(`${file.path} was written, but the editor still shows it as unsaved.`)
  }

  /** Sets the document's text, while the user may be typing. Returns false if it was closed meanwhile. */
  async #put(document: OpenDocument, file: GuardedPath, text: string): Promise<boolean> {
    for (let tries = 0; tries < EDIT_TRIES; tries += 1) {
      if (document.isClosed()) return false
      const before = document.text()
      const edit = smallestEdit(before, text)
      if (!edit || (await document.replace(edit, before))) return true
    }
    if (document.isClosed()) return false
    throw new FileError('not-saved', `Cannot write ${file.path}: the editor rejected the change.`)
  }
}

function storageOf(document: OpenDocument): Storage {
  const { encoding } = document
  if (encoding === 'utf8bom') return { encoding: 'utf8', bom: true }
  return { encoding, bom: encoding === 'utf16le' || encoding === 'utf16be' }
}
