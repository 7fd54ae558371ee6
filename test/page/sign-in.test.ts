import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { testDirectory } from '../host/paths.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { agentLog, fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { HistoryPage } from '../ui/support/history-page.ts'

const program = join(testDirectory, 'fixtures/agent/main.mjs')
const variable = { name: 'FIXTURE_KEY', label: 'Key', secret: true, optional: false }
const can = { agentCapabilities: { auth: { logout: {}, status: {} } } }
const methods = {
  terminal: { id: 'terminal', type: 'terminal', name: 'In a terminal', env: { FIXTURE_LOGIN: '1' } },
  key: { id: 'key', type: 'env_var', name: 'With a key', vars: [variable] },
}

const wild = (root: IsolatedRoot) => ({
  id: 'wild',
  name: 'As in the wild',
  _meta: {
    'terminal-auth': {
      command: process.execPath,
      args: [program],
      env: { FIXTURE_LOGIN: '1', FIXTURE_LOG: join(root.directory, 'Wild.log') },
      label: 'Sign in',
    },
  },
})

const agents = (root: IsolatedRoot) => {
  const script = (authMethods: object[], more: object = {}) => ({
    authRequired: true,
    results: { initialize: { ...can, authMethods } },
    ...more,
  })
  return {
    slow: fixtureAgent(root, 'Slow', 'quirk-23'),
    terminal: fixtureAgent(root, 'Terminal', script([methods.terminal])),
    wild: fixtureAgent(root, 'Wild', script([wild(root)])),
    key: fixtureAgent(root, 'Key', script([methods.key], { authKey: 'FIXTURE_KEY' })),
    guarded: fixtureAgent(
      root,
      'Guarded',
      script([methods.key], { authKey: 'FIXTURE_KEY', authFor: ['session/delete'] }),
    ),
    early: fixtureAgent(root, 'Early', script([{ id: 'plain', name: 'Sign in' }])),
    next: fixtureAgent(root, 'Next', script([{ id: 'plain', name: 'Sign in' }])),
    open: fixtureAgent(root, 'Open'),
    late: fixtureAgent(
      root,
      'Late',
      script([{ id: 'plain', name: 'Sign in' }], { authFor: ['session/prompt'] }),
    ),
  }
}

