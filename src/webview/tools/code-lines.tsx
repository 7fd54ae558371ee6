import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../l10n.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { highlight, loadGrammars, takeWanted } from './highlight.ts'
import { type Token, tokenLines } from './highlighted-lines.ts'
import { useLineSource, useVisibleLines } from './visible-lines.ts'

/** Number of lines in a group. A group is highlighted when its first line becomes visible. */
const GROUP = 100
/** Longer groups aren't highlighted. Characters. */
const MAX_COLORED = 40_000
/** Longer lines are truncated; copying and the editor use the whole line. Characters. */
const MAX_LINE = 5000

interface Props {
  lines: readonly string[]
  /** the language's name in a fence, or a file's extension */
  language: string
  /** Whether to follow the end while lines are added. */
  follow?: boolean
}

/** Any number of lines of code in their own scroll area; only those near the visible part are in the page. */
export function CodeLines({ lines, language, follow = false }: Props) {
  const { element, onScroll, start, end, before, after, scrollToLine } = useVisibleLines(
    lines.length,
    '.code-line',
  )
  const followed = useRef(follow)
  const colors = useColors(lines, language)
  useLayoutEffect(() => {
    const scroll = element.current
    if (!scroll) return
    if (follow && followed.current) scroll.scrollTop = scroll.scrollHeight
  })
  useLineSource(
    element,
    lines.length,
    line => lines[line] ?? '',
    line => {
      followed.current = false
      scrollToLine(line)
    },
  )
  return (
    <ScrollArea
      elementRef={element}
      class="code-lines"
      label={t('Code')}
      onScroll={scroll => {
        followed.current = scroll.scrollHeight - scroll.clientHeight - scroll.scrollTop < 8
        onScroll(scroll)
      }}
    >
      <div class="code-lines-content" dir="ltr" style={{ minWidth: `${widest(lines, start, end)}ch` }}>
        <div style={{ height: before }} />
        {lines.slice(start, end).map((line, i) => (
          <div key={start + i} class="code-line" data-row={start + i}>
            {line === '' ? '\u200b' : tokensOf(colors(start + i), line)}
          </div>
        ))}
        <div style={{ height: after }} />
      </div>
    </ScrollArea>
  )
}

/** Returns the length of the longest line in the page, in characters, where a tab counts as four. */
function widest(lines: readonly string[], start: number, end: number): number {
  let characters = 0
  for (let i = start; i < end; i++) {
    const length = Math.min(lines[i]!.length, MAX_LINE)
    if (length > characters / 4) characters = Math.max(characters, length + tabsIn(lines[i]!) * 3)
  }
  return characters + 2
}

function tabsIn(line: string): number {
  let tabs = 0
  for (let at = line.indexOf('\t'); at >= 0; at = line.indexOf('\t', at + 1)) tabs++
  return tabs
}

function tokensOf(tokens: readonly Token[] | undefined, line: string) {
  if (!tokens) return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line
  return tokens.map((token, i) =>
    token.class ? (
      <span key={i} class={token.class}>
        {token.text}
      </span>
    ) : (
      token.text
    ),
  )
}

/** Returns the colors of lines, computed in groups; groups are independent, so a comment across two groups may lose its color. */
function useColors(
  lines: readonly string[],
  language: string,
): (line: number) => readonly Token[] | undefined {
  const [, setLoaded] = useState(0)
  const highlighted = useRef({ language, groups: new Map<number, { text: string; lines: Token[][] }>() })
  if (highlighted.current.language !== language) highlighted.current = { language, groups: new Map() }
  const { groups } = highlighted.current
  let wanted: string[] = []
  let isMissing = language === ''
  useLayoutEffect(() => {
    if (wanted.length === 0) return
    let gone = false
    void loadGrammars(wanted).then(isLoaded => {
      if (isLoaded && !gone) setLoaded(count => count + 1)
    })
    return () => {
      gone = true
    }
  })
  const read = (group: number): Token[][] | undefined => {
    if (isMissing) return undefined
    const text = lines.slice(group * GROUP, (group + 1) * GROUP).join('\n')
    if (text.length > MAX_COLORED) return undefined
    const known = groups.get(group)
    if (known?.text === text) return known.lines
    const html = highlight(text, language)
    if (html === undefined) {
      isMissing = true
      wanted = [...wanted, ...takeWanted()]
      return undefined
    }
    const colored = tokenLines(html)
    groups.set(group, { text, lines: colored })
    return colored
  }
  // each group is read once per rendering
  const drawn = new Map<number, Token[][] | undefined>()
  return line => {
    const group = Math.floor(line / GROUP)
    if (!drawn.has(group)) drawn.set(group, read(group))
    return drawn.get(group)?.[line - group * GROUP]
  }
}
