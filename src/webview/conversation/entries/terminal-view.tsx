import { Component } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { plural, t } from '../../l10n.ts'
import { linkedLines } from '../../tools/file-links.ts'
import type { TerminalLine, TerminalSpan } from '../../tools/terminal-line.ts'
import { plainOutput, type TerminalLines, TerminalText } from '../../tools/terminal-text.ts'
import { IconButton } from '../../ui/button.tsx'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import type { TerminalSlot } from '../terminals.ts'

const newText = () => new TerminalText()

/** The last lines of a terminal, in its colours. At its end it follows the output; scrolled up it stays. */
export function TerminalView({ terminal }: { terminal: TerminalSlot }) {
  const { host } = useApp()
  const scroll = useRef<HTMLDivElement>(null)
  const followed = useRef(true)
  void terminal.grown.value
  const state = terminal.state.value
  const text = terminal.read(newText)

  useLayoutEffect(() => {
    const element = scroll.current
    if (element && followed.current) element.scrollTop = element.scrollHeight
  })
  const openAll = () => host.openText(plainOutput(terminal.raw), 'log')
  const { screen } = text
  // the cursor waits on a line that nothing was written to
  const shown = screen.at(-1)?.length === 0 ? screen.slice(0, -1) : screen
  return (
    <div class="terminal-frame">
      <ScrollArea
        elementRef={scroll}
        class="terminal"
        label={t('Output')}
        onScroll={({ scrollTop, scrollHeight, clientHeight }) => {
          followed.current = scrollHeight - clientHeight - scrollTop < 8
        }}
      >
        <div class="terminal-lines" dir="ltr">
          {text.dropped > 0 ? (
            <div class="terminal-note">
              {plural(text.dropped, 'One line is above', '{0} lines are above')}
              {' · '}
              <button type="button" class="link-button" onClick={openAll}>
                {t('Open all in an editor')}
              </button>
            </div>
          ) : (
            state?.truncated && <div class="terminal-note">{t('Earlier output is not shown')}</div>
          )}
          {text.groups.map(group => (
            <Group key={`g${group.id}`} lines={group} />
          ))}
          {shown.map(line => (
            <Line key={line.id} line={line} version={line.version} />
          ))}
          {text.isEmpty && (
            <div class="terminal-note">{state?.exit ? t('No output') : t('No output yet')}</div>
          )}
        </div>
      </ScrollArea>
      {!text.isEmpty && (
        <div class="code-bar">
          <IconButton icon="go-to-file" label={t('Open all in an editor')} onClick={openAll} />
          <IconButton
            icon="copy"
            label={t('Copy output')}
            onClick={() => host.copy(plainOutput(terminal.raw))}
          />
        </div>
      )}
    </div>
  )
}

/** Closed lines are drawn once. */
class Group extends Component<{ lines: TerminalLines }> {
  override shouldComponentUpdate(next: { lines: TerminalLines }): boolean {
    return next.lines !== this.props.lines
  }

  override render() {
    return <div>{spans(this.props.lines.spans)}</div>
  }
}

interface LineProps {
  line: TerminalLine
  /** it is drawn again only when this changes */
  version: number
}

class Line extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps): boolean {
    return next.version !== this.props.version || next.line !== this.props.line
  }

  override render() {
    const { line } = this.props
    // an empty line has the height of one
    return <div>{line.length === 0 ? '\u200b' : spans(line.spans)}</div>
  }
}

function spans(list: readonly TerminalSpan[]) {
  return list.map((span, i) => <Span key={i} span={span} />)
}

function Span({ span }: { span: TerminalSpan }) {
  const { foreground, background, decorations } = span
  const content = linkedLines(span.text).map((part, i) => {
    if (part.href)
      return (
        <a key={i} href={part.href}>
          {part.text}
        </a>
      )
    const { file } = part
    if (!file) return part.text
    return (
      // biome-ignore lint/a11y/useValidAnchor: pressed, it opens the file in the editor
      <a key={i} href="#" data-path={file.path} data-line={file.line} data-column={file.column}>
        {part.text}
      </a>
    )
  })
  if (!foreground && !background && decorations.length === 0) return <>{content}</>
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
