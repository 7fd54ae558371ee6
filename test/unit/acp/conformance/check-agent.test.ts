import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  type CheckAgentOptions,
  CONFORMANCE_CHECKS,
  checkAgent,
} from '../../../../src/acp/conformance/check-agent.ts'
import {
  type ConformanceReport,
  conforms,
  type ProtocolVersion,
} from '../../../../src/acp/conformance/conformance-report.ts'
import { CHECK_TIMES, type CheckTimes } from '../../../../src/acp/conformance/conformance-run.ts'
import { markdownReport, plainReport } from '../../../../src/acp/conformance/report-text.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { SecretRegistry } from '../../../../src/common/secrets.ts'

const CONNECT = {
  clientInfo: { name: 'test', title: 'Test', version: '1' },
  initializeTimeoutMs: 180_000,
  maxFrameBytes: 1024 * 1024,
  log: silentLogger,
}
const TIMES = { ...CHECK_TIMES, quiet: 60, output: 500 }

const FIXTURE = path.resolve('test/fixtures/conformance/agent.mjs')

/** Each fault of the fixture, and the checks that have to fail because of it. */
const FAULTS: Record<
  string,
  { fails: string[]; only?: ProtocolVersion; times?: Partial<CheckTimes>; skip?: string[] }
> = {
  'no-name': { fails: ['capabilities', 'schema'] },
  'refuse-unknown-version': { fails: ['unknown-version'] },
  'no-session-id': { fails: ['session-new', 'schema'] },
  'same-session': { fails: ['session-ids'] },
  'list-twice': { fails: ['session-list'] },
  'replay-backward': { fails: ['session-load'] },
  'replay-nothing': { fails: ['session-load'] },
  'replay-late': { fails: ['session-load'], times: { quiet: 1500 } },
  'replay-always': { fails: ['session-resume'] },
  'no-state': { fails: ['session-load', 'session-resume'], only: 2 },
  'fork-itself': { fails: ['session-fork'] },
  'no-close': { fails: ['session-close'] },
  'no-delete': { fails: ['session-delete'] },
  refusal: { fails: ['prompt'] },
  'stray-update': { fails: ['update-sessions'] },
  'no-message-id': { fails: ['message-ids', 'schema'], only: 2 },
  'shared-message-id': { fails: ['message-ids'], only: 2 },
  'no-echo': { fails: ['message-ids'], only: 2 },
  'end-turn-long': { fails: ['cancel'] },
  'ignore-cancel': { fails: ['cancel', 'cancel-permission'], times: { cancel: 300 } },
  'end-turn-permission': { fails: ['cancel-permission'] },
  'create-anyway': { fails: ['cancel-permission'] },
  'hang-unknown': {
    fails: ['unknown-method'],
    times: { request: 5000 },
    skip: ['unknown-notification', 'unknown-response', 'malformed-json'],
  },
  'wrong-code': { fails: ['unknown-method'] },
  'accept-params': { fails: ['invalid-params'] },
  'any-session': { fails: ['unknown-session'] },
  'answer-notifications': { fails: ['unknown-notification'] },
  'answer-responses': { fails: ['unknown-response'] },
  'die-of-garbage': { fails: ['malformed-json'] },
  'wrong-parse-code': { fails: ['malformed-json'] },
  'bad-chunk': { fails: ['schema'] },
  'answer-twice': { fails: ['ids'] },
  'same-request-id': { fails: ['ids'] },
  'file-request': { fails: ['client-capabilities'] },
  announce: { fails: ['stdout'] },
  stay: { fails: ['exit'], times: { exit: 300 } },
}

