import * as vscode from 'vscode'
import * as z from 'zod'
import { onDidChangeSetting, readSetting, updateSetting } from '../../agents/vscode-settings.ts'
import { onDidChangeTokenColors, themeTokenColors } from '../../editor/theme/vscode-theme.ts'
import { DiffLayout, SetDiffLayout, ThemeShown, TokenColors } from '../bridge/appearance.ts'
import type { WebviewConnection } from '../webview-connection.ts'

const themeShown = z.object({ themeId: z.string().max(512) })

const setDiffLayout = z.object({ sideBySide: z.boolean() })

/** Tells a page the colors of code in the theme that it says it is in, and how the person wants diffs. */
export function listenForAppearance(connection: WebviewConnection): vscode.Disposable {
  let shown: string | undefined
  const tell = async () => {
    if (shown === undefined) return
    const asked = shown
    const colors = await themeTokenColors(asked)
    if (asked === shown) connection.send(TokenColors, colors)
  }
  connection.onNotification(ThemeShown, themeShown, async ({ themeId }) => {
    shown = themeId
    tellLayout()
    await tell()
  })
  connection.onNotification(SetDiffLayout, setDiffLayout, async ({ sideBySide }) => {
    const layout = sideBySide ? 'sideBySide' : 'unified'
    await updateSetting('diffLayout', layout, vscode.ConfigurationTarget.Global)
  })
  const tellLayout = () =>
    connection.send(DiffLayout, { sideBySide: readSetting('diffLayout') === 'sideBySide' })
  return vscode.Disposable.from(
    onDidChangeTokenColors(() => void tell()),
    onDidChangeSetting('diffLayout', tellLayout),
  )
}
