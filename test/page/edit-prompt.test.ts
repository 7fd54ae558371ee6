import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate, receivedParams } from '../ui/support/fixture-agent.ts'
import { storedDrafts } from '../ui/support/stored.ts'

const ORIGINAL = readFileSync(
  new URL('../fixtures/workspace/planets-api/planets.js', import.meta.url),
  'utf8',
)
const FIRST = ORIGINAL.replaceAll('Mercury', 'Hermes')
const BOTH = FIRST.replaceAll('Mars', 'Ares')

/** In the way of claude-agent-acp, which doesn't advertise that a fork can end at a message. */
const forgets = {
  forkAt: 'works',
  results: {
    initialize: {
      agentInfo: { name: '@agentclientprotocol/claude-agent-acp', title: 'Claude', version: '0.101.0' },
      agentCapabilities: { sessionCapabilities: { fork: {} } },
    },
  },
}
const agents = (root: IsolatedRoot) => ({
  plain: fixtureAgent(root, 'Plain'),
  forgets: fixtureAgent(root, 'Forgets', forgets),
  dies: fixtureAgent(root, 'Dies', { on: { 'session/cancel': [{ exit: 7 }] } }),
  deaf: fixtureAgent(root, 'Deaf', { on: { 'session/cancel': [] } }),
})

