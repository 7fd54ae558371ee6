import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import { WindowSessions } from '../../../src/app/window-sessions.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { until } from '../../support/until.ts'

describe('the paths that other windows use', () => {
  let folder = ''
  let windows: WindowSessions[]
  const changed = new Emitter<void>()
  const open = (paths: { starting?: string[]; used?: string[]; sessions?: object[] }) => {
    const { starting = [], used = [], sessions = [] } = paths
    const window = new WindowSessions({
      ...{ folder, workspace: '', log: silentLogger, redact: (text: string) => text, show: () => {} },
      ...{
        starting: () => starting,
        used: () => used,
        onDidChangeUsed: changed.event,
        confirm: async () => true,
      },
      manager: { list: () => sessions, find: () => undefined, onDidChange: new Emitter<void>().event },
      indicators: { of: () => 'idle', onDidChange: new Emitter<void>().event },
    } as unknown as ConstructorParameters<typeof WindowSessions>[0])
    windows.push(window)
    return window
  }
  const session = (name: string, activity: string, isBusy: boolean) => ({
    plan: { setup: { cwd: `/w/${name}`, additionalDirectories: [`/more/${name}`] } },
    session: { state: { activity }, onDidChange: () => ({ dispose() {} }) },
    isBusy,
  })

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'parley-windows-'))
    windows = []
  })
  afterEach(() => {
    for (const one of windows) one.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  it('are its folders and unsaved files, and where something runs or starts', async () => {
    const here = open({})
    open({
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
    windows[1]!.dispose()
    here.refresh()
    assert.deepEqual([here.used(), here.busy()], [[], []])
  })

  it('are known as soon as the user types into a file, before the next heartbeat', async () => {
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
})
