import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { delay } from '../../../src/common/async.ts'
import { rootVariable } from '../../host/isolated-root.ts'
import { processesStartedIn } from '../../host/processes.ts'
import { AgentHostProgram } from '../../support/agent-host-program.ts'
import { script } from '../../support/contracts/running-process.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { until } from '../../support/until.ts'
import { hostedWindows, type SessionsFixture, sendPrompt } from './sessions-fixture.ts'

/** What the agent does, with the terminal of this index. `waitEarly`: it goes on before the command has exited. */
type Act =
  | { do: 'create'; lines: number; pauseEvery: number; exit: number; leaves: boolean }
  | { do: 'output' | 'waitEarly' | 'kill' | 'release'; terminal: number }
  | { do: 'pause'; ms: number }

interface Answer {
  do: string
  terminal: number
  result?: {
    output?: string
    truncated?: boolean
    exitCode?: number | null
    signal?: string | null
    exitStatus?: object
  }
  error?: string
}

/** Notes each answer in a file, and `doubled` for an answer that it didn't wait for anymore. */
const AGENT = `
  const log = line => require('node:fs').appendFileSync(process.env.RECEIVED, JSON.stringify(line) + '\\n')
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const open = new Map()
  let sessionId
  let asked = 0
  const request = (method, params) =>
    new Promise(resolve => {
      const id = 'r' + ++asked
      open.set(id, resolve)
      send({ id, method, params: { sessionId, ...params } })
    })
  const terminals = []
  const ask = async (act, method, terminal, params) => {
    const { result, error } = await request(method, params ?? { terminalId: terminals[terminal] })
    log({ do: act, terminal, result, error: error && JSON.stringify(error) })
    return result
  }
  const perform = {
    pause: ({ ms }) => new Promise(resolve => setTimeout(resolve, ms)),
    create: async ({ command }) => {
      const terminal = terminals.push(undefined) - 1
      const env = ['PATH', '${rootVariable}'].map(name => ({ name, value: process.env[name] }))
      terminals[terminal] = (await ask('create', 'terminal/create', terminal, { command, env, cwd: process.cwd() })).terminalId
    },
    output: ({ terminal }) => ask('output', 'terminal/output', terminal),
    kill: ({ terminal }) => ask('kill', 'terminal/kill', terminal),
    release: async ({ terminal }) => {
      const released = ask('release', 'terminal/release', terminal)
      terminals[terminal] = undefined
      await released
    },
  }
  const run = async (id, acts) => {
    const waits = []
    for (const act of acts) {
      if (act.terminal !== undefined && terminals[act.terminal] === undefined) continue
      if (act.do === 'waitEarly') waits.push(ask('wait', 'terminal/wait_for_exit', act.terminal))
      else await perform[act.do](act)
    }
    await Promise.all(waits)
    for (const terminal of terminals.keys()) {
      if (terminals[terminal] === undefined) continue
      await ask('wait', 'terminal/wait_for_exit', terminal)
      await ask('last', 'terminal/output', terminal)
      await perform.release({ terminal })
    }
    log({ do: 'end' })
    send({ id, result: { stopReason: 'end_turn' } })
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params, ...answer } = JSON.parse(line)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
    if (method === 'session/new') send({ id, result: { sessionId: (sessionId = 's1') } })
    if (method === 'session/prompt') void run(id, JSON.parse(params.prompt[0].text))
    if (method !== undefined) return
    if (!open.has(id)) log({ do: 'doubled', id })
    open.get(id)?.(answer)
    open.delete(id)
  })
`

const terminal = fc.nat(2)
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('create'),
      lines: fc.nat(2000),
      pauseEvery: fc.integer({ min: 50, max: 800 }),
      exit: fc.nat(5),
      leaves: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('output', 'waitEarly'), terminal }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('kill', 'release'), terminal }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pause'), ms: fc.nat(100) }) },
)

/** What happens to the window, after this many milliseconds, and how long none is open then. */
interface Step {
  how: 'kill' | 'reload' | 'two'
  afterMs: number
  closedMs: number
}
const step: fc.Arbitrary<Step> = fc.record({
  how: fc.constantFrom('kill', 'reload', 'two'),
  afterMs: fc.nat(250),
  closedMs: fc.oneof(fc.constant(0), fc.nat(150)),
})