describe('editing a prompt where it is', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  let name = 'none.js'
  let tries = 0
  const file = () => join(dirname(vscode.workspace), 'planets-api', name)
  const holds = (text: string) => waitFor('the text of the file', () => readFileSync(file(), 'utf8') === text)
  let workbench: PageWindow
  let conversation: ConversationPage

  const prompt = (text: string) => conversation.frame.locator('.row-prompt').filter({ hasText: text }).last()
  const editor = () => conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
  const pencil = (text: string) => prompt(text).getByRole('button', { name: 'Edit and Resend' })
  const lastPrompt = (agent: string) => receivedParams(vscode.root, agent, 'session/prompt').at(-1)
  async function edit(text: string): Promise<void> {
    await prompt(text).hover()
    await pencil(text).click()
    await conversation.waitForFocus(editor())
  }
  async function twoEdits(agent: string): Promise<void> {
    name = `edited-${++tries}.js`
    writeFileSync(file(), ORIGINAL)
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
    // the agent would run a short prompt again that the next one quotes
    const long = 'Please '.repeat(40)
    await conversation.runTurn(`first ${long} [[edit ${name} Mercury Hermes]] [[say done]]`)
    await conversation.runTurn(`second ${long} [[edit ${name} Mars Ares]] [[say done]]`)
    await holds(BOTH)
  }
  afterEach(() => rmSync(file(), { force: true }))

  it('sends it instead of the original, keeps or restores files as chosen last, and tells an agent that can forget nothing', async () => {
    await twoEdits('Plain')
    await conversation.composer.fill('my draft')
    await edit('second')
    await conversation.frame
      .getByText("Plain can't forget what came after: it's told to disregard that")
      .waitFor()
    await conversation.frame.getByRole('combobox').selectOption({ label: 'Restore 1 file' })
    await editor().fill('[[say Rewritten]] once')
    await editor().press('Enter')
    await conversation.agentMessage('Rewritten').waitFor()
    await holds(FIRST)
    assert.match(JSON.stringify(lastPrompt('Plain')), /Rewritten.*Disregard that prompt.*second/)
    await conversation.button(/entries set aside/).waitFor()
    assert.equal(await conversation.composerText(), 'my draft')

    await edit('first')
    await waitFor(
      'the choice',
      async () => (await conversation.frame.getByRole('combobox').inputValue()) === 'restore',
    )
    await conversation.frame.getByRole('combobox').selectOption({ label: 'Keep files' })
    await editor().fill('[[say again]] twice')
    await editor().press('Enter')
    await conversation.agentMessage('again').waitFor()
    await holds(FIRST)
  })

  it('gives the focus and the text back with Escape, and keeps what was typed over a reload', async () => {
    await twoEdits('Plain')
    await edit('second')
    await editor().pressSequentially(' discarded')
    await editor().press('Escape')
    await editor().waitFor({ state: 'detached' })
    await conversation.waitForFocus(pencil('second'))
    assert.doesNotMatch(await prompt('second').innerText(), /discarded/)

    await conversation.frame.locator(':focus').press('Enter')
    await conversation.waitForFocus(editor())
    await editor().pressSequentially(' and more')
    await waitFor('the edit on disk', () => storedDrafts(vscode.root).includes(' and more'))
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await editor()
      .filter({ hasText: /^second.* and more$/s })
      .waitFor()
    assert.equal(await conversation.composerText(), '')
    // what was canceled doesn't come back
    await editor().focus()
    await editor().press('Escape')
    await editor().waitFor({ state: 'detached' })
    await waitFor('the edit to be forgotten', () => {
      const stored = storedDrafts(vscode.root)
      return stored !== '' && !stored.includes(' and more')
    })
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await prompt('second').waitFor()
    assert.equal(await editor().count(), 0)
  })

  it('continues in a fork with an agent that forgets', async () => {
    await twoEdits('Forgets')
    await edit('second')
    await conversation.frame
      .getByRole('option', { name: 'Forgets forgets what came after' })
      .waitFor({ state: 'attached' })
    await editor().fill('[[say Rewritten]] once')
    await editor().press('Enter')
    await conversation.agentMessage('Rewritten').waitFor()
    await prompt('second').waitFor({ state: 'detached' })
    assert.doesNotMatch(JSON.stringify(lastPrompt('Forgets')), /Disregard/)
    assert.equal(receivedParams(vscode.root, 'Forgets', 'session/fork').length, 1)
    await holds(BOTH)
  })

  it('opens with the arrow key in an empty input, and goes on to the history or back with the next key', async () => {
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Plain')
    await conversation.runTurn('[[say one]] first')
    await conversation.runTurn('[[say two]] second')
    const { keyboard } = workbench.page
    await conversation.composer.focus()
    await keyboard.press('ArrowUp')
    await conversation.waitForFocus(editor())
    await editor()
      .filter({ hasText: /second$/ })
      .waitFor()
    await keyboard.press('Escape')
    await conversation.waitForFocus(conversation.composer)
    await editor().waitFor({ state: 'detached' })

    await keyboard.press('ArrowUp')
    await conversation.waitForFocus(editor())
    await keyboard.press('ArrowUp')
    await conversation.waitForFocus(conversation.composer)
    await conversation.composer.filter({ hasText: /second$/ }).waitFor()
    await editor().waitFor({ state: 'detached' })
    await keyboard.press('ArrowUp')
    await conversation.composer.filter({ hasText: /first$/ }).waitFor()
  })

  it('stops the running turn and is sent then, with a button or its key', async () => {
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Plain')
    await conversation.runTurn('[[say one]] first')
    for (const [original, how] of [
      ['first', 'button'],
      ['by button', 'key'],
    ] as const) {
      await conversation.send('[[gate]]')
      await conversation.button(/^Stop \(/).waitFor()
      await edit(original)
      await editor().fill(`[[say edited by ${how}]]`)
      if (how === 'key') await editor().press('ControlOrMeta+Enter')
      else await conversation.button(/^Stop and Send/).click()
      await conversation.agentMessage(`edited by ${how}`).waitFor()
      await editor().waitFor({ state: 'detached' })
      // otherwise the next prompt would be queued behind this turn
      await conversation.button(/^Stop \(/).waitFor({ state: 'detached' })
    }
  })

  it('keeps the focus while an agent takes its time to stop, and is sent once then', async () => {
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Deaf')
    await conversation.runTurn('[[say one]] first')
    await conversation.send('[[gate]]')
    await conversation.button(/^Stop \(/).waitFor()
    await edit('first')
    await editor().fill('[[say edited]]')
    await conversation.button(/^Stop and Send/).dblclick()
    await conversation.waitForFocus(conversation.button(/^Stop and Send/))
    await conversation.frame.locator('.prompt-after', { hasText: /^Stopping$/ }).waitFor()
    await editor().press('ControlOrMeta+Enter')
    await editor().pressSequentially(' more')
    openGate(vscode.root, 'Deaf')
    await conversation.agentMessage('edited').waitFor()
    await editor().waitFor({ state: 'detached' })
    const sent = receivedParams(vscode.root, 'Deaf', 'session/prompt').map(one => JSON.stringify(one))
    assert.deepEqual(
      sent.map(one => one.includes('[[say edited]] more')),
      [false, false, true],
    )
  })

  it('stays, and is sent once, if the agent exits instead of stopping', async () => {
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Dies')
    await conversation.runTurn('[[say one]] first')
    await conversation.send('[[gate]]')
    await conversation.button(/^Stop \(/).waitFor()
    await edit('first')
    await editor().fill('[[say edited]]')
    await conversation.button(/^Stop and Send/).click()
    await conversation.card('Dies stopped').waitFor()
    const sent = () =>
      receivedParams(vscode.root, 'Dies', 'session/prompt').filter(one =>
        JSON.stringify(one).includes('[[say edited]]'),
      )
    await workbench.notification("What came after this prompt can't be replaced now.").waitFor()
    await editor()
      .filter({ hasText: /^\[\[say edited]]$/ })
      .waitFor()
    assert.equal(sent().length, 0)
    await conversation
      .card('Dies stopped')
      .getByRole('button', { name: /^Restart/ })
      .click()
    await conversation.waitForPhase('ready')
    await editor().press('Enter')
    await conversation.agentMessage('edited').waitFor()
    await conversation.button(/entries set aside/).waitFor()
    assert.equal(sent().length, 1)
  })

  it('says why it waits for a turn and for queued prompts, and sends nothing then', async () => {
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Plain')
    await conversation.runTurn('[[say one]] first')
    await conversation.send('[[gate]]')
    await conversation.button(/^Stop/).waitFor()
    await conversation.send('queued behind it')
    await conversation.frame.getByText('queued behind it').waitFor()
    await edit('first')
    await conversation.frame.getByText('Stop the turn to send the edited prompt.').waitFor()
    await editor().fill('[[say edited]] anew')
    await editor().press('Enter')
    await conversation.button(/^Stop \(/).click()
    await conversation.frame.getByText('Send or remove the queued prompts first.').waitFor()
    await editor().press('Enter')
    await conversation.frame.getByRole('button', { name: 'Send Now', exact: true }).first().waitFor()
    assert.doesNotMatch(JSON.stringify(lastPrompt('Plain')), /anew|queued/)
    await conversation.frame
      .getByRole('button', { name: /^Remove/ })
      .first()
      .click()
    await conversation.frame.getByText("it's told to disregard that").waitFor()
    await editor().press('Enter')
    await conversation.agentMessage('edited').waitFor()
    await editor().waitFor({ state: 'detached' })
    assert.doesNotMatch(JSON.stringify(lastPrompt('Plain')), /queued/)
  })
})

describe('editing a prompt of a conversation that the agent replays', () => {
  const said = (sessionUpdate: string, text: string) => ({
    update: { sessionUpdate, content: { type: 'text', text } },
  })
  const turn = (prompt: string, answer: string) => [
    said('user_message_chunk', prompt),
    said('agent_message_chunk', answer),
  ]
  const SENT = ['one', 'two', 'two', 'two']
  const replayed = [
    // Parley has no copy of this
    ...['before', 'again'].flatMap(prompt => turn(prompt, 'done')),
    ...SENT.flatMap(word => turn(`[[say ${word}]]`, word)),
  ]
  const replays = {
    results: {
      initialize: { agentCapabilities: { loadSession: true, sessionCapabilities: { resume: null } } },
    },
    on: { 'session/load': [...replayed, { do: 'gate' }, { reply: {} }] },
  }
  const vscode = new PageSuite({
    settings: root => ({
      'parley.keepAgentsRunning': 'off',
      'parley.agents': { replays: fixtureAgent(root, 'Replays', replays) },
    }),
  })

  it('stays with its prompt', async () => {
    const workbench = await vscode.clearedWindow()
    let conversation = await ConversationPage.startSession(workbench, 'Replays')
    for (const word of SENT) await conversation.runTurn(`[[say ${word}]]`)
    const prompts = conversation.frame.locator('.row-prompt')
    const editor = () => conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
    await prompts.nth(2).hover()
    await prompts.nth(2).getByRole('button', { name: 'Edit and Resend' }).click()
    await conversation.waitForFocus(editor())
    await editor().pressSequentially(' edited')
    await waitFor('the edit on disk', () => storedDrafts(vscode.root).includes(' edited'))
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    openGate(vscode.root, 'Replays')
    const rows = conversation.frame.locator('.row-prompt')
    await waitFor('the replayed prompts', async () => (await rows.count()) === 6)
    await rows.nth(4).getByRole('textbox').filter({ hasText: '[[say two]] edited' }).waitFor()
    assert.equal(await editor().count(), 1)
  })

  it('keeps the focus and the cursor of a prompt that is edited meanwhile', async () => {
    const workbench = await vscode.clearedWindow()
    let conversation = await ConversationPage.startSession(workbench, 'Replays')
    for (const word of SENT) await conversation.runTurn(`[[say ${word}]]`)
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    const rows = conversation.frame.locator('.row-prompt')
    await rows.nth(2).hover()
    await rows.nth(2).getByRole('button', { name: 'Edit and Resend' }).click()
    const editor = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
    await conversation.waitForFocus(editor)
    const { keyboard } = workbench.page
    await keyboard.type(' at the end')
    await keyboard.press('ControlOrMeta+Home')
    await keyboard.type('from ')
    openGate(vscode.root, 'Replays')
    await waitFor('the replayed prompts', async () => (await rows.count()) === 6)
    await conversation.waitForFocus(rows.nth(4).getByRole('textbox'))
    await keyboard.type('here ')
    await editor.filter({ hasText: 'from here [[say two]] at the end' }).waitFor()
  })
})
