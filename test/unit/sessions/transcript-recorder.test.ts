import { strict as assert } from 'node:assert'
import { mock } from 'node:test'
import { restoreState } from '../../../src/conversation/replay/restore-state.ts'
import { Session } from '../../../src/conversation/session.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import { TranscriptRecorder } from '../../../src/sessions/transcript-recorder.ts'
import { FakeAgent, settle } from '../conversation/fake-agent.ts'
import { MemoryTranscripts } from './sessions-fixture.ts'

const chunk = (text: string) =>
  ({ type: 'message_chunk', role: 'agent', content: { type: 'text', text } }) as const
const running = { type: 'state', state: 'running' } as const
const idle = { type: 'state', state: 'idle', stopReason: 'end_turn' } as const

describe('TranscriptRecorder', () => {
  let agent: FakeAgent
  let session: Session
  let transcripts: MemoryTranscripts
  let recorder: TranscriptRecorder

  function keep(phase: 'ready' | 'loading'): void {
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    agent = new FakeAgent()
    session = new Session({ agent, sessionId: 's', setup, phase })
    transcripts = new MemoryTranscripts()
    recorder = new TranscriptRecorder('a', session, transcripts)
  }
  const written = () =>
    transcripts.writes.reduce((sum, write) => sum + JSON.stringify([write.entries, write.texts]).length, 0)
  const kept = () => transcripts.read('a', 's')?.entries

  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => {
    recorder.dispose()
    mock.timers.reset()
  })

  it('records that a turn was interrupted, which is only detected on load', () => {
    keep('ready')
    session.receive(running)
    session.receive(chunk('Half of'))
    mock.timers.tick(1000)
    const crashed = transcripts.read('a', 's')
    assert.equal(crashed?.head.working, true)
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    const agent = new FakeAgent()
    const again = new Session({ agent, sessionId: 's', setup, phase: 'ready', state: restoreState(crashed!) })
    const other = new TranscriptRecorder('a', again, transcripts)
    again.receive(running)
    again.receive({ type: 'message', role: 'user', messageId: 'u', content: [] } as never)
    again.receive(idle)
    mock.timers.tick(1000)
    assert.deepEqual(kept(), again.state.entries)
    assert.deepEqual(
      again.state.entries.slice(0, 2).map(({ kind }) => kind),
      ['message', 'turn_end'],
    )
    assert.equal(transcripts.read('a', 's')?.head.working, false)
    other.dispose()
  })

  it('writes the options with which the session began, once there is something to write', () => {
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    session = new Session({ agent: new FakeAgent(), sessionId: 's', setup, phase: 'ready' })
    const option = { type: 'boolean', id: 'web', name: 'Web', currentValue: true } as const
    session.start({ sessionId: 's', configOptions: [option] })
    transcripts = new MemoryTranscripts()
    recorder = new TranscriptRecorder('a', session, transcripts)
    recorder.flush()
    assert.equal(transcripts.writes.length, 0)
    session.receive(running)
    session.receive(chunk('Done.'))
    mock.timers.tick(1000)
    session.receive(chunk(' Well.'))
    mock.timers.tick(1000)
    assert.deepEqual(transcripts.options('a', 's'), [option])
    assert.equal(transcripts.writes.filter(({ options }) => options).length, 1)
  })

  it("writes the whole conversation if changes can't be written, even without another change", () => {
    keep('ready')
    session.receive(running)
    session.receive(chunk('Half of'))
    mock.timers.tick(1000)
    const { write } = transcripts
    // another window has written to it meanwhile
    transcripts.write = (...args) => args[2].replace && write.apply(transcripts, args)
    session.receive(chunk(' it'))
    session.receive(idle)
    mock.timers.tick(1000)
    mock.timers.tick(1000)
    assert.equal(transcripts.writes.at(-1)?.replace, true)
    assert.deepEqual(kept(), session.state.entries)
    const { length } = transcripts.writes
    transcripts.fails = true
    session.receive(running)
    mock.timers.tick(10_000)
    assert.equal(transcripts.writes.length, length)
  })

  it('writes only what was appended to a growing text', () => {
    keep('ready')
    session.receive(running)
    session.receive(chunk('The beginning.'))
    mock.timers.tick(1000)
    const costOf = (seconds: number) => {
      const before = written()
      for (let second = 0; second < seconds; second++) {
        for (let i = 0; i < 40; i++) session.receive(chunk(' and twenty-four characters'))
        mock.timers.tick(1000)
      }
      return written() - before
    }
    const early = costOf(10)
    costOf(200)
    assert.equal(costOf(10), early)
    assert.deepEqual(kept(), session.state.entries)
    const writes = transcripts.writes.length
    session.receive(idle)
    mock.timers.tick(0)
    assert.equal(transcripts.writes.length, writes + 1)
    assert.equal(transcripts.writes.at(-1)?.entries.length, 1, 'put together once the agent rests')
    assert.deepEqual(kept(), session.state.entries)
  })

  it('writes the output of a background command in pieces, of which a crash loses at most 100 ms', () => {
    keep('ready')
    session.receive(chunk('It runs.'))
    session.receive({ type: 'terminal', terminal: { terminalId: 't', output: 'x'.repeat(10_000) } })
    mock.timers.tick(0)
    const before = transcripts.writes.length
    for (let i = 0; i < 100; i++) {
      session.receive({ type: 'terminal_output', terminalId: 't', text: 'line\n' })
      mock.timers.tick(10)
    }
    mock.timers.tick(100)
    const later = transcripts.writes.slice(before)
    assert.ok(later.length >= 10 && later.length <= 13, `${later.length} writes`)
    assert.deepEqual(
      later.flatMap(({ terminals }) => terminals),
      [],
    )
    const outputs = later.flatMap(one => one.outputs ?? [])
    assert.equal(outputs.map(({ text }) => text).join(''), 'line\n'.repeat(100))
    assert.equal(
      transcripts.read('a', 's')?.terminals[0]?.output === session.state.terminals.get('t')?.output,
      true,
    )
  })

  it('loses at most 100 ms of any text in a crash during a turn', () => {
    keep('ready')
    session.receive(running)
    const from = (said: string) => ({ type: 'text', text: said }) as const
    session.receive({ type: 'subagent', subagent: { sessionId: 'sub', title: 'Helper' } })
    session.receive({
      type: 'session_message',
      message: { messageId: 'm', from: 's', to: 'sub', content: [from('Look')] },
    })
    session.receive({
      type: 'compaction',
      compactionId: 'c',
      status: 'in_progress',
      summary: [from('So far')],
    })
    const texts = (entries: readonly Entry[] | undefined) =>
      (entries ?? []).map(entry => {
        const blocks =
          entry.kind === 'compaction' ? entry.summary : 'blocks' in entry ? entry.blocks : undefined
        return [entry.kind, blocks?.map(block => (block.type === 'text' ? block.text : '?')).join('')]
      })
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 10; i++) {
        session.receive({ type: 'session_message_chunk', messageId: 'm', content: from(` more ${i}`) })
        session.receive({ type: 'compaction_chunk', compactionId: 'c', content: from(` and ${i}`) })
        session.receive({ ...chunk(`said ${i}`), messageId: 'a' })
        session.receive({ ...chunk(`thought ${i}`), role: 'thought', messageId: 't' })
        session.receive(chunk(`helped ${i}`), 'sub')
      }
      mock.timers.tick(100)
      // what would be read after a crash now
      assert.deepEqual(texts(kept()), texts(session.state.entries))
    }
    assert.equal(texts(kept()).length, 6)
  })

  it('writes the content of a tool call that is replaced again and again once per second, its status at once', () => {
    keep('ready')
    session.receive(running)
    const content = (text: string) => [{ type: 'content', content: { type: 'text', text } }] as never
    session.receive({ type: 'tool_call', toolCall: { toolCallId: 't', status: 'in_progress' } })
    mock.timers.tick(0)
    const before = transcripts.writes.length
    for (let i = 0; i < 100; i++) {
      session.receive({ type: 'tool_call', toolCall: { toolCallId: 't', content: content('x'.repeat(i)) } })
      mock.timers.tick(10)
    }
    assert.equal(transcripts.writes.length, before + 1)
    session.receive({ type: 'tool_call', toolCall: { toolCallId: 't', status: 'completed' } })
    mock.timers.tick(0)
    assert.deepEqual(kept(), session.state.entries)
  })

  it('has a prompt for the running turn on disk before the queue drops it', async () => {
    keep('ready')
    agent.capabilities.steering = true
    void session.prompt([{ type: 'text', text: 'first' }])
    session.receive(running)
    void session.prompt([{ type: 'text', text: 'second' }])
    session.turns.steer(session.turns.queue.queued.at(-1)!.id)
    mock.timers.tick(0)
    let whenDropped: unknown
    session.turns.queue.onDidChange(() => {
      if (session.turns.queue.prompts.length === 0) whenDropped ??= structuredClone(kept()?.at(-1))
    })
    agent.steered[0]!.answer.resolve('injected')
    await settle()
    assert.equal((whenDropped as { steering?: string }).steering, 'injected')
  })

  it('writes a replay only once, when it is complete', () => {
    keep('loading')
    for (let i = 0; i < 1000; i++) {
      session.receive(chunk('one'))
      session.receive({ type: 'tool_call', toolCall: { toolCallId: `t${i}` } })
      mock.timers.tick(1)
    }
    assert.equal(transcripts.writes.length, 0)
    session.loaded()
    mock.timers.tick(100)
    assert.equal(transcripts.writes.length, 0, 'not while it is being drawn')
    mock.timers.tick(900)
    assert.equal(transcripts.writes.length, 1)
    assert.deepEqual(kept(), session.state.entries)
  })

  it('writes everything again after a failed write', () => {
    keep('ready')
    session.receive(running)
    session.receive(chunk('one'))
    mock.timers.tick(1000)
    transcripts.fails = true
    session.receive(chunk(' two'))
    mock.timers.tick(1000)
    transcripts.fails = false
    session.receive(chunk(' three'))
    mock.timers.tick(1000)
    assert.deepEqual(kept(), session.state.entries)
  })

  it('writes everything once the disk has room, even without another change', () => {
    keep('ready')
    transcripts.fails = true
    session.receive(running)
    session.receive(chunk('All of it'))
    session.receive(idle)
    mock.timers.tick(20_000)
    assert.equal(kept(), undefined)
    transcripts.fails = false
    mock.timers.tick(6000)
    assert.deepEqual(kept(), session.state.entries)
    const { length } = transcripts.writes
    mock.timers.tick(20_000)
    assert.equal(transcripts.writes.length, length)
  })

  it("doesn't write a conversation again after its end, when another recorder may continue it", () => {
    keep('ready')
    transcripts.fails = true
    session.receive(chunk('First'))
    mock.timers.tick(20_000)
    recorder.dispose()
    mock.timers.tick(2000)
    transcripts.fails = false
    mock.timers.tick(20_000)
    assert.equal(kept(), undefined)
  })
})
