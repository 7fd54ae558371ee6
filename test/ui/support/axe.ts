import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { type ThemeKind, themes, type VsCodeWindow } from '../../host/vscode-window.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const page = readFileSync(join(import.meta.dirname, 'axe-page.js'), 'utf8')

/** The rules for every page: WCAG 2.1 AA and axe's best practices, without target sizes, which follow VS Code. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']

/** A view in the side bar or in an editor tab. */
const grounds = ['--vscode-sideBar-background', '--vscode-editor-background']

/** What a theme sets in a webview, recorded so that it can be applied to a page again. */
export interface ThemeLook {
  kind: ThemeKind
  given: unknown
}

/** Records what VS Code passes to a webview with this body in each of the four built-in themes. */
export async function readThemeLooks(window: VsCodeWindow, body: string): Promise<ThemeLook[]> {
  const looks: ThemeLook[] = []
  // the default theme last, since it stays
  for (const kind of ['light', 'highContrast', 'highContrastLight', 'dark'] as const) {
    await window.setTheme(kind)
    // the list of themes may have shown another one of this kind on the way
    const frame = await window.webview(`${body}[data-vscode-theme-name="${themes[kind].label}"]`)
    await frame.evaluate(page)
    looks.push({ kind, given: await frame.evaluate('parleyLook.read()') })
  }
  return looks
}

/**
 * The problems that axe finds in a page, one line for each element: those of colors in each theme, all others in the first
 * one, since a theme changes nothing else.
 */
export async function axeViolations(frame: Frame, looks: readonly ThemeLook[]): Promise<string[]> {
  await load(frame)
  const found = new Set<string>()
  let onlyColors = false
  for (const { kind, given } of looks) {
    const worn = new Set<string>()
    for (const ground of grounds) {
      const wear = `parleyLook.wear(${JSON.stringify(given)}, ${JSON.stringify(ground)})`
      const color = await frame.evaluate<string>(wear)
      // the themes of high contrast have one for both
      if (worn.has(color)) continue
      worn.add(color)
      for (const line of await frame.evaluate<string[]>(
        `parleyLook.check(${JSON.stringify(tags)}, ${onlyColors})`,
      ))
        found.add(`${kind}: ${line}`)
      onlyColors = true
    }
  }
  return [...found]
}

/** The results of an expression in a page in each theme, after all transitions. */
export async function evaluateInThemes<T>(
  frame: Frame,
  looks: readonly ThemeLook[],
  expression: string,
): Promise<Array<{ kind: ThemeKind; seen: T }>> {
  await load(frame)
  const found: Array<{ kind: ThemeKind; seen: T }> = []
  for (const { kind, given } of looks) {
    await frame.evaluate(`parleyLook.wear(${JSON.stringify(given)}, ${JSON.stringify(grounds[0])})`)
    await frame.evaluate('parleyLook.settle()')
    found.push({ kind, seen: await frame.evaluate<T>(expression) })
  }
  return found
}

/** `evaluate` isn't restricted by the page's content security policy. */
async function load(frame: Frame): Promise<void> {
  if (!(await frame.evaluate('"axe" in globalThis'))) await frame.evaluate(`${axe}\n${page}`)
}
