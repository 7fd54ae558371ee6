import { randomBytes } from 'node:crypto'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { hasFileModes, hostPlatform } from '../../../common/platform.ts'
import { makePrivateFolder } from '../../../common/private-files.ts'
import {
  commandLineOf,
  operatingSystem,
  type ProcessSystem,
} from '../../../common/processes/process-system.ts'
import { writeWholeSync } from '../../../common/whole-files.ts'

/** How to reach a running agent host. */
export interface HostEntry {
  pid: number
  /** start time of the host's process, as {@link ProcessSystem} lists it: another process may get the same pid later */
  started: number
  version: number
  /** the path of the host's socket, or the name of its pipe on Windows */
  socket: string
  secret: string
  /** the folder of the program that it runs; see `copyProgram` */
  program: string
}

const ENTRY = /^host-\d+\.json$/
/** The system's limit for the path of a socket, in bytes, with its end. */
const MAX_SOCKET_PATH = 104
/** The folder of a socket. Only the user can enter it. */
const SOCKET_FOLDER = 'parley-host-'

/** A path for a socket, in a new folder; or a random name for a pipe. `bases`: where the folder may be, in order of preference. */
export function newSocketPath(
  platform: NodeJS.Platform = hostPlatform,
  bases: ReadonlyArray<string | undefined> = [process.env.XDG_RUNTIME_DIR, os.tmpdir(), '/tmp'],
): string {
  if (platform === 'win32') return `\\\\.\\pipe\\parley-${randomBytes(16).toString('hex')}`
  // the storage of the extension is often too deep
  for (const base of bases) {
    // `mkdtemp` adds six characters
    if (!base || Buffer.byteLength(path.join(base, `${SOCKET_FOLDER}123456`, 's')) >= MAX_SOCKET_PATH)
      continue
    try {
      return path.join(mkdtempSync(path.join(base, SOCKET_FOLDER)), 's')
    } catch {
      // the folder doesn't exist, or isn't the user's
    }
  }
  throw new Error('There is no folder for a socket.')
}

/** Whether the process of an entry may be the host: it runs the host's program, as far as the system tells. */
export async function mayBeHost({ pid, program }: HostEntry): Promise<boolean> {
  return (await commandLineOf(pid))?.includes(program) ?? true
}

/** Removes an entry that another program wrote, but not the socket that the entry names. */
export function removeForeignEntry(folder: string, { secret }: HostEntry): void {
  for (const name of namesIn(folder).filter(name => ENTRY.test(name))) {
    const file = path.join(folder, name)
    if (parseEntry(file)?.secret === secret) rmSync(file, { force: true })
  }
}

/** Makes a host known to the windows of this user. Returns a function that reverts this. */
export function publishEntry(folder: string, entry: HostEntry): () => void {
  makePrivateFolder(folder)
  const file = path.join(folder, `host-${entry.pid}.json`)
  writeWholeSync(file, JSON.stringify(entry))
  return () => removeEntry(file, entry)
}

/** When a process of this machine started; `undefined` if it doesn't run, or the processes can't be listed. */
export async function processStartTime(
  pid: number,
  system: ProcessSystem = operatingSystem,
): Promise<number | undefined> {
  return (await system.list())?.find(row => row.pid === pid && !row.zombie)?.started
}

/** Whether the host of a journal runs. */
export async function runsHost(
  { pid, started, file }: JournalFile,
  system: ProcessSystem = operatingSystem,
): Promise<boolean> {
  if (!system.exists(pid)) return false
  const isEntry = (entry: HostEntry) => entry.pid === pid && entry.started === started
  // a list of all processes takes a second there
  if (system.platform === 'win32' && likelyEntries(path.dirname(file), system).some(isEntry)) return true
  const rows = await system.list()
  return rows?.some(row => row.pid === pid && row.started === started && !row.zombie) ?? true
}

/** The hosts that run, oldest first. Entries of hosts that don't run anymore are deleted. */
export async function readEntries(
  folder: string,
  system: ProcessSystem = operatingSystem,
): Promise<HostEntry[]> {
  if (!namesIn(folder).some(name => ENTRY.test(name))) return []
  const rows = await system.list()
  if (!rows) return likelyEntries(folder, system)
  return entriesOf(folder, ({ pid, started }) =>
    rows.some(row => row.pid === pid && row.started === started && !row.zombie),
  )
}

/**
 * Like `liveEntries`, but without a list of all processes, which takes a second on Windows. A process with the entry's id exists, but only
 * the handshake proves that it's the host.
 */
export function likelyEntries(folder: string, system: ProcessSystem = operatingSystem): HostEntry[] {
  return entriesOf(folder, ({ pid }) => system.exists(pid))
}

function entriesOf(folder: string, runs: (entry: HostEntry) => boolean): HostEntry[] {
  const found: HostEntry[] = []
  for (const name of namesIn(folder).filter(name => ENTRY.test(name))) {
    const file = path.join(folder, name)
    const entry = isPrivate(file) ? parseEntry(file) : undefined
    if (!entry) continue
    if (!runs(entry)) removeEntry(file, entry)
    else if (!hasFileModes() || isPrivate(path.dirname(entry.socket))) found.push(entry)
  }
  return found.sort((a, b) => a.started - b.started || a.pid - b.pid)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Whether only the user can read the file: another user could have created an entry to receive environments. */
function isPrivate(file: string): boolean {
  if (!hasFileModes()) return true
  try {
    const { uid, mode } = lstatSync(file)
    return uid === process.getuid?.() && (mode & 0o077) === 0
  } catch {
    return false
  }
}

function parseEntry(file: string): HostEntry | undefined {
  try {
    const { pid, started, version, socket, secret, program } = JSON.parse(readFileSync(file, 'utf8'))
    const isEntry =
      [pid, started, version].every(Number.isFinite) &&
      [socket, secret, program].every(text => typeof text === 'string')
    return isEntry ? { pid, started, version, socket, secret, program } : undefined
  } catch {
    return undefined
  }
}

/** The file of an agent's frames, beside the entry of its host, whose process started at `started`. */
export function journalName(pid: number, started: number, agentId: string): string {
  return `journal-${pid}-${started}-${agentId}`
}

const JOURNAL = /^journal-(\d+)-(\d+)-([0-9a-f]+)(\.new)?$/

export interface JournalFile {
  file: string
  /** pid and start time of its host, as in {@link HostEntry} */
  pid: number
  started: number
  agentId: string
  /** Its host was killed while it created the file. */
  isUnfinished: boolean
}

/** The journals in a folder of hosts. */
export function journalsIn(folder: string): JournalFile[] {
  return namesIn(folder).flatMap(name => {
    const [, pid, started, agentId = '', unfinished] = JOURNAL.exec(name) ?? []
    const file = path.join(folder, name)
    if (pid === undefined || !isPrivate(file)) return []
    return [
      { file, pid: Number(pid), started: Number(started), agentId, isUnfinished: unfinished !== undefined },
    ]
  })
}

/** With its socket. Its journals are for the next host. */
function removeEntry(file: string, { socket }: HostEntry): void {
  rmSync(file, { force: true })
  removeSocket(socket)
}

/** Removes the folder of a socket; a pipe has none. */
export function removeSocket(socket: string): void {
  const socketFolder = path.dirname(socket)
  if (path.basename(socketFolder).startsWith(SOCKET_FOLDER))
    rmSync(socketFolder, { recursive: true, force: true })
}
