import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { delay } from '../../../src/common/async.ts'
import { AgentHostProgram } from '../../support/agent-host-program.ts'
import { script } from '../../support/contracts/running-process.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { until } from '../../support/until.ts'
import { type SessionsFixture, sendPrompt, twoWindows } from './sessions-fixture.ts'

/** In each turn, it says something, asks for permission, and says something again. It notes what it receives in a file. */
const AGENT = `
  const log = line => require('node:fs').appendFileSync(process.env.RECEIVED, line + '\\n')
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const say = (sessionId, text) => send({
    method: 'session/update',
    params: {
      sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: text + '. ' } },
    },
  })
  let sessions = 0
  let asked = 0
  const turns = new Map()
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params, result } = JSON.parse(line)
    if (method !== undefined && method !== 'session/prompt') log(method)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
    if (method === 'session/new') send({ id, result: { sessionId: 's' + ++sessions } })
    if (method === 'session/prompt') {
      const { sessionId, prompt: [{ text }] } = params
      log('prompt ' + text)
      say(sessionId, 'begin ' + text)
      const request = 'ask ' + ++asked
      turns.set(request, { id, sessionId, text })
      const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
      const toolCall = { toolCallId: text, title: text }
      send({ id: request, method: 'session/request_permission', params: { sessionId, toolCall, options } })
    }
    const turn = method === undefined && turns.get(id)
    if (turn) {
      log('answer ' + turn.text + ' ' + result.outcome.optionId)
      say(turn.sessionId, 'end ' + turn.text)
      send({ id: turn.id, result: { stopReason: 'end_turn' } })
      turns.delete(id)
    }
  })
`

const SESSIONS = ['s1', 's2']

/**
 * `take`: takes the session over. `hold`: from now on, nothing reaches the window, but the other one again. `wake`: the window
 * that is held sends a prompt just before it hears what happened.
 */
type Step =
  | { type: 'write' | 'answer' | 'take'; window: number; session: number }
  | { type: 'hold'; window: number }
  | { type: 'wake'; session: number }
  | { type: 'letGo' }
  | { type: 'wait'; ms: number }

