import type { MessageConnection } from 'vscode-jsonrpc/browser'
import { FillComposer, Quote } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import type { App } from '../context.ts'

/** Hears what is to stand in the composer. */
export function listenForComposer(connection: MessageConnection, app: App): void {
  connection.onNotification(FillComposer, ({ blocks, quiet }) => app.composer.current?.write(blocks, quiet))
  connection.onNotification(Quote, () => quoteSelection(app))
}

/** Writes what is selected in the conversation into the composer, as a quotation. */
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

/** What is selected, if it is a part of the conversation. */
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

/** After what stands in the composer already, with a line between. */
function write(app: App, text: string): void {
  const composer = app.composer.current
  if (!composer) return
  composer.focus()
  composer.type(composer.isEmpty ? text : `\n\n${text}`)
}
