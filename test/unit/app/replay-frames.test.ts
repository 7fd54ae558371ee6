import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { RecordedFrames } from '../../../src/app/inspector/recorded-frames.ts'
import { replayFrames, sessionsIn } from '../../../src/app/inspector/replay-frames.ts'
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

  const prompt = (id: number, words: string, sessionId = 's') =>
    [
      'send',
      { id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: words }] } },
    ] as const
  const answer = (words: string) =>
    ['receive', update('agent_message_chunk', { content: { type: 'text', text: words } })] as const
  const asked = (id: number, method: string, params: object) =>
    ['receive', { id, method, params: { sessionId: 's', ...params } }] as const

  it('has the tokens of a turn that its response reports', () => {
    const usage = { totalTokens: 1234, inputTokens: 1200, outputTokens: 34 }
    const frames = recording([
      prompt(1, 'Count'),
      answer('One.'),
      ['receive', { id: 1, result: { stopReason: 'end_turn', usage } }],
    ])
    assert.deepEqual(shown(frames).usage?.tokens, { of: 'unknown', total: 1234, input: 1200, output: 34 })
  })

  it('has the output of commands that Parley ran', () => {
    const tool = {
      ...{ toolCallId: 't', title: 'Test', kind: 'execute', status: 'completed' },
      content: [{ type: 'terminal', terminalId: 'x' }],
    }
    const state = shown(
      recording([
        prompt(1, 'Test it'),
        asked(5, 'terminal/create', { command: 'npm', args: ['test'] }),
        ['send', { id: 5, result: { terminalId: 'x' } }],
        ['receive', update('tool_call', tool)],
        asked(6, 'terminal/output', { terminalId: 'x' }),
        ['send', { id: 6, result: { output: 'all passed', truncated: false, exitStatus: { exitCode: 3 } } }],
      ]),
    )
    const { command, output, exit } = state.terminals.get('x') ?? {}
    assert.deepEqual(
      { command, output, exit },
      {
        command: 'npm test',
        output: 'all passed',
        exit: { exitCode: 3, signal: null },
      },
    )
  })

  it('has questions with their answers, and prompts for a running turn', () => {
    const requestedSchema = { type: 'object', properties: { color: { type: 'string', title: 'Color' } } }
    const steering = { sessionId: 's', prompt: [{ type: 'text', text: 'Hurry up' }] }
    const state = shown(
      recording([
        prompt(1, 'Ask me'),
        asked(5, 'elicitation/create', { mode: 'form', message: 'Which color?', requestedSchema }),
        ['send', { id: 5, result: { action: 'accept', content: { color: 'green' } } }],
        ['send', { id: 6, method: '_session/steering', params: steering }],
        ['receive', { id: 6, result: { outcome: 'injected' } }],
        asked(7, 'elicitation/create', {
          mode: 'url',
          message: 'Visit',
          url: 'https://a.b',
          elicitationId: 'v',
        }),
        ['send', { id: 7, result: { action: 'accept' } }],
        ['receive', { method: 'elicitation/complete', params: { elicitationId: 'v' } }],
      ]),
    )
    const questions = state.entries.flatMap(one => (one.kind === 'elicitation' ? [one] : []))
    assert.deepEqual(questions[0]?.outcome, { action: 'accept', content: { color: 'green' } })
    assert.equal(questions[1]?.visit, 'done')
    assert.match(renderConversation(state), /Hurry up/)
  })

  it('has what subagents did', () => {
    const inside = { sessionUpdate: 'tool_call', toolCallId: 'u', title: 'Look inside' }
    const state = shown(
      recording([
        prompt(1, 'Delegate'),
        [
          'receive',
          update('subagent_update', { sessionId: 'sub', title: 'Helper', state: { state: 'running' } }),
        ],
        ['receive', { method: 'session/update', params: { sessionId: 'sub', update: inside } }],
        [
          'receive',
          { method: 'session/update', params: { sessionId: 'other', update: { ...inside, title: 'No' } } },
        ],
      ]),
    )
    const tools = state.entries.flatMap(one => (one.kind === 'tool_call' ? [one] : []))
    assert.deepEqual(
      tools.map(({ title, within }) => [title, within]),
      [['Look inside', 'sub']],
    )
  })

  it('keeps sessions apart, and the same session of two agents', () => {
    const frames = recording([prompt(1, 'First'), prompt(2, 'Second', 'b')])
    const message = prompt(1, 'Third')[1]
    frames.add(
      { connection: 2, agentId: 'b', agent: 'B', version: 1 },
      { at: 9, direction: 'send', message, json: JSON.stringify(message), isCut: false },
    )
    const listed = sessionsIn(frames)
    const texts = listed.map(one => renderConversation(shown(frames, one)))
    assert.deepEqual(
      listed.map(({ agent, sessionId }, i) => [
        agent,
        sessionId,
        ['First', 'Second', 'Third'].filter(one => texts[i]?.includes(one)).join(),
      ]),
      [
        ['A', 's', 'First'],
        ['A', 'b', 'Second'],
        ['B', 's', 'Third'],
      ],
    )
  })

  it('shows a session that was opened again once, and says when the start is missing', () => {
    const told = update('user_message_chunk', { content: { type: 'text', text: 'Hello' } })
    const part = [prompt(1, 'Hello'), answer('Hi.'), ['receive', { id: 1, result: {} }]] as const
    const load = { id: 2, method: 'session/load', params: { sessionId: 's', cwd: '/', mcpServers: [] } }
    const missing = /doesn't contain the session's start/
    assert.match(renderConversation(shown(recording(part))), missing)
    const again = [...part, ['send', load], ['receive', told], answer('Hi.')] as const
    const whole = renderConversation(shown(recording([...again, ['receive', { id: 2, result: {} }]])))
    assert.doesNotMatch(whole, missing)
    assert.equal(whole.split('Hi.').length, 2)
    // one that failed didn't replace it
    const failed = [
      ...part,
      ['send', load],
      ['receive', { id: 2, error: { code: 1, message: 'No' } }],
    ] as const
    assert.match(renderConversation(shown(recording(failed))), /Hi\./)
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
      assert.match(renderConversation(state), /The recording ends before the turn does/)
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
      'session/load',
      '_session/steering',
      'elicitation/create',
      'elicitation/complete',
      'terminal/create',
      'terminal/output',
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
