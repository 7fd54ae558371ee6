import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import type { HostListeners } from '../../../bridge/contract.ts'
import type { ConversationHostMessages } from '../../../bridge/conversation-messages.ts'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { type App, editPrompt, useApp } from '../context.ts'

/** Space between the selection and the button, in pixels. */
const GAP = 6

/** A button next to the selection in the conversation. It never takes the focus. */
export function SelectionActions() {
  const app = useApp()
  const position = useSignal<{ left: number; top: number } | undefined>(undefined)

  useLayoutEffect(() => {
    const hide = () => {
      position.value = undefined
    }
    // after the selection was made, not while it's being made
    const show = () => {
      position.value = selectedText() === '' ? undefined : besideSelection()
    }
    const changed = () => {
      if (getSelection()?.isCollapsed) hide()
    }
    const key = (event: KeyboardEvent) => {
      if (event.shiftKey || event.key === 'Shift') show()
    }
    window.addEventListener('pointerup', show)
    window.addEventListener('keyup', key)
    document.addEventListener('selectionchange', changed)
    document.addEventListener('scroll', hide, true)
    return () => {
      window.removeEventListener('pointerup', show)
      window.removeEventListener('keyup', key)
      document.removeEventListener('selectionchange', changed)
      document.removeEventListener('scroll', hide, true)
    }
  }, [position])

  if (!position.value) return null
  return (
    <button
      type="button"
      class="selection-quote"
      style={{ left: `${position.value.left}px`, top: `${position.value.top}px` }}
      onPointerDown={event => event.preventDefault()}
      onClick={() => quoteSelection(app)}
    >
      <Icon name="quote" /> {t('Quote')}
    </button>
  )
}

/** Below the end of the selection, or above it if there is no space. */
function besideSelection(): { left: number; top: number } | undefined {
  const range = getSelection()?.getRangeAt(0)
  const list = document.querySelector('.transcript')?.getBoundingClientRect()
  // a selection may extend to the start of the next line
  const end = [...(range?.getClientRects() ?? [])].findLast(rect => rect.width > 1)
  if (!end || !list) return undefined
  const height = 26
  const width = 90
  const below = end.bottom + GAP
  const top = below + height <= list.bottom ? below : Math.max(list.top, end.top - GAP - height)
  return {
    left: Math.max(list.left + GAP, Math.min(end.right - width / 2, list.right - width - GAP)),
    top,
  }
}

/** Receives the text for the composer. */
export function composerListeners(app: App) {
  return {
    'actions/fill': ({ blocks, quiet, instead }) => app.composer.current?.write(blocks, quiet, instead),
    'actions/edit': ({ entryId }) => editPrompt(app, entryId),
    'actions/quote': () => quoteSelection(app),
  } satisfies Partial<HostListeners<ConversationHostMessages>>
}

/** Adds the selection in the conversation to the composer as a quotation. */
function quoteSelection(app: App): void {
  const text = selectedText()
  if (text === '') {
    app.composer.current?.say(t('Select text in the conversation first.'))
    return
  }
  const quotation = text.split('\n').map(line => `> ${line}`.trimEnd())
  getSelection()?.removeAllRanges()
  write(app, `${quotation.join('\n')}\n\n`)
}

/** The selection, if it's in the conversation. */
function selectedText(): string {
  const selection = getSelection()
  if (!selection || selection.isCollapsed) return ''
  const anchor = selection.anchorNode
  const inside = (anchor instanceof Element ? anchor : anchor?.parentElement)?.closest('.transcript .row')
  return inside
    ? selection
        .toString()
        .replace(/\n{3,}/g, '\n\n')
        .trim()
    : ''
}

/** Appends to the composer's text, after an empty line. */
function write(app: App, text: string): void {
  const composer = app.composer.current
  if (!composer) return
  composer.focus()
  composer.type(composer.isEmpty ? text : `\n\n${text}`)
}
