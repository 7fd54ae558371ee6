import { CancelledError } from './errors.ts'

/** How long what a person asked for may take before they are told that it does, and may give it up. Milliseconds. */
export const PATIENCE_MS = 15_000

/**
 * Waits for `work` and answers as it does. What takes long is told by `tell`, whose signal aborts when the work is over,
 * and which resolves when the person waits no longer: then this rejects with `CancelledError` and `givenUp` aborts. The
 * work may go on all the same, and what comes of it late counts.
 */
export async function waitPatiently<T>(
  work: (givenUp: AbortSignal) => Promise<T>,
  tell: (over: AbortSignal) => Promise<void>,
  ms = PATIENCE_MS,
): Promise<T> {
  const over = new AbortController()
  const giveUp = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const givenUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      tell(over.signal).then(() => {
        if (over.signal.aborted) return
        const error = new CancelledError()
        reject(error)
        giveUp.abort(error)
      }, reject)
    }, ms)
  })
  try {
    return await Promise.race([work(giveUp.signal), givenUp])
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}
