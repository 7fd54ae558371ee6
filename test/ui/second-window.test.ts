import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent, receivedParams } from './support/fixture-agent.ts'
import { HistoryPage } from './support/history-page.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('a session in two windows', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({ 'parley.agents': { plain: fixtureAgent(root, 'Plain') } }),
  })

  it('can be read in the second and taken over, and keeps the turns of both', async () => {
    const one = await vscode.open()
    const first = await ConversationPage.startSession(one, 'Plain')
    await first.send('from the first')
    await first.text('You said: from the first').waitFor()

    const two = await vscode.open()
    const history = await HistoryPage.open(two)
    await waitFor('the session in the History of the second window', async () => {
      await history.search.fill('from the first')
      return (await history.rows.count()) === 1
    })
    await history.search.press('Enter')
    const second = await ConversationPage.open(two)
    await second.frame.getByText('This session is open in another window', { exact: true }).waitFor()
    await second.text('You said: from the first').waitFor()
    await first.send('one more')
    await second.text('You said: one more').waitFor()

    await second.frame.getByRole('button', { name: 'Take Over' }).click()
    await first.frame.getByText('This session was taken over by another window', { exact: true }).waitFor()
    await second.waitForPhase('ready')
    await second.send('from the second')
    await second.text('You said: from the second').waitFor()
    await first.text('You said: from the second').waitFor()

    await first.frame.getByRole('button', { name: 'Take Over' }).click()
    await second.frame.getByText('This session was taken over by another window', { exact: true }).waitFor()
    await first.waitForPhase('ready')
    for (const said of ['from the first', 'one more', 'from the second']) {
      await first.text(`You said: ${said}`).waitFor()
      assert.equal(await first.text(`You said: ${said}`).count(), 1)
    }
    assert.equal(receivedParams(vscode.server.root, 'Plain', 'session/prompt').length, 3)
  })
})
