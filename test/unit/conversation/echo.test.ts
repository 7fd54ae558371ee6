import { strict as assert } from 'node:assert'
import type { ContentBlock, SessionUpdate } from '../../../src/acp/model.ts'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { chunk, idle, running, summarize, text } from './updates.ts'

function prompted(content: ContentBlock[], ...updates: SessionUpdate[]) {
  const state = createSessionState()
  reduceLocal(state, { type: 'prompt', content }, 1)
  for (const update of updates) reduce(state, update, 2)
  return state
}

const upsert = (messageId: string, ...content: ContentBlock[]): SessionUpdate => ({
  type: 'message',
  role: 'user',
  messageId,
  content,
})
const link: ContentBlock = { type: 'resource_link', uri: 'file:///a', name: 'a' }

describe('the echo of a prompt', () => {
  it("isn't shown again if it's one chunk with an id", () => {
    const state = prompted(
      [text('hello there')],
      running,
      chunk('user', 'hello there', 'u'),
      chunk('agent', 'Hi', 'a'),
    )
    assert.deepEqual(summarize(state), ['user: hello there', 'agent: Hi'])
    const prompt = state.entries[0]
    assert(prompt?.kind === 'message')
    assert.equal(prompt.messageId, 'u')
  })

  it("isn't shown with what the agent tells its model beside it", () => {
    const note: ContentBlock = { type: 'resource', uri: 'note', text: 'note', agentOnly: true }
    for (const messageId of [undefined, 'u']) {
      const id = messageId === undefined ? {} : { messageId }
      const noted: SessionUpdate = { type: 'message_chunk', role: 'user', ...id, content: note }
      const echo = chunk('user', 'hello', messageId)
      assert.deepEqual(summarize(prompted([text('hello')], noted, echo, noted)), ['user: hello'])
    }
  })

  it("isn't shown again if it has a prompt file, which agents report as text", () => {
    const file: ContentBlock = {
      type: 'resource',
      uri: 'parley:prompt/%2Fx',
      text: 'Do it\n\n',
      asText: true,
    }
    const state = prompted(
      [file, text(' now')],
      running,
      chunk('user', 'Do it', 'u'),
      chunk('user', ' now', 'u'),
    )
    assert.equal(state.entries.length, 1)
    const [prompt] = state.entries
    assert(prompt?.kind === 'message')
    assert.deepEqual(prompt.blocks, [file, text(' now')])
  })

  it("isn't shown again if it's several chunks, with or without an id", () => {
    assert.deepEqual(
      summarize(prompted([text('hello there')], chunk('user', 'hello '), chunk('user', 'there'))),
      ['user: hello there'],
    )
    const byId = prompted([text('hello there')], chunk('user', 'hello', 'u'), chunk('user', ' there', 'u'))
    assert.deepEqual(summarize(byId), ['user: hello there'])
  })

  it("isn't shown again if it's a whole message, or an empty one followed by chunks", () => {
    assert.deepEqual(summarize(prompted([text('hello')], upsert('u', text('hello')))), ['user: hello'])
    assert.deepEqual(summarize(prompted([text('hello')], upsert('u'), chunk('user', 'hello', 'u'))), [
      'user: hello',
    ])
  })

  it('is recognized with different whitespace, and with text that the agent appended', () => {
    assert.deepEqual(summarize(prompted([text('a\n\n  b')], chunk('user', 'a b'))), ['user: a\n\n  b'])
    const expanded = prompted([text('look')], chunk('user', 'look\n<context>…</context>', 'u'))
    assert.deepEqual(summarize(expanded), ['user: look'])
  })

  it('may contain the other blocks of the prompt', () => {
    const state = prompted([text('see'), link], upsert('u', link, text('see')))
    assert.deepEqual(summarize(state), ['user: see|[resource_link]'])
    const pieces = prompted(
      [text('see'), link],
      { type: 'message_chunk', role: 'user', content: link },
      chunk('user', 'see'),
    )
    assert.deepEqual(summarize(pieces), ['user: see|[resource_link]'])
  })

  it('is recognized after the turn ended', () => {
    const state = prompted([text('hello')], running, idle('end_turn'), chunk('user', 'hello', 'u'))
    assert.deepEqual(summarize(state), ['user: hello', 'turn_end: empty'])
  })

  it('is recognized by the message id in the response, whatever its text', () => {
    const state = createSessionState()
    reduceLocal(state, { type: 'prompt', content: [text('hello')] }, 1)
    reduceLocal(state, { type: 'prompt_accepted', messageId: 'u' }, 2)
    reduce(state, upsert('u', text('something else')), 3)
    assert.deepEqual(summarize(state), ['user: hello'])
  })

  it('is recognized only once, so that the same text again is a message', () => {
    const state = prompted([text('go on')], chunk('user', 'go on', 'u'), chunk('user', 'go on', 'v'))
    assert.deepEqual(summarize(state), ['user: go on', 'user: go on'])
  })

  it("is a single message, so a message with another id isn't an echo", () => {
    const state = prompted([text('hello there')], chunk('user', 'hello', 'u'), chunk('user', 'there', 'v'))
    assert.deepEqual(summarize(state), ['user: hello there', 'user: there'])
    const image: ContentBlock = { type: 'image', data: '', mimeType: 'image/png' }
    const images = prompted(
      [text('see'), image],
      { type: 'message_chunk', role: 'user', content: image },
      { type: 'message_chunk', role: 'user', content: image },
    )
    assert.deepEqual(summarize(images), ['user: see|[image]', 'user: [image]'])
  })

  it("isn't appended to a message that is already shown", () => {
    const state = prompted([text('hello')], chunk('user', 'other ', 's'), chunk('user', 'hello', 's'))
    assert.deepEqual(summarize(state), ['user: hello', 'user: other hello'])
  })

  it("isn't confused with another user message", () => {
    const state = prompted([text('hello')], chunk('user', '<system>', 's'), chunk('user', 'hello', 'u'))
    assert.deepEqual(summarize(state), ['user: hello', 'user: <system>'])
    assert.equal(state.turn, 1)
    assert.deepEqual(summarize(prompted([text('hello')], upsert('s'), chunk('user', 'other', 's'))), [
      'user: hello',
      'user: other',
    ])
    const image: ContentBlock = { type: 'image', data: '', mimeType: 'image/png' }
    assert.deepEqual(
      summarize(prompted([text('hello')], { type: 'message_chunk', role: 'user', content: image })),
      ['user: hello', 'user: [image]'],
    )
  })

  it("doesn't hide what follows a prompt without text", () => {
    const state = prompted([link], chunk('user', 'what is this', 'u'))
    assert.deepEqual(summarize(state), ['user: [resource_link]', 'user: what is this'])
  })

  it("isn't recognized in a replay", () => {
    const state = createSessionState()
    for (const update of [
      chunk('user', 'hello', 'u'),
      chunk('agent', 'Hi', 'a'),
      chunk('user', 'hello', 'v'),
    ]) {
      reduce(state, update)
    }
    assert.deepEqual(summarize(state), ['user: hello', 'agent: Hi', 'user: hello'])
  })
})
