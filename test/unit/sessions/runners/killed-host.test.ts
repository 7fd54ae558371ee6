import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import path from 'node:path'
import type { Entry } from '../../../../src/conversation/state.ts'
import { isRunning } from '../../../support/contracts/running-process.ts'
import { until } from '../../../support/until.ts'
import { type SessionsFixture, sendPrompt } from '../sessions-fixture.ts'
import { HostedSuite } from './hosted-suite.ts'

/** Says a number every few milliseconds in its first turn, without an end; in others, one word. */
const AGENT = `
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const say = (sessionId, text) => send({
    method: 'session/update',
    params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  })
  const agentCapabilities = { sessionCapabilities: { resume: {} } }
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities } })
    if (method === 'session/new') send({ id, result: { sessionId: 's1' } })
    if (method === 'session/resume') send({ id, result: {} })
    if (method !== 'session/prompt') return
    const { sessionId, prompt: [{ text }] } = params
    let next = 1
    if (text === 'count') setInterval(() => say(sessionId, next++ + '.'), 5)
    else {
      say(sessionId, 'Done.')
      send({ id, result: { stopReason: 'end_turn' } })
    }
  })
`

describe('a session whose agent host was killed', () => {
  const suite = new HostedSuite()
  const { program, folder } = suite
  const last = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
  let open: () => SessionsFixture
  beforeEach(() => {
    open = suite.opener(suite.hosting(AGENT))
  })

  /** The largest number that the host has on disk. */
  const onDisk = () => {
    const names = readdirSync(program.entries).filter(name => /^journal-.*[0-9a-f]$/.test(name))
    const texts = names.map(name => readFileSync(path.join(program.entries, name), 'latin1'))
    return Math.max(
      0,
      ...texts.flatMap(text => [...text.matchAll(/"text":"(\d+)\."/g)].map(one => Number(one[1]))),
    )
  }
  const begin = async () => {
    const window = open()
    await window.controller.opener.start('one')
    await sendPrompt(window.controller, 'count')
    const { state } = window.controller.current!.session
    await until(() => JSON.stringify(state.entries).includes('20.'), 'a part of the turn')
    return window
  }
  const killHost = async () => {
    const [agent] = await program.hosts.list()
    const [pid] = await program.pids()
    process.kill(pid!, 'SIGKILL')
    await until(() => !isRunning(pid!) && !isRunning(agent!.pid), 'the end of the host and its agent')
  }
  const entries = (window: SessionsFixture) => window.controller.current?.session.state.entries ?? []
  /** It's the whole conversation up to there, in order and once, and says why the turn ended. */
  const assertWhole = (all: readonly Entry[], atLeast: number) => {
    const [prompt, text, why, ...more] = said(all)
    assert.equal(prompt, 'count')
    const numbers = text!.split('.').slice(0, -1).map(Number)
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => i + 1),
    )
    assert.ok(numbers.length >= atLeast, `${numbers.length} of ${atLeast}`)
    assert.match(why!, /The program that runs agents in the background was ended from outside or crashed/)
    return more
  }

  const ends: Record<string, (window: SessionsFixture) => unknown> = {
    'was closed': window => window.close(),
    'was killed': window => window.kill(),
  }
  for (const [how, end] of Object.entries(ends))
    it(`has all that the host received since its window ${how}, and goes on`, async () => {
      const first = await begin()
      await end(first)
      const before = onDisk()
      await until(() => onDisk() > before + 100, 'what the agent says without a window')
      const atLeast = onDisk()
      await killHost()
      const next = open()
      await Promise.all([next.hosted!.start(), next.controller.opener.restore(last)])
      await until(() => next.controller.phase === 'ready', 'the session')
      assert.deepEqual(assertWhole(entries(next), atLeast), [])
      await sendPrompt(next.controller, 'more')
      await until(() => said(entries(next)).includes('Done.'), 'the next turn')
      await until(() => said(next.transcripts.read('one', 's1')?.entries).includes('Done.'))
      assert.deepEqual(assertWhole(next.transcripts.read('one', 's1')!.entries, atLeast), ['more', 'Done.'])
    })

  /** There is a dead host, which said this much while no window was there. */
  const leave = async () => {
    const first = await begin()
    await first.close()
    const before = onDisk()
    await until(() => onDisk() > before + 50, 'what the agent says without a window')
    const atLeast = onDisk()
    await killHost()
    return atLeast
  }

  it('is whole in a window that opens it from the history, and goes on there', async () => {
    const atLeast = await leave()
    const next = open()
    await next.controller.opener.reopen('resume', last)
    await until(() => next.controller.phase === 'ready', 'the session')
    assert.deepEqual(assertWhole(entries(next), atLeast), [])
    await sendPrompt(next.controller, 'more')
    await until(() => said(next.transcripts.read('one', 's1')?.entries).includes('Done.'))
    assert.deepEqual(assertWhole(next.transcripts.read('one', 's1')!.entries, atLeast), ['more', 'Done.'])
  })

  it('is whole, and has each text once, if two windows come back at the same time', async () => {
    const atLeast = await leave()
    const [one, two] = [open(), open()]
    await Promise.all([one, two].map(window => window.hosted!.start()))
    assertWhole(one.transcripts.read('one', 's1')!.entries, atLeast)
    await Promise.all([one, two].map(window => window.controller.opener.reopen('resume', last)))
    const [owner] = [one, two].filter(window => window.manager.list().length === 1)
    await until(() => owner!.controller.phase === 'ready', 'the session')
    assert.deepEqual(assertWhole(entries(owner!), atLeast), [])
    assert.deepEqual(assertWhole(one.transcripts.read('one', 's1')!.entries, atLeast), [])
  })

  it('stays as it is if it went on meanwhile', async () => {
    await leave()
    const journals = () => readdirSync(program.entries).filter(name => name.startsWith('journal-'))
    const [journal] = journals()
    const [id, file] = [journal!.split('-').at(-1)!, path.join(program.entries, journal!)]
    const aside = path.join(folder, 'aside')
    renameSync(file, aside)
    const next = open()
    await next.controller.opener.reopen('resume', last)
    await sendPrompt(next.controller, 'more')
    await until(() => said(next.transcripts.read('one', 's1')?.entries).includes('Done.'))
    await next.close()
    renameSync(aside, file)
    const before = said(next.transcripts.read('one', 's1')?.entries)
    const third = open()
    await third.hosted!.start()
    assert.deepEqual(said(third.transcripts.read('one', 's1')?.entries), before)
    await until(() => !journals().some(name => name.endsWith(id)), 'the end of the journal')
  })
})

function said(entries: readonly Entry[] = []): string[] {
  return entries.flatMap(entry => {
    if (entry.kind === 'turn_end') return entry.error?.message ?? entry.stopReason
    if (entry.kind !== 'message') return []
    return entry.blocks.map(block => (block.type === 'text' ? block.text : '?')).join('')
  })
}