describe('checkAgent', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'parley-conformance-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  function check(fault: string, options: Partial<CheckAgentOptions> = {}): Promise<ConformanceReport> {
    const args = [FIXTURE, path.join(folder, 'state.json'), fault]
    return checkAgent({
      launch: { command: process.execPath, args, env: {}, cwd: folder },
      connect: CONNECT,
      signal: new AbortController().signal,
      withPrompts: true,
      times: TIMES,
      ...options,
    })
  }

  const failed = ({ versions }: ConformanceReport) =>
    versions.flatMap(({ results }) => results.filter(({ status }) => status === 'failed').map(({ id }) => id))

  it('passes an agent that conforms to both versions, in every check', async () => {
    const report = await check('none')
    assert.equal(report.agent, 'conformance-fixture 1.0.0')
    for (const { version, results } of report.versions) {
      assert.deepEqual(
        results.filter(({ status }) => status !== 'passed').map(({ id, detail }) => [id, detail]),
        [],
        plainReport(report),
      )
      const expected = CONFORMANCE_CHECKS.filter(({ only = version }) => only === version)
      assert.deepEqual(
        results.map(({ id }) => id),
        expected.map(({ id }) => id),
      )
    }
    assert.ok(conforms(report))
  })

  for (const [fault, { fails, only = 1, times, skip: others = [] }] of Object.entries(FAULTS)) {
    it(`fails an agent with the fault ${fault}`, async () => {
      // each of these starts a process
      const starting = ['unknown-version', 'session-load', 'session-resume']
      const skip = new Set([...starting.filter(id => !fails.includes(id)), ...others])
      const report = await check(fault, {
        versions: [only],
        skip,
        ...(times && { times: { ...TIMES, ...times } }),
      })
      assert.deepEqual(failed(report).sort(), [...fails].sort(), plainReport(report))
      assert.ok(!conforms(report))
    })
  }

  it('has a fault for every check', () => {
    const covered = new Set(['initialize', ...Object.values(FAULTS).flatMap(({ fails }) => fails)])
    assert.deepEqual(
      CONFORMANCE_CHECKS.map(({ id }) => id).filter(id => !covered.has(id)),
      [],
    )
  })

  const resultOf = ({ versions }: ConformanceReport, id: string) =>
    versions.flatMap(({ results }) => results).find(result => result.id === id)

  it('sends no prompt if the user wants none', async () => {
    const report = await check('none', { withPrompts: false, versions: [1] })
    assert.ok(conforms(report))
    assert.deepEqual(
      report.versions[0]?.results.filter(({ status }) => status === 'notChecked').map(({ id }) => id),
      CONFORMANCE_CHECKS.filter(({ prompts, only = 1 }) => prompts && only === 1).map(({ id }) => id),
    )
    assert.equal(
      await readFile(path.join(folder, 'state.json'), 'utf8').then(text => text.includes('OK')),
      false,
    )
  })

  it('reports what an agent does not offer, and what it does not ask for', async () => {
    const report = await check('nothing-offered', { versions: [1] })
    assert.ok(conforms(report), plainReport(report))
    for (const id of [
      'session-list',
      'session-load',
      'session-resume',
      'session-fork',
      'session-close',
      'session-delete',
    ])
      assert.equal(resultOf(report, id)?.status, 'notOffered', id)
    const silent = await check('no-permission', { versions: [1] })
    assert.deepEqual(
      [resultOf(silent, 'cancel-permission')?.status, resultOf(silent, 'cancel-permission')?.detail],
      ['notChecked', 'The agent asked for no permission.'],
    )
  })

  it('says that an agent requires a sign-in, without a part of the secret in its answer or on stdout', async () => {
    const secrets = new SecretRegistry()
    // longer than what a report quotes
    const secret = 'correct-horse-battery-'.repeat(40)
    secrets.add(secret)
    const report = await check('sign-in', {
      versions: [1],
      connect: { ...CONNECT, secrets },
      launch: {
        command: process.execPath,
        args: [FIXTURE, path.join(folder, 'state.json'), 'sign-in', '--token', secret],
        env: { CHECK_SECRET: secret },
        cwd: folder,
      },
    })
    const { status, detail } = resultOf(report, 'session-new')!
    assert.equal(status, 'notChecked')
    assert.match(detail ?? '', /^The agent requires a sign-in first/)
    assert.equal(resultOf(report, 'stdout')?.status, 'failed')
    for (const text of [JSON.stringify(report), plainReport(report), markdownReport(report)])
      assert.doesNotMatch(text, /correct-horse/)
  })

  it('reports an agent that answers nothing, exits, floods, or speaks another version', async () => {
    const short = { times: { ...TIMES, request: 300, exit: 100 }, versions: [1] as const }
    const hanging = await check('hang-at-start', short)
    assert.deepEqual(
      [resultOf(hanging, 'initialize')?.detail, resultOf(hanging, 'session-new')?.detail],
      ['No answer to initialize within 0.3 seconds.', "The agent couldn't be initialized."],
    )
    assert.ok(!conforms(hanging))
    const exiting = await check('exit-at-start', { versions: [1] })
    assert.match(resultOf(exiting, 'initialize')?.detail ?? '', /^The agent exited with code 3\./)
    const other = await check('wrong-version', { versions: [1] })
    assert.equal(resultOf(other, 'initialize')?.detail, 'The agent answered the offer of version 1 with 7.')
    assert.equal(other.problem, 'The agent uses neither version 1 nor version 2 of the protocol.')
    const flooding = await check('flood', { versions: [1] })
    assert.match(
      resultOf(flooding, 'prompt')?.detail ?? '',
      /^The agent sent so much that the check stopped it\./,
    )
    const made = ['initialize', 'session-new', 'session-close']
    const silent = await check('hang', {
      versions: [1],
      times: { ...TIMES, request: 5000, exit: 100 },
      skip: new Set(CONFORMANCE_CHECKS.map(({ id }) => id).filter(id => !made.includes(id))),
    })
    assert.match(
      resultOf(silent, 'session-new')?.detail ?? '',
      /^No answer to session\/new within 5 seconds\./,
    )
    assert.equal(resultOf(silent, 'session-close')?.detail, 'No session could be created.')
  })

  it('reports a command that does not exist', async () => {
    const launch = { command: path.join(folder, 'missing'), args: [], env: {}, cwd: folder }
    const report = await check('none', { launch, versions: [1] })
    assert.equal(resultOf(report, 'initialize')?.status, 'failed')
    assert.equal(report.problem, 'The agent uses neither version 1 nor version 2 of the protocol.')
  })

  it('stops when it is canceled, and leaves neither a process nor a folder', async () => {
    const before = await readdir(tmpdir())
    const abort = new AbortController()
    const checking = check('hang', {
      signal: abort.signal,
      times: { ...TIMES, exit: 100 },
      onCheck: title => title === 'Creates sessions' && setImmediate(() => abort.abort()),
    })
    await assert.rejects(checking, { name: 'CancelledError' })
    const left = (await readdir(tmpdir())).filter(
      name => name.startsWith('parley-check-') && !before.includes(name),
    )
    assert.deepEqual(left, [])
  })

  it('is a Markdown document in which nothing of the agent is Markdown', async () => {
    const report = await check('announce', { versions: [1], withPrompts: false })
    const result = resultOf(report, 'stdout')!
    result.detail = 'A line: "```\n# Not a heading"'
    const document = markdownReport({ ...report, agent: '[link](command:x) | <img src=x>' })
    assert.match(document, /^# Check of \\\[link\\\]\(command:x\) \\\| \\<img src=x\\>$/m)
    assert.match(document, /^````text\nA line: "```\n# Not a heading"\n````$/m)
    assert.match(document, /^\| Writes nothing but messages to stdout \| ✖ failed \|$/m)
  })
})
