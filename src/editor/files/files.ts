import { FileMissingError } from '../../acp/agent.ts'
import type { ReadTextFileRequest, Roots, WriteTextFileRequest } from '../../acp/model.ts'
import { KeyedQueue, raceAbort } from '../../common/async.ts'
import type { Disposable } from '../../common/disposable.ts'
import { CancelledError, isCancelled } from '../../common/errors.ts'
import { type Logger, silentLogger } from '../../common/logger.ts'
import { type GuardedPath, type LocatedPath, PathGuard } from '../path-guard.ts'
import { InvalidPathError, PathRules } from '../path-rules.ts'
import { ProtectedFiles } from '../protected-files.ts'
import { sliceLines } from '../text.ts'
import { AgentWrite, type AskMerge, KnownTexts, type TrackedWrite } from './agent-write.ts'
import { type Documents, DocumentWriter, type OpenDocument } from './documents.ts'
import { FileError, type FileSystem, fileErrorOf, movedError } from './file-system.ts'
import type { MergeConflict } from './merge-texts.ts'
import { type Encodings, MAX_READ_BYTES, readLines, TextFiles, tooLarge, unicodeOnly } from './text-files.ts'

export type FileOperation = 'read' | 'write'
export type AccessAnswer = 'once' | 'session' | 'refuse'

export interface AccessQuestion {
  path: string
  /** the real path; the user should see both paths if they differ */
  realPath: string
  operation: FileOperation
  /** `protected`: the file determines which programs run or what agents may do, and `session` isn't a valid answer */
  reason: 'outside' | 'protected'
}

/** Asks the user about a file. `signal` aborts when the session ends or the agent withdraws its request; the answer is ignored then. */
export type AskAccess = (question: AccessQuestion, signal: AbortSignal) => Promise<AccessAnswer>

/**
 * The files outside of a session's roots that the user allowed the session to access. Each permission is for one file and one operation.
 */
export class FileAccess {
  readonly #ask: AskAccess
  readonly #allowed = new Set<string>()
  readonly #questions = new KeyedQueue()
  readonly #end = new AbortController()

  constructor(ask: AskAccess) {
    this.#ask = ask
  }

  /**
   * Resolves if the file may be used. Rejects with a {@link FileError} if the file may not be used, and with a {@link CancelledError} when
   * `signal` aborts.
   */
  async demand(
    file: GuardedPath,
    operation: FileOperation,
    reason: AccessQuestion['reason'],
    signal?: AbortSignal,
  ): Promise<void> {
    const key = `${operation} ${file.realPath}`
    // One question at a time for the same file and operation, so that "for this session" also answers the waiting questions.
    await this.#questions.run(key, async () => {
      if (reason === 'outside' && this.#allowed.has(key)) return
      if (this.#end.signal.aborted) throw ended()
      if (signal?.aborted) throw new CancelledError()
      const { path, realPath } = file
      const question = { path, realPath, operation, reason }
      const answer = await this.ask(given => this.#ask(question, given), signal)
      if (answer === 'session' && reason === 'outside') this.#allowed.add(key)
      else if (answer !== 'once') throw refusal(file, operation, reason)
    })
  }

  /** Revokes permissions and cancels pending questions. */
  end(): void {
    this.#allowed.clear()
    this.#end.abort()
  }

  /** Asks the user with `question` until the session ends or `withdrawn` aborts. Resolves to `refuse` if the user makes no choice. */
  async ask<T>(
    question: (signal: AbortSignal) => Promise<T>,
    withdrawn?: AbortSignal,
  ): Promise<T | 'refuse'> {
    const end = this.#end.signal
    if (end.aborted) throw ended()
    const signal = withdrawn ? AbortSignal.any([end, withdrawn]) : end
    const answer = question(signal).catch((error: unknown): 'refuse' => {
      if (isCancelled(error)) return 'refuse'
      throw error
    })
    try {
      return await raceAbort(answer, signal)
    } catch (error) {
      throw end.aborted && isCancelled(error) ? ended() : error
    }
  }
}

function missing({ path }: GuardedPath): FileMissingError {
  return new FileMissingError(`There is no file ${path}.`)
}

function ended(): FileError {
  return new FileError('ended', 'The session has ended.')
}

function refusal(file: GuardedPath, operation: FileOperation, reason: AccessQuestion['reason']): FileError {
  const leads = file.realPath === file.path ? '' : ` (it leads to ${file.realPath})`
  const why =
    reason === 'outside'
      ? "it is outside of the session's folders"
      : 'it decides what programs run or what agents may do'
  return new FileError(
    'refused',
    `The user refused to let ${file.path} be ${operation === 'read' ? 'read' : 'written'}: ${why}${leads}.`,
  )
}

/** Maximum number of files that are read at the same time. */
const PARALLEL_READS = 4

/** The objects that all sessions of a window share for their files. */
export interface FilesShared {
  documents: Documents
  fileSystem: FileSystem
  encodings: Encodings
  rules: PathRules
  /** decides which files are never written without asking */
  protectedFiles: ProtectedFiles
  /** Runs the writes of the same file one after the other; shared by all sessions. */
  queue: KeyedQueue
  log: Logger
  /** Reports the paths of files created, changed or deleted on disk, as far as they are known, until the result is disposed. */
  watch?: (changed: (path: string) => void) => Disposable
  /** Returns the folders that are open in the editor. */
  folders?: () => readonly string[]
}
export function filesShared(
  parts: Pick<FilesShared, 'documents' | 'fileSystem'> & Partial<FilesShared>,
): FilesShared {
  const rules = parts.rules ?? new PathRules()
  return {
    encodings: unicodeOnly,
    rules,
    protectedFiles: new ProtectedFiles(rules),
    queue: new KeyedQueue(),
    log: silentLogger,
    ...parts,
  }
}

export interface SessionFilesOptions {
  roots: Roots
  /** Files must also be in one of these roots: the roots of the session in which this subagent works. */
  within?: Roots
  askAccess: AskAccess
  /** Asks the user about conflicts. If absent, a write that changes lines with unsaved changes is refused. */
  askMerge?: AskMerge
  /**
   * Whether the user has just allowed this change of a protected file. `before`: the file's current text, or `null` if the file doesn't
   * exist.
   */
  isAllowed?: (change: { realPath: string; before: string | null; content: string }) => boolean
  /** Called when a request was refused because a notebook or a custom editor has unsaved changes of the file. */
  onUnsaved?: (path: string) => void
}

/**
 * Reads and writes files for one session. Reading includes the unsaved changes of an open document. Writing uses the open document, so that
 * the user can undo the change and no editor shows outdated text; without an open document, it writes to disk.
 */
export class SessionFiles implements Disposable {
  readonly #shared: FilesShared
  readonly #guard: PathGuard
  readonly #access: FileAccess
  readonly #isAllowed: SessionFilesOptions['isAllowed']
  readonly #onUnsaved: SessionFilesOptions['onUnsaved']
  readonly #askMerge: AskMerge
  readonly #known = new KnownTexts()
  /** queue that checks paths one at a time */
  readonly #judging = new KeyedQueue()
  /** queues of this session's running work, by file */
  readonly #own = new KeyedQueue()
  readonly #reads = new KeyedQueue()
  #nextRead = 0
  readonly #files: TextFiles
  readonly #writer: DocumentWriter

