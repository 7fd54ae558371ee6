import assert from 'node:assert/strict'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { agentLog, fixtureAgent, openGate } from '../ui/support/fixture-agent.ts'

const every = {
  title: 'About the release',
  description: 'What it needs before it can go out.',
  type: 'object',
  required: ['name', 'mail', 'level', 'parts', 'agree'],
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2, maxLength: 5, pattern: '^[a-z]+$', default: 'abc' },
    mail: { type: 'string', title: 'Mail', format: 'email' },
    page: { type: 'string', title: 'Page', format: 'uri' },
    day: { type: 'string', title: 'Day', format: 'date' },
    moment: { type: 'string', title: 'Moment', format: 'date-time' },
    ratio: { type: 'number', title: 'Ratio', minimum: 0, maximum: 1, default: 0.5 },
    count: { type: 'integer', title: 'Count', minimum: 1, maximum: 3, default: 2 },
    agree: { type: 'boolean', title: 'Agree', default: true },
    level: { type: 'string', title: 'Level', enum: ['low', 'high'] },
    color: {
      type: 'string',
      title: 'Color',
      oneOf: [
        { const: '#f00', title: 'Red' },
        { const: '#0f0', title: 'Green' },
      ],
      default: '#0f0',
    },
    parts: { type: 'array', title: 'Parts', items: { enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
    more: {
      type: 'array',
      title: 'More',
      items: { anyOf: [{ const: 'x', title: 'The X' }] },
      default: ['x'],
    },
  },
}
const ask = (params: object, sessionId: object = { sessionId: '$session' }) => ({
  request: 'elicitation/create',
  params: { message: 'Your word is needed', ...sessionId, ...params },
})
const form = ask({ mode: 'form', requestedSchema: every })
const visit = (url: string) => ask({ mode: 'url', url, elicitationId: 'visit-1' })

const yesOrNo = { type: 'object', properties: { sure: { type: 'boolean', title: 'Sure' } } }

const agents = (root: IsolatedRoot) => ({
  asking: fixtureAgent(root, 'Asking', { prompts: [[form], [form], [form]] }),
  visiting: fixtureAgent(root, 'Visiting', {
    prompts: [
      [visit('https://xn--exmple-cua.com/sign/in?next=1')],
      [visit('http://admin@example.org/')],
      [visit('file:///etc/passwd')],
    ],
  }),
  away: fixtureAgent(root, 'Away', {
    prompt: [{ say: 'A moment.' }, { do: 'gate' }, ask({ mode: 'form', requestedSchema: yesOrNo }, {})],
  }),
  early: fixtureAgent(root, 'Early', {
    authRequired: true,
    results: { initialize: { authMethods: [{ id: 'plain', name: 'Sign in' }] } },
    on: {
      authenticate: [
        ask(
          {
            mode: 'form',
            requestedSchema: {
              type: 'object',
              required: ['org'],
              properties: {
                org: { type: 'string', title: 'Organization', minLength: 2 },
                plan: { type: 'string', title: 'Plan', enum: ['free', 'paid'] },
              },
            },
          },
          {},
        ),
      ],
    },
  }),
})

