import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../l10n.ts'
import type { TerminalLine, TerminalScreen, TerminalSpan } from '../../tools/terminal-screen.ts'
import { setLineSource } from '../../tools/visible-lines.ts'
import { IconButton } from '../../ui/button.tsx'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import type { TerminalSlot } from '../terminals.ts'
import { LinkedText } from './highlighted-code.tsx'

/** Distance above and below the visible part within which lines are in the page. CSS pixels. */
const AROUND = 300
/** The height of a line before any was measured. CSS pixels. */
const ASSUMED_LINE = 17

interface ViewProps {
  terminal: TerminalSlot
}

/** The visible part of a terminal: the scroll position, and the sizes to calculate it. */
interface VisiblePart {
  top: number
  height: number
  /** height of a line */
  row: number
}

/**
 * The lines of a terminal with colors; only lines near the visible part are in the page. Scrolled to the end, the view
 * follows the output.
 */
export function TerminalView({ terminal }: ViewProps) {
  useEffect(() => terminal.view(), [terminal])
  const screen = terminal.screen.value
  void screen?.version.value
  const isEmpty = (screen?.lines.length ?? 0) === 0 && terminal.raw === ''
  // no box for an empty output
  if (isEmpty && terminal.state.value?.exit) return <div class="quiet">{t('No output')}</div>
  return <TerminalBox terminal={terminal} />
}

function TerminalBox({ terminal }: ViewProps) {
  const { host } = useApp()
  const scroll = useRef<HTMLDivElement>(null)
  const probe = useRef<HTMLSpanElement>(null)
  const followed = useRef(true)
  const [visible, setVisible] = useState<VisiblePart>({ top: 0, height: 260, row: ASSUMED_LINE })
  const screen = terminal.screen.value
  void screen?.version.value
  const state = terminal.state.value
  const lines = screen?.lines ?? []

  const measure = () => setVisible(now => seen(scroll.current, probe.current, now))
  useLayoutEffect(() => {
    const element = scroll.current
    if (!element) return
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const height = lines.length * visible.row
  useLayoutEffect(() => {
    const element = scroll.current
    if (!element) return
    if (followed.current) element.scrollTop = element.scrollHeight
    if (screen)
      setLineSource(element, {
        count: lines.length,
        text: line => textOf(screen, lines[line]),
        show: line => {
          followed.current = false
          element.scrollTop = Math.max(0, line * visible.row - visible.height / 2)
          measure()
        },
      })
  })
  const top = followed.current ? Math.max(0, height - visible.height) : visible.top
  const start = Math.max(0, Math.min(lines.length - 1, Math.floor((top - AROUND) / visible.row)))
  const end = Math.min(lines.length, Math.ceil((top + visible.height + AROUND) / visible.row))
  const openAll = async () =>
    host.send('conversation/openText', { text: await terminal.plain(), language: 'log' })
  const isEmpty = lines.length === 0
  return (
    <div class="terminal-frame">
      <ScrollArea
        elementRef={scroll}
        class="terminal"
        label={t('Output')}
        onScroll={({ scrollTop, scrollHeight, clientHeight }) => {
          followed.current = scrollHeight - clientHeight - scrollTop < 8
          if (Math.abs(scrollTop - visible.top) > AROUND / 2 || followed.current) measure()
        }}
      >
        <div class="terminal-lines" dir="ltr">
          <span ref={probe} class="terminal-probe" aria-hidden="true">
            0
          </span>
          {(screen?.isCut || state?.truncated) && (
            <div class="terminal-note">
              {t("Earlier output isn't shown")}
              {screen?.isCut && (
                <>
                  {' · '}
                  <button type="button" class="link-button" onClick={openAll}>
                    {t('Open All in Editor')}
                  </button>
                </>
              )}
            </div>
          )}
          <div style={{ height: `${start * visible.row}px` }} />
          {screen &&
            lines
              .slice(start, end)
              .map((line, i) => <Line key={line.start} screen={screen} line={line} position={start + i} />)}
          <div style={{ height: `${height - end * visible.row}px` }} />
          {isEmpty && terminal.raw === '' && <div class="terminal-note">{t('No output yet')}</div>}
        </div>
      </ScrollArea>
      {!isEmpty && (
        <div class="code-bar">
          <IconButton icon="go-to-file" label={t('Open All in Editor')} onClick={openAll} />
          <IconButton
            icon="copy"
            label={t('Copy Output')}
            onClick={async () => host.send('conversation/copy', { text: await terminal.plain() })}
          />
        </div>
      )}
    </div>
  )
}

/** The last lines of a terminal. `lines`: their number. */
export function TerminalTail({ terminal, lines: count }: ViewProps & { lines: number }) {
  useEffect(() => terminal.view(), [terminal])
  const screen = terminal.screen.value
  void screen?.version.value
  const lines = screen?.lines ?? []
  if (!screen || lines.length === 0) return null
  const start = Math.max(0, lines.length - count)
  return (
    <div class="terminal tail">
      <div class="terminal-lines" dir="ltr">
        {lines.slice(start).map((line, i) => (
          <Line key={line.start} screen={screen} line={line} position={start + i} />
        ))}
      </div>
    </div>
  )
}

function seen(element: HTMLElement | null, probe: HTMLElement | null, now: VisiblePart): VisiblePart {
  if (!element || !probe) return now
  const { height: row } = probe.getBoundingClientRect()
  const next: VisiblePart = {
    top: element.scrollTop,
    height: element.clientHeight || now.height,
    row: row || ASSUMED_LINE,
  }
  const same = next.top === now.top && next.height === now.height && next.row === now.row
  return same ? now : next
}

function textOf(screen: TerminalScreen, line: TerminalLine | undefined): string {
  return line ? screen.text(line) : ''
}

interface LineProps {
  screen: TerminalScreen
  line: TerminalLine
  position: number
}

function Line({ screen, line, position }: LineProps) {
  return (
    <div class="terminal-line" data-row={position}>
      {/* a zero-width space gives an empty line the height of a line */}
      {line.columns === 0 ? '\u200b' : screen.spans(line).map((span, i) => <Span key={i} span={span} />)}
    </div>
  )
}

function Span({ span }: { span: TerminalSpan }) {
  const { foreground, background, decorations } = span
  const content = <LinkedText text={span.text} />
  if (!foreground && !background && decorations.length === 0) return content
  const classes = decorations.map(decoration => `ansi-${decoration}`)
  if (background) classes.push('ansi-ground')
  const style: { color?: string; '--ground'?: string } = {}
  if (foreground?.startsWith('ansi-')) classes.push(`${foreground}-fg`)
  else if (foreground) style.color = foreground
  if (background?.startsWith('ansi-')) classes.push(`${background}-bg`)
  else if (background) style['--ground'] = background
  return (
    <span class={classes.join(' ')} style={style}>
      {content}
    </span>
  )
}
