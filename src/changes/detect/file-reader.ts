/** Reads the current content of files on disk, each in its own encoding. */
import { delay } from '../../common/async.ts'
import type { FileText } from '../../editor/diff-texts.ts'
import { changedLines } from '../../editor/files/merge-texts.ts'
import type { FileState, FileStates } from '../model/file-state.ts'
import type { TrackedFile } from '../model/tracked-file.ts'
import type { TrackedFiles } from './tracked-files.ts'

/** How often a file that became empty is read again at most, and the delay between the reads in milliseconds. */
const MAX_EMPTY_READS = 5
const EMPTY_READ_MS = 20

export class FileReader {
  readonly #files: TrackedFiles
  readonly #states: FileStates

  constructor(files: TrackedFiles, states: FileStates) {
    this.#files = files
    this.#states = states
  }

  /** The text of a file on disk; `undefined` if the file has no text. Never rejects. */
  async textOf(path: string): Promise<FileText | undefined> {
    const state = await this.stateOf(path)
    const type = state?.attributes.type
    return type === 'absent' ? null : type === 'text' ? state!.text : undefined
  }

  /**
   * Reads a file on disk; `undefined` if it can't be read. `before`: the file's previous state, if known. `isListed`: the file was found in
   * a list of files. Never rejects.
   */
  async stateOf(path: string, before?: FileState, isListed = false): Promise<FileState | undefined> {
    return this.read(path, before && encodingOf(before), isListed).catch(() => undefined)
  }

  /** Returns the file state for these bytes. */
  stateWith(bytes: Uint8Array, path: string, mode: number): Promise<FileState> {
    return this.#states.with(bytes, path, mode, this.#encodings(path))
  }

  /** Reads a file. A file that has just become empty is read again, since programs empty a file before they write it. */
  async readWhole(
    { path, text }: { path: string; text: string },
    known?: string,
  ): Promise<FileState | undefined> {
    let now = await this.read(path, known)
    for (let reads = 1; reads < MAX_EMPTY_READS; reads++) {
      if (text === '' || now?.attributes.type !== 'text' || now.text !== '') break
      await delay(EMPTY_READ_MS)
      now = await this.read(path, known)
    }
    return now
  }

  /** Reads a file on disk. `known`: the encoding of an untracked file. `isListed`: the file was found in a list of files. */
  async read(path: string, known?: string, isListed = false): Promise<FileState | undefined> {
    const isFile = isListed || this.#files.at(path)?.attributes.type === 'text'
    const now = await this.#states.read(path, this.#encodings(path, known), isFile)
    const file = this.#files.at(path)
    return file && now ? this.#asSaved(file, now) : now
  }

  /**
   * The possible encodings of a file. The tracked file stores its encoding: while a tab shows the file, VS Code may guess another encoding,
   * and once the tab is closed, the encoding would be unknown.
   */
  #encodings(path: string, known?: string): string[] {
    const tracked = this.#files.at(path)?.encoding ?? known
    if (tracked === 'binary') return []
    const { encoding } = this.#files.document(path) ?? {}
    return [...new Set([tracked, encoding])].filter(one => one !== undefined)
  }

  /** Reads the file in another encoding if the user saved it in that encoding: the result is the one with which fewer lines differ. */
  async #asSaved(file: TrackedFile, now: FileState): Promise<FileState> {
    const document = this.#files.document(file.path)
    if (!document || [document.encoding, 'binary'].includes(file.encoding ?? 'binary')) return now
    if (now.attributes.type !== 'text' || now.text === file.text) return now
    const other = await this.#states.read(file.path, [document.encoding])
    if (other?.attributes.type !== 'text' || other.attributes.encoding === now.attributes.encoding) return now
    return changedLines(file.text, other.text) < changedLines(file.text, now.text) ? other : now
  }
}

export function encodingOf({ attributes }: FileState): string | undefined {
  return attributes.type === 'text'
    ? attributes.encoding
    : attributes.type === 'binary'
      ? 'binary'
      : undefined
}
