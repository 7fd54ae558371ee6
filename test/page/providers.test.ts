import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

const routed = {
  results: {
    initialize: { agentCapabilities: { providers: {} } },
    'providers/list': {
      providers: [
        {
          providerId: 'main',
          supported: ['anthropic', 'openai'],
          required: true,
          current: { apiType: 'anthropic', baseUrl: 'https://models.example' },
        },
        { providerId: 'extra', supported: ['openai'], required: false, current: null },
      ],
    },
    'providers/set': {},
    'providers/disable': {},
  },
}

describe('the model providers of an agent', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { routed: fixtureAgent(root, 'Routed', routed) } }),
  })
  const set = () => receivedParams(vscode.root, 'Routed', 'providers/set')

  it('are sent to the agent with their headers, also when it restarts', async () => {
    const workbench = await vscode.open()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Routed')
    const row = (text: string | RegExp) =>
      workbench.palette.locator('.monaco-list-row').filter({ hasText: text }).first()
    const input = workbench.paletteInput
    const box = async (prompt: RegExp, value: string) => {
      await workbench.palette.getByText(prompt).first().waitFor()
      await input.fill(value)
      await input.press('Enter')
    }
    await workbench.runCommand('Parley: Configure Providers…')
    await row('https://models.example').waitFor()
    await workbench.pick('main')
    await row('Set Base URL').waitFor()
    assert.equal(await row('Disable').count(), 0, 'the agent needs it')
    await workbench.pick('Set Base URL')
    await workbench.pick('openai')
    await workbench.palette.getByText(/Base URL/).waitFor()
    await input.fill('nowhere')
    await workbench.palette.getByText('Enter an http or https URL.').waitFor()
    await input.fill('https://proxy.example/v1')
    await input.press('Enter')
    await workbench.pick('Add Header')
    await box(/Header name/, 'Authorization')
    await workbench.palette.getByText(/Authorization\. Stored/).waitFor()
    assert.equal(await input.getAttribute('type'), 'password')
    await box(/Authorization\. Stored/, 'Bearer s3cret')
    await row('Remove Authorization').waitFor()
    await workbench.pick('Done')
    await workbench.notification(/“main” now uses https:\/\/proxy\.example\/v1/).waitFor()
    const wanted = {
      providerId: 'main',
      apiType: 'openai',
      baseUrl: 'https://proxy.example/v1',
      headers: { Authorization: 'Bearer s3cret' },
    }
    assert.deepEqual(set(), [wanted])
    await workbench.runCommand('Parley: Restart Agent')
    await waitFor('the provider at the start', () => set().length === 2)
    assert.deepEqual(set()[1], wanted)
    await conversation.waitForPhase('ready')
  })
})
