import { useMemo, useRef, useState } from 'preact/hooks'
import { plural, t } from '../l10n.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import type { FileDiff } from './diff.ts'
import { coloursOf, type DiffColours } from './diff-colours.ts'
import { isNarrow, isSideBySide } from './diff-layout.ts'
import {
  type DiffFold,
  type DiffLine,
  type DiffRow,
  type SplitRow,
  splitRows,
  unifiedRows,
} from './diff-rows.ts'
import { useVisibleLines } from './visible-lines.ts'

interface DiffViewProps {
  diff: FileDiff
  path: string
  /** Added to line numbers: the texts are a part of the file. */
  shift?: number
}

/** A diff of one file, one side under the other or both side by side. Only the lines near what is seen are in the page. */
export function DiffView({ diff, path, shift = 0 }: DiffViewProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const colours = coloursOf(diff, path)
  void colours.version.value
  const split = isSideBySide.value && diff.added > 0 && diff.removed > 0
  const rows = useMemo(() => unifiedRows(diff, opened, shift), [diff, opened, shift])
  const open = (fold: number) => setOpened(new Set([...opened, fold]))
  const parts = { colours, shift, open, columns: widths(rows) }
  return (
    <div class="diff">
      {diff.coarse && (
        <div class="diff-note quiet">{t('Too much changed to compare line by line: all is shown.')}</div>
      )}
      {split ? <SplitDiff rows={rows} {...parts} /> : <UnifiedDiff rows={rows} {...parts} />}
    </div>
  )
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
  colours: DiffColours
  shift: number
  open: (fold: number) => void
  columns: Columns
}

function UnifiedDiff({ rows, colours, shift, open, columns }: PartProps & { rows: readonly DiffRow[] }) {
  const { element, onScroll, start, end, before, after } = useVisibleLines(rows.length)
  const { digits, characters } = columns
  const narrow = isNarrow.value
  const numbers = (row: DiffLine) => (narrow ? padded(row.new ?? row.old, digits) : both(row, digits))
  const gutter = narrow ? digits + 5 : digits * 2 + 6
  return (
    <ScrollArea elementRef={element} class="diff-scroll" label={t('Changes')} onScroll={onScroll}>
      <div class="diff-lines" dir="ltr" style={{ minWidth: `max(100%, ${characters + gutter}ch)` }}>
        <div style={{ height: before }} />
        {rows
          .slice(start, end)
          .map((row, i) =>
            row.kind === 'fold' ? (
              <Fold key={`f${row.fold}`} row={row} open={open} />
            ) : (
              <Line key={start + i} line={row} colours={colours} shift={shift} numbers={numbers(row)} />
            ),
          )}
        <div style={{ height: after }} />
      </div>
    </ScrollArea>
  )
}

function SplitDiff({ rows, colours, shift, open, columns }: PartProps & { rows: readonly DiffRow[] }) {
  const pairs = useMemo(() => splitRows(rows), [rows])
  const { element, onScroll, start, end, before, after } = useVisibleLines(pairs.length)
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
            row={row}
            which={which}
            {...{ colours, shift, open, digits }}
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
  row: SplitRow
  which: 'left' | 'right'
  digits: number
}

function SplitSide({ row, which, colours, shift, open, digits }: SplitSideProps) {
  if (row.kind === 'fold') return <Fold row={row} open={open} again={which === 'right'} />
  const line = row[which]
  if (!line) return <div class="diff-line diff-nothing" />
  const number = which === 'left' ? line.old : line.new
  return <Line line={line} colours={colours} shift={shift} numbers={padded(number, digits)} />
}

const signs = { same: ' ', added: '+', removed: '−' } as const

interface LineProps {
  line: DiffLine
  colours: DiffColours
  shift: number
  numbers: string
}

/** One line. Its numbers and its sign are drawn by the styles, so that they are not copied with it. */
function Line({ line, colours, shift, numbers }: LineProps) {
  const pieces = colours.tokens(line, shift).map((token, i) => {
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
  /** It stands on the other side as well. */
  again?: boolean
}

function Fold({ row, open, again }: FoldProps) {
  const text = plural(row.count, 'one unchanged line', '{0} unchanged lines')
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
      title={t('Show unchanged lines')}
      onClick={() => open(row.fold)}
    >
      <span class="diff-fold-text">
        <span class="codicon codicon-unfold" aria-hidden="true" /> {text}
      </span>
    </button>
  )
}