describe('elicitations', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  /** the answers that the agent received, in order */
  const answers = (agent: string) =>
    agentLog(vscode.root, agent).flatMap(line =>
      'answer' in line ? [(line as { answer: { result?: unknown } }).answer.result] : [],
    )

  it('show every kind of field with its default, and are sent only if all values are valid', async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Asking')
    await conversation.send('go')
    const question = conversation.frame.getByRole('group', { name: /^Answer required/ })
    const field = (name: RegExp) => question.getByRole('textbox', { name })
    await question.getByText('About the release').waitFor()
    await workbench.screenshot('elicitation-every-kind')
    assert.equal(await field(/^Name/).inputValue(), 'abc')
    await field(/^Name/).fill('ABCDEF')
    await question.getByRole('button', { name: 'Submit' }).click()
    await waitFor('the problems', async () => (await question.locator('[data-invalid]').count()) >= 4)
    await workbench.screenshot('elicitation-every-problem')
    assert.deepEqual(answers('Asking'), [])
    await field(/^Name/).fill('abcd')
    await field(/^Mail/).fill('ada@example.org')
    await question.getByRole('radio', { name: 'high' }).check()
    await question.getByRole('checkbox', { name: 'a', exact: true }).check()
    await question.getByRole('button', { name: 'Submit' }).click()
    await waitFor('the answer', () => answers('Asking').length === 1)
    assert.deepEqual(answers('Asking')[0], {
      action: 'accept',
      content: {
        name: 'abcd',
        mail: 'ada@example.org',
        ratio: 0.5,
        count: 2,
        agree: true,
        level: 'high',
        color: '#0f0',
        parts: ['a'],
        more: ['x'],
      },
    })
    // the agent may get the answer before this form disappears, and the next one looks the same
    await question.waitFor({ state: 'detached' })
    await conversation.send('again')
    await question.getByRole('button', { name: 'Decline' }).click()
    await waitFor('the refusal', () => answers('Asking').length === 2)
    await question.waitFor({ state: 'detached' })
    await conversation.send('once more')
    await question.waitFor()
    await conversation.button(/^Stop/).first().click()
    await waitFor('the end', () => answers('Asking').length === 3)
    assert.deepEqual(answers('Asking').slice(1), [{ action: 'decline' }, { action: 'cancel' }])
  })

  it('show the complete URL with its host highlighted, and warnings', async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Visiting')
    const question = conversation.frame.getByRole('group', { name: /^Answer required/ })
    await conversation.send('one')
    await question.getByText(/look-alike characters/).waitFor()
    assert.equal(
      await question.locator('.address-text').innerText(),
      'https://xn--exmple-cua.com/sign/in?next=1',
    )
    assert.equal(await question.locator('.address-host').innerText(), 'xn--exmple-cua.com')
    await workbench.screenshot('elicitation-punycode')
    await question.getByRole('button', { name: 'Decline' }).click()
    await conversation.send('two')
    await question.getByText(/isn't encrypted/).waitFor()
    await question.getByText(/contains a user name/).waitFor()
    assert.equal(await question.locator('.address-host').innerText(), 'example.org')
    await question.getByRole('button', { name: 'Decline' }).click()
    await conversation.send('three')
    await question.getByText('Only http and https links can be opened.').waitFor()
    assert.equal(await question.getByRole('button', { name: /^Open/ }).count(), 0)
    await question.getByRole('button', { name: 'Decline' }).click()
    await waitFor('the refusals', () => answers('Visiting').length === 3)
    assert.deepEqual(
      answers('Visiting').map(answer => (answer as { action: string }).action),
      ['decline', 'decline', 'decline'],
    )
  })

  it("use VS Code's own UI if there is no conversation", async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    await workbench.runAndPick('Parley: New Session with Agent…', 'Early')
    const conversation = await ConversationPage.find(workbench)
    const card = conversation.card('Early requires sign-in')
    await card.getByRole('button', { name: /^Sign in / }).click()
    const palette = workbench.palette.filter({ hasText: 'Early asks: Your word is needed' })
    await palette.waitFor()
    await workbench.screenshot('elicitation-native')
    // clicking a row with the request's text isn't an answer
    await palette.locator('.monaco-list-row', { hasText: 'Your word is needed' }).last().click()
    await palette.waitFor()
    await workbench.pick('Answer')
    const input = workbench.paletteInput
    // until then, it's the input of the list before
    await workbench.palette.getByText('Organization').first().waitFor()
    await input.fill('x')
    await workbench.palette.getByText(/at least 2/).waitFor()
    await input.fill('Engines')
    await input.press('Enter')
    await workbench.pick('paid')
    await waitFor('the answer', () => answers('Early').length === 1)
    assert.deepEqual(answers('Early')[0], { action: 'accept', content: { org: 'Engines', plan: 'paid' } })
    await card.waitFor({ state: 'detached' })
    await conversation.waitForPhase('ready')
  })

  it("use VS Code's own UI if they belong to no session and the conversation is hidden", async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Away')
    const before = answers('Away').length
    await conversation.send('go')
    await conversation.text('A moment.').waitFor()
    await workbench.openViewContainer('Explorer')
    openGate(vscode.root, 'Away')
    const palette = workbench.palette.filter({ hasText: 'Away asks: Your word is needed' })
    await palette.waitFor()
    await workbench.pick('Answer')
    // The list grows while it's open, so a click could hit another row.
    await workbench.palette.locator('.monaco-list-row', { hasText: 'Yes' }).first().waitFor()
    await workbench.paletteInput.fill('No')
    await workbench.palette
      .locator('.monaco-list-row', { hasText: 'Yes' })
      .first()
      .waitFor({ state: 'detached' })
    await workbench.paletteInput.press('Enter')
    await waitFor('the answer', () => answers('Away').length === before + 1)
    assert.deepEqual(answers('Away').at(-1), { action: 'accept', content: { sure: false } })
    await ConversationPage.open(workbench)
  })
})
