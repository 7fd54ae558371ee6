import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, readdir, realpath, rm, symlink } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as l10n from '@vscode/l10n'
import { x as extractTar, Parser, type ReadEntry } from 'tar'
import bunzip2 from 'unbzip2-stream'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { CancelledError } from '../../common/errors.ts'
import { isWindowsDevice } from '../../common/windows-names.ts'

export type ArchiveKind = 'zip' | 'tar' | 'tar.bz2' | 'executable'

export interface UnpackOptions {
  kind: ArchiveKind
  /** The program to start; names the file if the download is a bare executable. */
  cmd: string
  signal?: AbortSignal
  maxBytes?: number
  maxEntries?: number
}

/** The archive can't be used. The message is a sentence for the user. */
export class ArchiveError extends Error {}

/** More than any agent's archive contains: 4 GiB, 200,000 files. */
const MAX_BYTES = 4 * 1024 ** 3
const MAX_ENTRIES = 200_000

/** The kind of a download by its URL's extension; with an unknown extension, it's the program itself. */
export function archiveKind(address: string): ArchiveKind {
  const { pathname } = new URL(address)
  if (/\.zip$/i.test(pathname)) return 'zip'
  if (/\.(tar\.gz|tgz|tar)$/i.test(pathname)) return 'tar'
  if (/\.(tar\.bz2|tbz2?)$/i.test(pathname)) return 'tar.bz2'
  return 'executable'
}

/**
 * Unpacks an archive into a folder that exists and is empty. Nothing is written outside of the folder: every path, link
 * and size is checked before it is used, and links once more when everything is there. Rejects with {@link ArchiveError},
 * or with `CancelledError`; then the caller must remove what was unpacked.
 */
export async function unpackArchive(file: string, folder: string, options: UnpackOptions): Promise<void> {
  const { signal } = options
  try {
    signal?.throwIfAborted()
    if (options.kind === 'executable') await placeExecutable(file, folder, options.cmd)
    else if (options.kind === 'zip') await unpackZip(file, folder, new Budget(options), signal)
    else await unpackTar(file, folder, options)
    await checkLinks(folder, await realpath(folder))
  } catch (error) {
    if (signal?.aborted) throw new CancelledError()
    if (error instanceof ArchiveError) throw error
    if (isDiskError(error)) throw error
    throw new ArchiveError(l10n.t("The downloaded archive can't be read: {0}", reasonOf(error)), {
      cause: error,
    })
  }
}

/** The absolute path of a program in a folder; throws {@link ArchiveError} if it's outside. */
export function programIn(folder: string, cmd: string): string {
  const inside = safePath(cmd.replaceAll('\\', '/'))
  return join(folder, ...inside.split('/'))
}

async function placeExecutable(file: string, folder: string, cmd: string): Promise<void> {
  const program = programIn(folder, cmd)
  await mkdir(dirname(program), { recursive: true })
  await copyFile(file, program)
}

/** Checks the size that an archive claims to have before anything is written. */
class Budget {
  readonly #maxBytes: number
  readonly #maxEntries: number
  #bytes = 0
  #entries = 0

  constructor({
    maxBytes = MAX_BYTES,
    maxEntries = MAX_ENTRIES,
  }: Pick<UnpackOptions, 'maxBytes' | 'maxEntries'>) {
    this.#maxBytes = maxBytes
    this.#maxEntries = maxEntries
  }

