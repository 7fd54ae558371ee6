import type { Logger } from '../../common/logger.ts'
import type { GuardedPath } from '../path-guard.ts'
import { lineEnd, smallestEdit, withLineEnd } from '../text.ts'
import type { AgentWrite } from './agent-write.ts'
import { FileError, fileErrorOf, WrittenMeanwhileError } from './file-system.ts'
import { mergeTexts } from './merge-texts.ts'
import type { Storage, TextFiles } from './text-files.ts'

/** A text document that the editor has open, with the functions that `SessionFiles` uses. */
export interface OpenDocument {
  /** Returns the whole text, including unsaved changes, with the document's own line ends. */
  text(): string
  isDirty(): boolean
  /** Whether the document was closed and can't be changed anymore. */
  isClosed(): boolean
  /** The document's line end, which is used in inserted text. */
  readonly lineEnd: '\n' | '\r\n'
  /** VS Code's name of the encoding in which the document is saved: `utf8`, `utf8bom`, `windows1252`, … */
  readonly encoding: string
  /**
   * Replaces the UTF-16 units from `start` to `end` as one undo step, if the text is still `expected`. Resolves to false if the text has
   * changed or the editor refused the edit.
   */
  replace(edit: { start: number; end: number; text: string }, expected: string): Promise<boolean>
  /** Saves the document. Resolves to false if the editor didn't save it (the editor shows the reason to the user). */
  save(): Promise<boolean>
}

/** The editor's open documents of files on this machine's disk. */
export interface Documents {
  /** Returns the open document of a file, given several spellings of the file's path. */
  find(paths: readonly string[]): OpenDocument | undefined
  /** Whether a notebook or a custom editor, which have no text document, has unsaved changes of the file. */
  isUnsavedElsewhere(paths: readonly string[]): boolean
  /** Returns the paths of all files with unsaved changes, including those in notebooks and custom editors. */
  unsaved(): string[]
}

/** Stands for the documents where there is no editor. */
export const noDocuments: Documents = {
  find: () => undefined,
  isUnsavedElsewhere: () => false,
  unsaved: () => [],
}

/** Maximum number of tries of an edit while the user types. */
const EDIT_TRIES = 5

/** Writes an agent's text through a document that the editor has open, so that the user can undo the write there. */
export class DocumentWriter {
  readonly #files: TextFiles
  readonly #log: Logger

  constructor(files: TextFiles, log: Logger) {
    this.#files = files
    this.#log = log
  }

  /**
   * Writes an agent's text through a document. Resolves to false if the file must be written directly instead. `checkUnmoved` rejects if
   * the file's path leads elsewhere by now. Unsaved changes are merged with the agent's text and saved with it; if the agent's text is on
   * disk already and the unsaved changes are based on it, they stay unsaved. Undoing restores the user's text, and text that was on disk
   * but not in the document.
   */
  async write(
    document: OpenDocument,
    file: GuardedPath,
    write: AgentWrite,
    checkUnmoved: () => Promise<void>,
  ): Promise<boolean> {
    // Report errors before anything is changed in the editor.
    await this.#files.checkWritable(file, await this.#files.stat(file, 'write'))
    for (let tries = 0; tries < EDIT_TRIES; ) {
      const info = await this.#files.stat(file, 'write')
      const stored = await this.#files.current(file, info, document.encoding)
      const onDisk = stored && withLineEnd(stored.text, document.lineEnd)
      if (document.isClosed()) return false
      const now = document.text()
      const isDirty = document.isDirty()
      // The editor hasn't noticed the change on disk yet: it will load the text on disk as an undo step. Saving the document would cause a
      // conflict.
      if (!isDirty && info && onDisk !== now) return false
      // saving the document would also make all line ends the same
      if (!isDirty && stored && stored.text.includes('\n') && !lineEnd(stored.text)) return false
      if (isDirty && write.isKnown(onDisk)) return true
      const merged = await write.merged(now, isDirty ? onDisk : now)
      // the file changed while the user was asked
      if (merged === undefined) continue
      const text = withLineEnd(merged, document.lineEnd)
      // Saving recreates a deleted file, but does nothing for a document without changes.
      if (!isDirty && text === now) return info !== undefined
      write.begin(text)
      const edit = smallestEdit(now, text)
      if (!edit || (await document.replace(edit, now))) {
        await this.#save(document, file, write, text, checkUnmoved)
        return true
      }
      tries += 1
    }
    throw rejected(file)
  }

