import * as vscode from 'vscode'
import { onDidChangeSetting, readSetting, updateSetting } from '../../agents/vscode-settings.ts'
import { followActiveContext } from '../../editor/mentions/vscode-attachments.ts'
import { onDidChangeTokenColors, themeTokenColors } from '../../editor/theme/vscode-theme.ts'
import { type ActiveContext, ActiveContextChanged } from '../bridge/composer.ts'
import type { Handlers } from '../bridge/contract.ts'
import { DiffLayout, TokenColors } from '../bridge/conversation.ts'
import type { ConversationMessages } from '../bridge/conversation-messages.ts'
import type { WebviewConnection } from '../webview-connection.ts'

/** Tells a page the colors of code in the theme that it says it is in, and how the person wants diffs. */
export function connectAppearance(connection: WebviewConnection) {
  let shown: string | undefined
  const tell = async () => {
    if (shown === undefined) return
    const asked = shown
    const colors = await themeTokenColors(asked)
    if (asked === shown) connection.send(TokenColors, colors)
  }
  const tellLayout = () =>
    connection.send(DiffLayout, { sideBySide: readSetting('diffLayout') === 'sideBySide' })
  const handlers = {
    'appearance/theme': async ({ themeId }) => {
      shown = themeId
      tellLayout()
      await tell()
    },
    'appearance/setDiff': async ({ sideBySide }) => {
      const layout = sideBySide ? 'sideBySide' : 'unified'
      await updateSetting('diffLayout', layout, vscode.ConfigurationTarget.Global)
    },
  } satisfies Partial<Handlers<ConversationMessages>>
  const following = vscode.Disposable.from(
    onDidChangeTokenColors(() => void tell()),
    onDidChangeSetting('diffLayout', tellLayout),
  )
  return { handlers, dispose: () => following.dispose() }
}

/** Tells a page what the user works on in the editor, to be offered for the prompt or added to it. */
export function connectActiveContext(connection: WebviewConnection) {
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
