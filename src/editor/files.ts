/**
 * Reads and writes files for one session. An open document with unsaved changes is the truth for reading; writing
 * goes through the open document, so that the person can undo it and no editor shows stale text; else it goes to disk.
 */
import { FileMissingError } from '../acp/agent.ts'
import type { ReadTextFileRequest, Roots, WriteTextFileRequest } from '../acp/model.ts'
import { type Logger, silentLogger } from '../common/logger.ts'
import { writeAtomically } from './atomic-write.ts'
import type { Documents, OpenDocument } from './documents.ts'
import { FileError, fileErrorOf } from './file-error.ts'
import type { FileInfo, FileSystem } from './file-system.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { readLines, tooLarge } from './line-reader.ts'
import { type AskOutside, OutsideAccess } from './outside-access.ts'
import { type GuardedPath, PathGuard } from './path-guard.ts'
import { PathRules } from './path-rules.ts'
import {
  type DecodedText,
  decodeText,
  encodeText,
  lineEnd,
  sliceLines,
  smallestEdit,
  withLineEnd,
} from './text.ts'

/** The most text, in bytes, that is given to an agent at once. */
export const MAX_READ_BYTES = 16 * 1024 * 1024
/** How often an edit is tried anew when the person types at the same moment. */
const EDIT_TRIES = 5

/** What the sessions of a window share. */
export interface FilesShared {
  documents: Documents
  fileSystem: FileSystem
  rules: PathRules
  /** One for all sessions: two that write one file take turns. */
  queue: KeyedQueue
  log: Logger
}
export function filesShared(
  parts: Pick<FilesShared, 'documents' | 'fileSystem'> & Partial<FilesShared>,
): FilesShared {
  return { rules: new PathRules(), queue: new KeyedQueue(), log: silentLogger, ...parts }
}

export class SessionFiles {
  readonly #shared: FilesShared
  readonly #guard: PathGuard
  readonly #outside: OutsideAccess

  constructor(shared: FilesShared, session: { roots: Roots; askOutside: AskOutside }) {
    this.#shared = shared
    this.#guard = new PathGuard(session.roots, { rules: shared.rules, links: shared.fileSystem })
    this.#outside = new OutsideAccess(session.askOutside)
  }

