import type { Frame } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { ConversationPage } from './conversation-page.ts'

type Window = Parameters<typeof ConversationPage.find>[0]

/** Finds the page that shows a session; `state` distinguishes sessions with the same title. */
export async function pageOfSession({ page }: Window, title: string, state = ''): Promise<ConversationPage> {
  const shown = async (frame: Frame) => {
    const heading = frame.locator(`body${state}`).getByRole('heading', { name: title, exact: true })
    return (await heading.isVisible().catch(() => false)) ? frame : undefined
  }
  const find = async () => {
    for (const one of page.frames()) {
      const found = await shown(one)
      if (found) return found
    }
  }
  // after a reload, several tabs start at the same time
  const frame = await waitFor(`conversation ${title}`, find, { timeout: 2 * PATIENCE_MS })
  return ConversationPage.inFrame(frame)
}

/** Starts a session of the agent with this title in its own tab. */
export async function beginInTab(window: Window, agent: string, title: string): Promise<ConversationPage> {
  await window.runCommand('Parley: Open Conversation in Editor Tab')
  await window.page.locator('.tab.active', { hasText: 'Parley' }).waitFor()
  // a page takes the focus once it's ready
  await pageOfSession(window, 'New session', ':has(.composer-text :focus)')
  await window.runAndPick('Parley: New Session with Agent…', agent)
  const page = await pageOfSession(window, 'New session', '[data-phase="ready"]')
  await page.send(`[[title ${title}]]`)
  return pageOfSession(window, title)
}