  constructor(
    shared: FilesShared,
    { roots, within, askAccess, askMerge, isAllowed, onUnsaved }: SessionFilesOptions,
  ) {
    this.#shared = shared
    this.#guard = new PathGuard(roots, {
      rules: shared.rules,
      links: shared.fileSystem,
      ...(within && { within }),
      ...(shared.folders && { folders: shared.folders }),
    })
    this.#access = new FileAccess(askAccess)
    this.#isAllowed = isAllowed
    this.#onUnsaved = onUnsaved
    this.#askMerge = askMerge ?? (async () => 'refuse')
    this.#files = new TextFiles(shared)
    this.#writer = new DocumentWriter(this.#files, shared.log)
  }

  /**
   * Resolves to the text of a file, or of some of its lines. Rejects with {@link FileMissingError} if the file doesn't exist, otherwise
   * with a `FileError`.
   */
  async readTextFile(
    request: Pick<ReadTextFileRequest, 'path' | 'line' | 'limit'>,
    signal?: AbortSignal,
  ): Promise<string> {
    return this.#inTurn(request, 'read', signal, async file => {
      const document = this.#document(file)
      const key = this.#shared.rules.key(file.realPath)
      if (document?.isDirty()) {
        const whole = document.text()
        this.#known.read(key, whole)
        const text = sliceLines(whole, request.line, request.limit)
        if (Buffer.byteLength(text) > MAX_READ_BYTES) throw tooLarge(file.path, Buffer.byteLength(text))
        return text
      }
      const info = await this.#files.stat(file, 'read')
      if (!info) throw missing(file)
      // An agent may request many large files at once, and their texts wait in memory until the agent reads them.
      const turn = String(this.#nextRead++ % PARALLEL_READS)
      const text = await this.#reads.run(turn, () =>
        readLines(this.#shared.fileSystem, this.#shared.encodings, file, info, request),
      )
      const isWhole = (request.line ?? 1) <= 1 && request.limit === undefined
      this.#known.read(key, isWhole ? text : undefined)
      return text
    })
  }

  /**
   * Writes a text and creates missing parent folders. The user's changes since the agent read the file stay. `hasUserLines`: the file has
   * lines of the user instead of the agent's. Rejects with a `FileError`.
   */
  async writeTextFile(
    request: Pick<WriteTextFileRequest, 'path' | 'content'>,
    signal?: AbortSignal,
    tracked: TrackedWrite = {},
  ): Promise<{ hasUserLines: boolean }> {
    return this.#inTurn(request, 'write', signal, async file => {
      const key = this.#shared.rules.key(file.realPath)
      const write = new AgentWrite({
        ...tracked,
        content: request.content,
        known: this.#known.get(key),
        ask: conflicts => this.#askAbout(file, conflicts, signal),
      })
      const document = this.#document(file)
      const isDone =
        document !== undefined &&
        (await this.#writer.write(document, file, write, () => this.#checkUnmoved(file, 'write')))
      if (!isDone) await this.#files.write(file, write)
      this.#known.wrote(key, write.content)
      return { hasUserLines: write.hasUserLines }
    })
  }

  async #askAbout(
    file: GuardedPath,
    conflicts: readonly MergeConflict[],
    signal?: AbortSignal,
  ): Promise<'mine' | 'theirs'> {
    const { path, realPath } = file
    const answer = await this.#access.ask(
      given => this.#askMerge({ path, realPath, conflicts }, given),
      signal,
    )
    // The user may have taken a while to answer.
    await this.#checkUnmoved(file, 'write')
    if (answer !== 'refuse') return answer
    throw new FileError(
      'refused',
      `The user refused to let ${path} be written: the editor has unsaved changes in the same lines.`,
    )
  }

  /** Revokes permissions outside of the session's roots and cancels pending requests, since the session ended. */
  dispose(): void {
    this.#access.end()
  }

  /**
   * Executes requests for the same file in order; this is why the paths are checked one after the other. A permission request delays this
   * session's work only on its file. A request that the agent cancels before it starts isn't executed and rejects with a {@link
   * CancelledError}.
   */
  async #inTurn<T>(
    request: { path: string; content?: string },
    operation: FileOperation,
    signal: AbortSignal | undefined,
    work: (file: GuardedPath) => Promise<T>,
  ): Promise<T> {
    const { path, content } = request
    const { rules, queue } = this.#shared
    try {
      const file = await this.#judging.run('', () => this.#guard.check(path))
      const key = rules.key(file.realPath)
      return await this.#own.run(key, async () => {
        const reason = await this.#reasonToAsk(file, content)
        if (reason) await this.#access.demand(file, operation, reason, signal)
        return queue.run(key, async () => {
          if (signal?.aborted) throw new CancelledError()
          // The user may have taken a while to answer, and so may the work before this one.
          await this.#checkUnmoved(file, operation)
          this.#checkSaved(file, operation)
          return work(file)
        })
      })
    } catch (error) {
      const isReported = [FileMissingError, InvalidPathError].some(kind => error instanceof kind)
      if (isReported || isCancelled(error)) throw error
      throw fileErrorOf(error, operation, path)
    }
  }

  /** Rejects if the path no longer leads where it led when access to it was allowed. */
  async #checkUnmoved({ path, realPath, inside }: GuardedPath, operation: FileOperation): Promise<void> {
    const now = await this.#guard.check(path)
    if (now.realPath !== realPath || now.inside !== inside) throw movedError(operation, path)
  }

  /**
   * Throws if a notebook or a custom editor has unsaved changes of the file: it has no text to merge a change into, and its unsaved content
   * isn't on disk.
   */
  #checkSaved({ path, realPath, aliases }: GuardedPath, operation: FileOperation): void {
    if (!this.#shared.documents.isUnsavedElsewhere([path, realPath, ...aliases])) return
    this.#onUnsaved?.(path)
    throw new FileError(
      'unsaved',
      `Cannot ${operation} ${path}: the user has unsaved changes of it in the editor, which aren't on disk. Ask the user to save it, then try again.`,
    )
  }

  /** Resolves to the reason why the user must be asked; `undefined` if there is none. `content`: the text to write. */
  async #reasonToAsk(
    file: LocatedPath,
    content: string | undefined,
  ): Promise<AccessQuestion['reason'] | undefined> {
    const { protectedFiles } = this.#shared
    if (content !== undefined && (await protectedFiles.includes(file, this.#guard.roots))) {
      const info = await this.#files.stat(file, 'write')
      const before = info ? (await this.#files.current(file, info))?.text : null
      const { realPath } = file
      const isAllowed = before !== undefined && this.#isAllowed?.({ realPath, before, content })
      // the user allowed exactly this text in exactly this file
      return isAllowed ? undefined : 'protected'
    }
    if (file.inside) return undefined
    // A missing file needs no protection: some agents look for instructions in each folder above, before each edit.
    if (content === undefined && (await this.#isMissing(file))) throw missing(file)
    return 'outside'
  }

  async #isMissing(file: GuardedPath): Promise<boolean> {
    if (this.#document(file)) return false
    return this.#files.stat(file, 'read').then(
      info => info === undefined,
      () => false,
    )
  }

  #document(file: GuardedPath): OpenDocument | undefined {
    return this.#shared.documents.find([file.path, file.realPath, ...file.aliases])
  }
}
