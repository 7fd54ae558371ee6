import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIRST_STEPS, markDone, restoreDoneSteps } from '../../../src/app/done-steps.ts'
import { FirstSteps } from '../../../src/app/first-steps.ts'
import { ContextKey } from '../../../src/app/ids.ts'
import { Emitter } from '../../../src/common/event.ts'
import { projectDirectory } from '../../host/paths.ts'

type Options = ConstructorParameters<typeof FirstSteps>[0]

describe('the steps of the walkthrough', () => {
  let values: Map<string, unknown>
  let contexts: string[]
  const store = {
    get: <T>(key: string) => values.get(key) as T | undefined,
    set: (key: string, value: unknown) => void values.set(key, value),
  }
  const setContext = (key: string, value: unknown) => void contexts.push(`${key}: ${value}`)

  let agents: Array<{ agentId: string; source: string }>
  let account: string
  let state: { entries: object[]; activity: string }
  let session: { state: typeof state; phase: string }
  const changed = {
    agents: new Emitter<void>(),
    accounts: new Emitter<void>(),
    decision: new Emitter<string>(),
    history: new Emitter<void>(),
    session: new Emitter<object[]>(),
  }
  let steps: FirstSteps
  let agentId: string

  beforeEach(() => {
    values = new Map()
    contexts = []
    agents = [{ agentId: 'demo', source: 'demo' }]
    account = 'unauthenticated'
    state = { entries: [], activity: 'idle' }
    session = { state, phase: 'ready' }
    agentId = 'demo'
    const open = {
      get agentId() {
        return agentId
      },
      session: Object.assign(session, { onDidChange: changed.session.event }),
    }
    steps = new FirstSteps(
      {
        agents: {
          list: () => agents,
          get: (id: string) => agents.find(one => one.agentId === id),
          onDidChange: changed.agents.event,
        },
        accounts: { get: () => ({ state: account, accounts: [] }), onDidChange: changed.accounts.event },
        manager: { list: () => [open], onDidChange: () => ({ dispose() {} }) },
        onDidDecide: changed.decision.event,
        onDidShowHistory: changed.history.event,
      } as unknown as Options,
      step => markDone(store, setContext, step),
    )
  })
  afterEach(() => steps.dispose())

  const become = (activity: string, ...entries: object[]) => {
    state.activity = activity
    state.entries.push(...entries)
    changed.session.fire([{ type: 'head', key: 'activity' }])
  }
  const message = (role: string) => ({ kind: 'message', role })

  it('are complete once there is an agent besides the demo agent, and the user is signed in to it', () => {
    changed.agents.fire()
    assert.deepEqual(contexts, [])
    agents.push({ agentId: 'mine', source: 'preset' })
    changed.agents.fire()
    assert.deepEqual(contexts, ['parley.hasAgent: true'])
    account = 'authenticated'
    changed.accounts.fire()
    changed.accounts.fire()
    assert.deepEqual(contexts, ['parley.hasAgent: true', 'parley.hasSignedIn: true'])
  })

  it('are complete with the first answer, but not with a turn that failed or is replayed', () => {
    become('running', message('user'), message('agent'))
    become('idle', { kind: 'turn_end', stopReason: 'error' })
    session.phase = 'loading'
    become('idle', message('agent'))
    assert.deepEqual(contexts, [])
    session.phase = 'ready'
    become('running', message('user'))
    become('idle', message('agent'))
    assert.deepEqual(contexts, ['parley.hasAnswer: true'])
    agentId = 'mine'
    become('idle')
    assert.deepEqual(contexts, ['parley.hasAnswer: true', 'parley.hasSignedIn: true'])
  })

  it("are complete when the user answers a permission request, which a rule doesn't", () => {
    const outcome = { type: 'selected', optionId: 'allow' }
    become('running', { kind: 'permission', outcome, rule: { action: 'allow' } })
    become('running', { kind: 'permission', outcome: { type: 'cancelled' } })
    become('requires_action', { kind: 'permission' })
    assert.deepEqual(contexts, [])
    become('running', { kind: 'permission', outcome })
    assert.deepEqual(contexts, ['parley.hasAnsweredPermission: true'])
  })

  it('are complete when the user decides about changes and sees the history', () => {
    changed.decision.fire('/a')
    changed.history.fire()
    assert.deepEqual(contexts, ['parley.hasReviewed: true', 'parley.hasSeenHistory: true'])
  })

  it('are those of the walkthrough in package.json', () => {
    const { contributes } = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
    const [{ when, steps }] = contributes.walkthroughs
    assert.equal(when, ContextKey.isActive)
    assert.deepEqual(
      (steps as Array<{ id: string; completionEvents: string[] }>).map(({ id, completionEvents }) => [
        id,
        ...completionEvents,
      ]),
      FIRST_STEPS.map(({ step, key }) => [step, `onContext:${key}`]),
    )
  })

  it('stay complete after a reload', () => {
    for (const { step } of FIRST_STEPS.toReversed()) markDone(store, setContext, step)
    contexts = []
    restoreDoneSteps(store, setContext)
    assert.deepEqual(
      contexts,
      FIRST_STEPS.map(({ key }) => `${key}: true`),
    )
    values.set('parley.firstSteps', 'damaged')
    contexts = []
    restoreDoneSteps(store, setContext)
    assert.deepEqual(contexts, [])
  })
})
