import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, open, readdir, realpath, stat, symlink } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate as immediate } from 'node:timers/promises'
import { crc32, createGunzip } from 'node:zlib'
import * as l10n from '@vscode/l10n'
import { extract as extractTar } from 'tar/extract'
import { Parser } from 'tar/parse'
import type { ReadEntry } from 'tar/read-entry'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { deferred, raceAbort } from '../../common/async.ts'
import { CancelledError } from '../../common/errors.ts'
import { UNPACK_MS } from '../../common/limits.ts'
import { isWindowsDevice } from '../../common/windows-names.ts'
import type { ArchiveKind } from './registry-format.ts'

export interface UnpackOptions {
  kind: ArchiveKind
  /** The path of the program to start. If the download is an executable, the file gets this name. */
  cmd: string
  /** Names in the folder that the archive must not contain. */
  reserved?: readonly string[]
  signal?: AbortSignal
  maxBytes?: number
  maxEntries?: number
  /** The time limit, in milliseconds. */
  maxMs?: number
}

/** The archive can't be used. The message is a sentence for the user. */
export class ArchiveError extends Error {}

/** Limits that are higher than any agent's archive needs: 4 GiB and 200,000 files. */
const MAX_BYTES = 4 * 1024 ** 3
const MAX_ENTRIES = 200_000
/** The maximum size of a tar file's headers and padding: 16 MiB, and 8 KiB for each entry. */
const MAX_OVERHEAD = 16 * 1024 ** 2
const MAX_OVERHEAD_OF_ENTRY = 8 * 1024

/**
 * Unpacks an archive into an existing folder that contains only reserved names. Nothing is written outside of the folder: every path, link
 * and size is checked before it's used, and the links are checked again when everything is unpacked. Rejects with {@link ArchiveError} or
 * `CancelledError`. Then the caller must remove the unpacked files.
 */
export async function unpackArchive(file: string, folder: string, options: UnpackOptions): Promise<void> {
  const { maxMs = UNPACK_MS } = options
  const timeout = AbortSignal.timeout(maxMs)
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout
  try {
    signal.throwIfAborted()
    if (options.kind === 'executable') await placeExecutable(file, folder, options.cmd)
    else if (options.kind === 'zip') await unpackZip(file, folder, new Budget(options), signal)
    else await unpackTar(file, folder, options, signal)
    await checkLinks(folder, await realpath(folder), signal)
  } catch (error) {
    if (options.signal?.aborted) throw new CancelledError()
    if (timeout.aborted)
      throw new ArchiveError(l10n.t('Unpacking the archive took longer than {0} seconds.', maxMs / 1000))
    if (error instanceof ArchiveError) throw error
    if (isDiskError(error)) throw error
    throw new ArchiveError(l10n.t("The downloaded archive can't be read: {0}", toReason(error)), {
      cause: error,
    })
  }
}

/** Returns the absolute path of a program in a folder. Throws {@link ArchiveError} if the program is outside of the folder. */
export function programIn(folder: string, cmd: string): string {
  const inside = safePath(cmd.replaceAll('\\', '/'))
  return join(folder, ...inside.split('/'))
}

async function placeExecutable(file: string, folder: string, cmd: string): Promise<void> {
  const program = programIn(folder, cmd)
  await mkdir(dirname(program), { recursive: true })
  await copyFile(file, program)
}

/** Checks the names and sizes in an archive's directory or headers before anything is written. */
class Budget {
  readonly #maxBytes: number
  readonly #maxEntries: number
  readonly #reserved: ReadonlySet<string>
  readonly #folders = new Set<string>()
  #bytes = 0
  entries = 0

  constructor({
    maxBytes = MAX_BYTES,
    maxEntries = MAX_ENTRIES,
    reserved = [],
  }: Pick<UnpackOptions, 'maxBytes' | 'maxEntries' | 'reserved'>) {
    this.#maxBytes = maxBytes
    this.#maxEntries = maxEntries
    this.#reserved = new Set(reserved.map(foldedPath))
  }

