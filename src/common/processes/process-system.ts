import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { LIST_PROCESSES_MS } from '../limits.ts'
import { hasProc, hostPlatform } from '../platform.ts'

export interface ProcessRow {
  pid: number
  /** The parent's id. On Windows, the parent may have exited, and its id may belong to another process by now. */
  ppid: number
  /** The process group; 0 on Windows, which has no groups. */
  pgid: number
  /**
   * Start time of the process, in the system's own unit (clock ticks since boot, or milliseconds since the epoch). Together with the pid,
   * it identifies a process; a child never has an earlier time than its parent.
   */
  started: number
  /** Whether the process has exited, but its parent hasn't collected its exit status yet. */
  zombie: boolean
}

export type EndSignal = 'SIGTERM' | 'SIGKILL'

/** The operating system's functions for ending processes. Tests simulate them. */
export interface ProcessSystem {
  readonly platform: NodeJS.Platform
  /** All visible processes; `undefined` if they can't be listed. */
  list(): Promise<ProcessRow[] | undefined>
  /** Whether the process exists, or for a negative id, any process of that group. */
  exists(pid: number): boolean
  /** Signals a process, or for a negative id, a group. Ignores processes that have exited. */
  signal(pid: number, signal: EndSignal): void
  /** Ends a living process and its descendants by force. Only on Windows. */
  endTree(pid: number): Promise<void>
}

/** Runs a program of the system. Resolves to the program's output. Rejects if the program fails or takes too long. */
export type RunTool = (program: string, args: string[], env?: NodeJS.ProcessEnv) => Promise<string>

const run = promisify(execFile)

export const runTool: RunTool = async (program, args, env) => {
  const options = { maxBuffer: 16 << 20, timeout: LIST_PROCESSES_MS, windowsHide: true }
  return (await run(program, args, { ...options, ...(env && { env }) })).stdout
}

export const operatingSystem: ProcessSystem = {
  platform: hostPlatform,
  list: () => listProcesses(),
  exists: pid => {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      // EPERM: the process runs as another user.
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  },
  signal: (pid, signal) => {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has exited.
    }
  },
  endTree: async pid => {
    // Windows has no gentle signal for a program without a window.
    await runTool(systemProgram('taskkill.exe'), ['/PID', String(pid), '/T', '/F']).catch(() => {})
  },
}

/** Lists all processes; `undefined` if they can't be listed. */
export async function listProcesses(
  platform: NodeJS.Platform = hostPlatform,
  tool: RunTool = runTool,
): Promise<ProcessRow[] | undefined> {
  try {
    if (hasProc(platform)) return await listFromProc()
    return platform === 'win32' ? await listFromWindows(tool) : await listFromPs(tool)
  } catch {
    return undefined
  }
}

/**
 * Lists the processes that were started with this environment variable (`NAME=value`). Descendants inherit the variable, so those whose
 * parent is gone are found, too. Empty on Windows. Processes whose environment this user can't read are left out.
 */
export async function processesWith(
  variable: string,
  platform: NodeJS.Platform = hostPlatform,
  tool: RunTool = runTool,
): Promise<Set<number>> {
  if (platform === 'win32') return new Set()
  if (!hasProc(platform)) {
    const list = await tool('ps', ['-A', '-E', '-ww', '-o', 'pid=,command=']).catch(() => '')
    const lines = list.split('\n').filter(line => line.includes(variable))
    return new Set(lines.map(line => Number.parseInt(line, 10)))
  }
  const found = new Set<number>()
  const look = async (pid: string) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    if (environment.split('\0').includes(variable)) found.add(Number(pid))
  }
  await Promise.all((await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(look))
  return found
}

/** The command line of a process; `undefined` if it can't be read. */
export async function commandLineOf(
  pid: number,
  platform: NodeJS.Platform = hostPlatform,
  tool: RunTool = runTool,
): Promise<string | undefined> {
  try {
    if (hasProc(platform)) return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
    if (platform === 'win32') return undefined
    return await tool('ps', ['-o', 'command=', '-p', String(pid)])
  } catch {
    return undefined
  }
}

/** The full path of a program of Windows, because a program of that name in the working directory would take precedence. */
export function systemProgram(...names: string[]): string {
  return path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', ...names)
}

/** Lists the processes from `/proc`, because small Linux images have no `ps`. */
async function listFromProc(): Promise<ProcessRow[]> {
  const names = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const rows = await Promise.all(
    names.map(async name => {
      try {
        return parseStat(Number(name), await readFile(`/proc/${name}/stat`, 'utf8'))
      } catch {
        return undefined // it exited meanwhile
      }
    }),
  )
  return rows.filter(row => row !== undefined)
}

/** Parses `pid (name) state ppid pgrp … starttime …`. The name may contain anything, so the fields start after the last `)`. */
export function parseStat(pid: number, stat: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, pgid] = fields
  const started = fields[19]
  if (state === undefined || started === undefined) return undefined
  const zombie = state === 'Z' || state === 'X'
  return { pid, ppid: Number(ppid), pgid: Number(pgid), started: Number(started), zombie }
}

async function listFromPs(tool: RunTool): Promise<ProcessRow[]> {
  const env = { ...process.env, LC_ALL: 'C' }
  return parsePs(await tool('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='], env))
}

export function parsePs(text: string): ProcessRow[] {
  const rows: ProcessRow[] = []
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
    if (!match) continue
    const [, pid, ppid, pgid, state, started] = match
    rows.push({
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      started: Date.parse(started ?? '') || 0,
      zombie: state?.startsWith('Z') === true,
    })
  }
  return rows
}

/** Prints a line `pid ppid milliseconds` for each process. `CreationDate` is null for the idle process. */
const WINDOWS_QUERY =
  'Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,CreationDate | ForEach-Object { if ($_.CreationDate) { ' +
  "'{0} {1} {2}' -f $_.ProcessId, $_.ParentProcessId, ([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds() } }"

let listing: Promise<ProcessRow[]> | undefined

/** Lists the processes with PowerShell. Starting it takes up to a second, so concurrent calls share one result. */
function listFromWindows(tool: RunTool): Promise<ProcessRow[]> {
  listing ??= askPowerShell(WINDOWS_QUERY, tool)
    .then(parseWindows)
    .finally(() => {
      listing = undefined
    })
  return listing
}

export function askPowerShell(query: string, tool: RunTool): Promise<string> {
  const shell = systemProgram('WindowsPowerShell', 'v1.0', 'powershell.exe')
  return tool(shell, ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', query])
}

export function parseWindows(text: string): ProcessRow[] {
  const rows: ProcessRow[] = []
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*(\d+) (\d+) (\d+)\s*$/.exec(line)
    if (!match) continue
    const [pid = 0, ppid = 0, started = 0] = match.slice(1).map(Number)
    rows.push({ pid, ppid, pgid: 0, started, zombie: false })
  }
  return rows
}
