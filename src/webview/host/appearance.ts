import type { MessageConnection } from 'vscode-jsonrpc'
import { DiffLayout, TokenColors } from '../../views/bridge/conversation.ts'
import type { ConversationMessages } from '../../views/bridge/conversation-messages.ts'
import { wantsSideBySide } from '../tools/diff-layout.ts'
import { type Rgb, readable, readColor } from '../ui/contrast.ts'
import type { HostClient } from './connection.ts'
import { onThemeChange } from './theme-change.ts'

/** Asks for the theme's colors of code, at first and with every other theme, and puts them into the page's styles. */
export function followTheme(connection: MessageConnection, host: HostClient<ConversationMessages>): void {
  let colors: Record<string, string> = {}
  connection.onNotification(TokenColors, reported => {
    colors = reported
    show(colors)
  })
  connection.onNotification(DiffLayout, ({ sideBySide }) => {
    wantsSideBySide.value = sideBySide
  })
  let shown: string | undefined
  const tell = () => {
    const { vscodeThemeId } = document.body.dataset
    if (vscodeThemeId === undefined || vscodeThemeId === shown) return
    shown = vscodeThemeId
    // those of the theme before may not be seen on this one
    clear(colors)
    showAnsi()
    host.send('appearance/theme', { themeId: vscodeThemeId })
  }
  onThemeChange(tell)
  tell()
}

function show(colors: Record<string, string>): void {
  const { style } = document.documentElement
  const page = getComputedStyle(document.body)
  const variable = (name: string) => page.getPropertyValue(name)
  const editor = readColor(variable('--vscode-editor-background')) ?? [30, 30, 30]
  const surface = readColor(variable('--vscode-textCodeBlock-background'), editor) ?? editor
  const text: Rgb = readColor(variable('--vscode-editor-foreground'), surface) ?? [204, 204, 204]
  // on the grounds of changed lines, and of what changed within them, a color may need more to be read
  const changed = (['inserted', 'removed'] as const).flatMap(side => {
    const line = readColor(variable(`--vscode-diffEditor-${side}LineBackground`), editor) ?? editor
    const word = readColor(variable(`--vscode-diffEditor-${side}TextBackground`), line) ?? line
    return [
      [side, line],
      [`${side}-word`, word],
    ] as const
  })
  for (const [kind, value] of Object.entries(colors)) {
    const color = readColor(value, surface)
    if (!color) continue
    style.setProperty(`--parley-token-${kind}`, css(readable(color, [surface, editor], text)))
    for (const [ground, on] of changed)
      style.setProperty(`--parley-${ground}-${kind}`, css(readable(color, [on], text)))
  }
}

const ansi = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan', 'White']

/** The colors of terminals as they can be read on the terminal's ground. */
function showAnsi(): void {
  const { style } = document.documentElement
  const page = getComputedStyle(document.body)
  const variable = (...names: string[]) =>
    names.map(name => readColor(page.getPropertyValue(name))).find(color => color !== undefined)
  const ground = variable(
    '--vscode-terminal-background',
    '--vscode-panel-background',
    '--vscode-editor-background',
  )
  const text = variable('--vscode-terminal-foreground', '--vscode-editor-foreground')
  for (const name of ansi.flatMap(color => [color, `Bright${color}`])) {
    const color = variable(`--vscode-terminal-ansi${name}`)
    const property = `--parley-ansi-${name.replace(/(?<=[a-z])(?=[A-Z])/, '-').toLowerCase()}`
    if (color && ground && text) style.setProperty(property, css(readable(color, [ground], text)))
    else style.removeProperty(property)
  }
}

function css(color: Rgb): string {
  return `rgb(${color.join(' ')})`
}

function clear(colors: Record<string, string>): void {
  const { style } = document.documentElement
  for (const kind of Object.keys(colors))
    for (const ground of ['token', 'inserted', 'inserted-word', 'removed', 'removed-word'])
      style.removeProperty(`--parley-${ground}-${kind}`)
}
