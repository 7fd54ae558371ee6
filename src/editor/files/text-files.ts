import type { GuardedPath } from '../path-guard.ts'
import type { PathRules } from '../path-rules.ts'
import { type DecodedText, lineEnd, withLineEnd } from '../text.ts'
import { writeAtomically } from './atomic-write.ts'
import { FileError } from './file-error.ts'
import type { FileInfo, FileSystem } from './file-system.ts'
import { MAX_READ_BYTES } from './line-reader.ts'
import { decodeFile, type Encodings, encodeFile } from './text-file.ts'

/** How a file's text is stored. */
export type Storage = Pick<DecodedText<string>, 'encoding' | 'bom'>

/** Text files on disk, whose encoding, byte order mark and line ends are kept when they are written. */
export class TextFiles {
  readonly #fileSystem: FileSystem
  readonly #encodings: Encodings
  readonly #rules: PathRules

  constructor(parts: { fileSystem: FileSystem; encodings: Encodings; rules: PathRules }) {
    this.#fileSystem = parts.fileSystem
    this.#encodings = parts.encodings
    this.#rules = parts.rules
  }

  /** `undefined` when there is none. Rejects when it is there and no ordinary file. */
  async stat(file: GuardedPath, doing: 'read' | 'write'): Promise<FileInfo | undefined> {
    let info: FileInfo
    try {
      info = await this.#fileSystem.stat(file.realPath)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ENOENT' || (code === 'ENOTDIR' && doing === 'read')) return undefined
      throw error
    }
    if (info.type === 'folder') {
      throw new FileError('folder', `Cannot ${doing} ${file.path}: it is a folder, not a file.`)
    }
    // A pipe or a device may never end, or never take what is written.
    if (info.type === 'other') {
      throw new FileError('other', `Cannot ${doing} ${file.path}: it is not an ordinary file.`)
    }
    return info
  }

  /** The text on disk; `undefined` when there is none, or too much. `encoding`: that of the file's document. */
  async current(
    file: GuardedPath,
    info: FileInfo | undefined,
    encoding?: string,
  ): Promise<DecodedText<string> | undefined> {
    if (!info || info.size > MAX_READ_BYTES) return undefined
    const bytes = await this.#fileSystem.readFile(file.realPath)
    const decoded = await decodeFile(bytes, file.path, this.#encodings, encoding)
    return typeof decoded === 'string' ? undefined : decoded
  }

  /** Rejects when the file is there and may not be written. */
  async checkWritable(file: GuardedPath, info: FileInfo | undefined): Promise<void> {
    if (info) await this.#fileSystem.checkWritable(file.realPath)
  }

  /** Writes an agent's text: line ends of one kind stay that kind, since models write `\n` whatever was there. */
  async write(file: GuardedPath, content: string): Promise<void> {
    const info = await this.stat(file, 'write')
    const before = await this.current(file, info)
    const end = before && lineEnd(before.text)
    const text = withoutMark(end ? withLineEnd(content, end) : content)
    if (before?.text === text) return
    await this.replace(file, info, text, before)
  }

  /** Writes a text as it is, stored as told. */
  async replace(
    file: GuardedPath,
    info: FileInfo | undefined,
    text: string,
    storage: Storage | undefined,
  ): Promise<void> {
    const bytes = await encodeFile(text, file.path, this.#encodings, storage)
    await this.checkWritable(file, info)
    if (!info) await this.#fileSystem.makeFolders(this.#rules.dirname(file.realPath))
    await writeAtomically(this.#fileSystem, file.realPath, bytes, info)
  }
}

/** A byte order mark is part of how a text is stored, not of the text. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
