import { useMemo, useRef, useState } from 'preact/hooks'
import { plural, t } from '../l10n.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import type { FileDiff } from './diff.ts'
import { colorsOf, type DiffColors } from './diff-colors.ts'
import { isNarrow, isSideBySide } from './diff-layout.ts'
import {
  type DiffFold,
  type DiffLine,
  type DiffRow,
  type SplitRow,
  splitRows,
  unifiedRows,
} from './diff-rows.ts'
import { useLineSource, useVisibleLines } from './visible-lines.ts'

interface DiffViewProps {
  diff: FileDiff
  path: string
  /** Added to line numbers, if the texts are only a part of the file. */
  shift?: number
  /** The user decides on the diff, so long lines are wrapped, unless the diff is long. */
  wrap?: boolean | undefined
}

/** Maximum number of wrapped lines: they have different heights, so all of them must be in the page. */
const MAX_WRAPPED_LINES = 400

/** A diff of one file, inline or side by side. Only the lines near the visible part are in the page. */
export function DiffView({ diff, path, shift = 0, wrap = false }: DiffViewProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const colors = colorsOf(diff, path)
  void colors.version.value
  const rows = useMemo(() => unifiedRows(diff, opened, shift), [diff, opened, shift])
  const wrapped = wrap && rows.length <= MAX_WRAPPED_LINES
  const split = !wrapped && isSideBySide.value && diff.added > 0 && diff.removed > 0
  const open = (fold: number) => setOpened(new Set([...opened, fold]))
  const parts = { colors, shift, open, columns: widths(rows) }
  return (
    <div class="diff">
      {diff.coarse && (
        <div class="diff-note quiet">{t('Too many changes to compare line by line. Showing all lines.')}</div>
      )}
      {split ? (
        <SplitDiff rows={rows} {...parts} />
      ) : (
        <UnifiedDiff rows={rows} wrapped={wrapped} {...parts} />
      )}
    </div>
  )
}

function rowText(row: DiffRow | undefined): string {
  return row && row.kind !== 'fold' ? row.text : ''
}

function textOfPair(row: SplitRow | undefined): string {
  if (!row || row.kind === 'fold') return ''
  const { left, right } = row
  return left?.text === right?.text
    ? (left?.text ?? '')
    : [left?.text, right?.text].filter(Boolean).join('\n')
}

interface Columns {
  /** digits of the highest line number */
  digits: number
  /** characters of the longest line, where a tab counts as four */
  characters: number
}

function widths(rows: readonly DiffRow[]): Columns {
  let highest = 1
  let characters = 0
  for (const row of rows) {
    if (row.kind === 'fold') continue
    highest = Math.max(highest, row.old ?? 0, row.new ?? 0)
    const { length } = row.text
    if (length > characters / 4) {
      const tabs = row.text.includes('\t') ? row.text.split('\t').length - 1 : 0
      characters = Math.max(characters, length + tabs * 3)
    }
  }
  return { digits: Math.max(2, String(highest).length), characters }
}

interface PartProps {
  colors: DiffColors
  shift: number
  open: (fold: number) => void
  columns: Columns
}

interface UnifiedDiffProps extends PartProps {
  rows: readonly DiffRow[]
  wrapped: boolean
}

function UnifiedDiff({ rows, wrapped, colors, shift, open, columns }: UnifiedDiffProps) {
  const { element, onScroll, start, end, before, after, scrollToLine } = useVisibleLines(
    rows.length,
    '.diff-line',
  )
  useLineSource(element, rows.length, line => rowText(rows[line]), scrollToLine)
  const { digits, characters } = columns
  const narrow = isNarrow.value
  const numbers = (row: DiffLine) => (narrow ? padded(row.new ?? row.old, digits) : both(row, digits))
  const gutter = narrow ? digits + 5 : digits * 2 + 6
  const draw = (row: DiffRow, i: number) =>
    row.kind === 'fold' ? (
      <Fold key={`f${row.fold}`} row={row} open={open} />
    ) : (
      <Line key={i} position={i} line={row} colors={colors} shift={shift} numbers={numbers(row)} />
    )
  if (wrapped) {
    return (
      <ScrollArea elementRef={element} class="diff-scroll" label={t('Changes')}>
        <div class="diff-lines wrapped" dir="ltr" style={{ '--gutter': `${gutter}ch` }}>
          {rows.map(draw)}
        </div>
      </ScrollArea>
    )
  }
  return (
    <ScrollArea elementRef={element} class="diff-scroll" label={t('Changes')} onScroll={onScroll}>
      <div class="diff-lines" dir="ltr" style={{ minWidth: `max(100%, ${characters + gutter}ch)` }}>
        <div style={{ height: before }} />
        {rows.slice(start, end).map((row, i) => draw(row, start + i))}
        <div style={{ height: after }} />
      </div>
    </ScrollArea>
  )
}

