import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConfigOption } from '../../../src/acp/model.ts'
import type { LockingWindows } from '../../../src/agents/registry/file-lock.ts'
import type { TrackerStore } from '../../../src/changes/change-tracker.ts'
import type { Disposable } from '../../../src/common/disposable.ts'
import { FolderStore, type KeyValueStore } from '../../../src/common/key-value-store.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { StorageTrouble } from '../../../src/history/database.ts'
import { LocalSessions } from '../../../src/history/local-sessions.ts'
import type { SavedConversations, SessionRecords } from '../../../src/sessions/ports.ts'
import type { SessionLeases } from '../../../src/sessions/session-leases.ts'
import { ChangesOnDisk, hasSqlite } from '../../support/changes-on-disk.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'
import { processWindow } from '../../support/process-windows.ts'
import { MemoryLeases, MemoryRecords, MemoryTranscripts, memoryStore } from '../sessions/sessions-fixture.ts'

// Other tests use stores in memory. These run for both such a store and the real one.

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
let directory = ''
let open: Disposable[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-contract-'))
})
afterEach(() => {
  for (const one of open.splice(0)) one.dispose()
  rmSync(directory, { recursive: true, force: true })
})

function opened<T extends Disposable>(one: T): T {
  open = [...open, one]
  return one
}

const trouble = () => new StorageTrouble(message => assert.fail(message))

describe('a key-value store', () => {
  const stores: Record<string, () => KeyValueStore> = {
    'in memory': memoryStore,
    'in a folder': () => new FolderStore(join(directory, 'values'), silentLogger),
  }
  for (const [name, create] of Object.entries(stores)) {
    it(`${name} returns the last value, and undefined after it was removed`, () => {
      const store = create()
      assert.equal(store.get('a'), undefined)
      store.set('a', { text: 'żółć', list: [1, null] })
      store.set('__proto__', 'b')
      assert.deepEqual(store.get('a'), { text: 'żółć', list: [1, null] })
      assert.equal(store.get('__proto__'), 'b')
      store.set('a', false)
      assert.equal(store.get('a'), false)
      store.set('a', undefined)
      assert.equal(store.get('a'), undefined)
    })

    it(`${name} tells keys apart, whatever they are`, () => {
      const store = create()
      const keys = ['a/\ud800', 'a/\ud801', 'a/\ufffd']
      for (const key of keys) store.set(key, JSON.stringify(key))
      for (const key of keys) assert.equal(store.get(key), JSON.stringify(key))
    })
  }
})

describe('the session records', () => {
  const records: Record<string, () => SessionRecords> = {
    'in memory': () => new MemoryRecords(),
    ...(sqlite && {
      'in the database': () =>
        opened(new LocalSessions({ file: join(directory, 'sessions.db'), trouble: trouble() })),
    }),
  }
  const record = (sessionId: string, title?: string) => ({
    sessionId,
    cwd: '/w',
    additionalDirectories: ['/lib'],
    ...(title !== undefined && { title }),
  })
  for (const [name, create] of Object.entries(records)) {
    it(`${name} contain the sessions of each agent until they are forgotten`, () => {
      const all = create()
      all.opened('a', record('s', 'One'))
      all.opened('b', record('s'))
      assert.deepEqual(all.agentIds().sort(), ['a', 'b'])
      assert.deepEqual(all.get('a', 's')?.additionalDirectories, ['/lib'])
      assert.equal(all.get('a', 's')?.title, 'One')
      all.touched('a', 's', 'Two')
      all.touched('a', 's', undefined)
      assert.equal(all.get('a', 's')?.title, 'Two')
      all.touched('a', 'unknown', 'Three')
      assert.equal(all.get('a', 'unknown'), undefined)
      all.forget('a', 's')
      assert.deepEqual(all.list('a'), [])
      assert.equal(all.get('b', 's')?.title, undefined)
    })

    it(`${name} contain the user's changes, even of a session that Parley didn't open`, () => {
      const all = create()
      all.noted('a', record('s', 'One'), { givenTitle: 'Mine', archived: true })
      all.noted('a', record('s'), { archived: false })
      all.noted('a', record('s'), { pinned: true })
      assert.ok(all.get('a', 's')?.pinned)
      all.noted('a', record('s'), { pinned: false })
      assert.ok(!all.get('a', 's')?.pinned)
      assert.equal(all.get('a', 's')?.givenTitle, 'Mine')
      assert.ok(!all.get('a', 's')?.archived)
      all.opened('a', record('s', 'Two'))
      assert.equal(all.get('a', 's')?.givenTitle, 'Mine')
      all.noted('a', record('s'), { givenTitle: '' })
      assert.equal(all.get('a', 's')?.givenTitle, undefined)
    })

    it(`${name} can contain sessions with any ids`, () => {
      const all = create()
      const ids = ['\ud800', 'a\udfff', '\ufffd', 'id:"\ud800"', 'id:"', 'ż 👩‍💻']
      for (const [position, id] of ids.entries()) all.opened('a', record(id, `Title ${position}`))
      for (const id of ids) all.opened('a', record(id))
      assert.deepEqual(
        all
          .list('a')
          .map(({ sessionId }) => sessionId)
          .sort(),
        [...ids].sort(),
      )
      for (const [position, id] of ids.entries()) assert.equal(all.get('a', id)?.title, `Title ${position}`)
      for (const id of ids) all.forget('a', id)
      assert.deepEqual(all.list('a'), [])
    })

    it(`${name} contain an agent as of its last run`, () => {
      const all = create()
      const agent = { name: 'A', list: true, load: true, resume: false, fork: true }
      assert.equal(all.agent('a'), undefined)
      all.agentRuns('a', agent)
      all.agentRuns('a', { ...agent, resume: true })
      assert.deepEqual(all.agent('a'), { ...agent, resume: true })
    })
  }
})