  async #save(
    document: OpenDocument,
    file: GuardedPath,
    write: AgentWrite,
    text: string,
    checkUnmoved: () => Promise<void>,
  ): Promise<void> {
    if (!document.isDirty()) return
    // The editor saves to wherever the path leads at that moment.
    await checkUnmoved()
    if (await document.save()) return
    this.#log.info(`The editor didn't save ${file.path}, so it's written directly.`)
    try {
      await this.#force(document, file, text, given => write.begin(given))
    } catch (error) {
      throw new FileError(
        'not-saved',
        `${fileErrorOf(error, 'write', file.path).message} The new text is in the editor, not saved.`,
        { cause: error },
      )
    }
  }

  /**
   * Writes the text although the editor didn't save it, usually because the file on disk is newer than the document with its unsaved
   * changes. Makes the text on disk an undo step and then replaces the file, so that the document equals the file and can be saved.
   */
  async #force(
    document: OpenDocument,
    file: GuardedPath,
    text: string,
    willWrite: (text: string) => void,
  ): Promise<void> {
    for (let tries = 0; tries < EDIT_TRIES; tries += 1) {
      const info = await this.#files.stat(file, 'write')
      const onDisk = await this.#files.current(file, info, document.encoding)
      const other = onDisk && withLineEnd(onDisk.text, document.lineEnd)
      const isClosed = document.isClosed()
      // VS Code also reports a failure if it has saved the text but the user has typed since; the user may have saved again
      if (other === text || (info && !isClosed && !document.isDirty())) return
      const now = isClosed ? text : document.text()
      if (now !== text) willWrite(now)
      const edit = isClosed || other === undefined ? undefined : smallestEdit(now, other)
      const isStep = edit !== undefined && (await document.replace(edit, now))
      // the user is typing at the same moment
      if (edit && !isStep && !document.isClosed() && document.text() !== now) continue
      const whole = isStep ? await this.#put(document, file, other!, now, willWrite) : now
      try {
        await this.#files.replace(file, info, whole, onDisk ?? storageOf(document))
      } catch (error) {
        if (error instanceof WrittenMeanwhileError) continue
        throw error
      }
      if (document.isClosed() || !document.isDirty() || (await document.save())) return
      this.#log.warn(`${file.path} was written, but the editor still shows it as unsaved.`)
      return
    }
    throw rejected(file)
  }

  /** Replaces the text `from` in the document by `text`, with the user's edits meanwhile. Resolves to the document's text. */
  async #put(
    document: OpenDocument,
    file: GuardedPath,
    from: string,
    text: string,
    willWrite: (text: string) => void,
  ): Promise<string> {
    for (let tries = 0; tries < EDIT_TRIES; tries += 1) {
      if (document.isClosed()) return text
      const now = document.text()
      const whole = mergeTexts(from, now, text).mine
      if (whole !== text) willWrite(whole)
      const edit = smallestEdit(now, whole)
      if (!edit || (await document.replace(edit, now))) return whole
    }
    throw rejected(file)
  }
}

function rejected(file: GuardedPath): FileError {
  return new FileError('not-saved', `Cannot write ${file.path}: the editor rejected the change.`)
}

function storageOf(document: OpenDocument): Storage {
  const { encoding } = document
  if (encoding === 'utf8bom') return { encoding: 'utf8', bom: true }
  return { encoding, bom: encoding === 'utf16le' || encoding === 'utf16be' }
}
