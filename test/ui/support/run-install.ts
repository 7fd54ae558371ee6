import type { Page } from 'playwright-core'

/** Confirms what an installation runs. */
export async function runInstall(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Run Install' }).click()
}
