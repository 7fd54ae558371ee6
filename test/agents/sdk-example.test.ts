import assert from 'node:assert/strict'
import { agentContract } from '../support/contracts/agent.ts'
import { assertSettled, entriesOfKind, messageTexts, waitForState } from './expect.ts'
import { AgentRig, allow, reject } from './rig.ts'

/** The SDK's example agent. Its turns take five seconds, so they run concurrently. */
describe('sdk-example, through Parley', () => {
  let rig: AgentRig
  before(async function () {
    this.timeout(300_000)
    rig = await AgentRig.create('sdk-example')
    await rig.startScenario('turns')
  })
  after(() => rig?.close())

  it('start: reports that it supports only turns', async () => {
    const { agent } = await rig.running()
    assert.equal(agent.protocolVersion, 1)
    const { load, resume, list, close } = agent.capabilities
    assert.deepEqual({ load, resume, list, close }, { load: false, resume: false, list: false, close: false })
    await assert.rejects(rig.reopen('load', 'any'), { kind: 'unsupported' })
    await assert.rejects(agent.listSessions({}), { kind: 'unsupported' })
  })

  it('edit, reject and cancel: works in three concurrent sessions', async () => {
    const [allowed, rejected, cancelled] = [await rig.create(), await rig.create(), await rig.create()]
    rig.answerPolicy = question => {
      const asked = entriesOfKind(rejected.session.state, 'permission').includes(question)
      return asked ? reject(question) : allow(question)
    }
    const turns = [allowed, rejected, cancelled].map(open => rig.promptScenario(open, 'hello'))
    await waitForState(cancelled.session, state => entriesOfKind(state, 'tool_call').length > 0)
    rig.cancel(cancelled)
    assert.deepEqual(await Promise.all(turns), [
      { type: 'ended', stopReason: 'end_turn' },
      { type: 'ended', stopReason: 'end_turn' },
      { type: 'ended', stopReason: 'cancelled' },
    ])
    const [yes, no, stopped] = [allowed, rejected, cancelled].map(({ session }) => session.state)
    assert.ok(yes && no && stopped)
    const calls = (state: typeof yes) => entriesOfKind(state, 'tool_call').map(({ status }) => status)
    assert.deepEqual(calls(yes), ['completed', 'completed'])
    assert.match(messageTexts(yes).at(-1) ?? '', /successfully updated/)
    assert.match(messageTexts(no).at(-1) ?? '', /skip/i)
    assert.deepEqual(calls(stopped), ['cancelled'])
    assert.deepEqual(
      [yes, no].map(state => entriesOfKind(state, 'permission')[0]?.outcome),
      [
        { type: 'selected', optionId: 'allow' },
        { type: 'selected', optionId: 'reject' },
      ],
    )
    for (const state of [yes, no, stopped]) assertSettled(state)
  })

  describe('like every agent', () => {
    agentContract(async () => {
      await rig.restart()
      const { agent } = await rig.running()
      return {
        agent,
        lacks: ['load', 'resume', 'list', 'close', 'delete', 'logout'],
        setup: { cwd: rig.workspace, additionalDirectories: [], mcpServers: [] },
        exit: () => {
          for (const { pid } of rig.processes()) process.kill(pid, 'SIGKILL')
        },
      }
    })
  })

  it('end: leaves no process behind', async () => {
    await rig.restart()
    assert.deepEqual(rig.processes(), [])
  })
})
