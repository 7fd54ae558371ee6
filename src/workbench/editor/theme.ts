import { posix } from 'node:path'
import * as vscode from 'vscode'
import {
  customRules,
  type TokenColors,
  type TokenRule,
  themeRules,
  tokenColors,
} from '../../editor/theme/token-colors.ts'

const SETTING = 'editor.tokenColorCustomizations'

/** The color rules of themes that were read, by the theme's ID. */
const known = new Map<string, Promise<TokenRule[]>>()

/** Resolves to the colors of code in a theme, with the user's customizations; empty if the theme's file can't be read. */
export async function themeTokenColors(themeId: string): Promise<TokenColors> {
  let rules = known.get(themeId)
  if (!rules) {
    rules = rulesOfTheme(themeId).catch(() => [])
    known.set(themeId, rules)
  }
  const custom = customRules(vscode.workspace.getConfiguration().get(SETTING), themeId)
  return tokenColors([...(await rules), ...custom])
}

/** Calls the listener when the user changes the colors of code in the settings. */
export function onDidChangeTokenColors(listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration(event => {
    if (event.affectsConfiguration(SETTING)) listener()
  })
}

async function rulesOfTheme(themeId: string): Promise<TokenRule[]> {
  const theme = findTheme(themeId)
  if (!theme) return []
  const { extensionUri } = theme
  const read = async (file: string) => {
    const bytes = await vscode.workspace.fs.readFile(extensionUri.with({ path: file }))
    return Buffer.from(bytes).toString('utf8')
  }
  const first = posix.join(extensionUri.path, theme.path)
  return themeRules(first, read, (file, relative) => posix.join(posix.dirname(file), relative))
}

function findTheme(id: string): { extensionUri: vscode.Uri; path: string } | undefined {
  for (const { extensionUri, packageJSON } of vscode.extensions.all) {
    const themes: unknown = packageJSON?.contributes?.themes
    if (!Array.isArray(themes)) continue
    for (const theme of themes) {
      if (typeof theme?.path === 'string' && (theme.id === id || theme.label === id))
        return { extensionUri, path: theme.path }
    }
  }
}