  /** Returns the safe path of an entry. */
  pathOf(name: string): string {
    const path = safePath(name.replace(/\/+$/, ''))
    const [first = ''] = foldedPath(path).split('/')
    if (this.#reserved.has(first)) throw unsafe(name)
    return path
  }

  /** Counts an entry with a safe path, and the folders that are created for the entry. */
  spend(path: string, bytes: number): void {
    this.entries += 1
    this.#bytes += bytes
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      if (this.#folders.has(folder)) break
      this.#folders.add(folder)
      this.#check()
    }
    this.#check()
  }

  /** Passes on a tar file, and limits the size of its headers and padding. */
  async *overheadOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0
    for await (const piece of pieces) {
      size += piece.length
      yield piece
      if (size - this.#bytes > MAX_OVERHEAD + this.entries * MAX_OVERHEAD_OF_ENTRY) throw tooLarge()
    }
  }

  #check(): void {
    if (this.entries + this.#folders.size > this.#maxEntries || this.#bytes > this.#maxBytes) throw tooLarge()
  }
}

function tooLarge(): ArchiveError {
  return new ArchiveError(l10n.t('The unpacked archive exceeds the maximum size of an agent.'))
}

// ---- zip -----------------------------------------------------------------------------------------------------------

const TYPE = 0o170000
const LINK = 0o120000
const REGULAR = 0o100000
const DIRECTORY = 0o040000

async function unpackZip(file: string, folder: string, budget: Budget, signal: AbortSignal): Promise<void> {
  // yauzl itself rejects absolute paths, `..`, and sizes that contradict the archive's directory.
  const zip = await openPromise(file, { autoClose: false, validateEntrySizes: true })
  try {
    const entries: Entry[] = []
    let compressed = (await stat(file)).size
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted()
      budget.spend(entry.fileName, entry.uncompressedSize)
      // Otherwise, entries that share their content could have many times the size of the file.
      compressed -= entry.compressedSize
      if (compressed < 0) throw unsafe(entry.fileName)
      entries.push(entry)
    }
    const links = new Map<string, string>()
    for (const entry of entries) {
      signal.throwIfAborted()
      if (entry.isEncrypted()) throw new ArchiveError(l10n.t('The downloaded archive is encrypted.'))
      const mode = entry.externalFileAttributes >>> 16
      const isDirectory = entry.fileName.endsWith('/') || (mode & TYPE) === DIRECTORY
      const path = budget.pathOf(entry.fileName)
      if (isDirectory) await mkdir(join(folder, path), { recursive: true })
      else if ((mode & TYPE) === LINK) links.set(path, await readText(zip, entry))
      else if ((mode & TYPE) === REGULAR || (mode & TYPE) === 0)
        await writeEntry(zip, entry, join(folder, path), mode, signal)
      else throw unsafe(path)
    }
    // Links are created last. So no file is written through a link, and no link is created in a folder that is a link itself.
    const names = new Set([...links.keys()].map(foldedPath))
    for (const [path, target] of links) {
      checkLink(path, target)
      if (parentFolders(foldedPath(path)).some(parent => names.has(parent))) throw unsafe(path)
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await symlink(target, join(folder, path))
    }
  } finally {
    zip.close()
  }
}

async function writeEntry(
  zip: ZipFile,
  entry: Entry,
  file: string,
  mode: number,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const permissions = (mode & 0o111) === 0 ? 0o644 : 0o755
  const stream = await zip.openReadStreamPromise(entry)
  let checksum = 0
  await pipeline(
    stream,
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        checksum = crc32(piece, checksum)
        yield piece
      }
    },
    createWriteStream(file, { flags: 'wx', mode: permissions }),
    { signal },
  )
  // yauzl checks only the size, not the checksum.
  if (checksum !== entry.crc32) throw new Error(`${entry.fileName} is damaged`)
}

async function readText(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > 4096) throw unsafe(entry.fileName)
  const pieces: Buffer[] = []
  for await (const piece of await zip.openReadStreamPromise(entry)) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

// ---- tar -----------------------------------------------------------------------------------------------------------

async function unpackTar(
  file: string,
  folder: string,
  options: UnpackOptions,
  signal: AbortSignal,
): Promise<void> {
  // Parley decompresses the file itself, because node-tar collects everything after the end of an archive in memory.
  const budget = new Budget(options)
  // All headers are checked before anything is written.
  const checker: Parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      entry.resume()
      try {
        checkEntry(entry, budget)
      } catch (error) {
        checker.emit('error', error)
      }
    },
  })
  // node-tar skips entries of unknown types, such as sparse files.
  checker.on('ignoredEntry', entry => checker.emit('error', unsafe(entry.path)))
  await feedTar(checker, budget.overheadOf(gunzip(file, signal)), signal, true)
  if (budget.entries === 0) throw new ArchiveError(l10n.t('The downloaded archive is empty.'))
  // node-tar writes nothing through links and nothing outside of `cwd`. With `strict`, an entry that node-tar would skip is an error.
  const unpacker = extractTar({
    cwd: folder,
    strict: true,
    preserveOwner: false,
    noMtime: true,
    // Files get no special permission bits, and the owner can read everything.
    fmode: 0o644,
    dmode: 0o755,
    umask: 0o022,
    onReadEntry: entry => {
      const executable = ((entry.mode ?? 0) & 0o111) !== 0
      entry.mode = entry.type === 'Directory' || executable ? 0o755 : 0o644
    },
  })
  await feedTar(unpacker, gunzip(file, signal), signal, false)
}