describe('signing in', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': agents(root),
      // renders text in the page, so that tests can read it
      'terminal.integrated.gpuAcceleration': 'off',
    }),
  })

  async function begin(agent: string): Promise<{ workbench: PageWindow; conversation: ConversationPage }> {
    const workbench = await vscode.clearedWindow()
    const conversation = await pick(workbench, agent)
    // the header names the agent only until it refuses to start a session, which may be at once
    await conversation.frame.locator('.header-agent-name, .card-title', { hasText: agent }).first().waitFor()
    return { workbench, conversation }
  }

  async function pick(workbench: PageWindow, agent: string): Promise<ConversationPage> {
    await workbench.runAndPick('Parley: New Session with Agent…', agent)
    return ConversationPage.find(workbench)
  }

  const card = (conversation: ConversationPage, agent: string) =>
    conversation.card(`${agent} requires sign-in`)
  const picture = (workbench: PageWindow, name: string) => workbench.screenshot(`sign-in-${name}`)

  it('sends the waiting prompt, and only to that agent', async () => {
    const { workbench, conversation } = await begin('Late')
    await conversation.waitForPhase('ready')
    const page = await pick(workbench, 'Early')
    await card(page, 'Early').waitFor()
    await page.composer.click()
    await workbench.page.keyboard.type('for Early alone')
    await workbench.page.keyboard.press('Enter')
    await page.frame.locator('.outgoing').getByText('for Early alone').waitFor()
    await card(page, 'Early').getByRole('button', { name: 'Sign in' }).click()
    const sent = (agent: string) => receivedParams(vscode.root, agent, 'session/prompt').length
    await waitFor('the prompt', () => sent('Early') === 1)
    assert.equal(sent('Late'), 0)
    await page.frame.locator('.outgoing').waitFor({ state: 'detached' })
  })

  it("can be canceled and retried if the agent doesn't respond", async () => {
    const { workbench, conversation } = await begin('Slow')
    const asked = card(conversation, 'Slow')
    await asked.getByRole('button', { name: /^Sign in / }).click()
    const under = conversation.card('Signing in to Slow')
    await under.getByText(/Signing in with/).waitFor()
    await picture(workbench, 'under-way')
    await under.getByRole('button', { name: 'Cancel' }).click()
    await asked.getByRole('button', { name: /^Sign in / }).click()
    await asked.waitFor({ state: 'detached' })
    await conversation.waitForPhase('ready')
    await conversation.send('hello')
    await conversation.text('You said: hello').waitFor()
  })

  it('leaves one line of the agents below it', async () => {
    const { workbench, conversation } = await begin('Next')
    await card(conversation, 'Next').waitFor()
    const others = conversation.frame.getByText('Start with Another Agent')
    await others.click()
    await conversation.button(/^Terminal/).waitFor()
    await others.click()
    await picture(workbench, 'others')
  })

  it('gives the conversation to an agent that continues it, and leaves it where it is until then', async () => {
    const { workbench, conversation } = await begin('Open')
    await conversation.runTurn('[[say The secret word is swordfish.]]')
    await conversation.chooseFromAgentMenu('Fork or Continue Session…')
    await workbench.pick('Continue with Next')
    const asked = card(conversation, 'Next')
    await asked.waitFor()
    await conversation.frame.locator('.row-markdown', { hasText: 'swordfish' }).waitFor()
    await conversation.waitForAgent('Open')
    await picture(workbench, 'continue')
    await asked.getByRole('button', { name: 'Sign in' }).click()
    await conversation.waitForAgent('Next')
    await conversation.waitForPhase('ready')
    await conversation.frame.getByText('Continued with Next').waitFor()
  })

  it('works in the middle of a conversation, and sends the refused prompt again', async () => {
    const { workbench, conversation } = await begin('Late')
    await conversation.waitForPhase('ready')
    await conversation.send('do it then')
    await picture(workbench, 'late')
    await card(conversation, 'Late')
      .getByRole('button', { name: /^Sign in / })
      .click()
    await conversation.text('You said: do it then').waitFor()
    assert.equal(receivedParams(vscode.root, 'Late', 'session/prompt').length, 2)
  })

  it('can ask for values, which are stored only in the secret storage and can be deleted', async () => {
    const { workbench, conversation } = await begin('Key')
    await card(conversation, 'Key').getByRole('button', { name: 'With a key' }).click()
    const input = workbench.paletteInput
    await input.waitFor()
    assert.equal(await input.getAttribute('type'), 'password')
    await input.fill('s3cret-value')
    await picture(workbench, 'value')
    await input.press('Enter')
    await conversation.waitForPhase('ready')
    await conversation.send('[[env FIXTURE_KEY]]')
    await conversation.text(/s3cret-value/).waitFor()
    const reported = JSON.stringify(agentLog(vscode.root, 'Key').flatMap(({ received }) => received ?? []))
    assert.ok(!reported.includes('s3cret-value'), 'no message holds it')
    await workbench.runCommand('Parley: Sign Out…')
    await workbench.page.getByRole('button', { name: 'Sign Out', exact: true }).click()
    await workbench.notification('Signed out of Key.').waitFor()
    await waitFor('logout', () => receivedParams(vscode.root, 'Key', 'logout').length > 0)
    await pick(workbench, 'Key')
    await card(conversation, 'Key').getByRole('button', { name: 'With a key' }).waitFor()
    const settings = readFileSync(join(vscode.root.userData, 'User/settings.json'), 'utf8')
    assert.ok(!settings.includes('s3cret-value'))
  })

  it("deletes the agent's session once it's done, and continues its other conversations with the new process", async () => {
    const { workbench, conversation } = await begin('Guarded')
    await conversation.waitForPhase('ready')
    await conversation.runTurn('to be deleted')
    await workbench.runCommand('Parley: Open Conversation in Editor Tab')
    await workbench.page.locator('.tab', { hasText: 'to be deleted' }).waitFor()
    // the conversation stays in its tab; the next one starts in the side bar, once that has released the first
    await conversation.text('You said: to be deleted').waitFor({ state: 'detached' })
    await workbench.webview('body:has(.composer-text :focus):has(:text("You said: to be deleted"))')
    await conversation.runTurn('stays here')

    const history = await HistoryPage.open(workbench)
    await history.find('to be deleted')
    await history.clickAction('to be deleted', 'Delete')
    const refusal = workbench.notification(/Authentication required/)
    await refusal.getByRole('button', { name: 'Sign In…' }).click()
    const frame = await waitFor('the card', async () => {
      for (const one of workbench.page.frames())
        if (
          await one
            .getByRole('button', { name: 'With a key' })
            .isVisible()
            .catch(() => false)
        )
          return one
    })
    await frame.getByRole('button', { name: 'With a key' }).click()
    await workbench.paletteInput.fill('a key')
    await workbench.paletteInput.press('Enter')
    await waitFor('the deletion', () => receivedParams(vscode.root, 'Guarded', 'session/delete').length === 2)
    await HistoryPage.open(workbench)
    await history.row('to be deleted').waitFor({ state: 'detached' })
    await history.back()
    const resumed = () => receivedParams(vscode.root, 'Guarded', 'session/resume')
    await waitFor('the other conversation', () => resumed().length > 0)
    await conversation.waitForPhase('ready')
    assert.equal(await conversation.card(/stopped/).count(), 0)
    await conversation.runTurn('still here')
  })
})
