import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Frame, Locator } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { axeViolations, readThemeLooks } from '../ui/support/axe.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

const PAGE = 'body[data-view="inspector"]'

describe('the protocol traffic', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        honest: fixtureAgent(root, 'Honest'),
        odd: fixtureAgent(root, 'Odd', {
          results: { 'session/new': { sessionId: '$session', modes: { currentModeId: 'x' } } },
        }),
        broken: fixtureAgent(root, 'Broken', {
          on: { 'session/new': [{ fail: { code: -32603, message: 'No room' } }] },
        }),
      },
      'parley.mcpServers': {
        servers: { vault: { command: 'node', args: ['vault.mjs'], env: { VAULT_KEY: 'open-sesame' } } },
      },
    }),
  })
  let workbench: PageWindow

  beforeEach(async () => {
    workbench = await vscode.open()
  })

  async function open(): Promise<Frame> {
    await workbench.runCommand('Parley: Show Protocol Traffic')
    return await workbench.webview(`${PAGE} input`)
  }

  const list = (frame: Frame) => frame.getByRole('listbox', { name: 'Messages' })
  const rows = (frame: Frame, name: RegExp | string) => list(frame).getByRole('option', { name })
  const focused = (field: Locator) =>
    waitFor('the focus', () => field.evaluate(node => node === document.activeElement))
  const item = (frame: Frame, text: string | RegExp) => frame.getByRole('treeitem', { name: text })

  it('is recorded while its tab is open, without secrets', async () => {
    await ConversationPage.startSession(workbench, 'Honest')
    const frame = await open()
    await frame.getByText('No messages yet.').waitFor()
    await ConversationPage.startSession(workbench, 'Honest')
    await rows(frame, /session\/new (?!response)/).click()
    await item(frame, 'method: "session/new"').waitFor()
    assert.equal(await rows(frame, /initialize/).count(), 0, 'It was recorded before the tab was opened')

    const search = frame.getByRole('combobox', { name: 'Search messages' })
    const given = receivedParams(vscode.root, 'Honest', 'session/new').at(-1)
    const servers = (given?.mcpServers ?? []) as Array<{
      name: string
      env?: unknown
      headers?: Array<{ value: string }>
    }>
    assert.deepEqual(servers.find(({ name }) => name === 'vault')?.env, [
      { name: 'VAULT_KEY', value: 'open-sesame' },
    ])
    const token = servers.find(({ name }) => name === 'vscode')?.headers?.[0]?.value.replace('Bearer ', '')
    assert.equal(token?.length, 43)
    for (const secret of ['open-sesame', token]) {
      await search.fill(secret)
      await frame.getByText('No messages match the filter.').waitFor()
    }
    await search.fill('vault_key')
    await rows(frame, 'session/new').first().waitFor()

    await workbench.closeEditorsAndPanel()
    const again = await open()
    await again.getByText('No messages yet.').waitFor()
  })

  it('is searched, filtered and read by keyboard, and a request leads to its response', async () => {
    const frame = await open()
    const conversation = await ConversationPage.startSession(workbench, 'Honest')
    await conversation.runTurn('Hello')
    const search = frame.getByRole('combobox', { name: 'Search messages' })
    const details = frame.getByRole('region', { name: 'Message' })
    await rows(frame, /initialize response/)
      .last()
      .click()
    await details.getByRole('heading', { name: 'initialize response' }).waitFor()
    const size = workbench.page.viewportSize()!
    await workbench.page.setViewportSize({ ...size, height: 300 })
    await details.evaluate(element => element.scrollTo(0, element.scrollHeight))
    assert.ok((await details.evaluate(element => element.scrollTop)) > 0)
    await rows(frame, /session\/new response/)
      .last()
      .click()
    await details.getByRole('heading', { name: 'session/new response' }).waitFor()
    assert.equal(await details.evaluate(element => element.scrollTop), 0, 'It does not begin at its top')
    await workbench.page.setViewportSize(size)

    await frame.getByLabel('Method').selectOption('session/prompt')
    await waitFor(
      'the request and its response',
      async () => (await list(frame).getByRole('option').count()) === 2,
    )
    await rows(frame, /session\/prompt response.*\d m?s$/).waitFor()
    await search.focus()
    await focused(search)
    await workbench.page.keyboard.press('ArrowDown')
    await item(frame, 'method: "session/prompt"').waitFor()
    await list(frame)
      .getByRole('option', { selected: true })
      .and(rows(frame, /prompt (?!response)/))
      .waitFor()
    await workbench.page.keyboard.press('Enter')
    await frame.locator('[role=treeitem]:focus').waitFor()
    const members = await frame.getByRole('treeitem').count()
    await workbench.page.keyboard.press('ArrowLeft')
    await waitFor('a closed tree', async () => (await frame.getByRole('treeitem').count()) === 1)
    await workbench.page.keyboard.press('ArrowRight')
    await waitFor('an open tree', async () => (await frame.getByRole('treeitem').count()) === members)
    await workbench.page.keyboard.press('Control+f')
    await focused(search)

    await frame.getByRole('button', { name: 'Go to Response' }).click()
    await item(frame, /stopReason: "end_turn"/).waitFor()
    await rows(frame, 'session/prompt response')
      .and(list(frame).getByRole('option', { selected: true }))
      .waitFor()
    const looks = await readThemeLooks(workbench, PAGE)
    const violations = await axeViolations(frame, looks)
    assert.equal(violations.length, 0, violations.join('\n'))

    await frame.getByRole('button', { name: 'Clear Messages' }).click()
    await frame.getByText('No messages yet.').waitFor()
    assert.equal(await frame.getByRole('tree').count(), 0)
  })

  it('shows the timeline of a turn, whose steps lead to their messages by keyboard', async () => {
    const frame = await open()
    const conversation = await ConversationPage.startSession(workbench, 'Honest')
    await conversation.runTurn('Hello')
    await frame.getByLabel('Method').selectOption('session/prompt')
    await rows(frame, /session\/prompt response.*\d m?s$/).click()
    const toggle = frame.getByRole('button', { name: 'Timeline of the turn' })
    await toggle.click()
    const steps = frame.getByRole('list', { name: 'Timeline of the turn' }).getByRole('button')
    await frame.getByText(/in total · first output after .* · end_turn/).waitFor()
    const names = await steps.evaluateAll(all => all.map(one => one.getAttribute('title') ?? ''))
    assert.deepEqual(
      names.map(name => name.split(',')[0]),
      ['Queued', 'Waiting for the first output', 'Message'],
    )
    assert.match(names[1]!, /^Waiting for the first output, after [\d.]+ m?s, takes [\d.]+ m?s$/)
    await steps.first().focus()
    await workbench.page.keyboard.press('ArrowDown')
    await focused(steps.nth(1))
    await workbench.page.keyboard.press('End')
    await focused(steps.nth(2))
    await workbench.page.keyboard.press('Enter')
    await item(frame, 'method: "session/update"').waitFor()
    await focused(steps.nth(2))
    assert.deepEqual(await steps.evaluateAll(all => all.map(one => one.getAttribute('aria-current'))), [
      null,
      null,
      'true',
    ])
    const violations = await axeViolations(frame, await readThemeLooks(workbench, PAGE))
    assert.equal(violations.length, 0, violations.join('\n'))

    await frame.getByLabel('Method').selectOption('session/new')
    await rows(frame, /session\/new response/)
      .first()
      .click()
    await frame.getByText("This message isn't part of a turn whose prompt was recorded.").waitFor()
  })

  it('shows errors alone, pauses, and is exported as lines of JSON', async () => {
    const frame = await open()
    const conversation = await ConversationPage.startSession(workbench, 'Honest')
    await conversation.chooseFromAgentMenu('Broken')
    await conversation.text('No room').first().waitFor()
    await rows(frame, /session\/new response/)
      .first()
      .waitFor()
    await frame.getByRole('button', { name: 'Show Only Errors and Invalid Messages' }).click()
    await rows(frame, /Error session\/new response/)
      .first()
      .waitFor()
    await waitFor('only errors', async () => (await rows(frame, 'initialize').count()) === 0)
    await frame.getByRole('button', { name: 'Pause Recording' }).click()
    await frame.getByText(/recording is paused/).waitFor()
    const count = await list(frame).getByRole('option').count()

    const file = path.join(vscode.root.directory, 'exported.jsonl')
    await workbench.host.call('willPick', file)
    await frame.getByRole('button', { name: 'Export Shown Messages…' }).click()
    await workbench.notification(/exported to exported\.jsonl/).waitFor()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    assert.equal(lines.length, count)
    const { at, agent, direction, message } = JSON.parse(lines[0]!)
    assert.deepEqual([typeof at, agent, direction], ['number', 'Broken', 'receive'])
    assert.equal(message.error.message, 'No room')
  })

  it('reports a problem in a document, with the last messages but not their texts', async () => {
    const frame = await open()
    const conversation = await ConversationPage.startSession(workbench, 'Honest')
    await conversation.runTurn('My private words')
    await rows(frame, 'session/prompt response').first().waitFor()
    await frame.getByRole('button', { name: 'Report a Problem…' }).click()
    await workbench.pick('Messages Without Their Texts')
    await workbench.notification(/The report isn't sent anywhere/).waitFor()
    const text = String(await workbench.host.call('activeText'))
    assert.match(text, /^# Problem report\n/)
    assert.match(text, /^- Honest/m)
    assert.match(text, /"method":"session\/prompt"/)
    assert.match(text, /"parley\.agents": \{/)
    assert.doesNotMatch(text, /private words|open-sesame/)
  })

  it('shows a recording as a conversation, from which nothing is sent or opened', async () => {
    const frame = await open()
    const file = path.join(vscode.root.directory, 'hostile.jsonl')
    const line = (direction: 'send' | 'receive', message: object, at: number) =>
      JSON.stringify({ agent: 'Other', at, version: 1, direction, message })
    const update = (fields: object) => ({
      method: 'session/update',
      params: { sessionId: 's', update: fields },
    })
    const text =
      '[a link](https://example.com/leak) [a file](/etc/passwd) ![an image](https://example.com/i.png)'
    const toolCall = { toolCallId: 't', title: 'Run it', kind: 'execute', status: 'pending' }
    const options = [{ optionId: 'x', name: 'Allow', kind: 'allow_once' }]
    const prompt = [{ type: 'text', text: 'A recorded prompt' }]
    writeFileSync(
      file,
      [
        line('send', { id: 1, method: 'session/prompt', params: { sessionId: 's', prompt } }, 1),
        line('receive', update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }), 2),
        line('receive', update({ sessionUpdate: 'tool_call', ...toolCall }), 3),
        line(
          'receive',
          { id: 2, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } },
          4,
        ),
      ].join('\n'),
    )
    await workbench.host.call('willPick', file)
    await frame.getByRole('button', { name: 'Import Messages…' }).click()
    await frame.getByText(/^4 messages · from hostile\.jsonl/).waitFor()
    await frame.getByRole('button', { name: 'Show as Conversation…' }).click()
    const shown = await workbench.webview('body[data-view="conversation"] main.recording')
    await shown.getByText('A recorded prompt').first().waitFor()
    await shown.getByText('Run it').first().waitFor()
    assert.equal(await shown.getByRole('textbox').count(), 0)
    assert.equal(await shown.getByRole('button', { name: /Allow/ }).count(), 0)
    await shown.getByRole('link', { name: 'a link' }).click()
    await shown.getByText('a file').click()
    // messages are handled in order, so the links have been when this is shown
    await shown.getByRole('button', { name: /Run it/ }).click()
    await shown.locator('.work-body').waitFor()
    assert.deepEqual(await workbench.host.call('openedUrls'), [])
    assert.equal(
      await workbench.page.locator('.tab').count(),
      2,
      'only the messages and the recording are open',
    )
    await workbench.page.keyboard.press('Control+f')
    const search = shown.getByRole('textbox', { name: 'Find', exact: true })
    await focused(search)
    await search.fill('recorded prompt')
    await shown.getByText('1 of 1').waitFor()
  })

  it('says in words how a message differs from the schema, also of an imported file', async () => {
    const frame = await open()
    await ConversationPage.startSession(workbench, 'Odd')
    const invalid = rows(frame, /Doesn't match the schema.*session\/new response/).last()
    await invalid.click()
    await frame.getByText('result.modes.availableModes is missing.').waitFor()

    const file = path.join(vscode.root.directory, 'imported.jsonl')
    const message = { jsonrpc: '2.0', id: 7, result: { sessionId: 5 } }
    const request = {
      jsonrpc: '2.0',
      id: 7,
      method: 'session/new',
      params: { cwd: '/elsewhere', mcpServers: [] },
    }
    const line = (fields: object) => JSON.stringify({ agent: 'Other', at: 1, version: 1, ...fields })
    const lines = [
      line({ direction: 'send', message: request }),
      line({ direction: 'receive', at: 41, message }),
      'nothing',
    ]
    writeFileSync(file, lines.join('\n'))
    await workbench.host.call('willPick', file)
    await frame.getByRole('button', { name: 'Import Messages…' }).click()
    await workbench.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Replace' }).click()
    await frame.getByText(/^2 messages · from imported\.jsonl/).waitFor()
    assert.equal(await frame.getByRole('tree').count(), 0, 'A message that is gone is still shown')
    await workbench.notification('1 line was skipped because it contains no protocol message.').waitFor()
    await rows(frame, /session\/new response.*40 ms/).click()
    await frame.getByText('result.sessionId must be of type string, but is number.').waitFor()

    await frame.getByRole('button', { name: 'Resume Recording' }).click()
    await frame.getByText('No messages yet.').waitFor()
  })
})
