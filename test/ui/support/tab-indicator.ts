import { waitFor } from '../../host/wait-for.ts'
import type { Workbench } from '../../host/workbench.ts'

/** Resolves when the icon of the tab shows the session's indicator. */
export async function waitForTabIndicator(
  { page }: Workbench,
  title: string,
  indicator: 'idle' | 'running' | 'waiting' | 'done' | 'failed',
): Promise<void> {
  const tab = page.locator('.part.editor .tab', { hasText: title }).first()
  const file = indicator === 'idle' ? /parley-(?:dark|light)\.svg/ : new RegExp(`parley-${indicator}-`)
  await waitFor(`tab "${title}" marked as ${indicator}`, async () => file.test(await tab.innerHTML()))
}