describe('commands that an agent runs in terminals', () => {
  const program = new AgentHostProgram()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-commands-test-'))
  before(() => program.build())
  after(async () => {
    await program.end()
    rmSync(folder, { recursive: true, force: true })
  })
  let runs = 0

  it('lose no output and repeat none, and tell their end once, whenever windows are killed, reload and attach', async function () {
    if (process.platform === 'win32') this.skip()
    const acts = fc.array(act, { minLength: 6, maxLength: 20 })
    const steps = fc.array(step, { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(acts, steps, (acts, steps) => run(acts, steps)),
      { numRuns: scaledRuns(8), endOnFailure: true },
    )
  })

  const lineOf = (number: number) => `${number} żó`
  const outputOf = (lines: number) => Array.from({ length: lines }, (_, i) => `${lineOf(i + 1)}\n`).join('')

  async function run(acts: readonly Act[], steps: readonly Step[]): Promise<void> {
    const root = path.join(folder, `run-${++runs}`)
    const [file, starts] = [`${root}.received`, `${root}.starts`]
    for (const one of [file, starts]) writeFileSync(one, '')
    const { args, ...agent } = script(AGENT)
    const env = { ...agent.env, RECEIVED: file, [rootVariable]: root }
    const open = hostedWindows({ program, launch: { ...agent, args: [...args], env } })
    const creates = acts.filter(one => one.do === 'create')
    const commands = creates.map(
      ({ lines, pauseEvery, exit, leaves }, at) =>
        `echo ${at} >> '${starts}'; for i in $(seq 1 ${lines}); do echo "${lineOf(0).replace('0', '$i')}"; ` +
        `[ $((i % ${pauseEvery})) = 0 ] && sleep 0.05; done; ${leaves ? '(sleep 300 > /dev/null 2>&1 &); ' : ''}exit ${exit}`,
    )
    let created = 0
    const told = acts.map(one => (one.do === 'create' ? { ...one, command: commands[created++] } : one))
    const answers = (): Answer[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
    const isOver = () => answers().some(one => one.do === 'end')

    let window = open()
    const all: SessionsFixture[] = [window]
    await window.controller.opener.start('one')
    await sendPrompt(window.controller, JSON.stringify(told))
    // the next window knows the session by what is saved of it
    await until(() => window.transcripts.read('one', 's1') !== undefined)
    for (const { how, afterMs, closedMs } of steps) {
      await delay(afterMs)
      if (isOver()) break
      if (how === 'kill') window.kill()
      else await window.close()
      await delay(closedMs)
      const next = how === 'two' ? [open(), open()] : [open()]
      all.push(...next)
      await Promise.all(next.map(one => one.hosted!.start()))
      window = next.find(one => one.manager.list().length > 0) ?? next[0]!
    }
    const context = () => JSON.stringify({ acts, steps, answers: answers().map(({ result, ...one }) => one) })
    await until(isOver, `the end of ${context()}`)

    // each request was answered once
    const got = answers()
    assert.ok(!got.some(one => one.do === 'doubled'), context())
    const ended = new Set<number>()
    for (const [at, { lines, exit }] of creates.entries()) {
      const own = got.filter(one => one.terminal === at)
      const is = (name: string) => own.filter(one => one.do === name)
      const whole = outputOf(lines)
      let before = ''
      for (const { result, error } of own.filter(one => one.do === 'output' || one.do === 'last')) {
        assert.equal(error, undefined, context())
        const output = result!.output!
        assert.ok(!result!.truncated && whole.startsWith(output) && output.startsWith(before), context())
        before = output
      }
      const isEnded = is('kill').length > 0 || (is('release').length > 0 && is('last').length === 0)
      for (const { result } of is('wait')) {
        if (isEnded) assert.ok(result!.signal || typeof result!.exitCode === 'number', context())
        else assert.deepEqual([result!.exitCode, result!.signal ?? null], [exit, null], context())
      }
      if (isEnded) ended.add(at)
      if (isEnded) continue
      assert.equal(is('last').length, 1, context())
      assert.equal(is('last')[0]!.result!.output, whole, context())
    }
    // each command ran once; one that was ended at once may not have come to its first line
    const started = readFileSync(starts, 'utf8').split('\n').slice(0, -1).map(Number)
    assert.deepEqual([...new Set(started)], started, context())
    for (const at of creates.keys()) assert.ok(started.includes(at) || ended.has(at), context())
    // the last window shows the same
    await until(() => window.manager.list().every(({ session }) => !session.turns.isWorking))
    const [shown] = window.manager.list()
    assert.ok(shown, context())
    const outputs = () => [...shown.session.state.terminals.values()].map(({ output }) => output).sort()
    for (const [at, { lines }] of creates.entries()) {
      const whole = outputOf(lines)
      const isShown = (output: string) => (ended.has(at) ? whole.startsWith(output) : output === whole)
      assert.ok(outputs().some(isShown), context())
    }
    // and so does what is stored
    const stored = () =>
      window.transcripts
        .read('one', 's1')
        ?.terminals.map(({ output }) => output)
        .sort()
    await until(
      () => JSON.stringify(stored()) === JSON.stringify(outputs()),
      `what is stored of ${context()}`,
    )
    shown.session.agent.dispose()
    for (const { id } of await program.hosts.list()) await program.hosts.end(id)
    for (const one of all) await one.close()
    await until(() => processesStartedIn(root).length === 0, `${JSON.stringify(processesStartedIn(root))}`)
  }
})
