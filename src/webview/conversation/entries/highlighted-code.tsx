import { useEffect, useState } from 'preact/hooks'
import { t } from '../../l10n.ts'
import { highlight, loadGrammars, takeWanted } from '../../markdown/highlight.ts'
import { IconButton } from '../../ui/button.tsx'
import { useApp } from '../context.ts'

/** More of a text than this is not drawn here: it opens in an editor. Characters. */
const longest = 24_000

interface HighlightedCodeProps {
  text: string
  /** as a fence or a file's extension names it */
  language: string
}

/** Text in the colours of its language; a long one scrolls by itself. */
export function HighlightedCode({ text, language }: HighlightedCodeProps) {
  const { host } = useApp()
  const shown = text.length > longest ? text.slice(0, longest) : text
  const html = useHighlight(shown, language)
  return (
    <div class="code-block">
      <div class="code-bar">
        <IconButton
          icon="go-to-file"
          label={t('Open as a file')}
          onClick={() => host.openText(text, language)}
        />
        <IconButton icon="copy" label={t('Copy')} onClick={() => host.copy(text)} />
      </div>
      <pre
        class="plain-code"
        dir="ltr"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
      >
        {html === undefined ? <code>{shown}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}
      </pre>
      {text.length > longest && (
        <button type="button" class="link-button" onClick={() => host.openText(text, language)}>
          {t('Open all in an editor')}
        </button>
      )}
    </div>
  )
}

function useHighlight(text: string, language: string): string | undefined {
  const [, setLoaded] = useState(false)
  const html = language === '' ? undefined : highlight(text, language)
  // now: another piece of code that is drawn at the same time asks for itself
  const wanted = html === undefined ? takeWanted() : []
  useEffect(() => {
    let gone = false
    if (wanted.length > 0)
      void loadGrammars(wanted).then(() => {
        if (!gone) setLoaded(true)
      })
    return () => {
      gone = true
    }
  })
  return html
}
