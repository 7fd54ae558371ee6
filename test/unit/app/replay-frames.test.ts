import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { RecordedFrames } from '../../../src/app/inspector/recorded-frames.ts'
import { replayFrames } from '../../../src/app/inspector/replay-frames.ts'
import { runAllSteps } from '../../../src/conversation/replay/stepped-work.ts'
import { renderConversation } from '../../support/render-conversation.ts'
import { readTranscript } from '../../support/replay/transcript.ts'

const FOLDER = path.resolve(import.meta.dirname, '../../fixtures/transcripts')
const session = { connection: 1, sessionId: 's' }

function recording(
  messages: ReadonlyArray<readonly ['send' | 'receive', object]>,
  version = 1,
): RecordedFrames {
  const frames = new RecordedFrames((text, length) => text.slice(0, length))
  const source = { connection: 1, agentId: 'a', agent: 'A', version }
  for (const [i, [direction, message]] of messages.entries())
    frames.add(source, { at: i, direction, message, json: JSON.stringify(message), isCut: false })
  return frames
}

const shown = (frames: RecordedFrames, one = session) =>
  runAllSteps(replayFrames(frames, one, ({ json }) => json))

describe('a recording as a conversation', () => {
  const update = (sessionUpdate: string, fields: object) => ({
    method: 'session/update',
    params: { sessionId: 's', update: { sessionUpdate, ...fields } },
  })

  it('has the prompt, the answer, tools, and how a permission request was answered', () => {
    const toolCall = { toolCallId: 't', title: 'Edit a.ts', kind: 'edit', status: 'pending' }
    const options = [{ optionId: 'x', name: 'Allow', kind: 'allow_once' }]
    const prompt = [{ type: 'text', text: 'Please edit' }]
    const text = (words: string) => ({ content: { type: 'text', text: words } })
    const frames = recording([
      ['send', { id: 1, method: 'session/prompt', params: { sessionId: 's', prompt } }],
      ['receive', update('agent_message_chunk', text('I will.'))],
      ['receive', update('tool_call', toolCall)],
      [
        'receive',
        { id: 9, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } },
      ],
      ['send', { id: 9, result: { outcome: { outcome: 'selected', optionId: 'x' } } }],
      ['receive', update('tool_call_update', { toolCallId: 't', status: 'completed' })],
      ['receive', { id: 1, result: { stopReason: 'end_turn' } }],
    ])
    const text_ = renderConversation(shown(frames))
    for (const part of ['Please edit', 'I will.', 'Edit a.ts', 'Allow'])
      assert.ok(text_.includes(part), text_)
    const state = shown(frames)
    assert.equal(state.activity, 'idle')
    assert.equal(state.memory.running, false)
  })

  it('is over when its recording ends, and has nothing to answer', () => {
    const params = {
      sessionId: 's',
      toolCall: { toolCallId: 't' },
      options: [{ optionId: 'x', name: 'Allow' }],
    }
    for (const version of [1, 2]) {
      const state = shown(
        recording(
          [
            [
              'send',
              {
                id: 1,
                method: 'session/prompt',
                params: { sessionId: 's', prompt: [{ type: 'text', text: 'a' }] },
              },
            ],
            ['receive', { id: 9, method: 'session/request_permission', params }],
          ],
          version,
        ),
      )
      assert.equal(state.activity, 'idle')
      assert.equal(state.memory.openRequests.size, 0)
    }
  })

  for (const file of readdirSync(FOLDER).filter(name => name.endsWith('.ndjson')))
    it(`reads the recorded traffic of agents: ${file}`, () => {
      const messages = readTranscript(path.join(FOLDER, file)).map(
        ({ dir, msg }) => [dir === 'send' ? 'send' : 'receive', msg] as const,
      )
      const frames = recording(messages)
      for (const { name } of frames.sessions.list) {
        const state = shown(frames, { connection: 1, sessionId: name })
        assert.equal(state.activity, 'idle')
      }
    })

  it('never throws, whatever the messages say', () => {
    const params = fc.oneof(
      fc.anything(),
      fc.record({
        sessionId: fc.constant('s'),
        update: fc.anything(),
        prompt: fc.anything(),
        toolCall: fc.anything(),
        options: fc.anything(),
        subject: fc.anything(),
      }),
    )
    const method = fc.constantFrom(
      'session/prompt',
      'session/update',
      'session/request_permission',
      'session/new',
    )
    const id = fc.integer({ min: 1, max: 3 })
    const message = fc.oneof(
      fc.record({ id, method, params }),
      fc.record({ method, params }),
      fc.record({ id, result: fc.anything() }),
      fc.record({ id, error: fc.anything() }),
    )
    const direction = fc.constantFrom('send' as const, 'receive' as const)
    fc.assert(
      fc.property(fc.array(fc.tuple(direction, message)), fc.constantFrom(1, 2), (messages, version) => {
        const plain = messages.map(
          ([to, one]) =>
            [
              to,
              JSON.parse(
                JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? 0 : value)),
              ) as object,
            ] as const,
        )
        assert.equal(shown(recording(plain, version)).activity, 'idle')
      }),
    )
  })
})
