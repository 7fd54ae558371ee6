import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { mock } from 'node:test'
import { promisify } from 'node:util'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { deferred } from '../../../src/common/async.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import type { ReducingState } from '../../../src/conversation/reducer/reducing-state.ts'
import { Session } from '../../../src/conversation/session.ts'
import { disk, FRESH_MS, isWrittenSince } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import { ChangeDetector } from '../../../src/sessions/change-detector.ts'
import { waitFor } from '../../host/wait-for.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'
import { until } from '../../support/until.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { tool } from '../conversation/updates.ts'
import { memoryStore } from './sessions-fixture.ts'

describe('files that only a command changed', () => {
  let root: string
  let agent: FakeAgent
  let session: Session
  let changes: SessionChanges
  let editor: FakeEditor
  const saved = new Emitter<string>()
  let following: { dispose(): void }
  let follow: () => { dispose(): void }
  let snapshot: ReturnType<WorkTree['snapshot']> | undefined
  /** when the turn began whose snapshot was taken last */
  let scannedFrom: number | undefined
  let looks: number
  /** Scans wait for this. */
  let looking: Promise<void> | undefined
  /** Called when a scan has read the files. */
  let searched = () => {}

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-notice-')))
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], { cwd: root })
    git('init', '-q')
    writeFileSync(join(root, 'a.txt'), 'a\n')
    for (const name of ['mine', 'late', 'later']) writeFileSync(join(root, `${name}.txt`), 'mine\n')
    git('add', '.')
    git('commit', '-q', '-m', 'first')
    const setup = { cwd: root, additionalDirectories: [], mcpServers: [] }
    agent = new FakeAgent()
    session = new Session({ agent, sessionId: 's', setup, phase: 'ready' })
    editor = new FakeEditor()
    const files = filesShared({ documents: editor, fileSystem: disk })
    const tracker = new ChangeTracker({ files, store: new MemoryStore() })
    editor.tracker = tracker
    changes = new SessionChanges(tracker, 's', setup)
    const tree = new WorkTree(changes)
    snapshot = undefined
    looks = 0
    looking = undefined
    searched = () => {}
    follow = () =>
      new ChangeDetector({
        session,
        changes,
        onDidSave: saved.event,
        log: silentLogger,
        tree: {
          prepare: folders => tree.prepare(folders),
          accept: (before, path) => tree.accept(before, path),
          snapshot: (folders, began) => {
            const taken = tree.snapshot(folders, began)
            snapshot = taken
            scannedFrom = began
            return taken
          },
          changed: async (...asked) => {
            looks++
            await looking
            const found = await tree.changed(...asked)
            searched()
            return found
          },
        },
      })
    following = follow()
  })
  afterEach(() => {
    following.dispose()
    rmSync(root, { recursive: true, force: true })
  })

  async function turn(toolKind: 'execute' | 'read', meanwhile = async () => {}): Promise<void> {
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 1)
    // a real model needs longer for its first word
    await snapshot
    session.receive(tool('t', { kind: toolKind, status: 'in_progress' }))
    writeFileSync(join(root, 'a.txt'), 'b\n')
    writeFileSync(join(root, 'mine.txt'), 'by the person\n')
    saved.fire(join(root, 'mine.txt'))
    await meanwhile()
    session.receive(tool('t', { status: 'completed' }))
    session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
    agent.prompts[0]!.answer.resolve()
  }

  /** Ends the turn and waits until its changes are known. */
  async function end(): Promise<void> {
    const ended = deferred()
    const endTurn = changes.endTurn.bind(changes)
    changes.endTurn = () => endTurn().finally(() => ended.resolve())
    session.receive(tool('t', { status: 'completed' }))
    session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
    agent.prompts[0]!.answer.resolve()
    await ended.promise
  }

  it('are reported after the turn, without those that the user saved', async () => {
    await turn('execute')
    await until(() => changes.list().length > 0)
    assert.deepEqual(changes.list(), [
      { path: join(root, 'a.txt'), status: 'modified', uncertain: 'all', added: 1, removed: 1 },
    ])
  })

  it('are not what the user saved the moment before the turn', async () => {
    const mine = join(root, 'mine.txt')
    writeFileSync(mine, 'by the person\n')
    const began = statSync(mine).ctimeMs + 10
    const clock = mock.method(Date, 'now', () => began)
    saved.fire(mine)
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 1)
    clock.mock.restore()
    await snapshot
    session.receive(tool('t', { kind: 'execute', status: 'in_progress' }))
    writeFileSync(join(root, 'a.txt'), 'b\n')
    await end()
    assert.deepEqual(
      changes.list().map(({ path }) => basename(path)),
      ['a.txt'],
    )
  })

  it('are those since the start of the turn, also if the clock was set back after the turn before it', async () => {
    const clock = mock.method(Date, 'now', () => performance.timeOrigin + performance.now() + 3_600_000)
    await turn('read')
    await until(() => session.state.activity === 'idle')
    clock.mock.restore()
    const accepted = mock.method(WorkTree.prototype, 'accept')
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 2)
    await snapshot
    assert.ok(scannedFrom! <= Date.now(), `in ${scannedFrom! - Date.now()} ms`)
    await new Promise(setImmediate)
    assert.equal(accepted.mock.callCount(), 0)
    accepted.mock.restore()
  })

  it('are those since the start of the turn, which is recorded once', async () => {
    const begins = mock.method(changes, 'beginTurn')
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => begins.mock.callCount() === 1)
    const [, , , start] = begins.mock.calls[0]!.arguments
    assert.ok(scannedFrom !== undefined)
    assert.equal(start?.began, scannedFrom)
    await snapshot
  })

  it("while no window was open are the turn's when the next one goes on with it", async () => {
    following.dispose()
    const stored = memoryStore()
    const store = new MemoryStore()
    const shared = filesShared({ documents: editor, fileSystem: disk })
    const hosted = { outlivesWindow: true }
    const open = (state?: ReducingState) => {
      const one = new FakeAgent()
      Object.assign(one, { hosted })
      const { setup } = session
      const conversation = new Session({
        agent: one,
        sessionId: 's',
        setup,
        phase: 'ready',
        ...(state && { state }),
      })
      const back = deferred()
      const tracker = new ChangeTracker({ files: shared, store, agentsBack: back.promise })
      const own = new SessionChanges(tracker, 's', setup)
      const detecting = new ChangeDetector({
        session: conversation,
        changes: own,
        onDidSave: saved.event,
        log: silentLogger,
        turns: stored,
      })
      back.resolve()
      return { agent: one, session: conversation, changes: own, detecting }
    }
    const first = open()
    void first.session.prompt([{ type: 'text', text: 'go' }])
    first.session.receive(tool('t', { kind: 'execute', status: 'in_progress' }))
    await until(() => stored.get('s') !== undefined)
    // tracked before the window is gone
    writeFileSync(join(root, 'late.txt'), 'by a command\n')
    first.session.receive(tool('t', { status: 'completed' }))
    await until(() => first.changes.list().length > 0)
    first.detecting.dispose()

    // a reload takes a moment, and a window is closed for longer
    for (const name of ['a', 'late']) writeFileSync(join(root, `${name}.txt`), 'while no window was open\n')
    const second = open(structuredClone(first.session.conversation.state))
    second.session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
    await until(() => second.changes.list().length === 2)
    assert.deepEqual(
      second.changes
        .list()
        .map(({ path, uncertain }) => [basename(path), uncertain])
        .sort(),
      [
        ['a.txt', 'all'],
        ['late.txt', 'all'],
      ],
    )
    assert.ok(second.changes.list().every(({ added }) => added === 1))
    assert.equal(second.changes.before(join(root, 'late.txt'))?.text, 'mine\n')
    await until(() => stored.get('s') === undefined)

    // what the user does after the turn is the user's
    second.detecting.dispose()
    writeFileSync(join(root, 'later.txt'), 'by the user\n')
    const third = open(structuredClone(second.session.conversation.state))
    await third.changes.refresh()
    assert.equal(third.changes.list().length, 2)
    third.detecting.dispose()
  })

  it('are looked for as usual if what is stored is damaged, or of another turn', async () => {
    following.dispose()
    const stored = memoryStore()
    const { turn: number } = session.state
    for (const damaged of [
      { number, began: 0, before: {} },
      { number, began: 0, before: { repositories: [{ dirty: [['a.txt']] }], unseen: [], accepted: [] } },
      'torn',
      { number: number + 1, began: 0, before: { repositories: [], unseen: [], accepted: [] } },
    ]) {
      stored.set('s', damaged)
      session.receive({ type: 'state', state: 'running' })
      following = new ChangeDetector({
        session,
        changes,
        onDidSave: saved.event,
        log: silentLogger,
        turns: stored,
      })
      assert.equal(stored.get('s'), undefined)
      session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
      following.dispose()
    }
  })

  for (const command of ['npm test', 'git checkout other'])
    it(`include what a checkout wrote only if the agent may have run it: ${command}`, async () => {
      const path = join(root, 'a.txt')
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], { cwd: root })
      git('checkout', '-q', '-b', 'other')
      writeFileSync(path, 'other\n')
      git('commit', '-q', '-a', '-m', 'other')
      git('checkout', '-q', '-')
      const ended = deferred()
      const endTurn = changes.endTurn.bind(changes)
      changes.endTurn = () => endTurn().finally(() => ended.resolve())
      void session.prompt([{ type: 'text', text: 'go' }])
      await until(() => agent.prompts.length === 1)
      await snapshot
      session.receive(tool('t', { kind: 'execute', status: 'in_progress', rawInput: { command } }))
      git('checkout', '-q', 'other')
      writeFileSync(join(root, 'late.txt'), 'by a command\n')
      session.receive(tool('t', { status: 'completed' }))
      session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
      agent.prompts[0]!.answer.resolve()
      await ended.promise
      const expected = command === 'npm test' ? ['late.txt'] : ['a.txt', 'late.txt']
      assert.deepEqual(
        changes
          .list()
          .map(one => basename(one.path))
          .sort(),
        expected,
      )
    })

  describe('in a repository of many files', () => {
    const names = Array.from({ length: 3000 }, (_, i) => `f${i}.txt`)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], { cwd: root })
    const write = (some: readonly string[], text: string) => {
      for (const name of some) writeFileSync(join(root, name), `${name} ${text}\n`)
    }
    const begin = async (command: string) => {
      void session.prompt([{ type: 'text', text: 'go' }])
      await until(() => agent.prompts.length === 1)
      session.receive(tool('t', { kind: 'execute', status: 'in_progress', rawInput: { command } }))
    }

    beforeEach(() => {
      following.dispose()
      write(names, 'before')
      git('add', '.')
      git('commit', '-q', '-m', 'many')
      following = follow()
    })

    it('are all that the agent writes the moment it gets the prompt, before Git has looked', async () => {
      const written = [...names.slice(0, 490), ...Array.from({ length: 10 }, (_, i) => `new${i}.txt`)]
      write(written, 'after')
      // the clock of a file system stands still between two ticks, so by that one they were written a moment before
      const began = statSync(join(root, 'f0.txt')).ctimeMs + 10
      mock.method(Date, 'now', () => began)
      try {
        await begin('sed -i')
      } finally {
        mock.restoreAll()
      }
      await end()
      assert.deepEqual(
        changes
          .list()
          .map(({ path }) => basename(path))
          .sort(),
        written.sort(),
      )
      assert.equal(changes.omitted.files, 0)
      assert.equal(changes.before(join(root, 'f0.txt'))?.text, 'f0.txt before\n')
    })

    it('are counted together if the agent checks out many, also if a look comes in the middle', async function () {
      if (process.platform === 'win32') this.skip()
      const many = names.slice(0, 2000)
      git('checkout', '-q', '-b', 'other')
      write([...many, 'zz.slow'], 'other')
      writeFileSync(join(root, '.gitattributes'), '*.slow filter=slow\n')
      git('add', '.')
      git('commit', '-q', '-m', 'other')
      git('checkout', '-q', '-')
      const go = join(root, '.git', 'go')
      git('config', 'filter.slow.smudge', `until [ -e '${go}' ]; do sleep 0.02; done; cat`)
      await begin('git checkout other')
      await snapshot
      const checkedOut = promisify(execFile)('git', ['checkout', '-q', 'other'], { cwd: root })
      await until(() => readFileSync(join(root, 'f1.txt'), 'utf8') === 'f1.txt other\n')
      // the user types in a file of the checkout, which is reason enough to look
      editor.open(join(root, 'f1.txt'))
      editor.type(join(root, 'f1.txt'), 'typed\n')
      await until(() => looks === 1)
      writeFileSync(go, '')
      await checkedOut
      await end()
      assert.deepEqual([changes.list(), changes.omitted.files], [[], 2002])
    })
  })

  it("are reported without the user's lines if the user edits and saves the file during the turn", async () => {
    const path = join(root, 'a.txt')
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 1)
    await snapshot
    session.receive(tool('t', { kind: 'execute', status: 'in_progress' }))
    writeFileSync(path, 'b\n')
    editor.open(path)
    editor.type(path, 'b\nby the user\n')
    await until(() => changes.list().length > 0)
    await editor.save(path)
    saved.fire(path)
    session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
    agent.prompts[0]!.answer.resolve()
    await until(() => looks === 2)
    assert.deepEqual(changes.list(), [{ path, status: 'modified', uncertain: 'all', added: 1, removed: 1 }])
    assert.deepEqual((await changes.undo()).unchanged, [])
    assert.equal(readFileSync(path, 'utf8'), 'a\nby the user\n')
  })

  it("aren't searched for because the user edits a file that wasn't written during the turn", async () => {
    editor.open(join(root, 'mine.txt'))
    await waitFor(
      'a file older than the turn',
      () => Date.now() - statSync(join(root, 'mine.txt')).ctimeMs > 100,
    )
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 1)
    await snapshot
    session.receive(tool('t', { kind: 'execute', status: 'in_progress' }))
    editor.type(join(root, 'mine.txt'), 'typed\n')
    editor.type(join(root, 'mine.txt'), 'typed more\n')
    writeFileSync(join(root, 'a.txt'), 'b\n')
    editor.open(join(root, 'a.txt'))
    editor.type(join(root, 'a.txt'), 'b\ntyped\n')
    await until(() => changes.list().length > 0)
    assert.equal(looks, 1)
  })

  it("don't include what the user saves right after the turn, during the search", async () => {
    const { promise, resolve } = deferred()
    looking = promise
    await turn('execute')
    await until(() => looks === 1)
    const ended = deferred()
    const endTurn = changes.endTurn.bind(changes)
    changes.endTurn = () => endTurn().then(ended.resolve)
    for (const name of ['late.txt', 'later.txt']) writeFileSync(join(root, name), 'saved after the turn\n')
    saved.fire(join(root, 'late.txt'))
    // the editor reports a save a moment later
    searched = () => saved.fire(join(root, 'later.txt'))
    resolve()
    await ended.promise
    assert.deepEqual(
      changes.list().map(({ path }) => path),
      [join(root, 'a.txt')],
    )
  })

  it('belong to the ended turn, even if the next one starts before they are found', async () => {
    const ends = mock.method(changes, 'endTurn')
    const found = deferred()
    const noticed = changes.noticed.bind(changes)
    changes.noticed = (...all) => noticed(...all).then(found.resolve)
    await turn('execute')
    void session.prompt([{ type: 'text', text: 'go on' }])
    await found.promise
    assert.equal(session.state.turn, 2)
    assert.deepEqual([changes.list(1).length, changes.list(2).length], [1, 0])
    await new Promise(setImmediate)
    assert.equal(ends.mock.callCount(), 0, 'the next one goes on')
  })

  for (const isRepository of [true, false])
    it(`aren't what the next turn wrote before they were found${isRepository ? '' : ', in a plain folder'}`, async () => {
      if (isRepository) {
        writeFileSync(join(root, 'other.txt'), 'a\n')
        const git = ['-c', 'user.name=t', '-c', 'user.email=t@t.example']
        execFileSync('git', ['add', 'other.txt'], { cwd: root })
        execFileSync('git', [...git, 'commit', '-q', '-m', 'other'], { cwd: root })
        // what was written the moment before a turn may be the turn's
        await until(() => !isWrittenSince(statSync(join(root, 'other.txt')).ctimeMs, Date.now() - FRESH_MS))
      } else rmSync(join(root, '.git'), { recursive: true })
      const look = deferred()
      looking = look.promise
      await turn('execute')
      await until(() => looks === 1)
      void session.prompt([{ type: 'text', text: 'go on' }])
      await until(() => agent.prompts.length === 2)
      await snapshot
      session.receive(tool('next', { kind: 'execute', status: 'in_progress' }))
      writeFileSync(join(root, 'other.txt'), 'by the next turn\n')
      writeFileSync(join(root, 'new.txt'), 'by the next turn\n')
      look.resolve()
      const names = (number: number) => changes.list(number).map(({ path }) => basename(path))
      await until(() => names(1).length > 0)
      assert.deepEqual([names(1), names(2)], [['a.txt'], []])
      session.receive(tool('next', { status: 'completed' }))
      session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
      agent.prompts[1]!.answer.resolve()
      await until(() => names(2).length > 1)
      assert.deepEqual([names(1), names(2).sort()], [['a.txt'], ['new.txt', 'other.txt']])
    })

  it('are in the summary of a turn whose background work goes on in the next one', async () => {
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 1)
    await snapshot
    session.receive(tool('t', { kind: 'execute', status: 'in_progress' }))
    writeFileSync(join(root, 'a.txt'), 'b\n')
    session.receive(tool('t', { status: 'completed' }))
    session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn', background: ['b'] })
    agent.prompts[0]!.answer.resolve()
    await until(() => session.state.background === 1)
    void session.prompt([{ type: 'text', text: 'go on' }])
    const summary = () => session.state.entries.find(entry => entry.turn === 1 && entry.turnSummary)
    await until(() => summary()?.turnSummary?.files !== undefined)
    assert.deepEqual(summary()?.turnSummary?.files, { count: 1, added: 1, removed: 1 })
  })

  it('belong to the turn that changed them while background work of the previous one continues', async () => {
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 1)
    session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn', background: ['b'] })
    agent.prompts[0]!.answer.resolve()
    await until(() => session.state.background === 1)
    void session.prompt([{ type: 'text', text: 'go on' }])
    await until(() => agent.prompts.length === 2)
    await changes.writing(join(root, 'a.txt'), 'b\n', async () => writeFileSync(join(root, 'a.txt'), 'b\n'))
    assert.deepEqual([changes.list(1).length, changes.list(2).length], [0, 1])
  })

  it("aren't reported again after the user kept them", async () => {
    const turning = turn('execute', async () => {
      await changes.noticed([{ path: join(root, 'a.txt'), before: 'a\n' }])
      assert.equal(changes.list().length, 1)
      changes.keep({ paths: [join(root, 'a.txt')] })
    })
    let reported = 0
    const noticed = changes.noticed.bind(changes)
    await turning
    changes.noticed = async (...found) => {
      await noticed(...found)
      reported++
    }
    await until(() => reported > 0)
    assert.deepEqual(changes.list(), [])
  })

  it("aren't reported if the user reverted all changes of the file right after the search", async () => {
    const path = join(root, 'a.txt')
    await changes.writing(path, 'earlier\n', async () => writeFileSync(path, 'earlier\n'))
    const noticed = changes.noticed.bind(changes)
    const reported = deferred()
    changes.noticed = async (...found) => {
      await changes.undo({}, { force: true })
      assert.equal(readFileSync(path, 'utf8'), 'a\n')
      await noticed(...found)
      reported.resolve()
    }
    await turn('execute')
    await reported.promise
    assert.deepEqual(changes.list(), [])
  })

  it("aren't reported if a tool call reported them and the user reverted them during the search", async () => {
    rmSync(join(root, '.git'), { recursive: true })
    const path = join(root, 'a.txt')
    const { promise, resolve } = deferred()
    looking = promise
    void session.prompt([{ type: 'text', text: 'go' }])
    await until(() => agent.prompts.length === 1)
    const taken = await snapshot!
    // like a file that is written while it's being read
    delete taken.folders[0]!.files.get(path)!.hash
    session.receive(tool('t', { kind: 'execute', status: 'in_progress' }))
    const change = { operation: 'modify' as const, path, oldText: 'a\n', newText: 'b\n' }
    writeFileSync(path, 'b\n')
    await changes.tool({ toolCallId: 't', begun: true, done: true }, [{ changes: [change] }], [])
    assert.equal(changes.list().length, 1)
    session.receive(tool('t', { status: 'completed' }))
    session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
    agent.prompts[0]!.answer.resolve()
    await until(() => looks === 1)
    const told: number[] = []
    Object.defineProperty(changes, 'omitted', { set: ({ files }) => told.push(files) })
    await changes.undo()
    assert.deepEqual(changes.list(), [])
    resolve()
    await until(() => told.length > 0)
    assert.deepEqual(told, [0])
  })

  it("aren't searched for after a turn that only read files", async () => {
    await turn('read')
    await until(() => session.state.activity === 'idle')
    await new Promise(setImmediate)
    assert.equal(looks, 0)
  })
})