  /** Rejects with {@link FileMissingError} when there is none, and with {@link FileError} in words otherwise. */
  async readTextFile(request: Pick<ReadTextFileRequest, 'path' | 'line' | 'limit'>): Promise<string> {
    const file = await this.#locate(request.path, 'read')
    const { line, limit } = request
    // Behind a write that is under way, so that nobody reads what is about to be replaced.
    return this.#shared.queue.run(this.#key(file), async () => {
      const document = this.#document(file)
      if (document?.isDirty()) return bounded(sliceLines(document.text(), line, limit), file.path)
      try {
        const info = await this.#statFile(file, 'read')
        if (!info) throw new FileMissingError(`There is no file ${file.path}.`)
        return await readLines(this.#shared.fileSystem, file, info, { line, limit, maxBytes: MAX_READ_BYTES })
      } catch (error) {
        if (error instanceof FileMissingError) throw error
        throw fileErrorOf(error, 'read', file.path)
      }
    })
  }

  /** Creates the file and its parent folders when they are missing. Rejects with {@link FileError} in words. */
  async writeTextFile(request: Pick<WriteTextFileRequest, 'path' | 'content'>): Promise<void> {
    const file = await this.#locate(request.path, 'write')
    await this.#shared.queue.run(this.#key(file), async () => {
      try {
        const document = this.#document(file)
        if (document) await this.#writeThrough(document, file, request.content)
        else await this.#writeToDisk(file, request.content)
      } catch (error) {
        throw fileErrorOf(error, 'write', file.path)
      }
    })
  }

  /** The session is over: what was allowed outside of its roots is no longer, and open questions are given up. */
  dispose(): void {
    this.#outside.end()
  }

  async #locate(path: string, operation: 'read' | 'write'): Promise<GuardedPath> {
    let file: GuardedPath
    try {
      file = await this.#guard.check(path)
    } catch (error) {
      if (error instanceof Error && error.name === 'InvalidPathError') throw error
      throw fileErrorOf(error, operation, path)
    }
    await this.#outside.demand(file, operation)
    return file
  }

  #key(file: GuardedPath): string {
    return this.#shared.rules.key(file.realPath)
  }

  #document(file: GuardedPath): OpenDocument | undefined {
    return this.#shared.documents.find([file.path, file.realPath, ...file.aliases])
  }

  async #statFile(file: GuardedPath, doing: string): Promise<FileInfo | undefined> {
    let info: FileInfo
    try {
      info = await this.#shared.fileSystem.stat(file.realPath)
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

  /** What is on disk now, for keeping its encoding; `undefined` when it is missing or not text. */
  async #onDisk(file: GuardedPath, info: FileInfo | undefined): Promise<DecodedText | undefined> {
    if (!info || info.size > MAX_READ_BYTES) return undefined
    const decoded = decodeText(await this.#shared.fileSystem.readFile(file.realPath))
    return typeof decoded === 'string' ? undefined : decoded
  }

  async #writeToDisk(file: GuardedPath, content: string): Promise<void> {
    const { fileSystem, rules } = this.#shared
    const info = await this.#statFile(file, 'write')
    const before = await this.#onDisk(file, info)
    const end = before && lineEnd(before.text)
    const text = end ? withLineEnd(content, end) : content
    if (before && before.text === text) return
    if (info) await fileSystem.checkWritable(file.realPath)
    else await fileSystem.makeFolders(rules.dirname(file.realPath))
    await writeAtomically(fileSystem, file.realPath, encode(text, before), info)
  }

  async #writeThrough(document: OpenDocument, file: GuardedPath, content: string): Promise<void> {
    const { fileSystem, log } = this.#shared
    const info = await this.#statFile(file, 'write')
    // Told before anything is changed in the editor.
    if (info) await fileSystem.checkWritable(file.realPath)
    const text = withLineEnd(content, document.lineEnd).replace(/^\ufeff/, '')
    const disk = await this.#onDisk(file, info)
    // The disk may be ahead of a clean document. Then that becomes a step of undo of its own: nothing is lost.
    if (!document.isDirty() && disk) await this.#put(document, file, withLineEnd(disk.text, document.lineEnd))
    await this.#put(document, file, text)
    if (!document.isDirty() || (await document.save())) return

    // The editor did not save, mostly because the file on disk is newer than the document. What is there becomes a
    // step of undo, then it is replaced; the document, equal to the file then, can be saved.
    log.info(`The editor did not save ${file.path}; writing it directly.`)
    const now = await this.#statFile(file, 'write')
    const newer = await this.#onDisk(file, now)
    if (newer && withLineEnd(newer.text, document.lineEnd) !== text) {
      await this.#put(document, file, withLineEnd(newer.text, document.lineEnd))
      await this.#put(document, file, text)
    }
    try {
      if (!now) await fileSystem.makeFolders(this.#shared.rules.dirname(file.realPath))
      await writeAtomically(fileSystem, file.realPath, encode(text, newer ?? disk), now)
    } catch (error) {
      const failure = fileErrorOf(error, 'write', file.path)
      throw new FileError('not-saved', `${failure.message} The new text is in the editor, not saved.`, {
        cause: error,
      })
    }
    if (!(await document.save()))
      log.warn(`${file.path} was written, but the editor still shows it as unsaved.`)
  }

  /** Makes the document hold the text, while the person may be typing. */
  async #put(document: OpenDocument, file: GuardedPath, text: string): Promise<void> {
    for (let tries = 0; tries < EDIT_TRIES; tries += 1) {
      const before = document.text()
      const edit = smallestEdit(before, text)
      if (!edit || (await document.replace(edit, before))) return
    }
    throw new FileError('not-saved', `Cannot write ${file.path}: the editor did not take the change.`)
  }
}

function encode(text: string, like: DecodedText | undefined): Uint8Array {
  return encodeText(text, like?.encoding ?? 'utf8', like?.bom ?? false)
}

function bounded(text: string, path: string): string {
  if (Buffer.byteLength(text) <= MAX_READ_BYTES) return text
  throw tooLarge(path, Buffer.byteLength(text), MAX_READ_BYTES)
}
