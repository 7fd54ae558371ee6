import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

const steers = { results: { initialize: { _meta: { steering: { supported: true } } } } }

describe('what an agent offers beyond a turn', () => {
  const vscode = new VsCodeSuite({
    ownServer: true,
    settings: root => ({
      'parley.agents': {
        one: fixtureAgent(root, 'One', steers),
        two: fixtureAgent(root, 'Two'),
      },
    }),
  })
  const received = (agent: string, method: string) =>
    receivedParams(vscode.server.root, agent, method).map(({ prompt }) =>
      (prompt as Array<{ text?: string }>).map(({ text }) => text).join(),
    )

  it('is started by a link, which fills the input and sends nothing', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'One')
    const before = received('Two', 'session/prompt').length
    await workbench.runCommand('Developer: Open URL')
    // until then, it's the input of the command palette
    await workbench.palette.getByText('URL to open').waitFor()
    const text = encodeURIComponent('Explain a & b')
    await workbench.paletteInput.fill(`vscode://parley.parley/new?agent=two&prompt=${text}`)
    await workbench.paletteInput.press('Enter')
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog
      .getByText(/Parley/)
      .first()
      .waitFor()
    await dialog.getByRole('button', { name: 'Open', exact: true }).click()
    await waitFor('the prompt', async () => (await conversation.composerText()) === 'Explain a & b')
    await conversation.waitForPhase('ready')
    assert.equal(received('Two', 'session/prompt').length, before)
  })
})
