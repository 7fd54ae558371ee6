import { contrast, type Rgb, readable, readColor } from '../ui/contrast.ts'
import { onThemeChange } from './theme-change.ts'

/** Closer to the text's color than this, nobody sees that words are less important. */
const tooClose = 1.3
/** How much of the ground is mixed in then. */
const faded = 0.3
/** A tint of less is not seen on its ground. */
const seen = 1.08
/** A line of less is not seen either. */
const drawn = 1.12
/** An icon or a box of less is hard to find. */
const found = 2

const grounds = [
  '--vscode-sideBar-background',
  '--vscode-editor-background',
  '--vscode-editorWidget-background',
  '--vscode-menu-background',
]

/**
 * Makes up for what some themes leave indistinct, with every other theme anew: asides in the color of the text itself
 * (Light Modern), small words that cannot be read where they stand, a tint of prompts or a line that is that of the ground,
 * a color of buttons that cannot be seen as an icon, the edge of boxes to tick.
 */
export function fitTheme(): void {
  onThemeChange(apply)
  apply()
}

function apply(): void {
  const page = getComputedStyle(document.body)
  const read = (name: string, surface?: Rgb) => readColor(page.getPropertyValue(name), surface)
  const surfaces = grounds.map(name => read(name)).filter(color => color !== undefined)
  const [ground] = surfaces
  // high contrast says it by borders
  if (!ground || document.body.classList.contains('vscode-high-contrast')) {
    for (const name of fitted) set(name, undefined)
    return
  }
  const hovered = surfaces.slice(0, 2).map(one => read('--vscode-list-hoverBackground', one) ?? one)
  const input = read('--vscode-input-background', ground) ?? ground
  const text = read('--vscode-foreground', ground)
  const rows = [...surfaces, ...hovered]
  set('quiet', css(quietColor(text, read('--vscode-descriptionForeground', ground), [...rows, input])))

  const first = (names: string[], surface: Rgb) =>
    names.map(name => read(name, surface)).find(color => color !== undefined)
  /** The first of these colors that the theme has, where it has to be another one to be read. */
  const legible = (names: string[], on: readonly Rgb[], beside = text) => {
    const own = first(names, on[0]!)
    return own && beside && css(differing(own, readable(own, on, beside)))
  }
  const added = ['--vscode-chat-linesAddedForeground', '--vscode-gitDecoration-addedResourceForeground']
  const removed = ['--vscode-chat-linesRemovedForeground', '--vscode-errorForeground']
  set('added', legible(added, rows))
  set('removed', legible(removed, rows))
  set('error-text', legible(['--vscode-errorForeground'], surfaces))
  const written = read('--vscode-input-foreground', input) ?? text
  set('placeholder', legible(['--vscode-input-placeholderForeground'], [input], written))
  const chosen = read('--vscode-editorSuggestWidget-selectedBackground', ground) ?? ground
  const onChosen = read('--vscode-editorSuggestWidget-selectedForeground', chosen) ?? text
  set('mark', legible(marks, [chosen], onChosen))

  const line = first(lines, ground)
  const isDrawn = line && surfaces.slice(0, 2).every(surface => contrast(line, surface) >= drawn)
  set('hairline', isDrawn ? undefined : 'color-mix(in srgb, var(--vscode-foreground) 22%, transparent)')

  const tinted = surfaces.slice(0, 2).every(surface => {
    const tint = read('--vscode-editor-inactiveSelectionBackground', surface)
    return tint !== undefined && contrast(tint, surface) >= seen
  })
  set('prompt', tinted ? undefined : 'color-mix(in srgb, var(--vscode-foreground) 9%, transparent)')

  const button = read('--vscode-button-background', input) ?? input
  const form = read('--vscode-editorWidget-background') ?? ground
  const box = read('--vscode-checkbox-border', form) ?? form
  const edge = 'color-mix(in srgb, var(--vscode-foreground) 50%, transparent)'
  set('box', contrast(box, form) < found ? edge : undefined)
  set('send', contrast(button, input) < found ? 'var(--vscode-foreground)' : undefined)
}

const fitted = [
  'quiet',
  'added',
  'removed',
  'error-text',
  'placeholder',
  'mark',
  'hairline',
  'prompt',
  'box',
  'send',
] as const

/** Behind what matches of the chosen row. */
const marks = [
  '--vscode-editorSuggestWidget-focusHighlightForeground',
  '--vscode-list-focusHighlightForeground',
]
/** As in the styles. */
const lines = ['--vscode-widget-border', '--vscode-editorGroup-border', '--vscode-panel-border']

function set(name: (typeof fitted)[number], value: string | undefined): void {
  const { style } = document.documentElement
  if (value === undefined) style.removeProperty(`--parley-${name}`)
  else style.setProperty(`--parley-${name}`, value)
}

/**
 * The color for asides where the theme's own is that of the text: between it and the ground, as in VS Code's own lists;
 * and readable on every surface. `undefined` where it is right as it is.
 */
export function quietColor(
  text: Rgb | undefined,
  own: Rgb | undefined,
  surfaces: readonly Rgb[],
): Rgb | undefined {
  const [ground] = surfaces
  if (!text || !own || !ground) return undefined
  const mixed = own.map((part, i) => Math.round(part * (1 - faded) + ground[i]! * faded))
  const aside = contrast(text, own) < tooClose ? (mixed as unknown as Rgb) : own
  return differing(own, readable(aside, surfaces, text))
}

const differing = (own: Rgb, other: Rgb) => (other.every((part, i) => part === own[i]) ? undefined : other)
const css = (color: Rgb | undefined) => color && `rgb(${color.join(' ')})`
