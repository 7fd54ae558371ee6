import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { HiddenCommandId } from '../app/ids.ts'
import type { Dialogs } from '../app/workbench.ts'

/** by notification ID: the function that a link in the visible notification calls */
const visible = new Map<string, (choice: unknown) => void>()

/** Shows a progress notification with links, because an extension can't close any other kind of notification. */
export const notify: Dialogs['notify'] = (text, choices, over) => {
  const id = randomUUID()
  const title = `${text}  ${choices.map((label, at) => linkTo(label, [id, at])).join(' · ')}`
  // VS Code uses a string as the label of the button. By default it's "Cancel", which would seem to cancel the request.
  const cancellable = l10n.t('Dismiss') as unknown as boolean
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable }
  return new Promise(resolve => {
    void vscode.window.withProgress(options, (_progress, dismissed) => {
      return new Promise<void>(close => {
        const end = (choice?: number) => {
          visible.delete(id)
          close()
          resolve(choice)
        }
        visible.set(id, choice => end(choices[Number(choice)] === undefined ? 0 : Number(choice)))
        dismissed.onCancellationRequested(() => end())
        if (over.aborted) end()
        else over.addEventListener('abort', () => end(), { once: true })
      })
    })
  })
}

/** Handles a click on a link of a notification: the notification's id, and the position of the choice. */
export function answerNotification(notification: unknown, choice: unknown): void {
  if (typeof notification === 'string') visible.get(notification)?.(choice)
}

function linkTo(label: string, args: unknown[]): string {
  return `[${label}](command:${HiddenCommandId.answerNotification}?${encodeURIComponent(JSON.stringify(args))})`
}
