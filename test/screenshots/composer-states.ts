import { dropFile, pasteImage, pasteText } from '../ui/support/clipboard.ts'
import type { ConversationPage } from '../ui/support/conversation-page.ts'
import { inSession, type State, type Studio } from './studio.ts'

/** The composer with everything that it can contain, and its menus. */
export const composerStates: State[] = [
  inSession('composer-mentions', 'Demo Agent', async (conversation, studio) => {
    const { keyboard } = studio.workbench.page
    await clear(conversation)
    await keyboard.type('Why does @plan')
    await rows(conversation).filter({ hasText: 'planets.js' }).first().waitFor()
    await studio.captureSideBar('composer-mentions')
    await keyboard.type('ets.js')
    await choose(studio, conversation, 'planets.js')
    await keyboard.type('@')
    await rows(conversation).filter({ hasText: 'Files…' }).waitFor()
    await studio.captureWidths('composer-context')
    await keyboard.press('Backspace')
    await clear(conversation)
    await keyboard.type('/')
    await conversation.frame.getByRole('option').first().waitFor()
    await studio.captureSideBar('commands')
    await keyboard.press('Escape')
    await clear(conversation)
  }),
  inSession('composer-chips', 'Demo Agent', async (conversation, studio) => {
    const { keyboard } = studio.workbench.page
    await clear(conversation)
    await pasteImage(conversation.frame, 800, 600)
    await conversation.frame.locator('.thumbnail img').first().waitFor()
    await dropFile(conversation.frame, 'file:///etc/hostname')
    await keyboard.type('/think about @server.js')
    await choose(studio, conversation, 'server.js')
    await keyboard.type('and @ideas')
    await choose(studio, conversation, 'ideas.md')
    await keyboard.type('then read what follows, and say which of the two is right and why: ')
    await pasteText(conversation.frame, 'a line\n'.repeat(80))
    await conversation.composer.getByText('Pasted 81 lines').waitFor()
    await studio.captureWidths('composer-chips')
    await conversation.composer.press('Enter')
    await conversation.text(/You attached/).waitFor()
    await studio.waitForTurnEnd(conversation)
    await studio.captureSideBar('composer-sent')
  }),
  inSession('composer-options', 'Capable', async (conversation, studio) => {
    const { keyboard } = studio.workbench.page
    await conversation.button(/^Model: /).waitFor()
    await studio.captureWidths('options')
    for (const [name, button] of [
      ['options-mode', conversation.button(/^Mode: /)],
      ['options-more', conversation.button('More Options')],
      ['add-menu', conversation.button(/^Add/).first()],
    ] as const) {
      await button.click()
      await studio.captureSideBar(name)
      await keyboard.press('Escape')
    }
  }),
  inSession('composer-models', 'Fixture', async (conversation, studio) => {
    await conversation.send('[[models 384]]')
    await conversation.button(/^Model: /).click()
    for (const name of ['Model 4', 'Model 2']) {
      const row = conversation.frame.getByRole('option', { name }).last()
      await row.hover()
      await row.locator('.menu-star').click()
    }
    await conversation.frame.getByText('Favorites', { exact: true }).waitFor()
    await studio.captureSideBar('composer-models')
    await studio.workbench.page.keyboard.press('Escape')
  }),
]

const rows = (conversation: ConversationPage) =>
  conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')

async function choose(studio: Studio, conversation: ConversationPage, name: string): Promise<void> {
  await rows(conversation).filter({ hasText: name }).first().waitFor()
  await studio.workbench.page.keyboard.press('Enter')
  await conversation.composer.locator('.mention').filter({ hasText: name }).waitFor()
}

async function clear(conversation: ConversationPage): Promise<void> {
  await conversation.composer.fill('')
  await conversation.composer.click()
}
