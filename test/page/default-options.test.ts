import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { agentLog, fixtureAgent, INITIALIZE_V2 } from '../ui/support/fixture-agent.ts'

const choices = (...names: string[]) =>
  names.map(name => ({
    value: name.toLowerCase(),
    name,
    id: name.toLowerCase(),
    modelId: name.toLowerCase(),
  }))
const option = (id: string, category: string, ...names: string[]) => ({
  ...{ id, configId: id, name: id, category, type: 'select', currentValue: names[0]?.toLowerCase() },
  options: choices(...names),
})

/** Has all that version 1 has for options. */
const first = {
  results: {
    'session/new': {
      sessionId: '$session',
      modes: { currentModeId: 'ask', availableModes: choices('Ask', 'Plan') },
      models: { currentModelId: 'small', availableModels: choices('Small', 'Large') },
      configOptions: [option('Effort', 'thought_level', 'Low', 'High')],
    },
    'session/set_mode': {},
    'session/set_model': {},
    'session/set_config_option': { configOptions: [option('Effort', 'thought_level', 'High', 'Low')] },
  },
}
const models = (...names: string[]) => ({ configOptions: [option('Model', 'model', ...names)] })
const second = {
  results: {
    initialize: INITIALIZE_V2,
    'session/new': { sessionId: '$session', ...models('Small', 'Large') },
    'session/set_config_option': models('Large', 'Small'),
  },
  prompt: [
    { reply: { messageId: 'p1' } },
    { update: { sessionUpdate: 'state_update', state: 'running' } },
    {
      update: {
        sessionUpdate: 'agent_message',
        messageId: 'a1',
        content: [{ type: 'text', text: 'Done.' }],
      },
    },
    { update: { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' } },
  ],
}

describe('the default options of an agent', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        first: {
          ...fixtureAgent(root, 'First', first),
          defaultOptions: { mode: 'plan', model: 'large', Effort: 'high', tone: 'dry' },
        },
        second: { ...fixtureAgent(root, 'Second', second), protocol: 'latest' },
      },
    }),
  })
  const settings = () =>
    JSON.parse(readFileSync(join(vscode.root.userData, 'User', 'settings.json'), 'utf8'))['parley.agents']
  /** What the agent was asked for, from a session's start on. */
  const asked = (name: string) => {
    const all = agentLog(vscode.root, name).flatMap(({ received }) => (received?.method ? [received] : []))
    return all
      .slice(all.findLastIndex(({ method }) => method === 'session/new'))
      .filter(({ method }) => /set_|prompt/.test(method ?? ''))
      .map(({ method, params = {} }) => {
        const { modeId, modelId, configId, value } = params as Record<string, string>
        return [method, modeId ?? modelId ?? (configId && `${configId}=${value}`)]
      })
  }
  const menuOf = async (conversation: ConversationPage, option: RegExp) => {
    await conversation.button(option).click()
    return conversation.frame.getByRole('option', { name: 'Use as Default' })
  }

  it('are set before the first prompt, and those that it does not have are said once', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'First')
    await conversation.runTurn('Hello')
    assert.deepEqual(asked('First'), [
      ['session/set_model', 'large'],
      ['session/set_mode', 'plan'],
      ['session/set_config_option', 'Effort=high'],
      ['session/prompt', undefined],
    ])
    for (const name of ['Mode: Plan', 'Model: Large', 'Effort: High'])
      await conversation.button(name).waitFor()
    const said = conversation.frame.getByText(
      "First has no option “tone”, so your default for it isn't used.",
    )
    await said.first().waitFor()
    assert.equal(await said.count(), 1)
  })

  it('are chosen in the menu, also for version 2', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Second')
    await conversation.button('Model: Small').click()
    await conversation.frame.getByRole('option', { name: 'Large' }).click()
    await (await menuOf(conversation, /^Model: Large/)).click()
    await waitFor('the setting', async () => settings().second.defaultOptions?.model === 'large')
    const next = await ConversationPage.startSession(workbench, 'Second')
    await next.send('Hello')
    await waitFor('the prompt', async () => asked('Second').length === 2)
    assert.deepEqual(asked('Second'), [
      ['session/set_config_option', 'Model=large'],
      ['session/prompt', undefined],
    ])
  })

  it('of an agent without an entry in the settings make one, and leave none', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.button('Mode: Ask').click()
    await conversation.frame.getByRole('option', { name: 'Plan' }).click()
    await (await menuOf(conversation, /^Mode: Plan/)).click()
    await waitFor('the setting', async () => settings().demo?.defaultOptions.mode === 'plan')
    const next = await ConversationPage.startSession(workbench, 'Demo Agent')
    await next.button('Mode: Plan').waitFor()
    await (await menuOf(next, /^Mode: Plan/)).and(next.frame.locator('[aria-selected=true]')).click()
    await waitFor('no entry', async () => settings().demo === undefined)
    const last = await ConversationPage.startSession(workbench, 'Demo Agent')
    await last.button('Mode: Ask').waitFor()
  })

  it('give way to what was used last, if the user prefers that', async () => {
    vscode.root.updateSettings({ 'parley.useLastOptions': true })
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.button('Model: Demo Steady').click()
    await conversation.frame.getByRole('option', { name: 'Demo Quick' }).click()
    await conversation.button('More Options').click()
    await conversation.frame.getByRole('switch', { name: 'Show thoughts' }).click()
    await conversation.frame.getByRole('switch', { name: 'Show thoughts', checked: false }).waitFor()
    const next = await ConversationPage.startSession(workbench, 'Demo Agent')
    await next.button('Model: Demo Quick').waitFor()
    await next.button('More Options').click()
    await next.frame.getByRole('switch', { name: 'Show thoughts', checked: false }).waitFor()
  })
})
