import { parsePatch, structuredPatch } from 'diff'
import type { FileChange } from '../../acp/model.ts'

export interface DiffGroup {
  kind: 'same' | 'added' | 'removed'
  lines: string[]
}
export interface DiffHunk {
  /** 1-based first line in the new text */
  start: number
  groups: DiffGroup[]
}
/** A unified diff of one file, with three lines around each change. */
export interface FileDiff {
  added: number
  removed: number
  hunks: DiffHunk[]
  /** Too much changed to compare in time: all old lines, then all new ones. */
  coarse: boolean
}

/** Comparing takes this long at most, in milliseconds: a text of which every line differs has a quadratic cost. */
const timeout = 150

const known = new WeakMap<FileChange, FileDiff>()

/** The diff of one changed file. `patch` is used when the change came without its texts. Computed once per change. */
export function diffOf(change: FileChange, patch?: string): FileDiff | undefined {
  let diff = known.get(change)
  if (!diff) {
    diff = compute(change, patch)
    if (diff) known.set(change, diff)
  }
  return diff
}

function compute(change: FileChange, patch: string | undefined): FileDiff | undefined {
  if (change.newText !== undefined || change.oldText !== undefined) {
    return compare(change.oldText ?? '', change.newText ?? '')
  }
  return patch === undefined ? undefined : fromPatch(patch, change)
}

function compare(before: string, after: string): FileDiff {
  const patch = structuredPatch('', '', unify(before), unify(after), '', '', { context: 3, timeout })
  if (!patch) {
    const removed = linesOf(before)
    const added = linesOf(after)
    const groups: DiffGroup[] = [
      { kind: 'removed', lines: removed },
      { kind: 'added', lines: added },
    ]
    return { added: added.length, removed: removed.length, hunks: [{ start: 1, groups }], coarse: true }
  }
  return fromHunks(patch.hunks)
}

/** A change of line ends alone would mark every line. */
function unify(text: string): string {
  return text.replace(/\r\n/g, '\n')
}

function linesOf(text: string): string[] {
  if (text === '') return []
  return unify(text).replace(/\n$/, '').split('\n')
}

function fromPatch(text: string, change: FileChange): FileDiff | undefined {
  try {
    const files = parsePatch(text)
    const file =
      files.find(one =>
        [one.newFileName, one.oldFileName].some(name => name && sameFile(name, change.path)),
      ) ?? (files.length === 1 ? files[0] : undefined)
    const diff = file && fromHunks(file.hunks)
    return diff && diff.added + diff.removed > 0 ? diff : undefined
  } catch {
    // not a patch that the library reads: its text is shown instead
    return undefined
  }
}

function sameFile(name: string, path: string): boolean {
  const plain = name.replace(/^[ab]\//, '').replaceAll('\\', '/')
  const wanted = path.replaceAll('\\', '/')
  return wanted === plain || wanted.endsWith(`/${plain}`)
}

function fromHunks(hunks: ReadonlyArray<{ newStart: number; lines: string[] }>): FileDiff {
  const diff: FileDiff = { added: 0, removed: 0, hunks: [], coarse: false }
  for (const hunk of hunks) {
    const groups: DiffGroup[] = []
    for (const line of hunk.lines) {
      const kind =
        line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : line[0] === '\\' ? undefined : 'same'
      if (!kind) continue
      if (kind === 'added') diff.added++
      if (kind === 'removed') diff.removed++
      const last = groups.at(-1)
      if (last?.kind === kind) last.lines.push(line.slice(1))
      else groups.push({ kind, lines: [line.slice(1)] })
    }
    diff.hunks.push({ start: hunk.newStart, groups })
  }
  return diff
}
