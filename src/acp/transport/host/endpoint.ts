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

/** What a window needs to reach a running agent host. */
export interface HostEntry {
  pid: number
  /** the start time of the host's process, as {@link ProcessSystem} lists it: another process may get the same pid later */
  started: number
  version: number
  /** the path of the host's socket, or the name of its pipe on Windows */
  socket: string
  secret: string
  /** the folder of the program that the host runs; see `copyProgram` */
  program: string
}

const ENTRY = /^host-\d+\.json$/
/** The maximum length of a socket's path on some systems, in bytes, with the terminating null byte. */
const MAX_SOCKET_PATH = 104
/** The prefix of a socket's folder. Only the user can enter the folder. */
const SOCKET_FOLDER = 'parley-host-'

/** Returns a path for a socket in a new folder; on Windows, a random pipe name. `bases` are the parent folders to try, in this order. */
export function newSocketPath(
  platform: NodeJS.Platform = hostPlatform,
  bases: ReadonlyArray<string | undefined> = [process.env.XDG_RUNTIME_DIR, os.tmpdir(), '/tmp'],
): string {
  if (platform === 'win32') return `\\\\.\\pipe\\parley-${randomBytes(16).toString('hex')}`
  // The extension's storage folder isn't used, because its path is often too long.
  for (const base of bases) {
    // `mkdtemp` appends six characters.
    if (!base || Buffer.byteLength(path.join(base, `${SOCKET_FOLDER}123456`, 's')) >= MAX_SOCKET_PATH)
      continue
    try {
      return path.join(mkdtempSync(path.join(base, SOCKET_FOLDER)), 's')
    } catch {
      // The folder doesn't exist, or the user can't write to it.
    }
  }
  throw new Error('There is no folder for a socket.')
}

/** Whether the process of an entry may be the host: it runs the host's program, or the system doesn't say what it runs. */
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

/** Makes a host known to the windows of this user. Returns a function that removes the entry. */
export function publishEntry(folder: string, entry: HostEntry): () => void {
  makePrivateFolder(folder)
  const file = path.join(folder, `host-${entry.pid}.json`)
  writeWholeSync(file, JSON.stringify(entry))
  return () => removeEntry(file, entry)
}

/** Resolves to the start time of a process; `undefined` if it doesn't run, or if the processes can't be listed. */
export async function processStartTime(
  pid: number,
  system: ProcessSystem = operatingSystem,
): Promise<number | undefined> {
  return (await system.list())?.find(row => row.pid === pid && !row.zombie)?.started
}

/** Whether the host that wrote a journal still runs. */
export async function runsHost(
  { pid, started, file }: JournalFile,
  system: ProcessSystem = operatingSystem,
): Promise<boolean> {
  if (!system.exists(pid)) return false
  const isEntry = (entry: HostEntry) => entry.pid === pid && entry.started === started
  // Listing all processes takes a second on Windows.
  if (system.platform === 'win32' && likelyEntries(path.dirname(file), system).some(isEntry)) return true
  const rows = await system.list()
  return rows?.some(row => row.pid === pid && row.started === started && !row.zombie) ?? true
}

/** Resolves to the entries of running hosts, oldest first. Deletes the entries of hosts that don't run anymore. */
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
 * Like {@link readEntries}, but without a list of all processes, which takes a second on Windows. A process with the entry's pid exists,
 * but only the handshake proves that this process is the host.
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

/** Whether only the user can read the file. Otherwise, another user could have created the entry to receive environment variables. */
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

/** Returns the name of the file with an agent's frames. `pid` and `started` identify its host, whose entry is in the same folder. */
export function journalName(pid: number, started: number, agentId: string): string {
  return `journal-${pid}-${started}-${agentId}`
}

const JOURNAL = /^journal-(\d+)-(\d+)-([0-9a-f]+)(\.new)?$/

export interface JournalFile {
  file: string
  /** the pid and the start time of the journal's host, as in {@link HostEntry} */
  pid: number
  started: number
  agentId: string
  /** The host was killed while it created the file. */
  isUnfinished: boolean
}

/** Returns the journals in a folder of hosts. */
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

/** Removes an entry and its socket. The journals of the host are kept for the next host. */
function removeEntry(file: string, { socket }: HostEntry): void {
  rmSync(file, { force: true })
  removeSocket(socket)
}

/** Removes the folder of a socket. A pipe has no folder. */
export function removeSocket(socket: string): void {
  const socketFolder = path.dirname(socket)
  if (path.basename(socketFolder).startsWith(SOCKET_FOLDER))
    rmSync(socketFolder, { recursive: true, force: true })
}
