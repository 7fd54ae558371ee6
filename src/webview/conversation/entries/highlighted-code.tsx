import { useEffect, useMemo, useState } from 'preact/hooks'
import { linkedParts } from '../../../common/file-links.ts'
import { t } from '../../l10n.ts'
import { highlight, loadGrammars, takeWanted } from '../../tools/highlight.ts'
import { IconButton } from '../../ui/button.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { useApp } from '../context.ts'

/** For longer text, only the lines near the visible part are in the page. Characters. */
const MAX_WHOLE = 16_384
/** Longer lines are wrapped. Characters. */
const MAX_LINE = 2000
const longPieces = /[\s\S]{1,2000}/g

/** Loaded on demand, since few texts are long. */
const CodeLines = lazy(() => import('../../tools/code-lines.tsx').then(module => module.CodeLines))

interface HighlightedCodeProps {
  text: string
  /** the language's name in a fence, or a file's extension */
  language: string
  /** whether URLs and files in the text are links, as in output; not in a long text */
  isLinked?: boolean
}

/** Highlighted text; a long one has its own scroll area. */
export function HighlightedCode(props: HighlightedCodeProps) {
  return props.text.length > MAX_WHOLE ? <LongCode {...props} /> : <ShortCode {...props} />
}

/** Text in which URLs and files are links. */
export function LinkedText({ text }: { text: string }) {
  const parts = linkedParts(text).map((part, i) => {
    if (part.href)
      return (
        <a key={i} href={part.href}>
          {part.text}
        </a>
      )
    const { file } = part
    if (!file) return part.text
    return (
      // biome-ignore lint/a11y/useValidAnchor: a click opens the file in the editor
      <a key={i} href="#" data-path={file}>
        {part.text}
      </a>
    )
  })
  return <>{parts}</>
}

/** A text with links, line by line, since only texts of limited length are searched for links. */
function LinkedLines({ text }: { text: string }) {
  const lines = useMemo(() => text.split(/(?<=\n)/), [text])
  return (
    <>
      {lines.map((line, i) => (
        <LinkedText key={i} text={line} />
      ))}
    </>
  )
}

/** A long text, of which only the lines near the visible part are in the page. */
function LongCode({ text, language }: HighlightedCodeProps) {
  const lines = useMemo(() => boundedLines(text), [text])
  return (
    <div class="code-block">
      <Bar text={text} language={language} />
      <CodeLines lines={lines} language={language} />
    </div>
  )
}

/** Splits very long lines into several, because browsers lay out a line as a whole. */
function boundedLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.every(line => line.length <= MAX_LINE)) return lines
  return lines.flatMap(line => (line.length <= MAX_LINE ? [line] : (line.match(longPieces) ?? [])))
}

function Bar({ text, language }: HighlightedCodeProps) {
  const { host } = useApp()
  return (
    <div class="code-bar">
      <IconButton
        icon="go-to-file"
        label={t('Open as File')}
        onClick={() => host.send('conversation/openText', { text, language })}
      />
      <IconButton icon="copy" label={t('Copy')} onClick={() => host.send('conversation/copy', { text })} />
    </div>
  )
}

function ShortCode({ text, language, isLinked }: HighlightedCodeProps) {
  const html = useHighlight(text, language)
  return (
    <div class="code-block">
      <Bar text={text} language={language} />
      <pre
        // output of a single line, such as an error message, is wrapped
        class={`plain-code${isLinked && !text.trimEnd().includes('\n') ? ' wrap' : ''}`}
        dir="ltr"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
      >
        {html === undefined ? (
          <code>{isLinked ? <LinkedLines text={text} /> : text}</code>
        ) : (
          <code dangerouslySetInnerHTML={{ __html: html }} />
        )}
      </pre>
    </div>
  )
}

function useHighlight(text: string, language: string): string | undefined {
  const [, setLoaded] = useState(false)
  const html = language === '' ? undefined : highlight(text, language)
  // take the list now, since other code that is rendered at the same time adds its own grammars
  const wanted = html === undefined ? takeWanted() : []
  useEffect(() => {
    let gone = false
    if (wanted.length > 0)
      void loadGrammars(wanted).then(isLoaded => {
        if (isLoaded && !gone) setLoaded(true)
      })
    return () => {
      gone = true
    }
  })
  return html
}
