/**
 * Detects what Git itself wrote into a work tree, such as by a checkout, a pull, a rebase or a stash. Who ran Git isn't known, but the
 * content comes from a commit, so it isn't an agent's work.
 */
import { open, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { delay } from '../../common/async.ts'
import { decodeFileName } from '../../common/file-names.ts'
import { ABSENT, type FileState, sameState } from '../model/file-state.ts'
import type { ReadState } from './folder-scan.ts'
import { Checkout, type Committed, committedContents, git, LINK } from './repository-files.ts'

/** The state of a repository's work tree. */
export interface RepositoryPosition {
  root: string
  /** the top folder of the work tree */
  top: string
  /** the last commit */
  commit: string
  /** Git's log of HEAD, and the log's size in bytes */
  log: { path: string; size: number }
  stashes: { path: string; stamp: string; commits: string[] }
  /** changes each time Git writes the index */
  index: string
}

/** The sources from which Git may have written files into the work tree. */
export interface Moved {
  head: string
  /** the contents of current and dropped stashes, any of which may have been applied */
  stashes: string[]
  position: RepositoryPosition
}

/** The age at which a lock counts as left over from a crash, since Git never writes for so long. Milliseconds. */
const MAX_WRITING_MS = 20_000
const WRITING_PAUSE_MS = 50
/** Maximum number of stashes that are compared. */
const MAX_STASHES = 5
/** A log that grew by more during a turn isn't read. Bytes. */
const MAX_LOG_BYTES = 1_000_000

/** The repository of a folder; `undefined` if there is no repository, or the repository has no commit. */
export async function repositoryOf(root: string): Promise<RepositoryPosition | undefined> {
  if (!(await isInRepository(root))) return undefined
  const paths = ['logs/HEAD', 'logs/refs/stash', 'index'].flatMap(path => ['--git-path', path])
  const where = await git(root, ['rev-parse', '--show-toplevel', 'HEAD', ...paths])
  const [top, commit, log, stashes, index] = where?.split('\n') ?? []
  if (!top || !commit || !log || !stashes || !index) return undefined
  const path = resolve(root, log)
  return {
    root,
    // Git separates names with slashes on all systems
    top: resolve(top),
    commit,
    log: { path, size: await sizeOf(path) },
    stashes: await stashesOf(resolve(root, stashes)),
    index: await stampOf(resolve(root, index)),
  }
}

/** Whether Git may be writing the work tree. Git adds to its log only when it's done. */
export async function isWriting({ log }: RepositoryPosition): Promise<boolean> {
  const lock = await stat(join(dirname(dirname(log.path)), 'index.lock')).catch(() => undefined)
  return lock !== undefined && Date.now() - lock.mtimeMs < MAX_WRITING_MS
}

/** Resolves when Git isn't writing the work tree. */
export async function untilWritten(position: RepositoryPosition): Promise<void> {
  while (await isWriting(position)) await delay(WRITING_PAUSE_MS)
}

/** Returns a string that changes each time Git writes the index. */
export function indexStamp({ log }: RepositoryPosition): Promise<string> {
  return stampOf(join(dirname(dirname(log.path)), 'index'))
}

async function isInRepository(root: string): Promise<boolean> {
  for (let at = root, below = ''; at !== below; below = at, at = dirname(at))
    if (await stat(join(at, '.git')).catch(() => undefined)) return true
  return false
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/** Returns a string that changes each time the file is written; empty if there is no file. */
async function stampOf(path: string): Promise<string> {
  const info = await stat(path).catch(() => undefined)
  return info ? `${info.mtimeMs} ${info.ino} ${info.size}` : ''
}

/** Reads the stashes, which are entries of a log. Git rewrites the log when a stash is removed. */
async function stashesOf(path: string): Promise<RepositoryPosition['stashes']> {
  const stamp = await stampOf(path)
  const lines = stamp === '' ? [] : await linesFrom(path, 0)
  return { path, stamp, commits: lines.map(({ to }) => to).slice(-MAX_STASHES) }
}

/** One line of Git's log of HEAD: the commit before, the commit after, and the command. */
interface LogEntry {
  from: string
  to: string
  what: string
}

/** Reads the entries of a log, starting at an offset in bytes. */
async function linesFrom(path: string, offset: number): Promise<LogEntry[]> {
  const handle = await open(path).catch(() => undefined)
  if (!handle) return []
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_LOG_BYTES), 0, MAX_LOG_BYTES, offset)
    const text = buffer.toString('utf8', 0, bytesRead)
    return text.split('\n').flatMap(line => {
      const [, from, to, what] = /^([\da-f]{40,}) ([\da-f]{40,}) [^\t]*\t(.*)$/.exec(line) ?? []
      return from === undefined || to === undefined || what === undefined ? [] : { from, to, what }
    })
  } finally {
    await handle.close()
  }
}

