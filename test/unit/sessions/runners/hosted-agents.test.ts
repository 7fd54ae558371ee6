import assert from 'node:assert/strict'
import { mock } from 'node:test'
import type { HostedAgentInfo, OtherHost } from '../../../../src/acp/start-hosted.ts'
import { deferred } from '../../../../src/common/async.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import type { KeepAgentsRunning } from '../../../../src/common/settings.ts'
import { HostedAgents } from '../../../../src/sessions/runners/hosted-agents.ts'
import { SessionsFixture } from '../sessions-fixture.ts'

describe('agents of earlier windows', () => {
  const left = (workspace: string) => [
    { id: 'a1', tag: { agentId: 'one', name: 'One', workspace }, sessions: ['s1'], isAttached: false },
  ]
  const windowOf = (
    keep: KeepAgentsRunning,
    trusted = true,
    found: unknown[] = left('file:///w'),
    { others = [], lastAgentId }: { others?: OtherHost[]; lastAgentId?: string } = {},
  ) => {
    const fixture = new SessionsFixture()
    const heard = {
      lists: 0,
      held: [] as string[],
      listed: deferred(),
      marks: [] as boolean[],
      unreachable: 0,
      trusted,
    }
    heard.listed.resolve()
    const hosted = new HostedAgents({
      hosts: {
        list: async () => {
          heard.lists++
          await heard.listed.promise
          return found as HostedAgentInfo[]
        },
        start: () => Promise.reject(new Error('not started')),
        attach: async () => undefined,
        others: async () => others,
      },
      workspace: 'file:///w',
      keep: () => keep,
      trusted: () => heard.trusted,
      agents: fixture.directory,
      isSearchSure: () => true,
      launchOf: () => undefined,
      nameOf: agentId => agentId,
      holdSecrets: async agentId => void heard.held.push(agentId),
      lastAgentId: () => lastAgentId,
      runners: fixture.runners,
      ...{ manager: fixture.manager, held: fixture.held, planner: fixture.planner },
      ...{ records: fixture.records, transcripts: fixture.transcripts, queues: fixture.queues },
      onUnavailable: () => {},
      onTooMuchUnsaved: () => {},
      onUnreachable: () => void heard.unreachable++,
      mark: mayRun => void heard.marks.push(mayRun),
      log: silentLogger,
    })
    // the runners ask it for the agents
    return { heard, hosted, fixture: Object.assign(fixture, { hosted }) }
  }

  it("aren't looked for in Restricted Mode, or if the setting is off; once the user trusts the workspace, they are", async () => {
    for (const { heard, hosted } of [windowOf('untilDone', false), windowOf('off')]) {
      await hosted.start()
      assert.equal(hosted.startProcess('one'), undefined)
      assert.equal(heard.lists, 0)
    }
    const { heard, hosted, fixture } = windowOf('untilDone', false)
    await hosted.start()
    assert.deepEqual([heard.lists, fixture.started.length], [0, 0])
    heard.trusted = true
    await hosted.start()
    assert.deepEqual([heard.lists, fixture.started.length], [1, 1])
    assert.ok(hosted.startProcess('one'))
  })

  it('are awaited no longer than a window needs to close, also if the clock is set back', async () => {
    const { now } = Date
    let looks = 0
    mock.method(Date, 'now', () => now() - 3_600_000 * looks++)
    try {
      const found = left('file:///w').map(one => ({ ...one, isAttached: true }))
      const { hosted, heard } = windowOf('untilDone', true, found)
      await hosted.start()
      assert.ok(heard.lists > 1)
    } finally {
      mock.restoreAll()
    }
  })

  it('may run in a host of another version: the user is told, also by the next window', async () => {
    const { hosted, heard } = windowOf('untilDone', true, [], { others: [{ pid: 42, sessions: [] }] })
    await hosted.start()
    assert.deepEqual([heard.unreachable, heard.marks], [1, []])
    const none = windowOf('untilDone', true, [])
    await none.hosted.start()
    assert.deepEqual([none.heard.unreachable, none.heard.marks], [0, [false]])
  })

  it("aren't awaited by the next window if there are none of its workspace", async () => {
    const others = windowOf('untilDone', true, left('file:///other'))
    await others.hosted.start()
    assert.deepEqual([others.heard.marks, others.fixture.started.length], [[false], 0])
    const own = windowOf('whileReloading')
    await own.hosted.start()
    assert.deepEqual(own.heard.marks, [])
  })

  it('have their secrets known once, those of the likely one while the host is asked', async () => {
    const { heard, hosted } = windowOf('untilDone', true, left('file:///w'), { lastAgentId: 'one' })
    heard.listed = deferred()
    const started = hosted.start()
    assert.deepEqual(heard.held, ['one'])
    heard.listed.resolve()
    await started
    assert.deepEqual(heard.held, ['one'])
    const other = windowOf('untilDone')
    await other.hosted.start()
    assert.deepEqual(other.heard.held, ['one'])
  })
})
