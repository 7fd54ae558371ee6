import * as vscode from 'vscode'
import * as z from 'zod'
import { onDidChangeTokenColours, themeTokenColours } from '../../editor/theme/vscode-theme.ts'
import { DiffLayout, SetDiffLayout, ThemeShown, TokenColours } from '../bridge/appearance.ts'
import type { WebviewConnection } from '../webview-connection.ts'

const themeShown = z.object({ themeId: z.string().max(512) })

const setDiffLayout = z.object({ sideBySide: z.boolean() })
const DIFF_LAYOUT = 'diffLayout'

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('parley')
}

/** Tells a page the colours of code in the theme that it says it is in, and how the person wants diffs. */
export function listenForAppearance(connection: WebviewConnection): vscode.Disposable {
  let shown: string | undefined
  const tell = async () => {
    if (shown === undefined) return
    const asked = shown
    const colours = await themeTokenColours(asked)
    if (asked === shown) connection.send(TokenColours, colours)
  }
  connection.onNotification(ThemeShown, themeShown, async ({ themeId }) => {
    shown = themeId
    tellLayout()
    await tell()
  })
  connection.onNotification(SetDiffLayout, setDiffLayout, async ({ sideBySide }) => {
    await settings().update(
      DIFF_LAYOUT,
      sideBySide ? 'sideBySide' : 'unified',
      vscode.ConfigurationTarget.Global,
    )
  })
  const tellLayout = () =>
    connection.send(DiffLayout, { sideBySide: settings().get(DIFF_LAYOUT) !== 'unified' })
  return vscode.Disposable.from(
    onDidChangeTokenColours(() => void tell()),
    vscode.workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration(`parley.${DIFF_LAYOUT}`)) tellLayout()
    }),
  )
}
