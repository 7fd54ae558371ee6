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
  /** It was closed since it was found, and takes no more changes. */
  isClosed(): boolean
  /** It has one kind of line end; text put in gets it. */
  readonly lineEnd: '\n' | '\r\n'
  /** VS Code's name of the encoding that it is saved in: `utf8`, `utf8bom`, `windows1252`, … */
  readonly encoding: string
  /**
   * Replaces the UTF-16 units from `start` to `end` as one step of undo, if the text is still `expected`. False:
   * the text had changed, or the editor did not take it.
   */
  replace(edit: { start: number; end: number; text: string }, expected: string): Promise<boolean>
  /** False: the editor did not save it (it shows the user why). */
  save(): Promise<boolean>
}

/** The editor's open documents of files on this machine's disk. */
export interface Documents {
  /** The document of any of these spellings of one path. */
  find(paths: readonly string[]): OpenDocument | undefined
}

/** For where there is no editor. */
export const noDocuments: Documents = { find: () => undefined }

/** How often an edit is retried when the user types at the same moment. */
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
   * False: the document is not the way to write this file, which is to be written directly. What the user had not
   * saved, and what the disk had that the document did not, can be had back by undoing.
   */
  async write(document: OpenDocument, file: GuardedPath, content: string): Promise<boolean> {
    const info = await this.#files.stat(file, 'write')
    // Reported before anything is changed in the editor.
    await this.#files.checkWritable(file, info)
    const text = withLineEnd(withoutMark(content), document.lineEnd)
    if (!document.isDirty()) {
      if (info) {
        const onDisk = await this.#files.current(file, info, document.encoding)
        // The editor hasn't noticed the change on disk yet: it will load it, as a step of undo.
        // Saving the document instead would end in a conflict.
        if (!onDisk || withLineEnd(onDisk.text, document.lineEnd) !== document.text()) return false
        if (document.text() === text) return true
      } else if (document.text() === text) {
        // Saving makes a deleted file again, but not when there is nothing to save.
        return false
      }
    }
    if (!(await this.#put(document, file, text))) return false
    if (!document.isDirty() || (await document.save())) return true
    await this.#force(document, file, text)
    return true
  }

  /**
   * The editor did not save, mostly because the file on disk is newer than the document with its unsaved changes.
   * What is on disk becomes a step of undo, then it is replaced; the document, equal to the file then, can be saved.
   */
  async #force(document: OpenDocument, file: GuardedPath, text: string): Promise<void> {
    this.#log.info(`The editor did not save ${file.path}; writing it directly.`)
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

  /** Makes the document hold the text, while the user may be typing. False: it was closed meanwhile. */
  async #put(document: OpenDocument, file: GuardedPath, text: string): Promise<boolean> {
    for (let tries = 0; tries < EDIT_TRIES; tries += 1) {
      if (document.isClosed()) return false
      const before = document.text()
      const edit = smallestEdit(before, text)
      if (!edit || (await document.replace(edit, before))) return true
    }
    if (document.isClosed()) return false
    throw new FileError('not-saved', `Cannot write ${file.path}: the editor did not take the change.`)
  }
}

function storageOf(document: OpenDocument): Storage {
  const { encoding } = document
  if (encoding === 'utf8bom') return { encoding: 'utf8', bom: true }
  return { encoding, bom: encoding === 'utf16le' || encoding === 'utf16be' }
}
