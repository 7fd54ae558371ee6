import { strict as assert } from 'node:assert'
import type { SessionUpdate, TerminalPatch } from '../../../src/acp/model.ts'
import { createSessionState } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocalWithin, reduceWithin } from '../../../src/conversation/reducer/reduce-within.ts'
import { restoreState } from '../../../src/conversation/replay/restore-state.ts'
import { lastLine, runningWork } from '../../../src/conversation/running-work.ts'
import { cpuTime } from '../../support/cpu-time.ts'
import { chunk, text, tool } from './updates.ts'

const shows = (terminalId: string) => [{ type: 'terminal', terminalId } as const]

/** A session in a turn. `play`: in a subagent, if one is named. */
function working() {
  const state = createSessionState()
  let now = 0
  const play = (update: SessionUpdate, within?: string) => reduceWithin(state, within, update, ++now)
  const local = (event: Parameters<typeof reduceLocalWithin>[1]) => reduceLocalWithin(state, event, ++now)
  const terminal = (terminalId: string, patch: Omit<TerminalPatch, 'terminalId'> = {}) =>
    play({ type: 'terminal', terminal: { terminalId, ...patch } })
  const idle = (more: object = {}, within?: string) =>
    play({ type: 'state', state: 'idle', stopReason: 'end_turn', ...more }, within)
  const subagent = (sessionId: string, activity: string, more: object = {}) =>
    play({
      type: 'subagent',
      subagent: { sessionId, title: sessionId, canCancel: true, state: { activity }, ...more },
    })
  /** What runs: the ids, and the number of others. `commands`: the client's. */
  const runs = (...commands: string[]) => {
    const { work, others } = runningWork(state, new Map(commands.map(id => [id, undefined])))
    return [...work.map(({ id }) => Object.values(id)[0]), ...(others > 0 ? [others] : [])]
  }
  local({ type: 'prompt', content: [text('Go')] })
  return { state, play, local, terminal, idle, subagent, runs }
}

