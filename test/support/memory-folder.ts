/**
 * Loaded before all tests: on Linux, what tests write is in memory, in a folder of this process that is removed at its end. The tests wait
 * for no disk, and none of their databases and repositories is written to one.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { atExit, exitOnSignals } from '../host/at-exit.ts'

const MEMORY = '/dev/shm'
/** Containers often have 64 MB, which isn't enough for a workbench and a browser. */
const MIN_FREE_BYTES = 4 * 1024 ** 3

/** Whether there is enough memory, and programs in it can be started, which Docker forbids. */
function isUsable(): boolean {
  try {
    const mount = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map(line => line.split(' '))
      .find(([, folder]) => folder === MEMORY)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= MIN_FREE_BYTES && mount?.[3]?.split(',').includes('noexec') === false
  } catch {
    return false
  }
}

if (process.platform === 'linux' && isUsable()) {
  // short, because folders of tests contain sockets, whose paths can have at most 107 bytes
  const folder = mkdtempSync(join(MEMORY, 'p-'))
  // tests that write as another user need it too
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  exitOnSignals()
  atExit(() => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    } catch {
      // a process that still runs writes to it
    }
  })
}
