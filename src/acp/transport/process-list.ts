import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface ProcessRow {
  pid: number
  /** the parent */
  ppid: number
  /** the process group */
  pgid: number
  /** when it started, in the system's own form: with the pid it names a process beyond doubt */
  started: string
  /** It has ended, and nobody has taken note of that yet. */
  zombie: boolean
}

/** All processes of a POSIX system that can be seen; `undefined` when they cannot be listed. */
export async function listProcesses(): Promise<ProcessRow[] | undefined> {
  try {
    return process.platform === 'linux' ? await fromProc() : await fromPs()
  } catch {
    return undefined
  }
}

/** Straight from `/proc`: small Linux images have no `ps`. */
async function fromProc(): Promise<ProcessRow[]> {
  const names = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const rows = await Promise.all(
    names.map(async name => {
      try {
        return parseStat(Number(name), await readFile(`/proc/${name}/stat`, 'utf8'))
      } catch {
        return undefined // it ended meanwhile
      }
    }),
  )
  return rows.filter(row => row !== undefined)
}

/** `pid (name) state ppid pgrp … starttime …`; the name may hold anything, so what counts begins after the last `)`. */
export function parseStat(pid: number, stat: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, pgid] = fields
  const started = fields[19]
  if (state === undefined || started === undefined) return undefined
  return { pid, ppid: Number(ppid), pgid: Number(pgid), started, zombie: state === 'Z' || state === 'X' }
}

async function fromPs(): Promise<ProcessRow[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='], {
    maxBuffer: 16 << 20,
    env: { ...process.env, LC_ALL: 'C' },
  })
  return parsePs(stdout)
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
      started: started ?? '',
      zombie: state?.startsWith('Z') === true,
    })
  }
  return rows
}
