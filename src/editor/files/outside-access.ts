import { CancelledError } from '../../common/errors.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import type { GuardedPath } from '../path-guard.ts'
import { FileError } from './file-error.ts'

export type FileOperation = 'read' | 'write'
export type OutsideAnswer = 'once' | 'session' | 'refuse'

/**
 * Asks the person about a file outside of a session's roots. `realPath` is where the path leads (show both when they
 * differ). `signal` aborts when the session ends or the agent takes its request back; the answer is not heard then.
 */
export type AskOutside = (
  question: { path: string; realPath: string; operation: FileOperation },
  signal: AbortSignal,
) => Promise<OutsideAnswer>

/** What the person allowed one session outside of its roots. Each permission is for one file and one operation. */
export class OutsideAccess {
  readonly #ask: AskOutside
  readonly #allowed = new Set<string>()
  readonly #questions = new KeyedQueue()
  readonly #end = new AbortController()

  constructor(ask: AskOutside) {
    this.#ask = ask
  }

  /**
   * Resolves when the file may be touched; rejects with a {@link FileError} when it may not, and with a
   * {@link CancelledError} when `signal` aborts: the agent no longer wants it.
   */
  async demand(file: GuardedPath, operation: FileOperation, signal?: AbortSignal): Promise<void> {
    if (file.inside) return
    const key = `${operation} ${file.realPath}`
    // One question at a time for one thing, so that "for this session" answers those behind it.
    await this.#questions.run(key, async () => {
      if (this.#allowed.has(key)) return
      if (this.#end.signal.aborted) throw ended()
      if (signal?.aborted) throw new CancelledError()
      const answer = await this.#heard({ path: file.path, realPath: file.realPath, operation }, signal)
      if (answer === 'session') this.#allowed.add(key)
      else if (answer !== 'once') throw refusal(file, operation)
    })
  }

  /** Takes back what was allowed and gives up open questions. */
  end(): void {
    this.#allowed.clear()
    this.#end.abort()
  }

  #heard(question: Parameters<AskOutside>[0], withdrawn?: AbortSignal): Promise<OutsideAnswer> {
    const end = this.#end.signal
    const signal = withdrawn ? AbortSignal.any([end, withdrawn]) : end
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(end.aborted ? ended() : new CancelledError())
      signal.addEventListener('abort', onAbort, { once: true })
      this.#ask(question, signal)
        .catch((error: unknown): OutsideAnswer => {
          if (error instanceof CancelledError) return 'refuse'
          throw error
        })
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', onAbort))
    })
  }
}

function ended(): FileError {
  return new FileError('ended', 'The session has ended.')
}

function refusal(file: GuardedPath, operation: FileOperation): FileError {
  const leads = file.realPath === file.path ? '' : ` (it leads to ${file.realPath})`
  return new FileError(
    'refused',
    `The person refused to let ${file.path} be ${operation === 'read' ? 'read' : 'written'}: it is outside of the session's folders${leads}.`,
  )
}