describe('the saved conversations', () => {
  const stores: Record<string, () => SavedConversations> = {
    'in memory': () => new MemoryTranscripts(),
    ...(sqlite && {
      'in the database': () =>
        opened(new ConversationStorage({ file: join(directory, 'conversations.db'), trouble: trouble() }))
          .transcripts,
    }),
  }
  const entry = (position: number, text: string): { position: number; entry: Entry } => ({
    position,
    entry: { kind: 'message', id: `e${position}`, turn: 1, role: 'agent', blocks: [{ type: 'text', text }] },
  })
  const texts = (store: SavedConversations, sessionId = 's') =>
    store
      .read('a', sessionId)
      ?.entries.map(one =>
        one.kind === 'message' && one.blocks[0]?.type === 'text' ? one.blocks[0].text : '?',
      )
  for (const [name, create] of Object.entries(stores)) {
    it(`${name} contain the last frame of a hosted agent that they include`, () => {
      const store = create()
      const said = { hostedId: 'h', frame: 7 }
      store.write('a', 's', { replace: true, entries: [entry(0, 'one')], terminals: [], said })
      assert.deepEqual(store.read('a', 's')?.said, said)
      store.write('a', 's', { replace: false, entries: [entry(1, 'two')], terminals: [] })
      assert.deepEqual(store.read('a', 's')?.said, said)
      const later = { hostedId: 'h', frame: 9 }
      store.write('a', 's', { replace: false, entries: [], terminals: [], said: later })
      assert.deepEqual(store.read('a', 's')?.said, later)
      store.write('a', 's', { replace: true, entries: [entry(0, 'again')], terminals: [] })
      assert.equal(store.read('a', 's')?.said, undefined)
    })

    it(`${name} contain entries, appended text and terminals until they are replaced or forgotten`, () => {
      const store = create()
      assert.equal(store.read('a', 's'), undefined)
      assert.ok(
        store.write('a', 's', { replace: false, entries: [entry(0, 'one'), entry(1, 'two')], terminals: [] }),
      )
      store.write('a', 's', {
        replace: false,
        entries: [],
        texts: [{ position: 1, block: 0, text: ' more' }],
        terminals: [{ terminalId: 't', output: 'x', truncated: false }],
      })
      store.write('a', 's', {
        replace: false,
        entries: [],
        terminals: [],
        outputs: [{ terminalId: 't', text: 'y' }],
      })
      assert.deepEqual(texts(store), ['one', 'two more'])
      assert.deepEqual(
        store.read('a', 's')?.terminals.map(({ output }) => output),
        ['xy'],
      )
      store.write('a', 's', { replace: true, entries: [entry(0, 'new')], terminals: [] })
      assert.deepEqual(texts(store), ['new'])
      assert.deepEqual(store.read('a', 's')?.terminals, [])
      store.forget('a', 's')
      assert.equal(store.read('a', 's'), undefined)
      assert.ok(store.write('a', 's', { replace: false, entries: [entry(0, 'again')], terminals: [] }))
      assert.deepEqual(texts(store), ['again'])
    })

    it(`${name} contain the options of a session until they are replaced or forgotten`, () => {
      const store = create()
      const mode = (currentValue: string): ConfigOption => ({
        ...{ type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue },
        choices: [
          { value: 'a', name: 'A', description: 'First', group: 'Letters' },
          { value: 'b', name: 'B' },
        ],
      })
      const others: ConfigOption[] = [
        { type: 'boolean', id: 'web', name: 'Web', description: 'Search', currentValue: true },
        { type: 'unknown', id: 'x', name: 'X', raw: { any: [1] } },
      ]
      assert.equal(store.options('a', 's'), undefined)
      store.write('a', 's', { replace: false, entries: [], terminals: [], options: [mode('a'), ...others] })
      assert.deepEqual(store.options('a', 's'), [mode('a'), ...others])
      store.write('a', 's', { replace: false, entries: [entry(0, 'one')], terminals: [] })
      assert.deepEqual(store.options('a', 's'), [mode('a'), ...others])
      store.write('a', 's', { replace: false, entries: [], terminals: [], options: [mode('b')] })
      assert.deepEqual(store.options('a', 's'), [mode('b')])
      store.write('a', 's', { replace: true, entries: [entry(0, 'new')], terminals: [] })
      assert.equal(store.options('a', 's'), undefined)
      store.write('a', 's', { replace: false, entries: [], terminals: [], options: [mode('b')] })
      store.forget('a', 's')
      assert.equal(store.options('a', 's'), undefined)
    })

    it(`${name} return the end of a long conversation, equal to the whole one's, with its terminals`, () => {
      const store = create()
      const tool = (position: number): { position: number; entry: Entry } => ({
        position,
        entry: {
          ...{ kind: 'tool_call', id: `e${position}`, turn: 1, toolCallId: `c${position}`, title: 'Run' },
          ...{ toolKind: 'execute', status: 'completed', locations: [], canCancel: false },
          content: [{ type: 'terminal', terminalId: `t${position}` }],
        },
      })
      const entries = [tool(0), entry(1, 'one'), entry(2, 'two'), tool(3), entry(4, 'last')]
      const terminals = ['t0', 't3'].map(terminalId => ({ terminalId, output: 'a', truncated: false }))
      store.write('a', 's', { replace: true, entries, terminals, head: { title: 'Title' } })
      store.write('a', 's', {
        ...{ replace: false, entries: [], terminals: [] },
        texts: [{ position: 2, block: 0, text: ' more' }],
        outputs: [{ terminalId: 't3', text: 'b' }],
      })
      assert.equal(store.readEnd('a', 's', 5, 3), undefined)
      assert.equal(store.readEnd('a', 'other', 0, 3), undefined)
      const whole = store.read('a', 's')!
      assert.deepEqual(store.readEnd('a', 's', 4, 3), {
        first: 2,
        conversation: { ...whole, entries: whole.entries.slice(2), terminals: whole.terminals.slice(1) },
      })
    })

    it(`${name} contain the conversations of sessions with any ids`, () => {
      const store = create()
      const ids = ['\ud800', '\ud801', '\ufffd', 'id:"\ud800"', 'id:"', 'ż 👩‍💻']
      for (const id of ids)
        store.write('a', id, { replace: false, entries: [entry(0, JSON.stringify(id))], terminals: [] })
      for (const id of ids) {
        assert.deepEqual(texts(store, id), [JSON.stringify(id)])
        store.write('a', id, { replace: false, entries: [entry(1, 'more')], terminals: [] })
        assert.deepEqual(texts(store, id), [JSON.stringify(id), 'more'])
      }
      store.forget('a', '\ud800')
      assert.deepEqual(
        ids.filter(id => store.read('a', id)),
        ids.slice(1),
      )
    })

    it(`${name} have another revision after a write that changes them`, () => {
      const store = create()
      assert.equal(store.revision('a', 's'), undefined)
      store.write('a', 's', { replace: false, entries: [entry(0, 'one')], terminals: [] })
      const first = store.revision('a', 's')
      assert.ok(first !== undefined)
      assert.equal(store.revision('a', 's'), first)
      store.write('a', 's', {
        replace: false,
        entries: [],
        texts: [{ position: 0, block: 0, text: '!' }],
        terminals: [],
      })
      assert.notEqual(store.revision('a', 's'), first)
    })
  }
})

