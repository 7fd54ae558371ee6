import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import type { ThemeKind, Workbench } from '../../host/workbench.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const page = readFileSync(join(import.meta.dirname, 'axe-page.js'), 'utf8')

/** What every page has to hold to: WCAG 2.1 AA, and what axe calls good practice. Buttons are as large as VS Code's own. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']

/** How a webview's body is marked in each theme. */
const marks: Record<ThemeKind, string> = {
  dark: '.vscode-dark',
  light: '.vscode-light',
  highContrast: '.vscode-high-contrast:not(.vscode-high-contrast-light)',
  highContrastLight: '.vscode-high-contrast-light',
}

/** A view is shown in the side bar or in an editor tab. */
const grounds = ['--vscode-sideBar-background', '--vscode-editor-background']

/** What a theme gives to a webview, to dress the page in it again. */
export interface ThemeLook {
  kind: ThemeKind
  given: unknown
}

/** The looks of all four built-in themes, as VS Code hands them to the webview with this body. */
export async function readThemeLooks(workbench: Workbench, body: string): Promise<ThemeLook[]> {
  const looks: ThemeLook[] = []
  // the one that was shown before comes last
  for (const kind of ['light', 'highContrast', 'highContrastLight', 'dark'] as const) {
    await workbench.setTheme(kind)
    const frame = await workbench.webview(`${body}${marks[kind]}`)
    await frame.evaluate(page)
    looks.push({ kind, given: await frame.evaluate('parleyLook.read()') })
  }
  return looks
}

/** What axe finds wrong in a page in each of the looks, one line for each element: empty when all is well. */
export async function violationsIn(frame: Frame, looks: readonly ThemeLook[]): Promise<string[]> {
  // the debugger is not bound by the page's content security policy
  if (!(await frame.evaluate('"axe" in globalThis'))) await frame.evaluate(`${axe}\n${page}`)
  const found = new Set<string>()
  for (const { kind, given } of looks)
    for (const ground of grounds) {
      await frame.evaluate(`parleyLook.wear(${JSON.stringify(given)}, ${JSON.stringify(ground)})`)
      for (const line of await frame.evaluate<string[]>(`parleyLook.check(${JSON.stringify(tags)})`))
        found.add(`${kind}: ${line}`)
    }
  return [...found]
}

/** What an expression finds in a page in each of the looks, once nothing fades any more. */
export async function seenIn<T>(
  frame: Frame,
  looks: readonly ThemeLook[],
  expression: string,
): Promise<Array<{ kind: ThemeKind; seen: T }>> {
  await frame.evaluate(page)
  const found: Array<{ kind: ThemeKind; seen: T }> = []
  for (const { kind, given } of looks) {
    await frame.evaluate(`parleyLook.wear(${JSON.stringify(given)}, ${JSON.stringify(grounds[0])})`)
    await frame.evaluate('parleyLook.settle()')
    found.push({ kind, seen: await frame.evaluate<T>(expression) })
  }
  return found
}
