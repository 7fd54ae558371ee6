import { Component } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { TerminalSlot } from '../conversation/terminals.ts'
import { t } from '../l10n.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import type { TerminalLines, TerminalSpan } from './terminal-text.ts'

/** The last lines of a terminal, in its colours. At its end it follows the output; scrolled up it stays. */
export function TerminalView({ terminal }: { terminal: TerminalSlot }) {
  const scroll = useRef<HTMLDivElement>(null)
  const followed = useRef(true)
  void terminal.grown.value
  const state = terminal.state.value
  const { text } = terminal

  useLayoutEffect(() => {
    const element = scroll.current
    if (element && followed.current) element.scrollTop = element.scrollHeight
  })
  const open = text.openLine
  return (
    <ScrollArea
      elementRef={scroll}
      class="terminal"
      label={t('Output')}
      onScroll={({ scrollTop, scrollHeight, clientHeight }) => {
        followed.current = scrollHeight - clientHeight - scrollTop < 8
      }}
    >
      <div class="terminal-lines" dir="ltr">
        {(text.dropped || state?.truncated) && (
          <div class="terminal-note">{t('Earlier output is not shown')}</div>
        )}
        {text.groups.map(group => (
          <Lines key={group.id} lines={group} count={group.count} />
        ))}
        {open.length > 0 && (
          <div>
            {open.map((span, i) => (
              <Span key={i} span={span} />
            ))}
          </div>
        )}
        {text.isEmpty && <div class="terminal-note">{state?.exit ? t('No output') : t('No output yet')}</div>}
      </div>
    </ScrollArea>
  )
}

interface LinesProps {
  lines: TerminalLines
  /** how many lines it has: it is drawn again only when lines were added */
  count: number
}

class Lines extends Component<LinesProps> {
  override shouldComponentUpdate(next: LinesProps): boolean {
    return next.count !== this.props.count || next.lines !== this.props.lines
  }

  override render() {
    return (
      <div>
        {this.props.lines.spans.map((span, i) => (
          <Span key={i} span={span} />
        ))}
      </div>
    )
  }
}

function Span({ span }: { span: TerminalSpan }) {
  const { foreground, background, decorations } = span
  if (!foreground && !background && decorations.length === 0) return <>{span.text}</>
  const classes = decorations.map(decoration => `ansi-${decoration}`)
  const style: { color?: string; backgroundColor?: string } = {}
  if (foreground?.startsWith('ansi-')) classes.push(`${foreground}-fg`)
  else if (foreground) style.color = foreground
  if (background?.startsWith('ansi-')) classes.push(`${background}-bg`)
  else if (background) style.backgroundColor = background
  return (
    <span class={classes.join(' ')} style={style}>
      {span.text}
    </span>
  )
}
