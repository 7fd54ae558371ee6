import { waitFor } from '../../host/wait-for.ts'
import type { Workbench } from '../../host/workbench.ts'

/** Resolves when the icon of the tab says what its session does. */
export async function tabMarked(
  { page }: Workbench,
  title: string,
  mark: 'idle' | 'running' | 'waiting' | 'done' | 'failed',
): Promise<void> {
  const tab = page.locator('.part.editor .tab', { hasText: title }).first()
  const file = mark === 'idle' ? /parley-(?:dark|light)\.svg/ : new RegExp(`parley-${mark}-`)
  await waitFor(`tab "${title}" marked as ${mark}`, async () => file.test(await tab.innerHTML()))
}
