import type { HostListeners } from '../../../bridge/contract.ts'
import type { ConversationHostMessages } from '../../../bridge/conversation-messages.ts'
import { t } from '../../l10n.ts'
import { type App, editPrompt } from '../context.ts'

/** Returns the listeners for messages that put text into the composer or edit a prompt. */
export function composerListeners(app: App) {
  return {
    'actions/fill': ({ blocks, quiet, instead }) => app.composer.current?.write(blocks, quiet, instead),
    'actions/edit': ({ entryId }) => editPrompt(app, entryId),
    'actions/quote': () => quoteSelection(app),
  } satisfies Partial<HostListeners<ConversationHostMessages>>
}

/** Adds the selection in the conversation to the composer as a quotation. */
export function quoteSelection(app: App): void {
  const text = selectedText()
  if (text === '') {
    app.composer.current?.say(t('Select text in the conversation first.'))
    return
  }
  const quotation = text.split('\n').map(line => `> ${line}`.trimEnd())
  getSelection()?.removeAllRanges()
  write(app, `${quotation.join('\n')}\n\n`)
}

/** Returns the selected text, if it's in the conversation; otherwise an empty text. */
export function selectedText(): string {
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

/** Appends text to the composer's text, after an empty line. */
function write(app: App, text: string): void {
  const composer = app.composer.current
  if (!composer) return
  composer.focus()
  composer.type(composer.isEmpty ? text : `\n\n${text}`)
}
