import type { Frame, Locator } from 'playwright-core'

/** Chooses an entry of the menu next to an agent's buttons in Manage Agents. */
export async function chooseAction(page: Frame, agent: Locator, entry: string): Promise<void> {
  await agent.getByRole('button', { name: /^More Actions/ }).click()
  const menu = page.getByRole('listbox', { name: /^More Actions/ })
  await menu.getByRole('option', { name: entry, exact: true }).click()
}
