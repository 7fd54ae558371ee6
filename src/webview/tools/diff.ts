import { parsePatch, structuredPatch } from 'diff'
import type { FileChange } from '../../acp/model.ts'
import { likeness } from './patch-of-file.ts'

export interface DiffGroup {
  kind: 'same' | 'added' | 'removed'
  lines: string[]
}
export interface DiffHunk {
  /** 1-based first line in the new text */
  start: number
  /** the same in the old text */
  oldStart: number
  groups: DiffGroup[]
}
/** A unified diff of one file, with three lines around each change. */
export interface FileDiff {
  added: number
  removed: number
  hunks: DiffHunk[]
  /** Too much changed to compare in time: all old lines, then all new ones. */
  coarse: boolean
  /** All lines of the new text, when the change came with its texts: what is unchanged between the hunks is among them. */
  newLines?: readonly string[]
  /** What a patch says besides lines: a binary file, a change of its mode. */
  note?: 'binary' | { oldMode: string; newMode: string }
}

/** Comparing takes this long at most, in milliseconds: a text of which every line differs has a quadratic cost. */
const timeout = 60

/** The diff of one changed file. `patch` is used when the change came without its texts. */
export function diffOf(change: FileChange, patch?: string): FileDiff | undefined {
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
    const hunks = [{ start: 1, oldStart: 1, groups }]
    return { added: added.length, removed: removed.length, hunks, coarse: true }
  }
  return { ...fromHunks(patch.hunks), newLines: linesOf(after) }
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
    const rated = files.map(one => ({
      one,
      rate: Math.max(
        likeness(one.newFileName, change.path),
        likeness(one.oldFileName, change.oldPath ?? change.path),
      ),
    }))
    const best = rated.reduce((found, next) => (next.rate > found.rate ? next : found), {
      one: files[0],
      rate: 0,
    })
    const file = best.rate > 0 || files.length === 1 ? best.one : undefined
    const diff = file && fromHunks(file.hunks)
    if (!diff) return undefined
    if (file.isBinary) diff.note = 'binary'
    else if (file.oldMode && file.newMode && file.oldMode !== file.newMode)
      diff.note = { oldMode: file.oldMode, newMode: file.newMode }
    return diff.added + diff.removed > 0 || diff.note || file.isRename || file.isCopy ? diff : undefined
  } catch {
    // not a patch that the library reads: its text is shown instead
    return undefined
  }
}

function fromHunks(hunks: ReadonlyArray<{ oldStart: number; newStart: number; lines: string[] }>): FileDiff {
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
    diff.hunks.push({ start: hunk.newStart, oldStart: hunk.oldStart, groups })
  }
  return diff
}
