import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { chooseAction } from './support/agents-page.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('what is set up once', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { claude: fixtureAgent(root, 'Ada') } }),
  })

  const prompts = () => join(vscode.server.root.userData, 'User/prompts')
  afterEach(() => rmSync(prompts(), { recursive: true, force: true }))

  it('is another account of an agent, and the prompt files of the user', async () => {
    mkdirSync(prompts(), { recursive: true })
    writeFileSync(join(prompts(), 'greet.prompt.md'), '---\ndescription: Greets\n---\nGreet the planets.')
    const workbench = await vscode.open()
    await workbench.runCommand('Parley: Manage Agents')
    const page = await workbench.webview('body[data-view="agents"]')
    const row = (name: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })
    await chooseAction(page, row('Ada'), 'Add Account…')
    await workbench.paletteInput.fill('Work')
    await workbench.paletteInput.press('Enter')
    await workbench.pick('Green')
    await row('Work (Ada)').getByText('Account of Ada').waitFor()
    await workbench.screenshot('account-added')

    const conversation = await ConversationPage.startSession(workbench, 'Work (Ada)')
    await workbench.screenshot('account-session')
    await conversation.composer.click()
    await conversation.waitForFocus(conversation.composer)
    await workbench.page.keyboard.type('/gre')
    const command = conversation.frame.getByRole('option').filter({ hasText: '/greet' })
    await command.getByText('User').waitFor()
    await workbench.screenshot('prompt-file')
    await workbench.page.keyboard.press('Enter')
    await workbench.page.keyboard.press('Enter')
    const [received] = await waitFor('the prompt', () => {
      const all = receivedParams(vscode.server.root, 'Ada', 'session/prompt')
      return all.length > 0 && all
    })
    assert.deepEqual(received?.prompt, [{ type: 'text', text: 'Greet the planets.' }])
  })
})
