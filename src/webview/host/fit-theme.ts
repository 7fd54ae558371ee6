import { contrast, type Rgb, readable, readColour } from '../ui/contrast.ts'
import { onThemeChange } from './theme-change.ts'

/** Closer to the text's colour than this, nobody sees that words are less important. */
const tooClose = 1.3
/** How much of the ground is mixed in then. */
const faded = 0.3
/** A tint of less is not seen on its ground. */
const seen = 1.08
/** An icon of less is hard to find. */
const found = 2

const grounds = [
  '--vscode-sideBar-background',
  '--vscode-editor-background',
  '--vscode-editorWidget-background',
  '--vscode-menu-background',
]

/**
 * Makes up for what some themes leave indistinct, with every other theme anew: asides in the colour of the text itself
 * (Light Modern), a tint of prompts that is that of the ground, a colour of buttons that cannot be seen as an icon.
 */
export function fitTheme(): void {
  onThemeChange(apply)
  apply()
}

function apply(): void {
  const page = getComputedStyle(document.body)
  const read = (name: string, surface?: Rgb) => readColour(page.getPropertyValue(name), surface)
  const surfaces = grounds.map(name => read(name)).filter(colour => colour !== undefined)
  const [ground] = surfaces
  // high contrast says it by borders
  if (!ground || document.body.classList.contains('vscode-high-contrast')) {
    for (const name of ['quiet', 'prompt', 'send']) set(name, undefined)
    return
  }
  const hovered = read('--vscode-list-hoverBackground', ground) ?? ground
  const quiet = quietColour(
    read('--vscode-foreground', ground),
    read('--vscode-descriptionForeground', ground),
    [...surfaces, hovered],
  )
  set('quiet', quiet && `rgb(${quiet.join(' ')})`)

  const tinted = surfaces.slice(0, 2).every(surface => {
    const tint = read('--vscode-editor-inactiveSelectionBackground', surface)
    return tint !== undefined && contrast(tint, surface) >= seen
  })
  set('prompt', tinted ? undefined : 'color-mix(in srgb, var(--vscode-foreground) 9%, transparent)')

  const input = read('--vscode-input-background', ground) ?? ground
  const button = read('--vscode-button-background', input) ?? input
  set('send', contrast(button, input) < found ? 'var(--vscode-foreground)' : undefined)
}

function set(name: string, value: string | undefined): void {
  const { style } = document.documentElement
  if (value === undefined) style.removeProperty(`--parley-${name}`)
  else style.setProperty(`--parley-${name}`, value)
}

/**
 * The colour for asides where the theme's own is that of the text: between it and the ground, as in VS Code's own lists,
 * and readable on every surface; `undefined` where it is right as it is.
 */
export function quietColour(
  text: Rgb | undefined,
  own: Rgb | undefined,
  surfaces: readonly Rgb[],
): Rgb | undefined {
  const [ground] = surfaces
  if (!text || !own || !ground || contrast(text, own) >= tooClose) return undefined
  const mixed = own.map((part, i) => Math.round(part * (1 - faded) + ground[i]! * faded))
  return readable(mixed as unknown as Rgb, surfaces, text)
}
