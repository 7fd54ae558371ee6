import type { HostListeners } from '../../bridge/contract.ts'
import type { ConversationHostMessages, ConversationMessages } from '../../bridge/conversation-messages.ts'
import { wantsSideBySide } from '../tools/diff-layout.ts'
import type { HostClient } from './connection.ts'

/** Creates an object that requests the theme's colors of code, initially and when the theme changes, and applies them to the page. */
export function createThemeFollower(host: HostClient<ConversationMessages>) {
  let colors: Record<string, string> = {}
  let shown: string | undefined
  const tell = () => {
    const { vscodeThemeId } = document.body.dataset
    if (vscodeThemeId === undefined || vscodeThemeId === shown) return
    shown = vscodeThemeId
    // the previous theme's colors may be unreadable in this one
    clearTokenColors(colors)
    showTerminalColors()
    host.send('appearance/theme', { themeId: vscodeThemeId })
  }
  const listeners = {
    'appearance/tokens': reported => {
      colors = reported
      showTokenColors(colors)
    },
    'appearance/diff': ({ sideBySide }) => {
      wantsSideBySide.value = sideBySide
    },
  } satisfies Partial<HostListeners<ConversationHostMessages>>
  return {
    listeners,
    /** Call this when the connection listens. */
    start(): void {
      onThemeChange(tell)
      tell()
    },
  }
}

