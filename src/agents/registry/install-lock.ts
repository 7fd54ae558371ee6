import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { delay } from '../../common/async.ts'
import { CancelledError } from '../../common/errors.ts'
import { operatingSystem } from '../../common/processes/process-system.ts'

/** The owner of a lock says this often that it is alive, in milliseconds. */
const HEARTBEAT_MS = 5000
/** A lock whose owner was not heard of for this long is nobody's, in milliseconds. */
const STALE_MS = 20_000
const POLL_MS = 100

/**
 * Does work that only one process on this machine may do at a time: windows share their storage. Waits while another
 * one does it. The lock of a process that died is taken over. Rejects with `CancelledError` when `signal` aborts before
 * the lock is had; the work looks at the signal itself.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  await mkdir(dirname(file), { recursive: true })
  while (!(await acquire(file))) {
    if (signal?.aborted) throw new CancelledError()
    await delay(POLL_MS)
  }
  const heartbeat = setInterval(() => {
    const now = new Date()
    void utimes(file, now, now).catch(() => {})
  }, HEARTBEAT_MS)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    await rm(file, { force: true })
  }
}

async function acquire(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx')
    await handle.writeFile(String(process.pid))
    await handle.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if (await isAbandoned(file)) await rm(file, { force: true })
  return false
}

async function isAbandoned(file: string): Promise<boolean> {
  try {
    const [{ mtimeMs }, owner] = await Promise.all([stat(file), readFile(file, 'utf8')])
    if (Date.now() - mtimeMs > STALE_MS) return true
    const pid = Number(owner)
    return Number.isInteger(pid) && pid > 0 && !operatingSystem.exists(pid)
  } catch {
    // It was given back meanwhile.
    return false
  }
}
