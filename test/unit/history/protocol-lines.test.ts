import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import type { SavedConversation } from '../../../src/conversation/replay/restore-state.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import { conversationLines, type ExportedSession } from '../../../src/history/protocol-lines.ts'
import { ProtocolReader } from '../../../src/history/protocol-reader.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { matchesSchema } from '../../support/schema-check.ts'
import { eventSequences } from '../conversation/arbitrary-updates.ts'
import { keptOf } from './kept-of.ts'

const NOW = 1_800_000_000_000
const session: ExportedSession = {
  agentId: 'a',
  agentName: 'Agent',
  sessionId: 's',
  cwd: '/work',
  additionalDirectories: ['/lib'],
  title: 'Fix the parser',
  givenTitle: 'Parser',
  formerTitles: ['New session'],
  pinned: true,
  createdAt: 1,
  updatedAt: 2,
}

const linesOf = (kept: SavedConversation, about = session, secrets = new SecretRegistry()) => [
  ...conversationLines(kept, about, secrets),
]

function read(lines: readonly string[]) {
  const reader = new ProtocolReader(NOW)
  const found = [...lines.map(line => reader.push(line)), reader.end()].filter(one => one !== undefined)
  return { found, skipped: reader.skipped }
}

/** The name of the official definition of a line, and what must match it. */
function officialPart(line: string): [string, unknown] | undefined {
  const { method, params, result, error } = JSON.parse(line)
  if (method === 'session/update') return ['SessionNotification', params]
  if (method === 'session/prompt') return ['PromptRequest', params]
  if (result) return ['PromptResponse', result]
  return error ? ['Error', error] : undefined
}

const message = (position: number, text: string, role: 'user' | 'agent' = 'agent'): Entry => ({
  kind: 'message',
  id: `e${position}`,
  turn: 1,
  role,
  blocks: [{ type: 'text', text }],
})