function SplitDiff({ rows, colors, shift, open, columns }: PartProps & { rows: readonly DiffRow[] }) {
  const pairs = useMemo(() => splitRows(rows), [rows])
  const { element, onScroll, start, end, before, after, scrollToLine } = useVisibleLines(
    pairs.length,
    '.diff-line',
  )
  useLineSource(element, pairs.length, line => textOfPair(pairs[line]), scrollToLine)
  const { digits, characters } = columns
  const left = useRef<HTMLDivElement>(null)
  const right = useRef<HTMLDivElement>(null)
  const follow = (from: HTMLElement | null, to: HTMLElement | null) => {
    if (from && to && to.scrollLeft !== from.scrollLeft) to.scrollLeft = from.scrollLeft
  }
  const seen = pairs.slice(start, end)
  const minWidth = `max(100%, ${characters + digits + 4}ch)`
  const side = (which: 'left' | 'right') => (
    <div
      ref={which === 'left' ? left : right}
      class={`diff-side diff-side-${which}`}
      onScroll={() =>
        which === 'left' ? follow(left.current, right.current) : follow(right.current, left.current)
      }
    >
      <div class="diff-lines" style={{ minWidth }}>
        <div style={{ height: before }} />
        {seen.map((row, i) => (
          <SplitSide
            key={row.kind === 'fold' ? `f${row.fold}` : start + i}
            position={start + i}
            row={row}
            which={which}
            {...{ colors, shift, open, digits }}
          />
        ))}
        <div style={{ height: after }} />
      </div>
    </div>
  )
  return (
    <ScrollArea elementRef={element} class="diff-scroll" label={t('Changes')} onScroll={onScroll}>
      <div class="diff-sides" dir="ltr">
        {side('left')}
        {side('right')}
      </div>
    </ScrollArea>
  )
}

interface SplitSideProps extends Omit<PartProps, 'columns'> {
  position: number
  row: SplitRow
  which: 'left' | 'right'
  digits: number
}

function SplitSide({ position, row, which, colors, shift, open, digits }: SplitSideProps) {
  if (row.kind === 'fold') return <Fold row={row} open={open} again={which === 'right'} />
  const line = row[which]
  if (!line) return <div class="diff-line diff-nothing" />
  const number = which === 'left' ? line.old : line.new
  return (
    <Line position={position} line={line} colors={colors} shift={shift} numbers={padded(number, digits)} />
  )
}

const signs = { same: ' ', added: '+', removed: '−' } as const

interface LineProps {
  /** the line's index among the rows of the diff */
  position: number
  line: DiffLine
  colors: DiffColors
  shift: number
  numbers: string
}

/** A line of a diff. CSS renders its numbers and sign, so that they aren't copied. */
function Line({ position, line, colors, shift, numbers }: LineProps) {
  const pieces = colors.tokens(line, shift).map((token, i) => {
    const classes = [token.class, token.changed ? 'diff-word' : undefined].filter(Boolean).join(' ')
    return classes === '' ? (
      token.text
    ) : (
      <span key={i} class={classes}>
        {token.text}
      </span>
    )
  })
  const props = {
    class: `diff-line diff-${line.kind}`,
    'data-row': position,
    'data-gutter': `${numbers} ${signs[line.kind]}`,
  }
  if (line.kind === 'added') return <ins {...props}>{pieces}</ins>
  if (line.kind === 'removed') return <del {...props}>{pieces}</del>
  return <div {...props}>{pieces}</div>
}

function both(line: DiffLine, digits: number): string {
  return `${padded(line.old, digits)} ${padded(line.new, digits)}`
}

function padded(number: number | undefined, digits: number): string {
  return (number === undefined ? '' : String(number)).padStart(digits)
}

interface FoldProps {
  row: DiffFold
  open: (fold: number) => void
  /** whether the same fold is already shown on the other side */
  again?: boolean
}

function Fold({ row, open, again }: FoldProps) {
  const text = plural(row.count, '1 unchanged line', '{0} unchanged lines')
  if (!row.canOpen)
    return (
      <div class="diff-line diff-fold" aria-hidden={again}>
        <span class="diff-fold-text">⋯ {text}</span>
      </div>
    )
  return (
    <button
      type="button"
      class="diff-line diff-fold"
      tabIndex={again ? -1 : 0}
      aria-hidden={again}
      title={t('Show Unchanged Lines')}
      onClick={() => open(row.fold)}
    >
      <span class="diff-fold-text">
        <span class="codicon codicon-unfold" aria-hidden="true" /> {text}
      </span>
    </button>
  )
}