describe('the session leases', () => {
  /** Two windows on one machine, and a function that makes each notice what the other did. */
  const windows: Record<string, () => { one: SessionLeases; two: SessionLeases; poll(): void }> = {
    'in memory': () => {
      const machine = new Map<string, MemoryLeases>()
      return { one: new MemoryLeases(machine), two: new MemoryLeases(machine), poll() {} }
    },
    ...(sqlite && {
      'in the database': () => {
        const window = () =>
          opened(new ConversationStorage({ file: join(directory, 'conversations.db'), trouble: trouble() }))
            .leases
        const [one, two] = [window(), window()]
        return {
          one,
          two,
          poll() {
            one.poll()
            two.poll()
          },
        }
      },
    }),
  }
  for (const [name, create] of Object.entries(windows)) {
    it(`${name} give a session to one window at a time`, () => {
      const { one, two } = create()
      assert.ok(one.acquire('a', 's'))
      assert.ok(one.acquire('a', 's'))
      assert.ok(!two.acquire('a', 's'))
      assert.ok(two.isSeenElsewhere('a', 's'))
      assert.ok(!one.isSeenElsewhere('a', 's'))
      assert.ok(!two.isSeenElsewhere('b', 's'))
      assert.ok(one.acquire('b', 's'), 'who only looks takes nothing')
      one.release('b', 's')
      assert.ok(two.acquire('b', 's'))
      two.release('a', 's')
      assert.ok(!two.acquire('a', 's'), "a window can't release another's session")
      one.release('a', 's')
      assert.ok(two.acquire('a', 's'))
    })

    it(`${name} ask the owner for a session, and let another window seize it`, () => {
      const { one, two, poll } = create()
      const events: string[] = []
      one.onDidRequest(({ agentId, sessionId }) => events.push(`requested ${agentId}/${sessionId}`))
      one.onDidLose(({ agentId, sessionId }) => events.push(`lost ${agentId}/${sessionId}`))
      two.onDidLose(() => events.push('lost by two'))
      one.acquire('a', 's')
      two.request('a', 's')
      poll()
      assert.deepEqual(events, ['requested a/s'])
      one.acquire('a', 't')
      const from = two.seize('a', 's')
      poll()
      assert.deepEqual(events, ['requested a/s', 'lost a/s'])
      assert.ok(!one.acquire('a', 's'))
      // that window doesn't release its other sessions, either
      assert.ok(!two.acquire('a', 't'))
      assert.ok(!two.acquire('a', 't', 'another window'))
      assert.ok(two.acquire('a', 't', from))
      poll()
      assert.deepEqual(events.slice(2), ['lost a/t'])
      assert.ok(!one.acquire('a', 't'))
      assert.ok(two.acquire('a', 't', from))
    })

    it(`${name} tell sessions with any ids apart`, () => {
      const { one, two, poll } = create()
      const events: string[] = []
      one.onDidRequest(({ sessionId }) => events.push(`requested ${JSON.stringify(sessionId)}`))
      one.onDidLose(({ sessionId }) => events.push(`lost ${JSON.stringify(sessionId)}`))
      assert.ok(one.acquire('a', '\ud800'))
      assert.ok(two.acquire('a', '\ud801'))
      assert.ok(!two.acquire('a', '\ud800'))
      poll()
      two.request('a', '\ud800')
      poll()
      assert.deepEqual(events, ['requested "\\ud800"'])
      one.release('a', '\ud800')
      assert.ok(two.acquire('a', '\ud800'))
    })
  }
})

