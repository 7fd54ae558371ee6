import type { Locator } from 'playwright-core'
import type { VsCodeWindow } from '../../host/vscode-window.ts'
import { succeeds, waitFor } from '../../host/wait-for.ts'

/** The input of a comment in an editor. */
export function commentInput({ page }: VsCodeWindow): Locator {
  return page.locator('.review-widget .comment-form .monaco-editor').first()
}

/**
 * Begins a comment on the selected lines with the keyboard. VS Code asks late which lines can be commented, and until then only
 * says that these can't, so the keys are pressed until its input has the focus.
 */
export async function beginComment(window: VsCodeWindow): Promise<void> {
  const input = commentInput(window)
  await waitFor("the comment's input", async () => {
    // pressed again, they would close it
    if (!(await input.isVisible()))
      for (const key of ["Control+'", 'c']) await window.page.keyboard.press(key)
    return succeeds(waitFor('its focus', () => hasFocus(input), { timeout: 10_000 }))
  })
}

/** Whether the focus is in an editor that is shown. */
export function hasFocus(editor: Locator): Promise<boolean> {
  return editor
    .evaluate(form => form.contains(document.activeElement), undefined, { timeout: 3000 })
    .catch(() => false)
}
