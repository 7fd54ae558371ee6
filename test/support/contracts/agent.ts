import assert from 'node:assert/strict'
import { type Agent, AgentClosedError, type AgentExit, AgentRequestError } from '../../../src/acp/agent.ts'
import type { SessionSetup, SessionUpdate } from '../../../src/acp/model.ts'
import { until } from '../until.ts'

/** A running agent and functions that control it, which a real agent doesn't need. */
export interface AgentUnderTest {
  agent: Agent
  /** The capabilities that the agent lacks. */
  lacks: ReadonlyArray<'load' | 'resume' | 'list' | 'close' | 'delete' | 'logout'>
  setup: SessionSetup
  /** Answers the pending request for a new session. */
  answerStart?(): void
  /** Sends a message in the running turn and ends it. */
  finishTurn?(sessionId: string): void
  /** Sends a message in the running turn. */
  work?(sessionId: string): void
  /** Ends the turn that was canceled. */
  stopTurn?(sessionId: string): void
  /** The agent's process exits by itself, or the connection to it is cut. */
  exit(): void
  /** By default, that a process exited. */
  exitReason?: AgentExit['reason']
}

const HELLO = [{ type: 'text' as const, text: 'hello' }]

/** The contract of every v1 agent and of its fakes. */
export function agentContract(create: () => Promise<AgentUnderTest>): void {
  const open = async () => {
    const tested = await create()
    const { agent, setup } = tested
    const said: SessionUpdate[] = []
    const exits: AgentExit[] = []
    const start = agent.newSession(setup)
    tested.answerStart?.()
    const { sessionId } = await start
    agent.onUpdate(one => one.sessionId === sessionId && said.push(one.update))
    agent.onDidClose(exit => exits.push(exit))
    const states = () => said.flatMap(update => (update.type === 'state' ? [update] : []))
    return { ...tested, sessionId, said, states, exits }
  }
  const closed = (promise: Promise<unknown>) => assert.rejects(promise, AgentClosedError)

  it('reports a turn from its start to its end before the prompt resolves', async () => {
    const { agent, sessionId, said, states, finishTurn } = await open()
    const turn = agent.prompt(sessionId, HELLO)
    await until(() => states().length > 0)
    assert.deepEqual(said[0], { type: 'state', state: 'running' })
    finishTurn?.(sessionId)
    await turn
    const { type, ...last } = said.at(-1)!
    assert.deepEqual({ type, ...last }, { type: 'state', state: 'idle', stopReason: 'end_turn' })
    assert.equal(states().length, 2)
    assert.ok(
      said.some(update => update.type === 'message_chunk'),
      JSON.stringify(said.map(one => one.type)),
    )
  })

  it('resolves a prompt that the user stops, and reports the turn as canceled', async () => {
    const { agent, sessionId, said, states, work, stopTurn } = await open()
    const turn = agent.prompt(sessionId, HELLO)
    work?.(sessionId)
    await until(() => said.some(update => update.type === 'message_chunk'))
    agent.cancel(sessionId)
    stopTurn?.(sessionId)
    await turn
    assert.deepEqual(states().at(-1), { type: 'state', state: 'idle', stopReason: 'cancelled' })
  })

  it("stops waiting for a new session as soon as it's canceled", async () => {
    const { agent, setup, answerStart } = await create()
    const aborting = new AbortController()
    let late: string | undefined
    const start = agent.newSession(setup, aborting.signal, ({ sessionId }) => {
      late = sessionId
    })
    aborting.abort()
    await assert.rejects(start, { name: 'AgentRequestError', kind: 'cancelled' })
    answerStart?.()
    await until(() => late !== undefined, 'the session that came too late')
    await assert.rejects(agent.newSession(setup, AbortSignal.abort()), { kind: 'cancelled' })
  })

  it("rejects what it doesn't support", async () => {
    const { agent, lacks, sessionId, setup } = await open()
    const calls = {
      load: () => agent.loadSession(sessionId, setup),
      resume: () => agent.resumeSession(sessionId, setup),
      list: () => agent.listSessions({}),
      close: () => agent.closeSession(sessionId),
      delete: () => agent.deleteSession(sessionId),
      logout: () => agent.logout(),
    }
    assert.ok(lacks.length > 0)
    for (const lacking of lacks) {
      assert.ok(!agent.capabilities[lacking], lacking)
      await assert.rejects(calls[lacking](), (error: unknown) => {
        assert.ok(error instanceof AgentRequestError, `${lacking}: ${error}`)
        assert.equal(error.kind, 'unsupported', lacking)
        return true
      })
    }
  })

  it('ends every request once when its process exits', async () => {
    const { agent, setup, sessionId, said, states, exits, work, exit, exitReason } = await open()
    const turn = agent.prompt(sessionId, HELLO)
    turn.catch(() => {})
    work?.(sessionId)
    await until(() => said.some(update => update.type === 'message_chunk'))
    exit()
    await closed(turn)
    const last = states().at(-1)
    assert.ok(last && 'stopReason' in last, JSON.stringify(last))
    assert.equal(last.stopReason, 'error')
    assert.ok(last.error?.message)
    await until(() => exits.length > 0)
    assert.equal(exits[0]!.reason, exitReason ?? 'exited')
    for (const request of [agent.newSession(setup), agent.prompt(sessionId, HELLO)]) await closed(request)
    agent.cancel(sessionId)
    agent.dispose()
    assert.equal(exits.length, 1)
  })

  it("ends once when it's disposed", async () => {
    const { agent, setup, exits } = await open()
    const start = agent.newSession(setup)
    start.catch(() => {})
    agent.dispose()
    agent.dispose()
    await closed(start)
    await until(() => exits.length > 0)
    assert.equal(exits[0]!.reason, 'disposed')
    assert.equal(exits.length, 1)
  })
}
