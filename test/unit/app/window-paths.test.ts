import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import { WindowSessions } from '../../../src/app/window-sessions.ts'
import { Emitter } from '../../../src/common/event.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { until } from '../../support/until.ts'

describe('what other windows tell', () => {
  let folder = ''
  let windows: Array<{ dispose(): void }>
  const changed = new Emitter<void>()
  const shown: object[] = []
  const start = () => {
    const storage = new ConversationStorage({ file: path.join(folder, 'conversations.db') })
    windows.push(storage)
    return storage.windows
  }
  const open = (paths: { starting?: string[]; used?: string[]; sessions?: object[] }) => {
    const { starting = [], used = [], sessions = [] } = paths
    const stored = start()
    const window = new WindowSessions({
      windows: stored,
      ...{ workspace: '', redact: (text: string) => text, show: (open: object) => shown.push(open) },
      ...{
        starting: () => starting,
        used: () => used,
        onDidChangeUsed: changed.event,
      },
      manager: {
        list: () => sessions,
        find: (_: string, id: string) => sessions.find(one => Reflect.get(one, 'id') === id),
        onDidChange: new Emitter<void>().event,
      },
      sessionsHere: { list: () => sessions },
      indicators: { of: () => 'idle', onDidChange: new Emitter<void>().event },
    } as unknown as ConstructorParameters<typeof WindowSessions>[0])
    windows.push(window)
    return Object.assign(window, { stored })
  }
  const session = (name: string, activity: string, isBusy: boolean) => ({
    plan: { setup: { cwd: `/w/${name}`, additionalDirectories: [`/more/${name}`] } },
    session: { state: { activity }, onDidChange: () => ({ dispose() {} }) },
    isBusy,
  })

  before(function () {
    if (!process.getBuiltinModule('node:sqlite')) this.skip()
  })
  beforeEach(() => {
    shown.length = 0
    folder = mkdtempSync(path.join(tmpdir(), 'parley-windows-'))
    windows = []
  })
  afterEach(() => {
    for (const one of windows.reverse()) one.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is its folders and unsaved files, and where something runs or starts', async () => {
    const here = open({})
    const there = open({
      starting: ['/w/starting'],
      used: ['/w', '/w/unsaved.txt'],
      sessions: [
        session('turn', 'running', false),
        session('task', 'idle', true),
        session('idle', 'idle', false),
      ],
    })
    await until(() => {
      here.refresh()
      return here.used().length > 0
    })
    assert.deepEqual(here.used(), ['/w', '/w/unsaved.txt'])
    assert.deepEqual(here.busy(), ['/w/starting', '/w/turn', '/more/turn', '/w/task', '/more/task'])
    assert.deepEqual(here.others(), [])
    there.dispose()
    there.stored.dispose()
    here.refresh()
    assert.deepEqual([here.used(), here.busy()], [[], []])
  })

  it('is known as soon as the user types into a file, before the next heartbeat', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    try {
      const used = ['/w']
      const here = open({})
      open({ used })
      const seen = () => {
        here.refresh()
        return here.used()
      }
      await until(() => seen().length === 1)
      used.push('/w/typed.txt')
      changed.fire()
      await until(() => seen().includes('/w/typed.txt'))
      used.pop()
      changed.fire()
      await until(() => seen().length === 1)
    } finally {
      mock.timers.reset()
    }
  })

  it('is checked, since anything may have written it', () => {
    const here = open({})
    const state = { agentId: 'one', agentName: 'One', sessionId: 's', indicator: 'running', cwd: '/w' }
    const sessions = [state, { ...state, agentId: 5 }, { ...state, cwd: 'x'.repeat(100_000) }, null]
    const whole = JSON.stringify({ workspace: 'file:///w', sessions })
    const [good, ...others] = [whole, whole.slice(0, 50), 'null', ' '.repeat(2_000_000) + whole].map(text => {
      const other = start()
      other.publish(text)
      return other
    })
    assert.equal(here.refresh(), true)
    const window = { name: good!.own, workspace: 'file:///w' }
    assert.deepEqual(here.others(), [{ ...state, window }])
    for (const one of [good, ...others]) one!.dispose()
    assert.equal(here.refresh(), true)
    assert.deepEqual(here.others(), [])
  })

  it('contains a request to show a session, which the other window handles once', () => {
    const here = open({ sessions: [{ ...session('turn', 'running', false), id: 's' }] })
    here.stored.publish('{}')
    const there = open({})
    const ask = (request: string) => there.stored.request(here.stored.own, request)
    ask('torn {')
    here.refresh()
    ask(JSON.stringify({ agentId: 'a', sessionId: 'unknown' }))
    here.refresh()
    assert.deepEqual(shown, [])
    ask(JSON.stringify({ agentId: 'a', sessionId: 's' }))
    here.refresh()
    here.refresh()
    assert.equal(shown.length, 1)
  })
})
