import { dropFile, pasteImage, pasteText } from '../ui/support/clipboard.ts'
import type { ConversationPage } from '../ui/support/conversation-page.ts'
import type { State, Studio } from './studio.ts'

/** The composer with everything that it can contain. */
export const composerStates: State[] = [
  {
    name: 'composer-mentions',
    async take(studio) {
      const conversation = await fresh(studio)
      await type(studio, 'Why does @plan')
      await rows(conversation).filter({ hasText: 'planets.js' }).first().waitFor()
      await studio.captureSideBar('composer-mentions')
      await type(studio, 'ets.js')
      await choose(studio, conversation, 'planets.js')
      await type(studio, '@')
      await rows(conversation).filter({ hasText: 'Files…' }).waitFor()
      await studio.captureSideBar('composer-context')
      await studio.captureNarrow('composer-context')
      await studio.workbench.page.keyboard.press('Backspace')
      await clear(conversation)
    },
  },
  {
    name: 'composer-chips',
    async take(studio) {
      const conversation = await fresh(studio)
      await pasteImage(conversation.frame, 800, 600)
      await conversation.frame.locator('.thumbnail img').first().waitFor()
      await dropFile(conversation.frame, 'file:///etc/hostname')
      await type(studio, '/think about @server.js')
      await choose(studio, conversation, 'server.js')
      await type(studio, 'and @ideas')
      await choose(studio, conversation, 'ideas.md')
      await type(studio, 'then read what follows, and say which of the two is right and why: ')
      await pasteText(conversation.frame, 'a line\n'.repeat(80))
      await conversation.composer.getByText('Pasted 81 lines').waitFor()
      await studio.captureSideBar('composer-chips')
      await studio.captureNarrow('composer-chips')
      await conversation.composer.press('Enter')
      await conversation.text(/You attached/).waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('composer-sent')
    },
  },
  {
    name: 'composer-queue',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      await conversation.send('[[slow 600000]]')
      await conversation.button(/^Stop/).waitFor()
      for (const prompt of [
        'Then run the tests',
        'And write the change down in CHANGELOG.md, please',
        'Thanks',
      ])
        await conversation.send(prompt)
      await conversation.frame.getByRole('listitem').filter({ hasText: 'Thanks' }).waitFor()
      await studio.captureSideBar('composer-queue')
      await conversation.button(/^Stop \(/).click()
      await studio.waitForTurnEnd(conversation)
    },
  },
  {
    name: 'composer-models',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
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
    },
  },
]

async function fresh(studio: Studio): Promise<ConversationPage> {
  const conversation = await studio.startReadySession('Demo Agent')
  await conversation.waitUntilReady()
  await clear(conversation)
  return conversation
}

const type = (studio: Studio, text: string) => studio.workbench.page.keyboard.type(text)
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
