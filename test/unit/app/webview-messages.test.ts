import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as z from 'zod'
import { WebviewConnection } from '../../../src/app/webview-connection.ts'
import { agentsMessages } from '../../../src/bridge/agents-messages.ts'
import { compareMessages } from '../../../src/bridge/compare-messages.ts'
import { answer, pageMessages, request } from '../../../src/bridge/contract.ts'
import { conversationMessages } from '../../../src/bridge/conversation-messages.ts'
import { historyMessages } from '../../../src/bridge/history-messages.ts'
import { inspectorMessages } from '../../../src/bridge/inspector-messages.ts'
import { mcpMessages } from '../../../src/bridge/mcp-messages.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { sessionKey } from '../../../src/common/session-key.ts'
import type { WebviewPage } from '../../../src/workbench/webviews/webview-page.ts'
import { until } from '../../support/until.ts'

const messages = {
  ...pageMessages,
  ...conversationMessages,
  ...historyMessages,
  ...agentsMessages,
  ...compareMessages,
  ...inspectorMessages,
  ...mcpMessages,
}
const contracts = [
  ...[pageMessages, conversationMessages, historyMessages],
  ...[agentsMessages, compareMessages, inspectorMessages, mcpMessages],
]
const names = Object.keys(messages) as Array<keyof typeof messages>
const fits = (name: keyof typeof messages, value: unknown) => {
  const message = messages[name]
  return ('answer' in message ? message.params : message).safeParse(value).success
}

describe('a message from a webview', () => {
  it('is either accepted or rejected, whatever its value', () => {
    fc.assert(
      fc.property(fc.anything(), value => {
        for (const name of names) fits(name, value)
      }),
    )
  })

  it('has a unique name, since a webview can use several contracts', () => {
    assert.equal(names.length, contracts.flatMap(contract => Object.keys(contract)).length)
  })

  it("has only the message's own keys", () => {
    const parsed = conversationMessages['conversation/file'].parse({ path: '/a', line: 3, extra: 'x' })
    assert.deepEqual(parsed, { path: '/a', line: 3 })
  })

  it('is rejected if it exceeds a limit', () => {
    assert.equal(fits('conversation/file', { path: '/a', line: 0 }), false)
    assert.equal(fits('conversation/file', { path: '' }), false)
    assert.equal(fits('conversation/applyCode', { text: '', language: '', from: 0 }), false)
    assert.equal(fits('conversation/openText', { text: 'x' }), false)
    assert.equal(fits('conversation/entries', { key: 'k', from: 5, to: 4 }), false)
    assert.equal(fits('conversation/entries', { key: 'k', from: 0, to: 2001 }), false)
    assert.equal(fits('conversation/command', { command: 'parley.openHistory' }), true)
    // no command, and one that the page has no button for
    for (const command of ['parley.fly', 'parley.revertAllChanges'])
      assert.equal(fits('conversation/command', { command }), false)
    assert.equal(fits('history/act', { action: 'format', agentId: 'a', sessionId: 's' }), false)
    assert.equal(fits('history/act', { action: 'load', agentId: 'a', sessionId: 's' }), true)
    assert.equal(fits('manageAgents/act', { action: 'install', key: 'registry/other' }), true)
    for (const wrong of [{ action: 'run', key: 'x' }, { action: 'install' }, { action: 'install', key: '' }])
      assert.equal(fits('manageAgents/act', wrong), false)
  })

  it('can answer a form only with plain values', () => {
    const accepts = (content: unknown) =>
      fits('conversation/elicitation', {
        key: 'k',
        requestId: 'f1',
        answer: { action: 'accept', content },
      })
    assert.equal(accepts({ a: 'x', b: 1, c: true, d: ['y'] }), true)
    assert.equal(accepts(undefined), true)
    for (const content of [
      { a: {} },
      { a: [1] },
      { a: null },
      { a: Number.NaN },
      ['x'],
      'x',
      { a: 'x'.repeat(2 ** 20 + 1) },
    ])
      assert.equal(accepts(content), false)
    const odd = { key: 'k', requestId: 'f1', answer: { action: 'shrug' } }
    assert.equal(fits('conversation/elicitation', odd), false)
  })

  it('can contain any id that agents use, even an empty one', () => {
    const empty = { key: 'k', requestId: 'p1', optionId: '' }
    assert.deepEqual(conversationMessages['conversation/permission'].parse(empty), empty)
  })

  it('can contain long ids of sessions, options, and tool calls with signatures', () => {
    const long = 'signature'.repeat(4000)
    const key = sessionKey('an agent', long)
    assert.ok(fits('conversation/draft', { key, text: 'x', chips: [] }))
    assert.ok(fits('conversation/toolCalls', { key, ids: [long] }))
    assert.ok(fits('conversation/permission', { key, requestId: 'p1', optionId: long }))
    assert.ok(fits('conversation/option', { key, optionId: long, value: long }))
    assert.ok(fits('history/act', { action: 'load', agentId: 'a', sessionId: long }))
  })

  it('is rejected with a full sentence', async () => {
    const posted: object[] = []
    let receive = (_: unknown) => {}
    const page = {
      listen: (listener: typeof receive) => {
        receive = listener
        return { dispose: () => {} }
      },
      post: async (message: object) => posted.push(message) > 0,
    } as unknown as WebviewPage
    const connection = new WebviewConnection(page, silentLogger)
    connection.handle({ ask: request(z.string().max(3), answer<string>()) }, { ask: text => text })
    connection.listen()
    const error = async (params: unknown) => {
      posted.length = 0
      receive({ jsonrpc: '2.0', id: 1, method: 'ask', params })
      await until(() => posted.length > 0)
      return (posted[0] as { error?: { message: string } }).error?.message
    }
    assert.equal(await error(['long']), "Parley can't process this because it's too large.")
    assert.equal(await error([7]), "Parley can't process this. For details, see the log.")
    assert.equal(await error(['abc']), undefined)
    connection.dispose()
  })
})
