import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { AgentStartError } from '../../../../src/acp/agent.ts'
import { deferred } from '../../../../src/common/async.ts'
import { until } from '../../../support/until.ts'
import { hostedWindows, type SessionsFixture, sendPrompt } from '../sessions-fixture.ts'
import { HostedSuite } from './hosted-suite.ts'

/**
 * It can resume sessions, unless CAPABILITIES say otherwise, and a turn of it ends when its permission is answered. It notes what it
 * receives in a file. While there is the file GATE, its first turn leaves a command running, and it confirms no option.
 */
const AGENT = `
  const { appendFileSync, existsSync, readFileSync } = require('node:fs')
  const { RECEIVED, GATE, CAPABILITIES, OPTIONS } = process.env
  const log = line => appendFileSync(RECEIVED, line + '\\n')
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const say = text => send({
    method: 'session/update',
    params: {
      sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    },
  })
  const agentCapabilities = JSON.parse(CAPABILITIES ?? '{"sessionCapabilities":{"resume":{}}}')
  const configOptions = OPTIONS && JSON.parse(OPTIONS)
  let turn
  let sessionId
  let isFirst = true
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    log(method ?? 'answer')
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities } })
    if (method === 'session/new') {
      const count = readFileSync(RECEIVED, 'utf8').split('session/new').length - 1
      send({ id, result: { sessionId: 's' + count, configOptions } })
    }
    if (method === 'session/set_config_option') {
      log(params.configId + '=' + params.value)
      configOptions.find(({ id }) => id === params.configId).currentValue = params.value
      if (!existsSync(GATE)) send({ id, result: { configOptions } })
    }
    if (method === 'session/resume') send({ id, result: {} })
    if (method === 'session/prompt') {
      turn = id
      sessionId = params.sessionId
      say('Begun.')
      const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
      const content = [{ type: 'diff', path: '/w/a/file', oldText: null, newText: 'text' }]
      const toolCall = { toolCallId: 'c1', title: 'Go on', kind: 'edit', rawInput: { text: 'text' }, content }
      send({ id: 'ask', method: 'session/request_permission', params: { sessionId, toolCall, options } })
    }
    if (id === 'ask' && isFirst && existsSync(GATE)) {
      isFirst = false
      const code = 'setInterval(() => fs.existsSync(process.argv[1]) || process.exit(), 50)'
      const command = { sessionId, command: process.execPath, args: ['-e', code, GATE], cwd: process.cwd(), env: [] }
      send({ id: 'command', method: 'terminal/create', params: command })
    } else if (method === undefined) {
      say('Ended.')
      send({ id: turn, result: { stopReason: 'end_turn' } })
    }
  })
`

