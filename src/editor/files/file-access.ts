import { CancelledError } from '../../common/errors.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import type { GuardedPath } from '../path-guard.ts'
import { FileError } from './file-error.ts'

export type FileOperation = 'read' | 'write'
export type AccessAnswer = 'once' | 'session' | 'refuse'

export interface AccessQuestion {
  path: string
  /** where the path leads; show both when they differ */
  realPath: string
  operation: FileOperation
  /** `protected`: the file decides what programs run or what agents may do; `session` is no answer then */
  reason: 'outside' | 'protected'
}

/**
 * Asks the user about a file. `signal` aborts when the session ends or the agent takes its request back; the answer is
 * not used then.
 */
export type AskAccess = (question: AccessQuestion, signal: AbortSignal) => Promise<AccessAnswer>

/** What the user allowed one session outside of its roots. Each permission is for one file and one operation. */
export class FileAccess {
  readonly #ask: AskAccess
  readonly #allowed = new Set<string>()
  readonly #questions = new KeyedQueue()
  readonly #end = new AbortController()

  constructor(ask: AskAccess) {
    this.#ask = ask
  }

  /**
   * Resolves when the file may be used; rejects with a {@link FileError} when it may not, and with a
   * {@link CancelledError} when `signal` aborts: the agent no longer wants it.
   */
  async demand(
    file: GuardedPath,
    operation: FileOperation,
    reason: AccessQuestion['reason'],
    signal?: AbortSignal,
  ): Promise<void> {
    const key = `${operation} ${file.realPath}`
    // One question at a time for one thing, so that "for this session" answers those behind it.
    await this.#questions.run(key, async () => {
      if (reason === 'outside' && this.#allowed.has(key)) return
      if (this.#end.signal.aborted) throw ended()
      if (signal?.aborted) throw new CancelledError()
      const { path, realPath } = file
      const answer = await this.#heard({ path, realPath, operation, reason }, signal)
      if (answer === 'session' && reason === 'outside') this.#allowed.add(key)
      else if (answer !== 'once') throw refusal(file, operation, reason)
    })
  }

  /** Takes back what was allowed and gives up open questions. */
  end(): void {
    this.#allowed.clear()
    this.#end.abort()
  }

  #heard(question: AccessQuestion, withdrawn?: AbortSignal): Promise<AccessAnswer> {
    const end = this.#end.signal
    const signal = withdrawn ? AbortSignal.any([end, withdrawn]) : end
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(end.aborted ? ended() : new CancelledError())
      signal.addEventListener('abort', onAbort, { once: true })
      this.#ask(question, signal)
        .catch((error: unknown): AccessAnswer => {
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