  spend(bytes: number): void {
    this.#entries += 1
    this.#bytes += bytes
    if (this.#entries > this.#maxEntries || this.#bytes > this.#maxBytes)
      throw new ArchiveError(l10n.t('The unpacked archive exceeds the maximum size of an agent.'))
  }
}

// ---- zip -----------------------------------------------------------------------------------------------------------

const TYPE = 0o170000
const LINK = 0o120000
const REGULAR = 0o100000
const DIRECTORY = 0o040000

async function unpackZip(file: string, folder: string, budget: Budget, signal?: AbortSignal): Promise<void> {
  // yauzl itself refuses absolute paths, `..` and sizes that contradict the archive's directory.
  const zip = await openPromise(file, { autoClose: false, validateEntrySizes: true })
  try {
    const entries: Entry[] = []
    for await (const entry of zip.eachEntry()) {
      signal?.throwIfAborted()
      budget.spend(entry.uncompressedSize)
      entries.push(entry)
    }
    const links = new Map<string, string>()
    for (const entry of entries) {
      signal?.throwIfAborted()
      if (entry.isEncrypted()) throw new ArchiveError(l10n.t('The downloaded archive is encrypted.'))
      const mode = entry.externalFileAttributes >>> 16
      const isDirectory = entry.fileName.endsWith('/') || (mode & TYPE) === DIRECTORY
      const path = safePath(entry.fileName.replace(/\/+$/, ''))
      if (isDirectory) await mkdir(join(folder, path), { recursive: true })
      else if ((mode & TYPE) === LINK) links.set(path, await textOf(zip, entry))
      else if ((mode & TYPE) === REGULAR || (mode & TYPE) === 0)
        await writeEntry(zip, entry, folder, path, mode)
      else throw unsafe(path)
    }
    // Links are created last, so that no file is written through one, and none in a folder that is a link itself.
    const names = new Set([...links.keys()].map(foldedPath))
    for (const [path, target] of links) {
      checkLink(path, target)
      if (parentsOf(foldedPath(path)).some(parent => names.has(parent))) throw unsafe(path)
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
  folder: string,
  path: string,
  mode: number,
): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  const permissions = (mode & 0o111) === 0 ? 0o644 : 0o755
  const stream = await zip.openReadStreamPromise(entry)
  await pipeline(stream, createWriteStream(file, { flags: 'wx', mode: permissions }))
}

async function textOf(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > 4096) throw unsafe(entry.fileName)
  const pieces: Buffer[] = []
  for await (const piece of await zip.openReadStreamPromise(entry)) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

// ---- tar -----------------------------------------------------------------------------------------------------------

async function unpackTar(file: string, folder: string, options: UnpackOptions): Promise<void> {
  const { signal } = options
  const unzipped = options.kind === 'tar.bz2' ? join(folder, '.archive.tar') : file
  if (unzipped !== file) {
    const most = options.maxBytes ?? MAX_BYTES
    await pipeline(createReadStream(file), bunzip2(), sizeLimit(most), createWriteStream(unzipped), {
      signal,
    })
  }
  await checkTar(unzipped, new Budget(options), signal)
  // node-tar writes nothing through links and nothing outside of `cwd`; strict: an entry that it would skip is an error.
  await extractTar({
    file: unzipped,
    cwd: folder,
    strict: true,
    preserveOwner: false,
    noMtime: true,
    // no special bits, and everything is readable by the owner
    fmode: 0o644,
    dmode: 0o755,
    umask: 0o022,
    filter: () => {
      signal?.throwIfAborted()
      return true
    },
    onReadEntry: entry => {
      const executable = ((entry.mode ?? 0) & 0o111) !== 0
      entry.mode = entry.type === 'Directory' || executable ? 0o755 : 0o644
    },
  })
  if (unzipped !== file) await rm(unzipped)
}

/** Reads and checks all headers of a tar file before anything is written. */
async function checkTar(file: string, budget: Budget, signal?: AbortSignal): Promise<void> {
  const source = createReadStream(file)
  await new Promise<void>((done, fail) => {
    let entries = 0
    const stop = (error: unknown) => {
      source.destroy()
      fail(error)
    }
    const parser = new Parser({
      strict: true,
      onReadEntry(entry) {
        entries += 1
        try {
          signal?.throwIfAborted()
          checkEntry(entry, budget)
        } catch (error) {
          stop(error)
        }
        entry.resume()
      },
    })
    parser.on('error', stop)
    parser.on('end', () => {
      if (entries > 0) done()
      else stop(new ArchiveError(l10n.t('The downloaded archive is empty.')))
    })
    source.on('error', stop)
    source.on('data', piece => {
      if (signal?.aborted) return stop(new CancelledError())
      if (parser.write(piece as Buffer)) return
      source.pause()
      parser.once('drain', () => source.resume())
    })
    source.on('end', () => parser.end())
  })
}

function checkEntry(entry: ReadEntry, budget: Budget): void {
  budget.spend(entry.size)
  const path = safePath(entry.path.replace(/\/+$/, ''))
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

function sizeLimit(most: number): Transform {
  let size = 0
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      size += piece.length
      if (size <= most) done(null, piece)
      else done(new ArchiveError(l10n.t('The unpacked archive exceeds the maximum size of an agent.')))
    },
  })
}

// ---- paths ---------------------------------------------------------------------------------------------------------

/** A relative path of plain names, with `/`. Throws for anything that could lead outside, on any system. */
function safePath(path: string): string {
  const plain = posix.normalize(path)
  const names = plain.split('/')
  const isBad =
    plain === '' ||
    plain.length > 4096 ||
    posix.isAbsolute(path) ||
    /[\0\\]/.test(path) ||
    /^[a-z]:/i.test(path) ||
    names.includes('..') ||
    names.some(name => isWindowsDevice(name) || /[<>:"|?*]/.test(name)) ||
    plain === '.archive.tar'
  if (isBad) throw unsafe(path)
  return plain
}

/** A relative link must lead to something inside of the folder. */
function checkLink(path: string, target: string): void {
  if (target === '' || posix.isAbsolute(target) || /[\0\\]/.test(target) || /^[a-z]:/i.test(target))
    throw unsafe(path)
  const inside = posix.join(posix.dirname(path), target)
  if (inside === '..' || inside.startsWith('../')) throw unsafe(path)
}

/** The same for all spellings that a file system may consider the same. */
function foldedPath(path: string): string {
  return path.normalize('NFC').toUpperCase()
}

function parentsOf(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, at) => names.slice(0, at + 1).join('/'))
}

/** Checks where links really lead, also through each other, now that all files exist. */
async function checkLinks(folder: string, root: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await checkLinks(path, root)
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

/** Errors of the disk are not the archive's fault. */
function isDiskError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO' || code === 'EROFS' || code === 'EACCES'
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
