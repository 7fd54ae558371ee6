import type { MessageConnection } from 'vscode-jsonrpc'
import { DiffLayout, ThemeShown, TokenColours } from '../../views/bridge/appearance.ts'
import { wantsSideBySide } from '../tools/diff-layout.ts'
import { type Rgb, readable, readColour } from '../ui/contrast.ts'
import { onThemeChange } from './theme-change.ts'

/** Asks for the theme's colours of code, at first and with every other theme, and puts them into the page's styles. */
export function followTheme(connection: MessageConnection): void {
  let colours: Record<string, string> = {}
  connection.onNotification(TokenColours, told => {
    colours = told
    show(colours)
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
    clear(colours)
    showAnsi()
    void connection.sendNotification(ThemeShown, { themeId: vscodeThemeId })
  }
  onThemeChange(tell)
  tell()
}

function show(colours: Record<string, string>): void {
  const { style } = document.documentElement
  const page = getComputedStyle(document.body)
  const variable = (name: string) => page.getPropertyValue(name)
  const editor = readColour(variable('--vscode-editor-background')) ?? [30, 30, 30]
  const surface = readColour(variable('--vscode-textCodeBlock-background'), editor) ?? editor
  const text: Rgb = readColour(variable('--vscode-editor-foreground'), surface) ?? [204, 204, 204]
  // on the grounds of changed lines, and of what changed within them, a colour may need more to be read
  const changed = (['inserted', 'removed'] as const).flatMap(side => {
    const line = readColour(variable(`--vscode-diffEditor-${side}LineBackground`), editor) ?? editor
    const word = readColour(variable(`--vscode-diffEditor-${side}TextBackground`), line) ?? line
    return [
      [side, line],
      [`${side}-word`, word],
    ] as const
  })
  for (const [kind, value] of Object.entries(colours)) {
    const colour = readColour(value, surface)
    if (!colour) continue
    style.setProperty(`--parley-token-${kind}`, css(readable(colour, [surface, editor], text)))
    for (const [ground, on] of changed)
      style.setProperty(`--parley-${ground}-${kind}`, css(readable(colour, [on], text)))
  }
}

const ansi = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan', 'White']

/** The colours of terminals as they can be read on the terminal's ground. */
function showAnsi(): void {
  const { style } = document.documentElement
  const page = getComputedStyle(document.body)
  const variable = (...names: string[]) =>
    names.map(name => readColour(page.getPropertyValue(name))).find(colour => colour !== undefined)
  const ground = variable(
    '--vscode-terminal-background',
    '--vscode-panel-background',
    '--vscode-editor-background',
  )
  const text = variable('--vscode-terminal-foreground', '--vscode-editor-foreground')
  for (const name of ansi.flatMap(colour => [colour, `Bright${colour}`])) {
    const colour = variable(`--vscode-terminal-ansi${name}`)
    const property = `--parley-ansi-${name.replace(/(?<=[a-z])(?=[A-Z])/, '-').toLowerCase()}`
    if (colour && ground && text) style.setProperty(property, css(readable(colour, [ground], text)))
    else style.removeProperty(property)
  }
}

function css(colour: Rgb): string {
  return `rgb(${colour.join(' ')})`
}

function clear(colours: Record<string, string>): void {
  const { style } = document.documentElement
  for (const kind of Object.keys(colours))
    for (const ground of ['token', 'inserted', 'inserted-word', 'removed', 'removed-word'])
      style.removeProperty(`--parley-${ground}-${kind}`)
}