const window = fc.nat(1)
const session = fc.nat(SESSIONS.length - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('write', 'answer'), window, session }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('take'), window, session }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('hold'), window }) },
  { weight: 1, arbitrary: fc.constant({ type: 'letGo' } as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wake'), session }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('wait'), ms: fc.nat(200) }) },
)

describe('two windows with sessions whose agent outlives them', () => {
  const program = new AgentHostProgram()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-windows-test-'))
  before(() => program.build())
  after(async () => {
    await program.end()
    rmSync(folder, { recursive: true, force: true })
  })

  it('lose no prompt and no answer, and send none twice, whenever one takes it over', async function () {
    this.timeout(300_000)
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async steps => {
        await run(steps, path.join(folder, `received-${count++}`))
      }),
      // a run takes more than a second, so a failure isn't made smaller
      { numRuns: scaledRuns(6), endOnFailure: true },
    )
  })

  it("continue in the window that takes the session from one that doesn't respond", async function () {
    this.timeout(120_000)
    const file = path.join(folder, 'received-seized')
    writeFileSync(file, '')
    const [first, second] = windowsWith(file)
    await first.controller.opener.start('one')
    await sendPrompt(first.controller, 'p1')
    await until(() => first.controller.current!.session.requests.open.length === 1)
    await second.controller.opener.reopen('resume', { agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    first.isBusy = true
    const [found] = second.controller.failures
    await second.controller.opener.takeOver(found![0])
    assert.equal(second.controller.phase, 'ready')
    await until(() => second.controller.current!.session.requests.open.length === 1)
    const [request] = second.controller.current!.session.requests.open
    second.controller.current!.session.requests.answerPermission(request!.requestId, 'yes')
    await until(() => readFileSync(file, 'utf8').includes('answer p1 yes'))
    first.isBusy = false
    await until(() => [...first.controller.failures.values()].some(({ type }) => type === 'elsewhere'))
    const ends = () => second.transcripts.read('one', 's1')?.entries.filter(({ kind }) => kind === 'turn_end')
    await until(() => second.controller.current?.session.state.activity === 'idle')
    assert.deepEqual(ends(), [])
    await end([first, second])
  })

  it('keep queued prompts in the window that finds out later that it lost the session', async () => {
    const file = path.join(folder, 'received-queued')
    writeFileSync(file, '')
    const [first, second] = windowsWith(file)
    await first.controller.opener.start('one')
    await sendPrompt(first.controller, 'p1')
    await until(() => first.controller.current!.session.requests.open.length === 1)
    await sendPrompt(first.controller, 'p2')
    await second.controller.opener.reopen('resume', { agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    first.isBusy = true
    const [found] = second.controller.failures
    await second.controller.opener.takeOver(found![0])
    assert.equal(second.controller.phase, 'ready')
    first.isBusy = false
    await until(() => [...first.controller.failures.values()].some(({ type }) => type === 'elsewhere'))
    const texts = ({ controller }: SessionsFixture) =>
      controller.prompts.queue.returned.map(({ draft }) => draft.text)
    assert.deepEqual([first, second].map(texts), [['p2'], []])
    await end([first, second])
  })

  it('send a prompt again only if the user wants that, after a window lost the session unnoticed', async () => {
    const file = path.join(folder, 'received-waking')
    writeFileSync(file, '')
    const [first, second] = windowsWith(file)
    await first.controller.opener.start('one')
    await sendPrompt(first.controller, 'p1')
    const { session } = first.controller.current!
    await until(() => session.requests.open.length === 1)
    session.requests.answerPermission(session.requests.open[0]!.requestId, 'yes')
    await until(() => session.state.activity === 'idle')
    await second.controller.opener.reopen('resume', { agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    first.isBusy = true
    await second.controller.opener.takeOver([...second.controller.failures][0]![0])
    assert.equal(second.controller.phase, 'ready')
    await sendPrompt(first.controller, 'p2')
    await until(() => session.turns.prompt !== undefined)
    first.isBusy = false
    await until(() => [...first.controller.failures.values()].some(({ type }) => type === 'elsewhere'))
    const returned = () => first.controller.prompts.queue.returned
    await until(() => returned().length === 1)
    assert.equal(returned()[0]?.draft.text, 'p2')
    assert.match(returned()[0]?.reason ?? '', /Another window took over the session/)
    await sendPrompt(second.controller, 'p3')
    await until(() => readFileSync(file, 'utf8').includes('prompt p3'))
    assert.ok(!readFileSync(file, 'utf8').includes('prompt p2'))
    await end([first, second])
  })

  it('go on in one of two that take different sessions of an agent at the same time', async () => {
    for (const isHeld of [false, true]) {
      const file = path.join(folder, `received-both-${isHeld}`)
      writeFileSync(file, '')
      const windows = windowsWith(file)
      const [first, second] = windows
      const places = windows.map(one => [one.controller, one.place(new Map(), 'other')] as const)
      for (const [i, place] of places[0]!.entries()) {
        await place.opener.start('one')
        await sendPrompt(place, `p${i + 1}`)
        await until(() => place.current!.session.requests.open.length === 1)
      }
      // as after a start without restored sessions: the agent has no window
      const { agent } = first.controller.current!.session
      await first.hosted!.handOver(agent, false)
      const reference = (sessionId: string) => ({ agentId: 'one', sessionId, cwd: '/w/a' })
      const works = [
        places[0]![1].opener.reopen('resume', reference('s2')),
        places[1]![0].opener.reopen('resume', reference('s1')),
      ]
      if (isHeld) {
        await delay(0)
        first.isBusy = true
        await until(() => second.manager.list().length === 2 || second.controller.failures.size > 0)
        first.isBusy = false
      }
      await Promise.all(works)
      const open = () => windows.map(({ manager }) => manager.list().length).sort()
      await until(() => JSON.stringify(open()) === '[0,2]', `${open()}`)
      const winner = windows.find(({ manager }) => manager.list().length === 2)!
      for (const { session } of winner.manager.list()) {
        await until(() => session.requests.open.length === 1)
        session.requests.answerPermission(session.requests.open[0]!.requestId, 'yes')
      }
      await until(() => (readFileSync(file, 'utf8').match(/answer .+/g) ?? []).length === 2)
      assert.equal(readFileSync(file, 'utf8').match(/initialize/g)?.length, 1)
      for (const place of places) place[1].dispose()
      await end(windows)
    }
  })

  it('go on with all sessions of the agent in the one that takes one of them', async () => {
    const file = path.join(folder, 'received-all')
    writeFileSync(file, '')
    const [first, second] = windowsWith(file)
    const other = first.place(new Map(), 'other')
    for (const [place, prompt] of [
      [first.controller, 'p1'],
      [other, 'p2'],
    ] as const) {
      await place.opener.start('one')
      await sendPrompt(place, prompt)
      await until(() => place.current!.session.requests.open.length === 1)
    }
    const [one, two] = [second.controller, second.place()]
    await one.opener.reopen('resume', { agentId: 'one', sessionId: 's1', cwd: '/w/a' })
    await two.opener.reopen('resume', { agentId: 'one', sessionId: 's2', cwd: '/w/a' })
    first.isBusy = true
    await one.opener.takeOver([...one.failures][0]![0])
    const sessions = () => second.manager.list().map(({ session }) => session)
    await until(() => sessions().filter(({ requests }) => requests.open.length === 1).length === 2)
    first.isBusy = false
    await until(() => first.manager.list().length === 0)
    // it's open in this window already
    await two.opener.takeOver([...two.failures][0]![0])
    assert.equal(two.current?.session, second.manager.find('one', 's2')?.session)
    assert.equal(two.phase, 'ready')
    for (const session of sessions())
      session.requests.answerPermission(session.requests.open[0]!.requestId, 'yes')
    const answers = () => readFileSync(file, 'utf8').match(/answer .+/g) ?? []
    await until(() => answers().length === 2)
    assert.deepEqual(answers().sort(), ['answer p1 yes', 'answer p2 yes'])
    await until(() => JSON.stringify(second.transcripts.read('one', 's2')).includes('end p2.'))
    for (const place of [other, two]) place.dispose()
    await end([first, second])
  })

  function windowsWith(file: string): [SessionsFixture, SessionsFixture] {
    const { args, ...agent } = script(AGENT)
    const launch = { ...agent, args: [...args], env: { ...agent.env, RECEIVED: file } }
    return twoWindows({ program, launch })
  }

  async function end(windows: readonly SessionsFixture[]): Promise<void> {
    for (const { manager } of windows) for (const { session } of manager.list()) session.agent.dispose()
    for (const { controller } of windows) controller.dispose()
    for (const { id } of await program.hosts.list()) await program.hosts.end(id)
  }

  async function run(steps: readonly Step[], file: string): Promise<void> {
    writeFileSync(file, '')
    const windows = windowsWith(file)
    const [first, second] = windows
    const places = windows.map(one => SESSIONS.map((_, i) => (i === 0 ? one.controller : one.place())))
    const received = () => readFileSync(file, 'utf8').split('\n').slice(0, -1)
    /** by session */
    const written: string[][] = SESSIONS.map(() => [])
    const refused = new Set<string>()
    const works: Array<Promise<unknown>> = []
    let held: number | undefined
    const hold = (at: number | undefined) => {
      held = at
      for (const [i, one] of windows.entries()) one.isBusy = i === at
    }
    const write = (at: number, of: number) => {
      const text = `p${written.flat().length + 1}`
      written[of]!.push(text)
      works.push(sendPrompt(places[at]![of]!, text).catch(() => refused.add(text)))
    }
    const answer = (at: number, of: number) => {
      const open = windows[at]!.manager.find('one', SESSIONS[of]!)?.session
      const [request] = open?.requests.open ?? []
      if (open && request?.kind === 'permission') open.requests.answerPermission(request.requestId, 'yes')
    }
    const take = (at: number, of: number) => {
      const { failures, opener } = places[at]![of]!
      const [found] = [...failures].filter(([, { type }]) => type === 'elsewhere')
      if (found) works.push(opener.takeOver(found[0]).catch(() => {}))
    }
    const act = { write, answer, take }
    for (const [i, sessionId] of SESSIONS.entries()) {
      await places[0]![i]!.opener.start('one')
      write(0, i)
      await until(() => first.transcripts.read('one', sessionId) !== undefined)
      await places[1]![i]!.opener.reopen('resume', { agentId: 'one', sessionId, cwd: '/w/a' })
    }
    for (const one of steps) {
      if (one.type === 'wait') await delay(one.ms)
      else if (one.type === 'hold') hold(one.window)
      else if (one.type === 'letGo') hold(undefined)
      else if (one.type === 'wake') {
        if (held === undefined) continue
        write(held, one.session)
        await delay(0)
        hold(undefined)
      }
      // a window that is busy takes no input
      else if (one.window !== held) act[one.type](one.window, one.session)
      await delay(0)
    }
    hold(undefined)

    const returned = () =>
      places.flat().flatMap(({ prompts }) => prompts.queue.returned.map(({ draft }) => draft.text))
    const isOver = () =>
      written
        .flat()
        .every(
          text => received().includes(`answer ${text} yes`) || returned().includes(text) || refused.has(text),
        )
    await until(
      () => {
        for (const at of windows.keys()) for (const of of SESSIONS.keys()) answer(at, of)
        return isOver()
      },
      `${JSON.stringify(steps)} ${received()}, ${returned()} returned, of ${written}`,
    )
    await Promise.all(works)
    const prompts = received().flatMap(line =>
      line.startsWith('prompt ') ? [line.slice('prompt '.length)] : [],
    )
    const sent = written.flat().filter(text => !returned().includes(text) && !refused.has(text))
    assert.deepEqual([...prompts].sort(), sent.sort())
    assert.deepEqual(
      received().filter(line => !/^(prompt|answer)/.test(line)),
      ['initialize', ...SESSIONS.map(() => 'session/new')],
    )
    // both windows, and what is stored, have each prompt and each text once
    const said = (entries: ReadonlyArray<{ kind: string; role?: string; blocks?: unknown }> = []) =>
      JSON.stringify(entries.filter(({ kind }) => kind === 'message')).match(/(begin|end) p\d+\./g) ?? []
    for (const [of, sessionId] of SESSIONS.entries()) {
      const expected = prompts
        .filter(text => written[of]!.includes(text))
        .flatMap(text => [`begin ${text}.`, `end ${text}.`])
      for (const entries of [
        ...places.map(
          ({ [of]: place }) =>
            () =>
              place!.current?.session.state.entries,
        ),
        () => second.transcripts.read('one', sessionId)?.entries,
      ])
        await until(
          () => JSON.stringify(said(entries())) === JSON.stringify(expected),
          `${JSON.stringify(steps)}: ${said(entries())} instead of ${expected}`,
        )
    }
    for (const place of places.flat()) place.dispose()
    await end(windows)
  }
})
