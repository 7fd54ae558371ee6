import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { delay } from '../../common/async.ts'
import { CancelledError } from '../../common/errors.ts'
import { FILE_LOCK_POLL_MS } from '../../common/limits.ts'

/** The windows that share the locks. */
export interface LockingWindows {
  /** the id of this window */
  readonly own: string
  /** Registers this window as running. */
  start(): void
  isAlive(id: string, earlier: Record<string, unknown>): boolean
}

/**
 * Does work that only one window on this machine may do at a time, because the windows share their storage. Waits while another window does
 * it. Takes over the lock of a window that is gone. Rejects with `CancelledError` if `signal` aborts before the lock is acquired. After
 * that, the work must check the signal.
 */
export async function withFileLock<T>(
  file: string,
  windows: LockingWindows,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  windows.start()
  await mkdir(dirname(file), { recursive: true })
  let lock = await acquire(file, windows)
  while (!lock) {
    if (signal?.aborted) throw new CancelledError()
    await delay(FILE_LOCK_POLL_MS)
    lock = await acquire(file, windows)
  }
  try {
    return await work()
  } finally {
    await release(file, lock)
  }
}

/** Creates the lock and resolves to its content; `undefined` if another window has the lock, or had it until now. */
async function acquire(file: string, windows: LockingWindows): Promise<string | undefined> {
  const lock = `${process.pid} ${windows.own} ${randomUUID()}`
  try {
    const handle = await open(file, 'wx')
    try {
      await handle.writeFile(lock)
    } catch (error) {
      // If the disk is full, the lock is removed, because a lock that names no owner could never be released.
      await rm(file, { force: true })
      throw error
    } finally {
      await handle.close()
    }
    return lock
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const abandoned = await readAbandoned(file, windows)
  if (abandoned !== undefined) await removeAbandoned(file, abandoned, windows)
  return undefined
}

/**
 * Removes a lock whose owner is gone. Several processes may find the lock at once, and a late process must not remove a lock that was
 * created in the meantime. So a process first acquires a second lock, which is named after the abandoned lock.
 */
async function removeAbandoned(file: string, abandoned: string, windows: LockingWindows): Promise<void> {
  const name = abandoned.replace(/[^\w-]+/g, '-').slice(0, 60)
  const removal = `${file}.${name}.lock`
  const lock = await acquire(removal, windows)
  if (!lock) return
  try {
    if ((await readAbandoned(file, windows)) === abandoned) await rm(file, { force: true })
  } finally {
    await release(removal, lock)
  }
}

/** Removes the lock, unless another process took it over because this process didn't respond for long. */
async function release(file: string, lock: string): Promise<void> {
  const now = await readFile(file, 'utf8').catch(() => lock)
  if (now === lock) await rm(file, { force: true })
}

/** Resolves to the content of a lock whose window is gone; `undefined` if the lock is in use or was released. */
async function readAbandoned(file: string, windows: LockingWindows): Promise<string | undefined> {
  try {
    const [{ mtimeMs: beat }, lock] = await Promise.all([stat(file), readFile(file, 'utf8')])
    const [pid, id = ''] = lock.split(' ')
    // Earlier versions of Parley renew the file while they hold the lock, so its time is passed on.
    return windows.isAlive(id, { host: hostname(), pid, beat }) ? undefined : lock
  } catch {
    return undefined
  }
}
