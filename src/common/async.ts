import { CancelledError } from './errors.ts'

/** A promise with the functions that settle it, as `Promise.withResolvers` returns them in Node 22. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T | PromiseLike<T>): void
  reject(reason: unknown): void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: Deferred<T>['resolve']
  let reject!: Deferred<T>['reject']
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  return { promise, resolve, reject }
}

/** Resolves after `ms` milliseconds. */
export function delay(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

/** Returns a function that loads something on its first call, and then shares the result. After a failure, the next call loads it again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch(error => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/** A timer that fires later than this was delayed, with everything else in the process. Milliseconds. */
const HELD_UP_MS = 50

/**
 * Calls `end` after `ms` milliseconds, unless the returned function is called before. If the process was suspended or busy at that time,
 * the awaited data may have arrived without having been read, since timers run first: the wait is then extended once by the time that was
 * missed, at most `ms`.
 */
function afterWaiting(ms: number, end: () => void): () => void {
  const due = performance.now() + ms
  let timer = setTimeout(() => {
    const missed = performance.now() - due
    if (missed < HELD_UP_MS) end()
    else timer = setTimeout(end, Math.min(missed, ms))
  }, ms)
  return () => clearTimeout(timer)
}

/** Settles as `promise` does, or resolves with `undefined` after `ms` milliseconds. The work isn't stopped. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let stop = () => {}
  const late = new Promise<undefined>(resolve => {
    stop = afterWaiting(ms, () => resolve(undefined))
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    stop()
  }
}

/** Settles as `promise` does, or rejects with `CancelledError` when `signal` aborts. The work isn't stopped. */
export async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  const aborted = deferred<never>()
  const onAbort = () => aborted.reject(new CancelledError())
  // If the signal wins, nothing handles a later rejection.
  promise.catch(() => {})
  if (signal.aborted) throw new CancelledError()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * Runs `work` with a signal that aborts when the given signal does, or after `ms` milliseconds. An `AbortSignal.timeout` within
 * `AbortSignal.any` could be garbage-collected, and would then never abort.
 */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController()
  const stop = afterWaiting(ms, () => deadline.abort(new DOMException('It took too long.', 'TimeoutError')))
  try {
    return await work(signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal)
  } finally {
    stop()
  }
}

/**
 * Waits for `work` and settles as it does. After `ms` milliseconds, `onSlow` can show a notice, which must close when its signal aborts. If
 * the promise that `onSlow` returned resolves, the user has stopped waiting: the returned promise rejects with `CancelledError`, and the
 * signal passed to `work` aborts. The work itself may still take effect later.
 */
export async function withSlowNotice<T>(
  work: (givenUp: AbortSignal) => Promise<T>,
  onSlow: (over: AbortSignal) => Promise<void>,
  ms: number,
): Promise<T> {
  const over = new AbortController()
  const giveUp = new AbortController()
  const gaveUp = deferred<never>()
  const timer = setTimeout(() => {
    onSlow(over.signal).then(() => {
      if (over.signal.aborted) return
      const error = new CancelledError()
      gaveUp.reject(error)
      giveUp.abort(error)
    }, gaveUp.reject)
  }, ms)
  try {
    return await Promise.race([work(giveUp.signal), gaveUp.promise])
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

/**
 * Runs `work` for each item, for at most `limit` items at the same time. Rejects with the first failure, but continues with the other
 * items.
 */
export async function forEachConcurrent<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let at = 0
  const worker = async (): Promise<void> => {
    while (at < items.length) await work(items[at++]!)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}

/** Runs work for the same key one after the other, and work for different keys concurrently. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const result = before.then(work, work)
    const tail = result.then(
      () => {},
      () => {},
    )
    this.#tails.set(key, tail)
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    return result
  }

  /** keys with work in progress */
  get keys(): string[] {
    return [...this.#tails.keys()]
  }
}

/** Limits the use of a resource, such as memory, at any time: further work waits, in order. */
export class Budget {
  readonly #max: number
  #used = 0
  readonly #waiting: Array<{ amount: number; begin: () => void }> = []

  constructor(max: number) {
    this.#max = max
  }

  /** Runs the work when enough capacity is free; work that exceeds the total capacity runs alone. */
  async run<T>(amount: number, work: () => Promise<T>): Promise<T> {
    const needed = Math.min(amount, this.#max)
    if (this.#waiting.length > 0 || this.#used + needed > this.#max)
      await new Promise<void>(begin => this.#waiting.push({ amount: needed, begin }))
    else this.#used += needed
    try {
      return await work()
    } finally {
      this.#used -= needed
      while (this.#waiting[0] && this.#used + this.#waiting[0].amount <= this.#max) {
        const { amount, begin } = this.#waiting.shift()!
        this.#used += amount
        begin()
      }
    }
  }
}
