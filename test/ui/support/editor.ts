import type { Locator } from 'playwright-core'
import type { VsCodeWindow } from '../../host/vscode-window.ts'
import { succeeds, waitFor } from '../../host/wait-for.ts'
import type { Workbench } from '../../host/workbench.ts'

/** How long a step is waited for before it's tried again, by how often it was: a new try starts a slow search over. */
const patienceOf = (tries: number) => 3000 * 2 ** Math.min(tries, 3)

/** Opens a file of the workspace by its name, like *Go to File*. */
export async function openFile(workbench: Workbench, name: string): Promise<void> {
  // the titles of diffs and proposals continue after the file name
  const alone = new RegExp(`${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?! \\()`)
  const tab = workbench.page.locator('.tabs-container .tab.active', { hasText: alone }).first()
  let tries = 0
  await waitFor(`editor of ${name}`, async () => {
    const timeout = patienceOf(tries++)
    await workbench.page.keyboard.press('Control+P')
    try {
      await workbench.paletteInput.fill(name, { timeout })
      if (await workbench.highlight(workbench.paletteRow(name), timeout)) {
        await workbench.paletteInput.press('Enter')
        await tab.waitFor({ timeout })
        return true
      }
    } catch {}
    await workbench.closePalette()
    return false
  })
}

/**
 * Moves the cursor of the active editor, like *Go to Line/Column*, and gives it the focus. A click can miss: lines move,
 * or are covered, while the buttons above changes appear.
 */
export async function goTo(workbench: Workbench, line: number, column = 1): Promise<void> {
  const { page } = workbench
  const focused = page.locator('.editor-group-container.active .monaco-editor.focused').first()
  const status = page.locator('.part.statusbar').getByText(`Ln ${line}, Col ${column}`)
  let tries = 0
  await waitFor(`the cursor at ${line}:${column}`, async () => {
    const timeout = patienceOf(tries++)
    await page.keyboard.press('Control+G')
    const isOpen = await succeeds(workbench.paletteInput.fill(`:${line}:${column}`, { timeout }))
    if (isOpen) await succeeds(workbench.paletteInput.press('Enter', { timeout }))
    await workbench.closePalette()
    return (await succeeds(focused.waitFor({ timeout }))) && succeeds(status.waitFor({ timeout }))
  })
}

/** A visible line of the displayed output channel. */
export function outputLine({ page }: VsCodeWindow, text: string | RegExp): Locator {
  return page
    .locator('.part.panel .output-view-container .view-line, .part.panel .view-line', { hasText: text })
    .first()
}

/**
 * Selects the first lines of the file in the active editor. A new editor can lose the focus to something else that
 * opens, so the keys are pressed until the lines are selected.
 */
export async function selectLines(workbench: Workbench, count: number): Promise<void> {
  const { page } = workbench
  const editor = page.locator('.editor-group-container.active .monaco-editor').first()
  const selected = page.locator('.statusbar').getByText(/\d+ selected/)
  await waitFor(`${count} selected lines`, async () => {
    if (!(await succeeds(editor.locator('.view-line').first().click({ timeout: 3000 })))) return false
    if (!(await editor.and(page.locator('.focused')).isVisible())) return false
    await page.keyboard.press('Control+Home')
    for (let line = 0; line < count; line++) await page.keyboard.press('Shift+ArrowDown')
    return succeeds(selected.waitFor({ timeout: 3000 }))
  })
}