describe('the windows', () => {
  const windows: Record<string, () => LockingWindows> = {
    'with processes': processWindow,
    ...(sqlite && {
      'in the database': () =>
        opened(new ConversationStorage({ file: join(directory, 'conversations.db'), trouble: trouble() }))
          .windows,
    }),
  }
  for (const [name, create] of Object.entries(windows))
    it(`${name} live as long as their processes do`, () => {
      const [one, two] = [create(), create()]
      assert.notEqual(one.own, two.own)
      two.start()
      const seen = (pid: number) => one.isAlive(two.own, { host: hostname(), pid, beat: 1 })
      assert.equal(seen(process.pid), true)
      assert.equal(one.isAlive(one.own, { host: hostname(), pid: process.pid, beat: 1 }), true)
      assert.equal(seen(spawnSync(process.execPath, ['-e', '']).pid), false)
    })
})

describe("the change tracker's store", () => {
  const stores: Record<string, () => { store: TrackerStore; next: () => Promise<TrackerStore> }> = {
    'in memory': () => {
      const store = new MemoryStore()
      return { store, next: async () => store }
    },
    ...(hasSqlite && {
      'on disk': () => {
        const window = () => opened(new ChangesOnDisk(join(directory, 'changes')))
        const store = window()
        return {
          store,
          next: async () => {
            await store.flushed()
            return window()
          },
        }
      },
    }),
  }
  const by = { turns: [{ session: 's', turn: 1 }] }
  const changed = (path: string) => ({
    path,
    text: 'b\n',
    segments: [
      {
        id: 1,
        versions: [
          { value: ['a\n'], by: 'user' as const, seq: 0 },
          { value: ['b\n'], by, seq: 1 },
        ],
      },
    ],
    attributes: [
      {
        value: { type: 'text' as const, encoding: 'utf8', bom: false, mode: 0o644 },
        by: 'user' as const,
        seq: 0,
      },
    ],
  })
  for (const [name, create] of Object.entries(stores)) {
    it(`${name} has files and bytes for the next window`, async () => {
      const { store, next } = create()
      store.save('/w/a', changed('/w/a'))
      store.save('/w/b', changed('/w/b'))
      store.save('/w/b', undefined)
      const hash = await store.put(Buffer.from([0, 255]))
      assert.equal(await store.put(Buffer.from([0, 255])), hash)
      const after = await next()
      assert.deepEqual(await after.load(), [changed('/w/a')])
      assert.deepEqual([...((await after.get(hash)) ?? [])], [0, 255])
      assert.equal(await after.get('0'.repeat(64)), undefined)
    })

    it(`${name} has reverted changes, latest first, until they are forgotten`, async () => {
      const { store, next } = create()
      const now = Date.now()
      const file = (path: string) => ({ before: changed(path), after: changed(path) })
      await store.saveUndone({ id: '1', at: now, files: [file('/w/a')] })
      await store.addUndone({ id: '2', at: now + 1, session: 's' }, [file('/w/a')])
      await store.addUndone({ id: '2', at: now + 1, session: 's' }, [file('/w/b')])
      store.saveDropped([{ path: '/w/c', turns: [{ session: 's', turn: 1 }], why: 'age' }])
      const after = await next()
      assert.deepEqual(
        (await after.loadUndone()).map(({ id, files }) => [id, files.map(({ after }) => after.path)]),
        [
          ['2', ['/w/a', '/w/b']],
          ['1', ['/w/a']],
        ],
      )
      assert.deepEqual(await after.loadDropped(), [
        { path: '/w/c', turns: [{ session: 's', turn: 1 }], why: 'age' },
      ])
      assert.deepEqual(await after.loadDecided(), [])
      after.forgetUndone('2')
      assert.deepEqual(
        (await after.loadUndone()).map(({ id }) => id),
        ['1'],
      )
    })

    it(`${name} has decisions, the oldest first, until they are removed`, async () => {
      const { store, next } = create()
      const decided = (path: string) => ({
        ...{ path, outcome: 'kept' as const, undo: 'u' },
        changes: [{ sessions: ['s', 't'], count: 2 }],
      })
      const ids = Array.from({ length: 120 }, (_, i) => `1700000000${1000 + i}`)
      for (const id of ids) store.saveDecided(id, decided(`/w/${id}`))
      store.saveDecided(ids[1]!, { ...decided('/w/again'), outcome: 'reverted' })
      store.saveDecided(ids[2]!, undefined)
      const after = await next()
      const expected = ids.filter((_, i) => i !== 2).map(id => [id, decided(`/w/${id}`)])
      expected[1] = [ids[1]!, { ...decided('/w/again'), outcome: 'reverted' as never }]
      assert.deepEqual(await after.loadDecided(), expected)
      for (const id of ids) store.saveDecided(id, undefined)
      assert.deepEqual(await (await next()).loadDecided(), [])
    })
  }
})
