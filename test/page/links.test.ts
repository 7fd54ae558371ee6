import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

describe('links into Parley', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { one: fixtureAgent(root, 'One'), two: fixtureAgent(root, 'Two') },
    }),
  })

  it('fill the input of a new session without sending, and open the session that was copied', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'One')
    await conversation.send('the first session')
    await conversation.text('You said: the first session').waitFor()
    await workbench.runCommand('Parley: Copy Link to Session')
    let link = ''
    await waitFor('the link', async () => {
      link = String(await workbench.host.call('clipboard'))
      return link !== ''
    })
    assert.match(link, /^vscode:\/\/parley\.parley\/session\/one%2F/)

    await workbench.host.call(
      'openLink',
      `vscode://parley.parley/new?agent=two&prompt=${encodeURIComponent('Explain a & b')}`,
    )
    await waitFor('the prompt', async () => (await conversation.composerText()) === 'Explain a & b')
    await conversation.waitForPhase('ready')
    await waitFor('one session', () => receivedParams(vscode.root, 'Two', 'session/new').length === 1)
    assert.deepEqual(receivedParams(vscode.root, 'Two', 'session/prompt'), [])

    await workbench.host.call('openLink', link)
    await conversation.text('You said: the first session').waitFor()
    await workbench.host.call('openLink', 'vscode://parley.parley/new?agent=three&prompt=x')
    await workbench.page.getByText('“three”').waitFor()
    assert.equal(await conversation.composerText(), '')
  })
})
