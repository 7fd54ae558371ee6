import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { outDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('an elicitation', () => {
  const vscode = new VsCodeSuite()

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

  it("opens a URL only after the user agrees, and waits until the agent reports that it's done", async () => {
    const { workbench, conversation, question, picture } = await begin()
    const opened: Page[] = []
    workbench.page.context().on('page', page => opened.push(page))
    await conversation.send('/visit')
    const open = question.getByRole('button', { name: /^Open 127\.0\.0\.1:\d+$/ })
    await open.waitFor()
    await picture('address')
    const address = await question.locator('.address-text').innerText()
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/demo\?for=/)
    assert.equal(opened.length, 0)
    await open.click()
    await waitFor('the page', () => opened.some(page => /\/demo\?for=/.test(page.url())))
    await conversation.text(/^Waiting for 127\.0\.0\.1/).waitFor()
    // the browser isn't on the agent's machine, and this server forwards no ports
    await fetch(address)
    await conversation.text('The page was opened. Thank you.').waitFor()
    await conversation.text(/^Done at 127\.0\.0\.1/).waitFor()
    await picture('address-done')
  })
})