function showTokenColors(colors: Record<string, string>): void {
  const { style } = document.documentElement
  const page = getComputedStyle(document.body)
  const variable = (name: string) => page.getPropertyValue(name)
  const editor = readColor(variable('--vscode-editor-background')) ?? [30, 30, 30]
  const surface = readColor(variable('--vscode-textCodeBlock-background'), editor) ?? editor
  const text: Rgb = readColor(variable('--vscode-editor-foreground'), surface) ?? [204, 204, 204]
  // on the backgrounds of changed lines and words, a color may need more contrast
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

/** Sets the colors of terminals, corrected to be readable on the terminal's background. */
function showTerminalColors(): void {
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

function clearTokenColors(colors: Record<string, string>): void {
  const { style } = document.documentElement
  for (const kind of Object.keys(colors))
    for (const ground of ['token', 'inserted', 'inserted-word', 'removed', 'removed-word'])
      style.removeProperty(`--parley-${ground}-${kind}`)
}

/** The minimum contrast between secondary text and normal text, below which they look the same. */
const MIN_SECONDARY_CONTRAST = 1.3
/** The share of the background that is mixed into secondary text with too little contrast. */
const FADED_SHARE = 0.3
/** The minimum contrast of a tinted background. */
const MIN_TINT_CONTRAST = 1.08
/** The minimum contrast of a line. */
const MIN_LINE_CONTRAST = 1.12
/** The minimum contrast of an icon or a checkbox. */
const MIN_CONTROL_CONTRAST = 2

const grounds = [
  '--vscode-sideBar-background',
  '--vscode-editor-background',
  '--vscode-editorWidget-background',
  '--vscode-menu-background',
]

/**
 * Corrects colors that can't be distinguished in the current theme: secondary text in the color of the text (Light
 * Modern) or with too little contrast, a prompt's background or a line in the color of the background, buttons and
 * checkboxes that can't be seen. Runs again when the theme changes.
 */
export function fitTheme(): void {
  onThemeChange(fitColors)
  fitColors()
}

function fitColors(): void {
  const page = getComputedStyle(document.body)
  const read = (name: string, surface?: Rgb) => readColor(page.getPropertyValue(name), surface)
  const surfaces = grounds.map(name => read(name)).filter(color => color !== undefined)
  const [ground] = surfaces
  // high contrast themes use borders instead
  if (!ground || document.body.classList.contains('vscode-high-contrast')) {
    for (const name of fitted) set(name, undefined)
    return
  }
  const hovered = surfaces.slice(0, 2).map(one => read('--vscode-list-hoverBackground', one) ?? one)
  const input = read('--vscode-input-background', ground) ?? ground
  const text = read('--vscode-foreground', ground)
  const rows = [...surfaces, ...hovered]
  set('quiet', cssOf(quietColor(text, read('--vscode-descriptionForeground', ground), [...rows, input])))

  const first = (names: string[], surface: Rgb) =>
    names.map(name => read(name, surface)).find(color => color !== undefined)
  /** Returns a readable variant of the first of these colors that the theme has, if that color needs correction. */
  const legible = (names: string[], on: readonly Rgb[], beside = text) => {
    const own = first(names, on[0]!)
    return own && beside && cssOf(differing(own, readable(own, on, beside)))
  }
  const added = ['--vscode-chat-linesAddedForeground', '--vscode-gitDecoration-addedResourceForeground']
  const removed = ['--vscode-chat-linesRemovedForeground', '--vscode-errorForeground']
  set('added', legible(added, rows))
  set('removed', legible(removed, rows))
  set('error-text', legible(['--vscode-errorForeground'], rows))
  set('warning-text', legible(['--vscode-editorWarning-foreground', '--vscode-charts-yellow'], rows))
  const written = read('--vscode-input-foreground', input) ?? text
  set('placeholder', legible(['--vscode-input-placeholderForeground'], [input], written))
  const chosen = read('--vscode-editorSuggestWidget-selectedBackground', ground) ?? ground
  const onChosen = read('--vscode-editorSuggestWidget-selectedForeground', chosen) ?? text
  set('mark', legible(marks, [chosen], onChosen))

  const line = first(lines, ground)
  const isDrawn = line && surfaces.slice(0, 2).every(surface => contrast(line, surface) >= MIN_LINE_CONTRAST)
  set('hairline', isDrawn ? undefined : 'color-mix(in srgb, var(--vscode-foreground) 22%, transparent)')

  const tinted = surfaces.slice(0, 2).every(surface => {
    const tint = read('--vscode-editor-inactiveSelectionBackground', surface)
    return tint !== undefined && contrast(tint, surface) >= MIN_TINT_CONTRAST
  })
  set('prompt', tinted ? undefined : 'color-mix(in srgb, var(--vscode-foreground) 9%, transparent)')

  const button = read('--vscode-button-background', input) ?? input
  const form = read('--vscode-editorWidget-background') ?? ground
  const box = read('--vscode-checkbox-border', form) ?? form
  const edge = 'color-mix(in srgb, var(--vscode-foreground) 50%, transparent)'
  set('box', contrast(box, form) < MIN_CONTROL_CONTRAST ? edge : undefined)
  set('send', contrast(button, input) < MIN_CONTROL_CONTRAST ? 'var(--vscode-foreground)' : undefined)
}

const fitted = [
  'quiet',
  'added',
  'removed',
  'error-text',
  'warning-text',
  'placeholder',
  'mark',
  'hairline',
  'prompt',
  'box',
  'send',
] as const

/** The colors of matching letters in the selected row. */
const marks = [
  '--vscode-editorSuggestWidget-focusHighlightForeground',
  '--vscode-list-focusHighlightForeground',
]
/** The colors of lines, the same variables as in the style sheets. */
const lines = ['--vscode-widget-border', '--vscode-editorGroup-border', '--vscode-panel-border']

function set(name: (typeof fitted)[number], value: string | undefined): void {
  const { style } = document.documentElement
  if (value === undefined) style.removeProperty(`--parley-${name}`)
  else style.setProperty(`--parley-${name}`, value)
}

/**
 * Returns a color for secondary text if the theme's own is the same as the text's: between text and background, as in VS
 * Code's lists, and readable on every surface. `undefined` if the theme's own color is fine.
 */
export function quietColor(
  text: Rgb | undefined,
  own: Rgb | undefined,
  surfaces: readonly Rgb[],
): Rgb | undefined {
  const [ground] = surfaces
  if (!text || !own || !ground) return undefined
  const mixed = own.map((part, i) => Math.round(part * (1 - FADED_SHARE) + ground[i]! * FADED_SHARE))
  const aside = contrast(text, own) < MIN_SECONDARY_CONTRAST ? (mixed as unknown as Rgb) : own
  return differing(own, readable(aside, surfaces, text))
}

const differing = (own: Rgb, other: Rgb) => (other.every((part, i) => part === own[i]) ? undefined : other)
const cssOf = (color: Rgb | undefined) => color && css(color)

/** Calls the listener whenever the theme changes, which VS Code sets as an attribute of the page. */
function onThemeChange(listener: () => void): void {
  new MutationObserver(listener).observe(document.body, {
    attributes: true,
    attributeFilter: ['data-vscode-theme-id'],
  })
}

/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [number, number, number]

/** Reads `#rgb`, `#rrggbb`, `#rrggbbaa` over a surface, and `rgb(…)`; `undefined` for anything else. */
export function readColor(text: string, surface: Rgb = [0, 0, 0]): Rgb | undefined {
  const value = text.trim()
  const hex = /^#([0-9a-f]{3,8})$/i.exec(value)?.[1]
  if (hex) {
    const long = hex.length < 6 ? [...hex].map(digit => digit + digit).join('') : hex
    const [r, g, b, a = 255] = (long.match(/../g) ?? []).map(part => Number.parseInt(part, 16))
    if (r === undefined || g === undefined || b === undefined) return undefined
    return over([r, g, b], surface, a / 255)
  }
  const parts = /^rgba?\(([^)]+)\)$/
    .exec(value)?.[1]
    ?.split(/[\s,/]+/)
    .map(Number)
  if (!parts || parts.length < 3 || parts.some(Number.isNaN)) return undefined
  return over([parts[0]!, parts[1]!, parts[2]!], surface, parts[3] ?? 1)
}

function over(color: Rgb, surface: Rgb, share: number): Rgb {
  const mix = (i: 0 | 1 | 2) => Math.round(color[i] * share + surface[i] * (1 - share))
  return [mix(0), mix(1), mix(2)]
}

/** Returns the contrast ratio, from 1 (the same) to 21 (black on white). https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio */
export function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

function luminance(color: Rgb): number {
  const [r, g, b] = color.map(value => {
    const share = value / 255
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/**
 * Returns the color, moved toward the text's color just enough to be readable on all surfaces; if the theme's text itself has
 * less contrast, nearly as readable as the text.
 */
export function readable(color: Rgb, surfaces: readonly Rgb[], text: Rgb, least = 4.5): Rgb {
  const enough = surfaces.map(surface => {
    const reached = contrast(text, surface)
    return reached >= least ? least : reached * 0.75
  })
  for (let share = 0; share < 1; share += 0.1) {
    const mixed = over(text, color, share)
    if (surfaces.every((surface, i) => contrast(mixed, surface) >= enough[i]!)) return mixed
  }
  return text
}
