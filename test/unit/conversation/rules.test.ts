import assert from 'node:assert/strict'
import { Session } from '../../../src/conversation/session.ts'
import type {
  AppliedRule,
  Change,
  RuleAnswer,
  SessionActivity,
  ToolCallEntry,
} from '../../../src/conversation/state.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { permissionRequest, running, tool } from './updates.ts'

const rule: AppliedRule = { action: 'allow', scope: 'user', text: 'npm test *' }

function make() {
  const activities: SessionActivity[] = []
  const session = new Session({
    agent: new FakeAgent(),
    sessionId: 's',
    setup: { cwd: '/w', additionalDirectories: [], mcpServers: [] },
    phase: 'ready',
  })
  session.onDidChange((changes: Change[]) => {
    if (changes.some(change => change.type === 'head' && change.key === 'activity')) {
      activities.push(session.state.activity)
    }
  })
  void session.prompt([{ type: 'text', text: 'go' }])
  session.receive(running)
  return { session, activities }
}
const never = new AbortController().signal

describe('Session: permission rules', () => {
  it('answer a request without asking the user, and are shown with it', async () => {
    const { session, activities } = make()
    session.receive(tool('t', { kind: 'execute', title: 'npm test', rawInput: { command: 'npm test' } }))
    let asked: unknown
    session.requests.answerByRule = async (_request, call) => {
      asked = call
      return { optionId: 'yes', rule }
    }
    const request = permissionRequest({
      subject: { type: 'tool_call', toolCall: { toolCallId: 't', title: 'Run' } },
    })
    assert.deepEqual(await session.requests.requestPermission(request, never), {
      type: 'selected',
      optionId: 'yes',
    })
    const call = asked as ToolCallEntry
    assert.deepEqual([call.title, call.toolKind, call.rawInput], ['Run', 'execute', { command: 'npm test' }])
    const entry = session.state.entries.at(-1)
    assert.equal(entry?.kind, 'permission')
    assert.deepEqual(entry.outcome, { type: 'selected', optionId: 'yes' })
    assert.deepEqual(entry.rule, rule)
    assert.deepEqual(
      activities.filter(one => one === 'requires_action'),
      [],
    )
    assert.deepEqual(session.requests.open, [])
  })

  it('leave a request to the user if none matches', async () => {
    const { session } = make()
    session.requests.answerByRule = async () => undefined
    const answer = session.requests.requestPermission(permissionRequest(), never)
    await settle()
    const [waiting] = session.requests.open
    assert.equal(session.state.activity, 'requires_action')
    assert.equal(
      session.requests.permission(waiting?.requestId ?? '')?.request.title,
      permissionRequest().title,
    )
    const option = permissionRequest().options[0]?.optionId
    session.requests.answerPermission(waiting?.requestId ?? '', option)
    assert.deepEqual(await answer, { type: 'selected', optionId: option })
  })

  it('are explained to the user if one matches and refuses', async () => {
    const { session } = make()
    session.requests.answerByRule = async () => ({ refusal: 'It could write.' })
    void session.requests.requestPermission(permissionRequest(), never)
    await settle()
    const entry = session.state.entries.at(-1)
    assert.ok(entry?.kind === 'permission')
    assert.deepEqual([entry.refusal, entry.outcome], ['It could write.', undefined])
    assert.equal(session.state.activity, 'requires_action')
  })

  it("don't answer after the turn was stopped or the request was canceled", async () => {
    for (const stop of ['cancel', 'withdraw'] as const) {
      const { session } = make()
      let settleRule: (answer: RuleAnswer) => void = () => {}
      session.requests.answerByRule = () =>
        new Promise(resolve => {
          settleRule = resolve
        })
      const withdrawn = new AbortController()
      const answer = session.requests.requestPermission(permissionRequest(), withdrawn.signal)
      await settle()
      if (stop === 'cancel') session.turns.cancel()
      else withdrawn.abort()
      settleRule({ optionId: 'yes', rule })
      assert.deepEqual(await answer, { type: 'cancelled' })
      assert.equal(
        session.state.entries.some(entry => entry.kind === 'permission'),
        false,
      )
    }
  })

  it('answer what waits for the user when the user allows more', async () => {
    const { session } = make()
    session.requests.answerByRule = async ({ title }) =>
      title === 'ls' ? { optionId: 'yes', rule } : { refusal: 'It could write.' }
    const { answerByRule } = session.requests
    session.requests.answerByRule = undefined
    const first = session.requests.requestPermission(permissionRequest({ title: 'ls' }), never)
    void session.requests.requestPermission(permissionRequest({ title: 'rm' }), never)
    void session.requests.askUser(permissionRequest({ title: 'ls' }), never)
    await settle()
    assert.equal(session.requests.open.length, 3)
    session.requests.answerByRule = answerByRule
    session.requests.consultAgain()
    session.requests.consultAgain()
    assert.deepEqual(await first, { type: 'selected', optionId: 'yes' })
    assert.deepEqual(
      session.state.entries.flatMap(entry =>
        entry.kind === 'permission' ? [[entry.title, entry.rule?.text]] : [],
      ),
      [
        ['ls', 'npm test *'],
        ['rm', undefined],
        ['ls', undefined],
      ],
    )
    assert.equal(session.requests.open.length, 2)
  })

  it('are consulted again if the user allows more while they are consulted', async () => {
    const { session } = make()
    const consultations: Array<(answer: RuleAnswer | undefined) => void> = []
    session.requests.answerByRule = () => new Promise(resolve => consultations.push(resolve))
    const asked = session.requests.requestPermission(permissionRequest(), never)
    session.requests.consultAgain()
    consultations[0]!(undefined)
    await settle()
    assert.equal(session.requests.open.length, 0)
    consultations[1]!({ optionId: 'yes', rule })
    assert.deepEqual(await asked, { type: 'selected', optionId: 'yes' })
    void session.requests.requestPermission(permissionRequest(), never)
    consultations[2]!(undefined)
    await settle()
    assert.equal(session.requests.open.length, 1, 'the user is asked')
  })

  it("don't apply to Parley's own questions", async () => {
    const { session } = make()
    session.requests.answerByRule = async () => ({ optionId: 'yes', rule })
    void session.requests.askUser(permissionRequest(), never)
    await settle()
    session.requests.consultAgain()
    await settle()
    assert.equal(session.requests.open.length, 1)
  })
})
