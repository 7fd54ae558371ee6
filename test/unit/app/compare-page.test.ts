import assert from 'node:assert/strict'
import { ComparePage } from '../../../src/app/compare/compare-page.ts'
import type { ParticipantId } from '../../../src/app/compare/comparisons.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { until } from '../../support/until.ts'

describe('the page that compares agents', () => {
  const { now } = Date
  /** milliseconds that the clock jumped ahead */
  let passed: number
  let page: ComparePage
  let shownId: string
  let isTrusted: boolean
  let trust: Emitter<void>
  let sent: string[]
  let read: string[]
  let onRead: () => Promise<void>
  let run: { state: string; worked: number }
  let changed: Emitter<ParticipantId>

  beforeEach(() => {
    passed = 0
    performance.now = () => now() + passed
    shownId = 'a'
    isTrusted = true
    trust = new Emitter()
    sent = []
    read = []
    onRead = async () => {}
    run = { state: 'done', worked: 0 }
    changed = new Emitter()
    const nothing = new Emitter<never>().event
    const participants = [{ agentId: 'one', agentName: 'One', worktree: { path: '/one', name: 'one' } }]
    const of = (id: string) => ({ id, title: id, at: 1, from: { commit: 'abc' }, participants })
    const panel = {
      ...{ setTitle() {}, setIcon() {}, reveal() {}, close() {} },
      ...{ onDidChangeState: nothing, onDidClose: nothing },
    }
    const channel = { listen() {}, post: (message: unknown) => void sent.push(JSON.stringify(message)) }
    const options = {
      log: silentLogger,
      workbench: {
        get isTrusted() {
          return isTrusted
        },
        openTab: () => ({ panel, state: { visible: true, active: true }, page: channel }),
      },
      pageFocus: { listen: nothing },
      comparisons: {
        show: (id: string) => {
          shownId = id
        },
        get shown() {
          return of(shownId)
        },
        ...{ list: () => [], get: of, at: ({ id, agent }: ParticipantId) => of(id).participants[agent] },
        ...{ usageOf: () => ({}), runOf: () => run },
        ...{ hasPrompt: () => false, onDidChange: changed.event },
      },
      manager: { list: () => [], onDidChange: nothing },
      records: { get: () => undefined },
      iconOf: () => undefined,
      onDidChangeWorktrees: nothing,
      onDidGrantTrust: trust.event,
      loadActions: async () => ({
        files: async ({ id }: ParticipantId) => {
          read.push(id)
          await onRead()
          return { files: [], count: 0, added: 0, removed: 0 }
        },
      }),
    }
    page = new ComparePage(options as unknown as ConstructorParameters<typeof ComparePage>[0])
  })
  afterEach(() => {
    page.dispose()
    performance.now = now
  })

  it('shows the changes as soon as the workspace is trusted', async () => {
    isTrusted = false
    page.show('a')
    await until(() => sent.some(message => message.includes('"trusted":false')))
    isTrusted = true
    trust.fire()
    await until(() => sent.some(message => message.includes('"trusted":true')))
    await until(() => read.length > 0)
  })

  it('reads the files of another comparison at once, however long the last one took', async () => {
    // as if Git took hours
    onRead = async () => {
      passed += 3_600_000
    }
    page.show('a')
    await until(() => sent.some(message => message.includes('compare/files')))
    page.show('b')
    await until(() => read.includes('b'))
    // it's chosen while Git looks for the changes of another one
    let finish = () => {}
    onRead = () =>
      new Promise(resolve => {
        finish = () => {
          passed += 3_600_000
          resolve()
        }
      })
    page.show('c')
    await until(() => read.includes('c'))
    page.show('d')
    onRead = async () => {}
    finish()
    await until(() => read.includes('d'))
  })

  it('reads the files of an agent at once when it is done, however long Git took while it worked', async () => {
    const found = () => sent.filter(message => message.includes('compare/files'))
    run = { state: 'working', worked: 0 }
    onRead = async () => {
      passed += 3_600_000
    }
    page.show('a')
    await until(() => found().length === 1)
    // the page doesn't say that there are none
    assert.match(found()[0]!, /"isEarly":true/)
    run = { state: 'done', worked: 1 }
    changed.fire({ id: 'a', agent: 0 })
    await until(() => found().length === 2)
    assert.doesNotMatch(found()[1]!, /isEarly/)
  })

  it('reads the files of an agent that works after at most ten seconds, however long Git took', async () => {
    run = { state: 'working', worked: 0 }
    onRead = async () => {
      passed += 3_600_000
    }
    page.show('a')
    await until(() => sent.some(message => message.includes('compare/files')))
    passed += 10_000
    changed.fire({ id: 'a', agent: 0 })
    await until(() => read.length === 2)
  })

  it('reads the files of an agent again that is done while Git looks for its changes', async () => {
    run = { state: 'working', worked: 0 }
    let finish = () => {}
    onRead = () =>
      new Promise(resolve => {
        finish = () => {
          passed += 3_600_000
          resolve()
        }
      })
    page.show('a')
    await until(() => read.length === 1)
    run = { state: 'done', worked: 1 }
    changed.fire({ id: 'a', agent: 0 })
    onRead = async () => {}
    finish()
    await until(() => read.length === 2)
  })
})