describe('an agent that an earlier window left', () => {
  const suite = new HostedSuite()
  const { program, folder, windows } = suite
  const last = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
  let file = ''
  let count = 0
  beforeEach(() => {
    file = path.join(folder, `received-${count++}`)
    writeFileSync(file, '')
  })

  const received = (method: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(line => line === method).length
  const session = (window: SessionsFixture) => window.controller.current!.session

  let open: () => SessionsFixture
  const gate = () => `${file}-gate`

  function prepare(more: Record<string, string>): void {
    const hosting = suite.hosting(AGENT)
    Object.assign(hosting.launch.env, { RECEIVED: file, GATE: gate(), ...more })
    open = hostedWindows(hosting)
  }

  /** The first window is in a turn, which waits for the user. */
  async function begin(more: Record<string, string> = {}): Promise<SessionsFixture> {
    prepare(more)
    const first = open()
    await first.controller.opener.start('one')
    await sendPrompt(first.controller, 'work')
    await asks(first)
    return first
  }
  /** It's closed, and the next one opens. */
  async function reload(
    change: (next: SessionsFixture) => void,
    more?: Record<string, string>,
  ): Promise<SessionsFixture> {
    const first = await begin(more)
    await first.close()
    const next = open()
    windows.push(next)
    change(next)
    return next
  }
  const asks = (window: SessionsFixture) => until(() => session(window).requests.open.length === 1)
  const answer = (window: SessionsFixture) => {
    const [request] = session(window).requests.open
    session(window).requests.answerPermission(request!.requestId, 'yes')
  }
  const complete = async (window: SessionsFixture) => {
    const { state } = session(window)
    answer(window)
    await until(() => JSON.stringify(state).includes('Ended.') && state.activity === 'idle', 'the end')
  }
  const goOn = (window: SessionsFixture) =>
    Promise.all([window.hosted!.start(), window.controller.opener.restore(last)])
  const running = async () => (await program.hosts.list()).filter(({ hasExited }) => !hasExited)
  const changed = (window: SessionsFixture) => {
    window.launchId = 'with another command'
  }
  const removed = (window: SessionsFixture) => {
    window.launchId = undefined
    window.entries.shift()
  }
  /** The agent of the session goes on, also in the next turn. */
  async function isKept(window: SessionsFixture): Promise<void> {
    const before = session(window)
    await complete(window)
    await sendPrompt(window.controller, 'more')
    await asks(window)
    assert.ok(session(window) === before)
    assert.equal(window.controller.failures.size, 0)
    assert.equal(received('session/prompt'), 2)
  }

  it('is there before the settings, the programs and the login shell of the next one are known', async () => {
    const never = () => new Promise<never>(() => {})
    const next = await reload(({ directory }) =>
      Object.assign(directory, { ready: never, resolveLaunch: never }),
    )
    await goOn(next)
    await until(() => session(next).requests.open.length === 1)
    assert.equal(next.controller.phase, 'ready')
    answer(next)
    await until(() => JSON.stringify(session(next).state).includes('Ended.'))
    assert.equal(received('initialize'), 1)
  })

  it('gets the default options that the window before it was still setting, before its first prompt', async () => {
    const option = (id: string, ...values: string[]) => ({
      ...{ id, name: id, category: id, type: 'select', currentValue: values[0] },
      options: values.map(value => ({ value, name: value })),
    })
    const options = [option('mode', 'ask', 'plan'), option('model', 'small', 'large')]
    writeFileSync(gate(), '')
    prepare({ OPTIONS: JSON.stringify(options) })
    const first = open()
    first.startOptions = { defaults: { mode: 'plan', model: 'large' }, lastUsed: {} }
    await first.controller.opener.start('one')
    await until(() => received('model=large') === 1)
    await first.close()
    rmSync(gate())
    const next = open()
    windows.push(next)
    await goOn(next)
    void sendPrompt(next.controller, 'work')
    await until(() => received('session/prompt') === 1)
    assert.equal(received('mode=plan'), 1)
    assert.equal(received('session/new'), 1)
    const set = session(next).state.configOptions.map(one => one.type === 'select' && one.currentValue)
    assert.deepEqual(set, ['plan', 'large'])
  })

  it('gets the answer of a user who gives it before the next one is told again what is asked', async () => {
    const next = await reload(() => {})
    let isAnswered: boolean | undefined
    next.manager.onDidChange(() => {
      for (const { session } of next.manager.list())
        for (const { requestId } of session.requests.open)
          isAnswered ??= session.requests.answerPermission(requestId, 'yes')
    })
    await goOn(next)
    const { state } = session(next)
    await until(() => JSON.stringify(state).includes('Ended.') && state.activity === 'idle', 'the end')
    assert.equal(isAnswered, true)
    assert.equal(received('answer'), 1)
  })

  it('waits for the user also if the window before it still has the session when the next one has the agent', async () => {
    const first = await begin()
    Object.assign(first.leases, { release: () => {} })
    first.hosted!.dispose()
    const next = open()
    windows.push(next)
    await goOn(next)
    await asks(next)
    await complete(next)
    assert.equal(received('session/resume'), 0)
    await first.close()
  })

  it('completes its turn, and is replaced if its settings changed meanwhile', async () => {
    const next = await reload(changed)
    await goOn(next)
    const before = session(next)
    await until(() => before.requests.open.length === 1)
    await until(() => received('initialize') === 2, 'the replacement')
    assert.equal(next.controller.current?.session, before, 'the turn goes on')
    answer(next)
    await until(() => received('session/resume') === 1, 'the end of the turn')
    await until(() => next.controller.phase === 'ready')
    assert.ok(JSON.stringify(session(next).state).includes('Ended.'))
    await sendPrompt(next.controller, 'more')
    await until(() => session(next).requests.open.length === 1)
    await until(async () => (await running()).length === 1, 'the end of the first agent')
  })

  it("isn't replaced if no other one could continue its conversation", async () => {
    const next = await reload(changed, { CAPABILITIES: '{}' })
    await goOn(next)
    await asks(next)
    await isKept(next)
    assert.equal(received('initialize'), 1)
  })

  it('is replaced only after the commands that its turn started', async () => {
    writeFileSync(gate(), '')
    const next = await reload(changed)
    await goOn(next)
    await asks(next)
    await until(() => received('initialize') === 2, 'the replacement')
    await isKept(next)
    assert.equal(next.controller.current!.isBusy, true)
    await complete(next)
    rmSync(gate())
    await until(() => received('session/resume') === 1, 'the end of the command')
  })

  it("goes on if the user doesn't allow its changed start, and is asked about it once", async () => {
    const consent = deferred<never>()
    let asked = 0
    const next = await reload(window => {
      changed(window)
      window.directory.resolveLaunch = () => {
        asked++
        return consent.promise
      }
    })
    await goOn(next)
    await until(() => asked === 1)
    const { running: runs } = next.runners.get('one')
    assert.equal(runs?.agent, session(next).agent, 'it is there until the user has answered')
    consent.reject(new AgentStartError({ kind: 'spawn', command: 'one', message: 'no' }, 'no'))
    await isKept(next)
    assert.equal(asked, 1)
  })

  it('is given up only once another one has started', async () => {
    const next = await reload(window => {
      changed(window)
      const { resolveLaunch } = window.directory
      window.directory.resolveLaunch = async agentId => {
        const launch = await resolveLaunch(agentId)
        return { ...launch, args: ['-e', 'fs.appendFileSync(process.env.RECEIVED, "failed\\n")'] }
      }
    })
    await goOn(next)
    await until(() => received('failed') === 1)
    await isKept(next)
  })

  it('is there with its replacement after another reload, and replaced after its turn', async () => {
    const next = await reload(changed)
    await goOn(next)
    // until this window has its answer, new sessions get the other one
    const { agent } = session(next)
    await until(() => next.runners.get('one').running?.agent !== agent, 'the replacement')
    await next.controller.opener.start('one')
    assert.equal(session(next).sessionId, 's2')
    await sendPrompt(next.controller, 'work')
    await asks(next)
    await next.close()
    // a window that opens waits three seconds for it
    await until(async () => (await running()).every(({ isAttached }) => !isAttached), 'the end of the window')
    const third = open()
    windows.push(third)
    changed(third)
    await goOn(third)
    await asks(third)
    const before = session(third)
    assert.deepEqual(
      third.manager
        .list()
        .map(one => one.session.sessionId)
        .sort(),
      ['s1', 's2'],
    )
    await complete(third)
    await until(() => received('session/resume') === 1, 'the end of the turn')
    await until(() => third.controller.phase === 'ready')
    assert.ok(session(third) !== before)
    assert.equal(third.manager.find('one', 's2')?.session.requests.open.length, 1)
    assert.equal(received('initialize'), 2)
    await until(async () => (await running()).length === 1, 'the end of the first agent')
  })

  it('is replaced after its turn by a window that took it over', async () => {
    windows.push(await begin())
    const next = open()
    windows.push(next)
    changed(next)
    const { opener, failures } = next.controller
    await opener.reopen('restore', last)
    const [elsewhere] = [...failures.keys()]
    await opener.takeOver(elsewhere!)
    await asks(next)
    await until(() => received('initialize') === 2, 'the replacement')
    await complete(next)
    await until(() => received('session/resume') === 1, 'the end of the turn')
  })

  for (const [can, capabilities] of [
    ['can', undefined],
    ["can't", '{}'],
  ] as const)
    it(`completes its turn and ends if the user removed it, which ${can} continue its sessions`, async () => {
      const next = await reload(removed, capabilities ? { CAPABILITIES: capabilities } : {})
      await goOn(next)
      await asks(next)
      await sendPrompt(next.controller, 'more')
      const { state } = session(next)
      await complete(next)
      await until(() => next.controller.failures.size > 0)
      assert.deepEqual(
        [...next.controller.failures.values()].map(({ type }) => type),
        ['unknown-agent'],
      )
      assert.equal(received('session/prompt'), 1)
      assert.equal(next.controller.prompts.queue.returned[0]?.draft.text, 'more')
      assert.equal(session(next).state, state)
      assert.ok(JSON.stringify(next.transcripts.read('one', 's1')).includes('Ended.'))
      await until(async () => (await running()).length === 0, 'the end of the agent')
    })

  it('ends between turns if the user removed it, once all agents are known', async () => {
    const search = deferred()
    const next = await reload(window => {
      removed(window)
      window.directory.ready = () => search.promise
    })
    await goOn(next)
    await asks(next)
    await complete(next)
    assert.equal(next.controller.phase, 'ready')
    search.resolve()
    await until(() => next.controller.phase === 'ended')
    await until(async () => (await running()).length === 0, 'the end of the agent')
  })

  for (const [what, change] of Object.entries({ changed, removed }))
    it(`goes on although it seems ${what}, if the environment of the login shell is unknown`, async () => {
      const next = await reload(window => {
        change(window)
        window.isSearchSure = false
      })
      await goOn(next)
      await asks(next)
      await isKept(next)
      assert.equal(received('initialize'), 1)
    })

  it('goes on if the search for agents fails, and the next one says so only in the log', async () => {
    const next = await reload(({ directory }) =>
      Object.assign(directory, { ready: () => Promise.reject(new Error('no such folder')) }),
    )
    await goOn(next)
    await until(() => session(next).requests.open.length === 1)
    assert.equal(next.controller.phase, 'ready')
  })
})
