import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { outDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'

describe('an elicitation', () => {
  const vscode = new PageSuite()

  async function begin() {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.waitUntilReady()
    const question = conversation.frame.getByRole('group', { name: /^Answer required/ })
    const picture = async (name: string) => {
      const directory = join(outDirectory, 'screenshots', 'elicitation')
      mkdirSync(directory, { recursive: true })
      await workbench.page.screenshot({ path: join(directory, `${name}.png`) })
    }
    return { workbench, conversation, question, picture }
  }

  it('can be filled in, checked and sent with the keyboard', async () => {
    const { workbench, conversation, question, picture } = await begin()
    const { keyboard } = workbench.page
    await conversation.send('/ask')
    const name = question.getByRole('textbox', { name: 'Your name' })
    await name.waitFor()
    await picture('form')
    await question.getByRole('textbox', { name: /Where to write to/ }).fill('nobody')
    await question.getByRole('button', { name: 'Submit' }).click()
    await question.getByText('A value is required.').waitFor()
    await question.getByText('Enter an email address.').waitFor()
    await picture('form-problems')
    await name.fill('Ada')
    await question.getByRole('textbox', { name: /Where to write to/ }).fill('ada@example.org')
    await question.getByRole('radio', { name: 'Slow' }).check()
    await question.getByRole('checkbox', { name: 'The edit' }).check()
    await question.getByRole('textbox', { name: /How many times/ }).focus()
    await keyboard.press('ArrowUp')
    await keyboard.press('Enter')
    await conversation.text(/"times": 2/).waitFor()
    await conversation.text(/"mail": "ada@example.org"/).waitFor()
    await conversation.text(/"pace": "slow"/).waitFor()
    await question.waitFor({ state: 'detached' })
    await conversation.button(/^Answered/).click()
    await conversation.text('The talk, The edit').waitFor()
    await picture('form-answered')
  })

  it('keeps what was filled in while another conversation is shown, and when its page begins again', async () => {
    const { workbench, conversation, question } = await begin()
    await conversation.send('/ask')
    await question.getByRole('textbox', { name: 'Your name' }).fill('Ada')
    await question.getByRole('radio', { name: 'Slow' }).check()
    await question.getByRole('checkbox', { name: 'The edit' }).check()
    const isFilledIn = async (form: typeof question) => {
      await form.getByRole('radio', { name: 'Slow', checked: true }).waitFor()
      await form.getByRole('checkbox', { name: 'The edit', checked: true }).waitFor()
      assert.equal(await form.getByRole('textbox', { name: 'Your name' }).inputValue(), 'Ada')
    }
    await workbench.runCommand('Parley: New Session')
    await question.waitFor({ state: 'detached' })
    await conversation.frame.locator('#root .sessions').getByText('Needs your answer').click()
    await isFilledIn(question)
    // its page ends when it's hidden
    await workbench.openViewContainer('Explorer')
    const again = await ConversationPage.open(workbench)
    await isFilledIn(again.frame.getByRole('group', { name: /^Answer required/ }))
  })

  it('can be declined, or canceled with Escape', async () => {
    const { conversation, question } = await begin()
    await conversation.send('/ask')
    await question.getByRole('button', { name: 'Decline' }).click()
    await conversation.text(/You chose to decline/).waitFor()
    await conversation.send('/ask')
    await question.getByRole('textbox', { name: 'Your name' }).press('Escape')
    await conversation.text(/You chose to cancel/).waitFor()
  })

  it("opens a URL only after the user agrees, and waits until the agent reports that it's done", async () => {
    const { workbench, conversation, question, picture } = await begin()
    const opened = () => workbench.host.call('openedUrls')
    await conversation.send('/visit')
    const open = question.getByRole('button', { name: /^Open 127\.0\.0\.1:\d+$/ })
    await open.waitFor()
    await picture('address')
    const address = await question.locator('.address-text').innerText()
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/demo\?for=/)
    assert.deepEqual(await opened(), [])
    await open.click()
    await waitFor('the page', async () => (await opened()).join() === address)
    await conversation.text(/^Waiting for 127\.0\.0\.1/).waitFor()
    await fetch(address)
    await conversation.text('The page was opened. Thank you.').waitFor()
    await conversation.text(/^Done at 127\.0\.0\.1/).waitFor()
    await picture('address-done')
  })
})