describe('the work that outlives its tool call or its turn', () => {
  it("contains a command of the client once its tool call is over, its turn is, or a new turn begins, but not the turn's own", () => {
    const { play, local, terminal, idle, runs } = working()
    terminal('own', { command: 'make' })
    play(tool('t1', { status: 'in_progress', content: shows('own') }))
    terminal('loose', { command: 'watch' })
    assert.deepEqual(runs('own', 'loose'), [])
    play(tool('t1', { status: 'completed' }))
    assert.deepEqual(runs('own', 'loose'), ['own'])
    idle()
    assert.deepEqual(runs('own', 'loose'), ['loose', 'own'])
    local({ type: 'prompt', content: [text('More')] })
    assert.deepEqual(runs('own'), ['own'])
    terminal('own', { exit: { exitCode: 0, signal: null } })
    assert.deepEqual(runs('own'), [])
  })

  it("contains an agent's terminals that it lists, or says can be stopped while it lists nothing", () => {
    const { play, terminal, idle, runs } = working()
    for (const id of ['listed', 'stoppable', 'mute'])
      terminal(id, { command: id, canCancel: id === 'stoppable' })
    play(tool('t1', { status: 'completed', content: [...shows('listed'), ...shows('stoppable')] }))
    assert.deepEqual(runs(), ['stoppable'])
    idle({ background: ['none'], backgroundTerminals: ['listed', 'unknown'], backgroundOthers: 2 })
    assert.deepEqual(runs(), ['listed', 4])
    // an agent that never takes it off its list
    terminal('listed', { exit: { exitCode: 1, signal: null } })
    assert.deepEqual(runs(), [4])
  })

  it('contains tool calls that the agent lists, each once, and the later one with an id that is used again', () => {
    const { state, play, local, terminal, idle, runs } = working()
    terminal('x', { command: 'serve' })
    play(tool('serve', { status: 'in_progress', content: shows('x') }))
    play(tool('watch', { title: 'First', status: 'completed' }))
    idle({ background: ['serve'], backgroundTerminals: ['x'] })
    assert.deepEqual(runs(), ['x'])
    local({ type: 'prompt', content: [text('More')] })
    play({ type: 'tool_call', toolCall: { toolCallId: 'watch', title: 'Second' }, isNew: true })
    idle({ background: ['watch'] })
    assert.deepEqual(
      runningWork(state, new Map()).work.map(({ title, entry }) => [title, entry?.index]),
      [['Second', 4]],
    )
    play(tool('watch', { status: 'failed' }))
    assert.deepEqual(runs(), [])
  })

  it('contains subagents that run without a turn, or as the agent lists them, and what they left running', () => {
    const { play, idle, subagent, runs } = working()
    subagent('child', 'running')
    assert.deepEqual(runs(), [])
    idle()
    assert.deepEqual(runs(), ['child'])
    play(tool('sleep', { status: 'in_progress' }), 'child')
    idle({ background: ['sleep'] }, 'child')
    assert.deepEqual(runs(), ['sleep'])
    // one that ends without saying so is not on the list
    subagent('other', 'running')
    idle({ background: [] })
    assert.deepEqual(runs(), ['sleep'])
    idle({ background: [], backgroundSubagents: ['other'] })
    assert.deepEqual(runs(), ['sleep', 'other'])
    subagent('other', 'idle')
    // idle itself, it can only be listed for work of its own
    assert.deepEqual(runs(), ['sleep', 'other'])
  })

  it('has tool calls of several subagents apart that use the same id', () => {
    const { state, play, idle, subagent } = working()
    for (const id of ['a', 'b']) {
      subagent(id, 'running')
      play(
        tool('t', { status: 'in_progress', content: [{ type: 'content', content: text(`of ${id}`) }] }),
        id,
      )
      idle({ background: ['t'] }, id)
    }
    const ids = runningWork(state, new Map()).work.flatMap(({ id }) => ('toolCallId' in id ? id : []))
    assert.deepEqual(ids, [
      { toolCallId: 't', within: 'a' },
      { toolCallId: 't', within: 'b' },
    ])
    assert.deepEqual(
      ids.map(id => lastLine(state, id)),
      ['of a', 'of b'],
    )
  })

  it('ends with the agent, and is empty in a stored conversation', () => {
    const { state, local, play, terminal, idle, subagent, runs } = working()
    terminal('x', { canCancel: true })
    subagent('child', 'running')
    play(tool('watch', { status: 'in_progress' }))
    idle({ background: ['watch'], backgroundTerminals: ['x'], backgroundSubagents: ['child'] })
    assert.equal(runs().length, 3)
    const stored = structuredClone({
      entries: state.entries,
      terminals: [...state.terminals.values()],
      head: {},
    })
    const empty = { work: [], others: 0 }
    assert.deepEqual(runningWork(restoreState(stored), new Map()), empty)
    local({ type: 'agent_gone' })
    assert.deepEqual(runs(), [])
  })

  it('is listed up to 200, and the others are counted', () => {
    const { terminal, idle, state } = working()
    for (let i = 0; i < 250; i++) terminal(`x${i}`, { command: `serve ${i}\nmore`, canCancel: true })
    idle()
    const { work, others } = runningWork(state, new Map())
    assert.deepEqual([work.length, others, work[0]?.title], [200, 50, 'serve 0'])
  })

  it('takes no longer to find in a conversation with much else', () => {
    const { play, terminal, idle, state } = working()
    for (let i = 0; i < 200; i++) {
      terminal(`x${i}`, { canCancel: true })
      play(tool(`t${i}`, { status: 'completed', content: shows(`x${i}`) }))
    }
    for (let i = 0; i < 20_000; i++) play(tool(`other ${i}`, { status: 'completed' }))
    idle()
    const took = cpuTime(() => {
      for (let i = 0; i < 100; i++) runningWork(state, new Map())
    })
    assert(took < 1500, `${took} ms`)
  })
})

describe('the last line of running work', () => {
  it('is what the terminal shows, without colors, progress that was overwritten and all before', () => {
    const { state, play, terminal } = working()
    terminal('x', {})
    play({
      type: 'terminal_output',
      terminalId: 'x',
      text: `${'much\n'.repeat(200_000)}\u001b[32m 10 %\r 90 %\u001b[0m\n\n`,
    })
    assert.equal(lastLine(state, { terminalId: 'x' }), '90 %')
    terminal('long', {})
    play({ type: 'terminal_output', terminalId: 'long', text: 'a'.repeat(10_000_000) })
    assert.equal(lastLine(state, { terminalId: 'long' }).length, 300)
    assert.equal(lastLine(state, { terminalId: 'unknown' }), '')
  })

  it('is the last text or title of a subagent, and the last text of a tool call', () => {
    const { state, play, subagent } = working()
    subagent('child', 'running')
    assert.equal(lastLine(state, { subagentId: 'child' }), '')
    play(chunk('agent', 'I look.\nThere it is.'), 'child')
    assert.equal(lastLine(state, { subagentId: 'child' }), 'There it is.')
    play(tool('t', { title: 'Read it', content: [{ type: 'content', content: text('one\ntwo') }] }), 'child')
    assert.equal(lastLine(state, { subagentId: 'child' }), 'Read it')
    assert.equal(lastLine(state, { toolCallId: 't', within: 'child' }), 'two')
    assert.equal(lastLine(state, { toolCallId: 'unknown' }), '')
  })
})
