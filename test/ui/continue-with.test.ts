import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('a conversation with two agents', () => {
  const vscode = new VsCodeSuite({
    ownServer: true,
    settings: root => ({
      'parley.agents': { first: fixtureAgent(root, 'First'), second: fixtureAgent(root, 'Second') },
    }),
  })

  it('goes on with the other one, whose prompt has what was said, and with the changes to review, also after a reload', async () => {
    const workbench = await vscode.open()
    let conversation = await ConversationPage.startSession(workbench, 'First')
    await conversation.runTurn('[[edit planets.js Mercury Hermes]] [[say The secret word is swordfish.]]')
    const file = join(dirname(vscode.workspace), 'planets-api', 'planets.js')
    await waitFor('the edit', () => readFileSync(file, 'utf8').includes('Hermes'))
    const changed = () => conversation.frame.locator('.changes', { hasText: '1 file' })
    await changed().waitFor()
    await workbench.runAndPick('Parley: Fork or Continue Session…', 'Continue with Second')
    await conversation.frame.getByText('Continued with Second').waitFor()
    await conversation.waitForAgent('Second')
    await conversation.waitForPhase('ready')
    await changed().waitFor()
    await conversation.runTurn('[[say Going on.]]')
    const [sent] = receivedParams(vscode.server.root, 'Second', 'session/prompt')
    assert.match(JSON.stringify(sent?.prompt), /swordfish/)
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForAgent('Second')
    await conversation.waitForPhase('ready')
    await conversation.frame.locator('.row-markdown', { hasText: 'swordfish' }).waitFor()
    await changed().waitFor()
  })
})
