import * as vscode from 'vscode'
import { onDidChangeSetting, readSetting } from '../../agents/vscode-settings.ts'
import type { Disposable } from '../../common/disposable.ts'
import { followActiveContext } from '../../editor/mentions/vscode-active-context.ts'
import { type ActiveContext, ActiveContextChanged } from '../bridge/composer.ts'
import type { WebviewConnection } from '../webview-connection.ts'

/** Tells a page what the user works on in the editor, to be offered for the prompt or added to it. */
export function listenForActiveContext(connection: WebviewConnection): Disposable & { tell(): void } {
  let context: ActiveContext = { automatic: readSetting('addActiveContext') }
  const set = (next: ActiveContext) => {
    context = next
    connection.send(ActiveContextChanged, context)
  }
  const following = vscode.Disposable.from(
    followActiveContext(attachment =>
      set({ automatic: context.automatic, ...(attachment && { attachment }) }),
    ),
    onDidChangeSetting('addActiveContext', () =>
      set({ ...context, automatic: readSetting('addActiveContext') }),
    ),
  )
  return { tell: () => connection.send(ActiveContextChanged, context), dispose: () => following.dispose() }
}