/**
 * The commits made in the work tree since this position, each with its parent. Commits that a checkout, a pull or a cherry-pick brought
 * don't count. `undefined` if nothing was logged.
 */
export async function commitsSince({ log }: RepositoryPosition): Promise<LogEntry[] | undefined> {
  const size = await sizeOf(log.path)
  if (size === log.size) return undefined
  return size > log.size ? (await linesFrom(log.path, log.size)).filter(isCommit) : []
}

function isCommit({ what }: LogEntry): boolean {
  return /^commit\b(?! \(cherry-pick\))/.test(what)
}

/**
 * Returns what Git wrote into the work tree since this position; `undefined` if that is nothing. A commit doesn't count, since it only
 * stores existing files.
 */
export async function movedSince(position: RepositoryPosition): Promise<Moved | undefined> {
  const { root, log, stashes } = position
  const size = await sizeOf(log.path)
  const entries = size > log.size ? await linesFrom(log.path, log.size) : []
  const isMoved = !entries.every(isCommit)
  const isStash = (await stashesOf(stashes.path)).stamp !== stashes.stamp
  if (!isMoved && !isStash) return undefined
  const now = await repositoryOf(root)
  if (!now) return undefined
  const known = new Set([...stashes.commits, ...now.stashes.commits])
  return { head: now.commit, stashes: [...known], position: now }
}

/** Which of these files have the content that Git wrote, by absolute path. */
export async function writtenByGit(
  { root, top, commit }: RepositoryPosition,
  { head, stashes }: Moved,
  files: ReadonlyMap<string, FileState>,
  stateWith: ReadState,
): Promise<Set<string>> {
  const written = new Set<string>()
  if (files.size === 0) return written
  const checkout = new Checkout(root, [...files.keys()])
  const before = await committedContents(root, top, commit, [...files.keys()])
  // the third parent of a stash has its untracked files
  for (const from of [head, ...stashes, ...stashes.map(stash => `${stash}^3`)]) {
    const unwritten = [...files.keys()].filter(path => !written.has(path))
    if (unwritten.length === 0) break
    const contents = await committedContents(root, top, from, unwritten)
    for (const path of unwritten) {
      const now = files.get(path)!
      const known = contents.get(path)
      // a checkout removes only files that were committed
      const isRemoved = from === head && now.attributes.type === 'absent' && before.get(path)?.bytes
      if (
        known?.bytes
          ? sameState(await asCheckedOut(stateWith, checkout, path, known, now), now)
          : known && isRemoved
      )
        written.add(path)
    }
  }
  return written
}

/** The content of a file in a commit, with the mode, the line ends and the encoding of the work tree, which commits don't store. */
export async function asCheckedOut(
  stateWith: ReadState,
  checkout: Checkout,
  path: string,
  { bytes, mode }: Committed,
  now: FileState,
): Promise<FileState> {
  if (!bytes) return ABSENT
  if (mode === LINK) return { attributes: { type: 'link', target: decodeFileName(bytes) }, text: '' }
  const is = now.attributes
  const canRun = (mode & 0o100) !== 0
  const isMode = 'mode' in is ? is.mode : undefined
  const wasMode =
    isMode === undefined
      ? mode
      : canRun === ((isMode & 0o100) !== 0)
        ? isMode
        : canRun
          ? isMode | ((isMode & 0o444) >> 2)
          : isMode & ~0o111
  const before = await stateWith(bytes, path, wasMode)
  if (before.attributes.type !== 'text') return before
  const hasEnds = before.text.includes('\n') && !before.text.includes('\r\n')
  const isCrlf =
    hasEnds && (is.type === 'text' ? now.text.includes('\r\n') : await checkout.endsWithCrlf(path))
  const text = isCrlf ? before.text.replaceAll('\n', '\r\n') : before.text
  // the encoding in a commit may differ from that in the work tree
  const isConverted =
    is.type === 'text' && before.attributes.encoding !== is.encoding && (await checkout.isEncoded(path))
  const { encoding, bom } = isConverted ? is : before.attributes
  return { text, attributes: { ...before.attributes, encoding, bom } }
}
