import { readFile } from 'node:fs/promises'
import { hasProc, hostPlatform } from '../platform.ts'
import { askPowerShell, listProcesses, type ProcessRow, type RunTool, runTool } from './process-system.ts'

/**
 * Measures the memory of each process and its descendants together, in bytes, by process id. Processes that can't be measured are left out.
 */
export async function memoryOfTrees(
  roots: readonly number[],
  platform: NodeJS.Platform = hostPlatform,
  tool: RunTool = runTool,
): Promise<Map<number, number>> {
  const rows = (await listProcesses(platform, tool)) ?? []
  const trees = new Map(roots.map(root => [root, processTree(root, rows)]))
  const sizes = await readMemory([...trees.values()].flat(), platform, tool)
  const sums = new Map<number, number>()
  for (const [root, pids] of trees) {
    const sum = pids.reduce((total, pid) => total + (sizes.get(pid) ?? 0), 0)
    if (sum > 0) sums.set(root, sum)
  }
  return sums
}

/** The ids of a process and its descendants. */
export function processTree(root: number, rows: readonly Pick<ProcessRow, 'pid' | 'ppid'>[]): number[] {
  const tree = [root]
  for (const parent of tree)
    for (const { pid, ppid } of rows) if (ppid === parent && !tree.includes(pid)) tree.push(pid)
  return tree
}

async function readMemory(
  pids: readonly number[],
  platform: NodeJS.Platform,
  tool: RunTool,
): Promise<Map<number, number>> {
  try {
    if (hasProc(platform)) return await fromProc(pids)
    if (platform !== 'win32') return parsePairs(await tool('ps', ['-o', 'pid=,rss=', '-p', pids.join()]))
    const query = `Get-Process -Id ${pids.join()} -ErrorAction SilentlyContinue | ForEach-Object { '{0} {1}' -f $_.Id, ($_.WorkingSet64 / 1024) }`
    return parsePairs(await askPowerShell(query, tool))
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

/** Parses lines with a process id and a size in kilobytes. */
export function parsePairs(text: string): Map<number, number> {
  const sizes = new Map<number, number>()
  for (const line of text.split('\n')) {
    const [pid, kilobytes] = line.trim().split(/\s+/).map(Number)
    if (pid !== undefined && kilobytes !== undefined && kilobytes > 0) sizes.set(pid, kilobytes * 1024)
  }
  return sizes
}
