import assert from 'node:assert/strict'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { outputLine } from './support/editor.ts'
import { agentLog, fixtureAgent, openGate } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

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
  const vscode = new VsCodeSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  /** the answers that the agent received, in order */
  const answers = (agent: string) =>
    agentLog(vscode.server.root, agent).flatMap(line =>
      'answer' in line ? [(line as { answer: { result?: unknown } }).answer.result] : [],
    )

  it("use VS Code's own UI if they belong to no session and the conversation is hidden", async () => {
    const workbench = await vscode.sharedWindow()
    await ConversationPage.open(workbench)
    const conversation = await ConversationPage.startSession(workbench, 'Away')
    const before = answers('Away').length
    await conversation.send('go')
    await conversation.text('A moment.').waitFor()
    await workbench.runCommand('View: Show Explorer')
    await workbench.page.locator('.explorer-folders-view').waitFor()
    // once this command has run, the extension knows that the conversation is hidden
    await workbench.runCommand('Parley: Show Agent Log')
    await outputLine(workbench, /Starting/).waitFor()
    openGate(vscode.server.root, 'Away')
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
