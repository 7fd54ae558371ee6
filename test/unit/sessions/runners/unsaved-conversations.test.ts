import assert from 'node:assert/strict'
import type { Entry } from '../../../../src/conversation/state.ts'
import { until } from '../../../support/until.ts'
import { type SessionsFixture, sendPrompt } from '../sessions-fixture.ts'
import { HostedSuite } from './hosted-suite.ts'

/** Answers each prompt with as many pieces of text as its second word says, 10 ms apart. */
const AGENT = `
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
  const turn = async (id, { sessionId, prompt: [{ text }] }) => {
    const [name, count, size = 0] = text.split(' ')
    for (let i = 0; i < count; i++) {
      await sleep(10)
      const content = { type: 'text', text: name + i + 'x'.repeat(size) + '.' }
      send({ method: 'session/update', params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } } })
    }
    send({ id, result: { stopReason: 'end_turn' } })
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
    if (method === 'session/new') send({ id, result: { sessionId: 's1' } })
    if (method === 'session/prompt') void turn(id, params)
  })
`

describe("a conversation that can't be stored, whose agent outlives its window", () => {
  const suite = new HostedSuite()
  const last = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
  let open: () => SessionsFixture
  beforeEach(() => {
    open = suite.opener(suite.hosting(AGENT))
  })

  const session = (window: SessionsFixture) => window.controller.current!.session
  const stored = (window: SessionsFixture) => said(window.transcripts.read('one', 's1')?.entries)
  const isKept = (window: SessionsFixture) => window.manager.list()[0]!.recorder!.unsaved !== undefined
  const isIdle = (window: SessionsFixture) =>
    until(() => session(window).state.activity === 'idle', 'the end')
  const restored = async (change: (next: SessionsFixture) => void = () => {}) => {
    const next = open()
    change(next)
    await Promise.all([next.hosted!.start(), next.controller.opener.restore(last)])
    await until(() => next.controller.current?.session.phase === 'ready', 'the session')
    return next
  }
  /** What a prompt and its answer consist of. */
  const turn = (name: string, count: number) => [
    `${name} ${count}`,
    Array.from({ length: count }, (_, i) => `${name}${i}.`).join(''),
  ]

  async function begin(): Promise<SessionsFixture> {
    const first = open()
    await first.controller.opener.start('one')
    await sendPrompt(first.controller, 'a 3')
    await until(() => JSON.stringify(stored(first)) === JSON.stringify(turn('a', 3)), 'the first turn')
    await isIdle(first)
    return first
  }

  const ends: Record<string, (window: SessionsFixture) => unknown> = {
    reloads: window => window.close(),
    'is killed': window => window.kill(),
  }
  for (const [how, end] of Object.entries(ends))
    it(`is whole and in order in the next window, and stored later, when its window ${how} in a turn`, async () => {
      const first = await begin()
      first.transcripts.fails = true
      await sendPrompt(first.controller, 'b 100')
      await until(() => JSON.stringify(session(first).state.entries).includes('b60.'), 'a part of the turn')
      // it has tried to store the prompt
      await until(() => isKept(first), 'what is kept')
      await end(first)
      const second = await restored()
      await isIdle(second)
      assert.deepEqual(said(session(second).state.entries), [...turn('a', 3), ...turn('b', 100)])
      await sendPrompt(second.controller, 'c 5')
      await until(() => JSON.stringify(session(second).state.entries).includes('c4.'), 'the next turn')
      await isIdle(second)
      const all = [...turn('a', 3), ...turn('b', 100), ...turn('c', 5)]
      assert.deepEqual(stored(second), turn('a', 3))
      await end(second)
      const third = await restored()
      assert.deepEqual(said(session(third).state.entries), all)
      third.transcripts.fails = false
      await until(() => stored(third).length === all.length, 'all of it on disk')
      assert.deepEqual(stored(third), all)
      await until(() => !isKept(third), 'nothing is kept anymore')
    })

  it('is opened by the next window also if its session is not in the stored list', async () => {
    const first = open()
    first.transcripts.fails = true
    await first.controller.opener.start('one')
    await sendPrompt(first.controller, 'a 5')
    await isIdle(first)
    await first.close()
    const second = await restored(({ records }) => records.forget('one', 's1'))
    assert.deepEqual(said(session(second).state.entries), turn('a', 5))
    assert.equal(second.records.get('one', 's1')?.cwd, '/w/a')
  })

  it('is whole also if it is more than is passed on at once', async () => {
    const first = await begin()
    first.transcripts.fails = true
    await sendPrompt(first.controller, 'b 60 100000')
    await until(() => JSON.stringify(session(first).state.entries).includes('b59x'), 'the turn')
    await isIdle(first)
    await until(() => first.manager.list()[0]!.recorder!.isUnsavedTooLarge, 'more than is passed on')
    first.kill()
    const second = await restored()
    await isIdle(second)
    const texts = said(session(second).state.entries)
    assert.deepEqual(texts.slice(0, 3), [...turn('a', 3), 'b 60 100000'])
    const whole = Array.from({ length: 60 }, (_, i) => `b${i}${'x'.repeat(100_000)}.`).join('')
    assert.ok(
      texts[3] === whole && texts.length === 4,
      `${texts.length} texts, ${texts[3]?.length} characters`,
    )
  })

  it('is not replaced by what could not be stored before', async () => {
    const first = await begin()
    first.transcripts.fails = true
    await sendPrompt(first.controller, 'b 5')
    await isIdle(first)
    await until(() => isKept(first), 'what is kept')
    first.transcripts.fails = false
    await sendPrompt(first.controller, 'c 5')
    await until(() => JSON.stringify(session(first).state.entries).includes('c4.'), 'the next turn')
    await until(() => stored(first).length === 6, 'all of it on disk')
    // the host may still have it
    first.kill()
    const second = await restored()
    assert.deepEqual(said(session(second).state.entries), stored(first))
  })
})

function said(entries: readonly Entry[] = []): string[] {
  return entries.flatMap(entry => {
    if (entry.kind === 'turn_end') return 'interrupted'
    if (entry.kind !== 'message') return []
    return entry.blocks.map(block => (block.type === 'text' ? block.text : '?')).join('')
  })
}
