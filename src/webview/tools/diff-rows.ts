import type { DiffGroup, FileDiff } from './diff.ts'

/** One line of a diff. Numbers are 1-based; `old` is absent for an added line, `new` for a removed one. */
export interface DiffLine {
  kind: DiffGroup['kind']
  old?: number
  new?: number
  text: string
  /** the counterpart of a changed line on the other side */
  mate?: string
}
/** A row in place of hidden unchanged lines. */
export interface DiffFold {
  kind: 'fold'
  /** index of the fold from the top, which identifies it */
  fold: number
  count: number
  /** whether the text of the lines is known, so that the fold can be expanded */
  canOpen: boolean
}
export type DiffRow = DiffLine | DiffFold
/** A row with two sides; a side without a line is empty. */
export type SplitRow = DiffFold | { kind: 'pair'; left?: DiffLine; right?: DiffLine }

/** Returns the rows of an inline diff. `opened`: the expanded folds. `shift`: a number to add to line numbers. */
export function unifiedRows(diff: FileDiff, opened: ReadonlySet<number>, shift = 0): DiffRow[] {
  const rows: DiffRow[] = []
  let nextOld = 1
  let nextNew = 1
  const gap = (count: number, fold: number) => {
    if (count <= 0) return
    if (diff.newLines && opened.has(fold)) {
      for (let i = 0; i < count; i++)
        rows.push({
          kind: 'same',
          old: nextOld + i + shift,
          new: nextNew + i + shift,
          text: diff.newLines[nextNew - 1 + i] ?? '',
        })
    } else rows.push({ kind: 'fold', fold, count, canOpen: diff.newLines !== undefined })
  }
  for (const [index, hunk] of diff.hunks.entries()) {
    // a side without lines starts at the line before
    const start = Math.max(hunk.start, 1)
    gap(start - nextNew, index)
    nextOld = Math.max(hunk.oldStart, 1)
    nextNew = start
    for (const [i, group] of hunk.groups.entries()) {
      const other = mates(hunk.groups, i)
      for (const [at, text] of group.lines.entries()) {
        const line: DiffLine = { kind: group.kind, text }
        if (group.kind !== 'added') line.old = nextOld++ + shift
        if (group.kind !== 'removed') line.new = nextNew++ + shift
        const mate = other?.[at]
        if (mate !== undefined) line.mate = mate
        rows.push(line)
      }
    }
  }
  if (diff.newLines && diff.hunks.length > 0) gap(diff.newLines.length - nextNew + 1, diff.hunks.length)
  return rows
}

/** Returns the lines that replaced a group of removed lines, or that a group of added lines replaced. */
function mates(groups: readonly DiffGroup[], index: number): readonly string[] | undefined {
  const group = groups[index]!
  if (group.kind === 'same') return undefined
  const other = group.kind === 'removed' ? groups[index + 1] : groups[index - 1]
  return other && other.kind !== 'same' && other.kind !== group.kind ? other.lines : undefined
}

/** Returns the rows of a side-by-side diff: removed lines next to the lines that replaced them. */
export function splitRows(rows: readonly DiffRow[]): SplitRow[] {
  const result: SplitRow[] = []
  for (let i = 0; i < rows.length; ) {
    const row = rows[i]!
    if (row.kind === 'fold') {
      result.push(row)
      i++
    } else if (row.kind === 'same') {
      result.push({ kind: 'pair', left: row, right: row })
      i++
    } else {
      const left: DiffLine[] = []
      const right: DiffLine[] = []
      for (; i < rows.length; i++) {
        const next = rows[i]!
        if (next.kind === 'removed') {
          // a removed line after an added one starts a new change
          if (right.length > 0) break
          left.push(next)
        } else if (next.kind === 'added') right.push(next)
        else break
      }
      for (let at = 0; at < Math.max(left.length, right.length); at++) {
        const pair: SplitRow = { kind: 'pair' }
        if (left[at]) pair.left = left[at]
        if (right[at]) pair.right = right[at]
        result.push(pair)
      }
    }
  }
  return result
}