describe('a conversation as lines of the protocol', () => {
  it('is the same after it was read, whatever happened in it', () => {
    fc.assert(
      fc.property(eventSequences, events => {
        const kept = keptOf(events)
        const { found, skipped } = read(linesOf(kept))
        assert.deepEqual(skipped, { lines: 0, entries: 0, newer: 0 })
        if (kept.entries.length === 0) assert.deepEqual(found, [])
        else {
          assert.deepEqual(found[0]?.conversation, kept)
          assert.deepEqual(found[0]?.session, session)
        }
      }),
      { numRuns: scaledRuns(60) },
    )
  })

  it('matches the official schema', () => {
    fc.assert(
      fc.property(eventSequences, events => {
        for (const line of linesOf(keptOf(events))) {
          assert.equal(JSON.parse(line).jsonrpc, '2.0')
          const [name, value] = officialPart(line) ?? []
          if (name !== undefined) assert(matchesSchema(1, false, name, value), line)
        }
      }),
      { numRuns: scaledRuns(60) },
    )
  })

  it('reads as the protocol: prompts, updates, responses', () => {
    const tool: Entry = {
      kind: 'tool_call',
      id: 'e2',
      turn: 1,
      toolCallId: 't',
      title: 'Edit a.ts',
      toolKind: 'edit',
      status: 'completed',
      content: [
        {
          type: 'diff',
          changes: [{ operation: 'modify', path: '/a.ts', oldText: 'a', newText: 'b' }],
        },
      ],
      locations: [{ path: '/a.ts', line: 3 }],
      rawInput: { path: '/a.ts' },
      canCancel: false,
    }
    const notice: Entry = { kind: 'notice', id: 'e3', turn: 1, severity: 'info', title: 'Restarted' }
    const end: Entry = { kind: 'turn_end', id: 'e5', turn: 2, stopReason: 'cancelled' }
    const entries = [
      message(0, 'Fix it', 'user'),
      message(1, 'Done'),
      tool,
      notice,
      message(4, 'Go on', 'user'),
      end,
    ]
    const said = linesOf({ entries, terminals: [], head: {} })
      .slice(1)
      .map(line => {
        const { id, method, params, result } = JSON.parse(line)
        return [
          ...(id ? [id] : []),
          method ?? result.stopReason,
          ...(params?.update ? [params.update.sessionUpdate] : []),
        ].join(' ')
      })
    assert.deepEqual(said, [
      '1 session/prompt',
      'session/update agent_message_chunk',
      'session/update tool_call',
      '_parley/notice',
      '1 end_turn',
      '2 session/prompt',
      '2 cancelled',
    ])
  })

  it('contains no secret, also one that became known after it was saved', () => {
    const secrets = new SecretRegistry()
    secrets.add('hunter2hunter2')
    const kept: SavedConversation = {
      entries: [message(0, 'The password is hunter2hunter2.')],
      terminals: [{ terminalId: 'x', output: 'hunter2hunter2', truncated: false }],
      head: { title: 'hunter2hunter2' },
    }
    const text = linesOf(kept, { ...session, title: 'hunter2hunter2' }, secrets).join('\n')
    assert(!text.includes('hunter2'))
    assert(text.includes('The password is •••.'))
  })

  it('keeps the complete parts of a damaged file, and counts the skipped ones', () => {
    const kept: SavedConversation = {
      entries: [message(0, 'one'), message(1, 'two'), message(2, 'three')],
      terminals: [],
      head: {},
    }
    const [head = '', one = '', two = '', three = ''] = linesOf(kept)
    const texts = (lines: string[]) => {
      const { found, skipped } = read(lines)
      const entries = found.flatMap(({ conversation }) => conversation.entries)
      return [entries.map(entry => entry.kind === 'message' && textOf(entry)).join(' '), skipped]
    }
    const textOf = ({ blocks }: Extract<Entry, { kind: 'message' }>) =>
      blocks[0]?.type === 'text' ? blocks[0].text : '?'
    const none = { lines: 0, entries: 0, newer: 0 }
    assert.deepEqual(texts([head, one, two, three]), ['one two three', none])
    assert.deepEqual(texts([head, one, two, three.slice(0, -5)]), [
      'one two',
      { ...none, lines: 1, entries: 1 },
    ])
    assert.deepEqual(texts([head, one]), ['one', { ...none, entries: 2 }])
    assert.deepEqual(texts([head, one, two, one, three]), ['one two three', { ...none, lines: 1 }])
    assert.deepEqual(texts([one, two, three]), ['', { ...none, lines: 3 }])
    assert.deepEqual(texts([head.replace('"format":1', '"format":2'), one, two, three]), [
      '',
      { ...none, newer: 1 },
    ])
    const odd = two.replace('"turn":1', '"turn":-1')
    assert.deepEqual(texts([head, one, odd, three]), ['one three', { ...none, entries: 1 }])
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const raw = `{"jsonrpc":"2.0","method":"_parley/unknown","params":{"entry":{"kind":"unknown","turn":1,"updateKind":"x","raw":${deep}},"_meta":{"parley":{"entry":1}}}}`
    assert.equal(texts([head, one, raw, three])[0], 'one false three')
  })

  it('reads any lines without an error', () => {
    const anyLine = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc
        .record({
          method: fc.constantFrom(
            '_parley/conversation',
            '_parley/terminal',
            'session/update',
            'session/prompt',
          ),
          params: fc.jsonValue(),
          result: fc.jsonValue(),
        })
        .map(value => JSON.stringify(value)),
      fc.constantFrom(
        ...linesOf({ entries: [message(0, 'a', 'user'), message(1, 'b')], terminals: [], head: {} }),
        '{"error":{"_meta":null,"data":{"_meta":{"parley":{"entry":0,"fields":{"kind":"message","blocks":[null],"turn":1,"role":"user"}}}}}}',
        '{"params":{"_meta":{"parley":{"entry":7,"fields":{"kind":"tool_call","toolCallId":"t","title":"","toolKind":"","status":"","content":[{"type":"diff"},null],"locations":[null],"canCancel":true,"turn":1}}}}}',
      ),
    )
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 12 }), lines => {
        for (const { conversation } of read(lines).found) linesOf(conversation)
      }),
    )
  })
})