/**
 * Feeds a tar file to a parser up to the archive's end. Padding of any size may follow the end. `readsAll`: also reads the rest, to check
 * that the file is complete.
 */
async function feedTar(
  parser: Parser,
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal,
  readsAll: boolean,
): Promise<void> {
  const over = deferred()
  over.promise.catch(() => {})
  let isAtEnd = false
  parser.on('eof', () => {
    isAtEnd = true
  })
  parser.on('error', over.reject)
  parser.once('close', () => over.resolve())
  let isFirst = true
  for await (const piece of pieces) {
    signal.throwIfAborted()
    if (isAtEnd) {
      if (readsAll) continue
      break
    }
    // node-tar would decompress the file once more.
    if (isFirst && isCompressed(piece))
      throw new ArchiveError(l10n.t('The downloaded archive is compressed twice.'))
    isFirst = false
    if (parser.write(piece)) await Promise.race([over.promise, immediate()])
    else await raceAbort(Promise.race([over.promise, once(parser, 'drain')]), signal)
  }
  parser.end()
  await raceAbort(over.promise, signal)
}

function isCompressed(start: Buffer): boolean {
  const hex = start.toString('hex', 0, 4)
  return hex.startsWith('1f8b') || hex === '28b52ffd'
}

/** Yields a file's content, decompressed if the file is compressed with gzip. */
async function* gunzip(file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const handle = await open(file)
  const start = Buffer.alloc(4)
  try {
    await handle.read(start, 0, 4, 0)
  } finally {
    await handle.close()
  }
  const source = createReadStream(file)
  if (!start.toString('hex').startsWith('1f8b')) return yield* source
  const unzip = createGunzip({ chunkSize: 256 * 1024 })
  // The signal also ends the decompression of a file whose parts yield no content.
  const done = pipeline(source, unzip, { signal })
  done.catch(() => {})
  yield* unzip
  await done
}

function checkEntry(entry: ReadEntry, budget: Budget): void {
  const path = budget.pathOf(entry.path)
  budget.spend(path, entry.size)
  switch (entry.type) {
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
    case 'Directory':
      return
    case 'SymbolicLink':
      checkLink(path, entry.linkpath ?? '')
      return
    case 'Link':
      safePath(entry.linkpath ?? '')
      return
    default:
      throw unsafe(entry.path)
  }
}

// ---- paths ---------------------------------------------------------------------------------------------------------

/**
 * Names that Windows forbids or changes, including `..`, and the names that GNU tar gives to sparse files, because their stored content
 * isn't the file's content.
 */
const BAD_NAME = /[<>:"|?*\p{Cc}]|.[. ]$|^ $|^GNUSparseFile(?:\.\d+)?$/u

/** Returns a relative path of plain names, with `/`. Throws if the path could lead outside on any system. */
function safePath(path: string): string {
  const plain = posix.normalize(path)
  const names = plain.split('/')
  const isBad =
    plain === '' ||
    plain.length > 4096 ||
    posix.isAbsolute(path) ||
    /[\0\\]/.test(path) ||
    /^[a-z]:/i.test(path) ||
    names.some(name => isWindowsDevice(name) || BAD_NAME.test(name))
  if (isBad) throw unsafe(path)
  return plain
}

/** Checks that a link is relative and leads to something inside of the folder. */
function checkLink(path: string, target: string): void {
  if (target === '' || posix.isAbsolute(target) || /[\0\\]/.test(target) || /^[a-z]:/i.test(target))
    throw unsafe(path)
  const inside = posix.join(posix.dirname(path), target)
  if (inside === '..' || inside.startsWith('../')) throw unsafe(path)
}

/** Returns a path in a form that is the same for all spellings that a file system may consider equal. */
function foldedPath(path: string): string {
  return path.normalize('NFC').toLowerCase().toUpperCase()
}

function parentFolders(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, at) => names.slice(0, at + 1).join('/'))
}

/** Checks where links really lead, even through other links, now that all files exist. */
async function checkLinks(folder: string, root: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await checkLinks(path, root, signal)
    else if (entry.isSymbolicLink()) {
      const target = await realpath(path).catch(() => undefined)
      if (target === undefined || !`${target}${sep}`.startsWith(`${resolve(root)}${sep}`))
        throw unsafe(entry.name)
    } else if (entry.isFile()) {
      const { mode } = await lstat(path)
      if ((mode & 0o7000) !== 0) await chmod(path, mode & 0o755)
    } else throw unsafe(entry.name)
  }
}

function unsafe(path: string): ArchiveError {
  return new ArchiveError(l10n.t("The downloaded archive isn't safe to unpack: {0}", JSON.stringify(path)))
}

/** Whether an error comes from the disk, not from the archive. */
function isDiskError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO' || code === 'EROFS' || code === 'EACCES'
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
