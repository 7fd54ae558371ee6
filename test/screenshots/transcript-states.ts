import type { ConversationPage } from '../ui/support/conversation-page.ts'
import { inSession, type State, type Studio } from './studio.ts'

/** All content of a conversation, from start to end, in a normal, narrow and wide view. */
export const transcriptStates: State[] = [
  shown('transcript-prose', 'Writer', 'the end of it'),
  shown('transcript-work', 'Worker', 'npm run deploy'),
  shown('transcript-work-open', 'Worker', 'npm run deploy', open),
  shown('transcript-terminals', 'Commander', 'npm run build', open),
  shown('transcript-subagents', 'Manager', 'I write the missing test'),
  shown('transcript-media', 'Painter', 'That was all of it', open),
  shown('transcript-told', 'Herald', 'Then more was said', open),
  shown('transcript-changes', 'Patcher', 'The patch is in', open),
  shown('transcript-chinese', 'Chinese', '新增两个测试'),
  inSession('transcript-asked', 'Asker', async (conversation, studio) => {
    await conversation.send('Do it')
    for (const [about, answer] of [
      ['left-pad', /Allow/],
      ['server.js', /Reject/],
    ] as const) {
      const question = conversation.permission.filter({ hasText: about })
      await question.getByRole('button', { name: answer }).first().click()
      await question.waitFor({ state: 'detached' })
    }
    await conversation.text('So be it').waitFor()
    await open(conversation)
    await captureAll(studio, conversation, 'transcript-asked')
  }),
  inSession('transcript-ends', 'Quitter', async (conversation, studio) => {
    for (let turn = 0; turn < 5; turn++) {
      await conversation.send('Go on')
      await conversation.frame.locator('.row-turn_end').nth(turn).waitFor()
      await studio.waitForTurnEnd(conversation)
    }
    await captureAll(studio, conversation, 'transcript-ends')
  }),
]

/** Sends a prompt, and waits until the turn ends or needs the user. */
function shown(
  name: string,
  agent: string,
  until: string,
  then?: (conversation: ConversationPage) => Promise<void>,
): State {
  return inSession(name, agent, async (conversation, studio) => {
    await conversation.send('Show me what you can do')
    await conversation.text(until).waitFor()
    await then?.(conversation)
    await captureAll(studio, conversation, name)
    if (await conversation.button(/^Stop \(/).isVisible()) await studio.stopTurn(conversation)
  })
}

/** Expands all rows, including nested ones. */
async function open({ frame }: ConversationPage): Promise<void> {
  const closed = frame.locator('.transcript button.line[aria-expanded="false"]')
  while ((await closed.count()) > 0) await closed.first().click()
  await frame.evaluate(
    'for (const fold of document.querySelectorAll(".transcript details")) fold.open = true',
  )
}

/** Takes screenshots in a window that is tall enough for the whole conversation. */
async function captureAll(studio: Studio, { frame }: ConversationPage, name: string): Promise<void> {
  const { page } = studio.workbench
  const before = page.viewportSize()!
  for (const [prefix, width] of studio.transcriptWidths) {
    await page.setViewportSize({ width: Math.max(before.width, width + 400), height: before.height })
    await studio.workbench.setSideBarWidth(width)
    // rows are measured only when they become visible
    for (let tries = 0; tries < 3; tries++) {
      const hidden = await frame.evaluate<number>(
        "((list = document.querySelector('.transcript')) => list.scrollHeight - list.clientHeight)()",
      )
      const { width, height } = page.viewportSize()!
      if (hidden > 0) await page.setViewportSize({ width, height: Math.min(height + hidden, 6000) })
    }
    await studio.captureSideBar(`${prefix}${name}`)
  }
  await page.setViewportSize(before)
  await studio.resetWidth()
}
