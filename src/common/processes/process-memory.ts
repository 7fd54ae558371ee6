import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { LIST_PROCESSES_MS } from '../limits.ts'
import { hostPlatform } from '../platform.ts'
import { operatingSystem, type ProcessRow } from './process-system.ts'

const run = promisify(execFile)
const OPTIONS = { timeout: LIST_PROCESSES_MS, windowsHide: true }

/**
 * The memory that each process uses together with its descendants, in bytes, by process id. Processes that can't be measured are left out.
 */
export async function memoryOfTrees(roots: readonly number[]): Promise<Map<number, number>> {
  const rows = (await operatingSystem.list()) ?? []
  const trees = new Map(roots.map(root => [root, processTree(root, rows)]))
  const sizes = await readMemory([...trees.values()].flat())
  const sums = new Map<number, number>()
  for (const [root, pids] of trees) {
    const sum = pids.reduce((total, pid) => total + (sizes.get(pid) ?? 0), 0)
    if (sum > 0) sums.set(root, sum)
  }
  return sums
}

/** The process and its descendants. */
export function processTree(root: number, rows: readonly Pick<ProcessRow, 'pid' | 'ppid'>[]): number[] {
  const tree = [root]
  for (const parent of tree)
    for (const { pid, ppid } of rows) if (ppid === parent && !tree.includes(pid)) tree.push(pid)
  return tree
}

async function readMemory(pids: readonly number[]): Promise<Map<number, number>> {
  try {
    if (hostPlatform === 'linux') return await fromProc(pids)
    const text = hostPlatform === 'win32' ? await fromWindows(pids) : await fromPs(pids)
    return parsePairs(text)
  } catch {
    return new Map()
  }
}

async function fromProc(pids: readonly number[]): Promise<Map<number, number>> {
  const sizes = new Map<number, number>()
  await Promise.all(
    pids.map(async pid => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]
      if (kilobytes !== undefined) sizes.set(pid, Number(kilobytes) * 1024)
    }),
  )
  return sizes
}

async function fromPs(pids: readonly number[]): Promise<string> {
  const { stdout } = await run('ps', ['-o', 'pid=,rss=', '-p', pids.join()], OPTIONS)
  return stdout
}

async function fromWindows(pids: readonly number[]): Promise<string> {
  const query = `Get-Process -Id ${pids.join()} -ErrorAction SilentlyContinue | ForEach-Object { '{0} {1}' -f $_.Id, ($_.WorkingSet64 / 1024) }`
  const { stdout } = await run(
    'powershell.exe',
    ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', query],
    OPTIONS,
  )
  return stdout
}

/** Parses lines with a process id and a size in kilobytes. */
export function parsePairs(text: string): Map<number, number> {
  const sizes = new Map<number, number>()
  for (const line of text.split('\n')) {
    const [pid, kilobytes] = line.trim().split(/\s+/).map(Number)
    if (pid !== undefined && kilobytes !== undefined && kilobytes > 0) sizes.set(pid, kilobytes * 1024)
  }
  return sizes
}
