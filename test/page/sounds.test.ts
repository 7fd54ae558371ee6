import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

describe('sounds', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.sounds': true,
      'parley.agents': { plain: fixtureAgent(root, 'Plain') },
    }),
  })

  it('are played by the page when a turn is over', async () => {
    const workbench = await vscode.sharedWindow()
    const conversation = await ConversationPage.startSession(workbench, 'Plain')
    const body = conversation.frame.locator('body')
    await body.evaluate(() => {
      const own = window as unknown as { tones: number; rests: number }
      own.tones = 0
      own.rests = 0
      const { start } = OscillatorNode.prototype
      OscillatorNode.prototype.start = function (...when) {
        own.tones += 1
        start.apply(this, when)
      }
      const { suspend } = AudioContext.prototype
      AudioContext.prototype.suspend = function () {
        own.rests += 1
        return suspend.call(this)
      }
    })
    const count = (name: 'tones' | 'rests') =>
      body.evaluate((_, key) => (window as unknown as Record<string, number>)[key], name)
    await conversation.send('hello')
    await conversation.text('You said: hello').waitFor()
    await waitFor('the sound', async () => (await count('tones')) === 2)
    await waitFor('its end', async () => (await count('rests')) === 1)
    assert.equal(await count('tones'), 2)
  })
})
