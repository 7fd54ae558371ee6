import type { Frame, Locator } from 'playwright-core'

/** Confirms what an installation runs, in the page or the row that lists the agent. */
export async function runInstall(place: Frame | Locator): Promise<void> {
  await place.getByRole('button', { name: /^Run Install: / }).click()
}
