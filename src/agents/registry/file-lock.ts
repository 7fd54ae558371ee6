import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { delay } from '../../common/async.ts'
import { CancelledError } from '../../common/errors.ts'
import { FILE_LOCK_POLL_MS, OWNER_HEARTBEAT_MS, OWNER_STALE_MS } from '../../common/limits.ts'
import { operatingSystem } from '../../common/processes/process-system.ts'

/**
 * Does work that only one process on this machine may do at a time: windows share their storage. Waits while another one
 * does it. The lock of a process that died is taken over. Rejects with `CancelledError` if `signal` aborts before the
 * lock is acquired; after that, the work must check the signal.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  await mkdir(dirname(file), { recursive: true })
  let lock = await acquire(file)
  while (!lock) {
    if (signal?.aborted) throw new CancelledError()
    await delay(FILE_LOCK_POLL_MS)
    lock = await acquire(file)
  }
  const heartbeat = setInterval(() => {
    const now = new Date()
    void utimes(file, now, now).catch(() => {})
  }, OWNER_HEARTBEAT_MS)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    await release(file, lock)
  }
}

/** Creates the lock and returns its content; `undefined` if another process has it, or had it until now. */
async function acquire(file: string): Promise<string | undefined> {
  const lock = `${process.pid} ${randomUUID()}`
  try {
    const handle = await open(file, 'wx')
    try {
      await handle.writeFile(lock)
    } catch (error) {
      // The disk is full: remove the lock, since one without an owner could never be released.
      await rm(file, { force: true })
      throw error
    } finally {
      await handle.close()
    }
    return lock
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const abandoned = await readAbandoned(file)
  if (abandoned !== undefined) await removeAbandoned(file, abandoned)
  return undefined
}

/**
 * Removes a lock that its owner left behind. Several processes may have found it, and a late one must not remove the lock
 * that another one has created meanwhile. Therefore only the process that has the lock for removing this very lock
 * removes it, if it's still there.
 */
async function removeAbandoned(file: string, abandoned: string): Promise<void> {
  const name = abandoned.replace(/[^\w-]+/g, '-').slice(0, 60)
  const removal = `${file}.${name}.lock`
  const lock = await acquire(removal)
  if (!lock) return
  try {
    if ((await readAbandoned(file)) === abandoned) await rm(file, { force: true })
  } finally {
    await release(removal, lock)
  }
}

/** Removes the lock, unless another process took it over because this one didn't respond for long. */
async function release(file: string, lock: string): Promise<void> {
  const now = await readFile(file, 'utf8').catch(() => lock)
  if (now === lock) await rm(file, { force: true })
}

/** The content of a lock whose owner is gone or no longer responds; `undefined` if the lock is in use or was released. */
async function readAbandoned(file: string): Promise<string | undefined> {
  try {
    const [{ mtimeMs }, lock] = await Promise.all([stat(file), readFile(file, 'utf8')])
    if (Date.now() - mtimeMs > OWNER_STALE_MS) return lock
    const pid = Number.parseInt(lock, 10)
    return pid > 0 && !operatingSystem.exists(pid) ? lock : undefined
  } catch {
    return undefined
  }
}
