import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import type { FileChange } from '../../../src/acp/model.ts'
import { Decisions } from '../../../src/app/changes/decisions.ts'
import { confirmUndo, type UndoServices } from '../../../src/app/changes/undo-changes.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { NEW_TEXT } from '../../../src/changes/model/file-state.ts'
import type { ChangedFile } from '../../../src/changes/review/changed-file.ts'
import { ChangeScope, SessionChanges } from '../../../src/changes/session-changes.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { type FilesShared, filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { ChangesOnDisk, hasSqlite } from '../../support/changes-on-disk.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'
import { until } from '../../support/until.ts'

describe('the change tracker', () => {
  let root = ''
  let store: MemoryStore
  let editor: FakeEditor
  let shared: FilesShared
  let tracker: ChangeTracker
  let changes: SessionChanges
  let trashed: string[]
  let trash: ((path: string) => Promise<void>) | undefined
  let watching: ((path: string) => void) | undefined
  const file = (name: string) => join(root, name)
  const text = (name: string) => readFileSync(file(name), 'utf8')
  const roots = () => ({ cwd: root, additionalDirectories: [] })
  const session = (name: string) => new SessionChanges(tracker, name, roots())
  const create = () => {
    tracker = new ChangeTracker({ files: shared, store, ...(trash && { trash }) })
    editor.tracker = tracker
    changes = session('s')
  }

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-changes-')))
    store = new MemoryStore()
    editor = new FakeEditor()
    trashed = []
    trash = async path => {
      trashed.push(path)
      await rm(path)
    }
    watching = undefined
    const watch = (changed: (path: string) => void) => {
      watching = changed
      return {
        dispose: () => {
          watching = undefined
        },
      }
    }
    shared = filesShared({ documents: editor, fileSystem: disk, watch })
    writeFileSync(file('a.txt'), 'one\ntwo\nthree\n')
    create()
  })
  afterEach(() => {
    tracker.dispose()
    rmSync(root, { recursive: true, force: true })
  })

  const change = (name: string, oldText: string | undefined, newText: string): FileChange => ({
    operation: oldText === undefined ? 'add' : 'modify',
    path: file(name),
    newText,
    ...(oldText !== undefined && { oldText }),
  })
  /** A write through the client, as an agent requests it. */
  const write = (name: string, content: string, by = changes) => {
    const files = new SessionFiles(shared, { roots: roots(), askAccess: async () => 'refuse' })
    return by.writing(file(name), content, tracked =>
      files.writeTextFile({ path: file(name), content }, undefined, tracked),
    )
  }
  const tool = (
    status: 'pending' | 'running' | 'done',
    reported: FileChange,
    by = changes,
    toolCallId = 't',
  ) =>
    by.tool(
      { toolCallId, begun: status !== 'pending', done: status === 'done' },
      [{ changes: [reported] }],
      [],
    )
  const listed = (by = changes) =>
    by.list().map(({ path, ...rest }) => ({ ...rest, name: path.slice(root.length + 1) }))
  const undo = (selection = {}, options = {}) => changes.undo(selection, options)
  const whys = async (result = undo()) => (await result).unchanged.map(({ why }) => why)
  const entry = (status: ChangedFile['status'], name: string, added: number, removed: number) => ({
    status,
    name,
    added,
    removed,
  })

  describe('finds changes made', () => {
    it('through the client', async () => {
      await write('a.txt', 'one\n2\nthree\nfour\n')
      await write('new.txt', 'x\n')
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 1), entry('added', 'new.txt', 1, 0)])
      assert.equal(changes.before(file('a.txt'))?.text, 'one\ntwo\nthree\n')
    })

    it('through the client, even if the editor formats on save', async () => {
      editor.open(file('a.txt'))
      editor.format = saved => saved.replace(/\s*=\s*/, ' = ')
      await write('a.txt', 'one\ntwo=2\nthree\n')
      assert.equal(text('a.txt'), 'one\ntwo = 2\nthree\n')
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
      editor.reload()
      // a difference other than whitespace could be what the user typed meanwhile, so it's checked
      editor.format = saved => saved.replace('2', '2;')
      await write('a.txt', 'one\n2\nthree\n')
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), ['user'])
      assert.equal(text('a.txt'), 'one\n2;\nthree\n')
      assert.deepEqual(await whys(undo({}, { force: true })), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    for (const isWritten of [false, true])
      (hasSqlite ? it : it.skip)(
        `through the client, even after a crash right ${isWritten ? 'after' : 'before'} the file is written`,
        async () => {
          const folder = join(root, '.store')
          const open = () => {
            const kept = new ChangesOnDisk(folder)
            const again = new ChangeTracker({ files: shared, store: kept })
            return { kept, again, of: new SessionChanges(again, 's', roots()) }
          }
          const first = open()
          const work = async () => {
            if (isWritten) writeFileSync(file('a.txt'), 'one\n2\nthree\n')
            const next = open()
            await next.again.disk.refresh()
            assert.deepEqual(listed(next.of), isWritten ? [entry('modified', 'a.txt', 1, 1)] : [])
            await next.of.undo()
            assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
            next.again.dispose()
            await next.kept.flushed()
            next.kept.dispose()
          }
          await first.of.writing(file('a.txt'), 'one\n2\nthree\n', work)
          first.again.dispose()
          await first.kept.flushed()
          first.kept.dispose()
        },
      )

    it('by a tool call that is reported while its file is truncated for writing', async () => {
      writeFileSync(file('a.txt'), '')
      await tool('running', change('a.txt', 'two', '2'))
      writeFileSync(file('a.txt'), 'one\n2\nthree\n')
      await tracker.disk.refresh()
      await tool('done', change('a.txt', 'two', '2'))
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it('by a tool call that empties a file', async () => {
      const emptied = change('a.txt', 'one\ntwo\nthree\n', '')
      writeFileSync(file('a.txt'), '')
      await tool('running', emptied)
      await tool('done', emptied)
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 0, 3)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it('by tool calls with a diff, whenever the file is written', async () => {
      await tool('pending', change('a.txt', 'two', '2'))
      assert.deepEqual(listed(), [])
      await writeFile(file('a.txt'), 'one\n2\nthree\n')
      await tool('done', change('a.txt', 'two', '2'))
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      await writeFile(file('late.txt'), 'x\n')
      await tool('done', change('late.txt', undefined, 'x\n'))
      assert.equal(changes.before(file('late.txt'))?.attributes.type, 'absent')
      // the file was written before it could be read, and the diff is a fragment
      writeFileSync(file('b.txt'), 'a\nB\nc\n')
      await tool('running', change('b.txt', 'b', 'B'))
      await tool('done', change('b.txt', 'b', 'B'))
      assert.equal(changes.before(file('b.txt'))?.text, 'a\nb\nc\n')
    })

    it('by a tool call that is reported after the next one has already written', async () => {
      writeFileSync(file('a.txt'), '1\ntwo\n3\n')
      for (const [id, from, to] of [
        ['first', 'one\n', '1\n'],
        ['second', 'three\n', '3\n'],
      ] as const) {
        await tool('running', change('a.txt', from, to), changes, id)
        await tool('done', change('a.txt', from, to), changes, id)
      }
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 2)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it('by a tool call that reports whole texts after the next one has already written', async () => {
      writeFileSync(file('a.txt'), '1\ntwo\n3\n')
      for (const [id, from, to] of [
        ['first', 'one\ntwo\nthree\n', '1\ntwo\nthree\n'],
        ['second', '1\ntwo\nthree\n', '1\ntwo\n3\n'],
      ] as const) {
        await tool('running', change('a.txt', from, to), changes, id)
        await tool('done', change('a.txt', from, to), changes, id)
      }
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 2)])
      assert.deepEqual(
        changes.hunks(file('a.txt')).map(({ authors }) => authors[0]?.toolCallId),
        ['first', 'second'],
      )
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    for (const [texts, first, second] of [
      ['fragments', ['two\n', '2\n'], ['six\n', '6\n']],
      [
        'whole texts',
        ['one\ntwo\nthree\nfour\nfive\nsix\n', 'one\n2\nthree\nfour\nfive\nsix\n'],
        ['one\n2\nthree\nfour\nfive\nsix\n', 'one\n2\nthree\nfour\nfive\n6\n'],
      ],
    ] as const)
      it(`by a tool call that reports ${texts} after the next one has already written and the user has saved over it`, async () => {
        writeFileSync(file('a.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\n')
        const report = async (turn: number, [from, to]: readonly [string, string]) => {
          await tool('running', change('a.txt', from, to), changes, `${turn}`)
          await tool('done', change('a.txt', from, to), changes, `${turn}`)
        }
        changes.beginTurn(1, () => true)
        const both = 'one\n2\nthree\nfour\nfive\n6\n'
        writeFileSync(file('a.txt'), both)
        editor.open(file('a.txt'))
        await report(1, first)
        const mine = both.replace('2', 'mine')
        editor.type(file('a.txt'), mine)
        await editor.save(file('a.txt'))
        await until(() => tracker.files.at(file('a.txt'))?.text === mine)
        changes.beginTurn(2, () => true)
        await report(2, second)
        await changes.endTurn()
        assert.deepEqual(
          changes.hunks(file('a.txt')).map(({ before, after, conflict }) => [before, after, conflict]),
          [
            [['two\n'], ['mine\n'], 'user'],
            [['six\n'], ['6\n'], undefined],
          ],
        )
      })

    it('by a tool call that reports whole texts after the user has saved a line right before what it appended', async () => {
      changes.beginTurn(1, () => true)
      const [first, both] = ['one\n2\nthree\n', 'one\n2\nthree\nfour\n']
      writeFileSync(file('a.txt'), both)
      await tool('done', change('a.txt', 'one\ntwo\nthree\n', first), changes, 'first')
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), both.replace('four', 'mine\nfour'))
      await editor.save(file('a.txt'))
      await tool('done', change('a.txt', first, both), changes, 'second')
      await changes.endTurn()
      assert.deepEqual(
        changes.hunks(file('a.txt')).map(({ after, authors }) => [after, authors.map(one => one.toolCallId)]),
        [
          [['2\n'], ['first']],
          [['four\n'], ['second']],
        ],
      )
    })

    for (const isSeen of [true, false])
      for (const statuses of [['running', 'done'], ['done']] as const)
        it(`by a tool call that is ${statuses.join(' and ')} when the user has saved over it${isSeen ? ', seen on disk before' : ''}`, async () => {
          writeFileSync(file('a.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\n')
          changes.beginTurn(1, () => true)
          writeFileSync(file('a.txt'), 'one\n2\nthree\nfour\nfive\nsix\n')
          await tool('done', change('a.txt', 'two\n', '2\n'), changes, 'first')
          const both = 'one\n2\nthree\nfour\nfive\n6\n'
          writeFileSync(file('a.txt'), both)
          if (isSeen) await tracker.disk.refresh()
          editor.open(file('a.txt'))
          const mine = both.replace('2', 'mine')
          editor.type(file('a.txt'), mine)
          writeFileSync(file('a.txt'), mine)
          for (const status of statuses)
            await tool(status, change('a.txt', 'six\n', '6\n'), changes, 'second')
          await editor.save(file('a.txt'))
          await changes.endTurn()
          const [edited, reported, ...others] = changes.hunks(file('a.txt'))
          assert.deepEqual([edited?.before, edited?.after, edited?.conflict], [['two\n'], ['mine\n'], 'user'])
          assert.deepEqual([reported?.after, reported?.conflict, others], [['6\n'], undefined, []])
          assert.deepEqual(reported?.authors, [{ turns: [{ session: 's', turn: 1 }], toolCallId: 'second' }])
        })

    it("by a tool call that only reports a file's location", async () => {
      await changes.tool({ toolCallId: 't', begun: true, done: false }, [], [file('a.txt')])
      await writeFile(file('a.txt'), 'one\n2\nthree\n')
      await changes.tool({ toolCallId: 't', begun: true, done: true }, [], [file('a.txt')])
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.equal(changes.hunks(file('a.txt'))[0]?.authors[0]?.toolCallId, 't')
    })

    it('but not those that were reported and never made', async () => {
      await tool('pending', change('a.txt', 'two', '2'))
      await tool('done', change('a.txt', 'two', '2'))
      assert.deepEqual(listed(), [])
      assert.equal(watching, undefined)
    })

    it("only in the session's roots", async () => {
      await tool('done', change('../outside.txt', undefined, 'x'))
      mkdirSync(file('folder'))
      await tool('done', change('folder', 'a', 'b'))
      assert.deepEqual(listed(), [])
    })

    it('during a turn without a tool call, as uncertain', async () => {
      let working = false
      await write('a.txt', 'one\ntwo\nthree\nfour\n')
      changes.beginTurn(1, () => working)
      writeFileSync(file('a.txt'), 'mine\ntwo\nthree\nfour\n')
      await changes.refresh()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 0)])
      working = true
      writeFileSync(file('a.txt'), 'mine\n2\nthree\nfour\n')
      await changes.endTurn()
      assert.deepEqual(
        changes.hunks(file('a.txt')).map(({ authors }) => authors[0]?.uncertain),
        [true, undefined],
      )
      await undo({ certain: true })
      assert.equal(text('a.txt'), 'mine\n2\nthree\n')
      assert.deepEqual(listed(), [{ ...entry('modified', 'a.txt', 1, 1), uncertain: 'all' }])
      writeFileSync(file('a.txt'), 'mine\n2\nthree\nafter\n')
      await changes.refresh()
      await undo()
      assert.equal(text('a.txt'), 'mine\ntwo\nthree\nafter\n')
    })

    for (const how of ['through the client', 'by itself'])
      it(`without a tool call after one that wrote ${how} and is reported to be done only then, as uncertain`, async () => {
        const reported = change('a.txt', 'two', '2')
        changes.beginTurn(1, () => true)
        await tool('running', reported)
        if (how === 'through the client') await write('a.txt', 'one\n2\nthree\n')
        else writeFileSync(file('a.txt'), 'one\n2\nthree\n')
        await changes.refresh()
        rmSync(file('a.txt'))
        await tool('done', reported)
        await changes.endTurn()
        assert.deepEqual(listed(), [{ ...entry('deleted', 'a.txt', 0, 3), uncertain: 'some' }])
      })

    it('by a tool call that is reported after its change and what a command did next were seen', async () => {
      changes.beginTurn(1, () => true)
      const before = 'one\ntwo\nthree\n'
      writeFileSync(file('a.txt'), 'one\n2\nthree\n')
      await changes.noticed([{ path: file('a.txt'), before: { text: before, attributes: NEW_TEXT } }])
      rmSync(file('a.txt'))
      await changes.refresh()
      assert.deepEqual(listed(), [{ ...entry('deleted', 'a.txt', 0, 3), uncertain: 'all' }])
      for (const status of ['running', 'done'] as const) await tool(status, change('a.txt', 'two', '2'))
      await changes.endTurn()
      assert.deepEqual(listed(), [{ ...entry('deleted', 'a.txt', 0, 3), uncertain: 'some' }])
    })

    it('by a tool call whose deletion was seen before it is reported', async () => {
      changes.beginTurn(1, () => true)
      await write('a.txt', 'one\n2\nthree\n')
      rmSync(file('a.txt'))
      await changes.refresh()
      assert.deepEqual(listed(), [{ ...entry('deleted', 'a.txt', 0, 3), uncertain: 'some' }])
      await tool('done', { operation: 'delete', path: file('a.txt') })
      assert.deepEqual(listed(), [entry('deleted', 'a.txt', 0, 3)])
      await changes.endTurn()
    })

    it('in lines that no tool call reported, as uncertain beside the reported ones', async () => {
      changes.beginTurn(1, () => true)
      await tool('running', change('a.txt', 'one', '1'))
      writeFileSync(file('a.txt'), '1\ntwo\nby another program\n')
      await tool('done', change('a.txt', 'one', '1'))
      await changes.endTurn()
      assert.deepEqual(listed(), [{ ...entry('modified', 'a.txt', 2, 2), uncertain: 'some' }])
      assert.deepEqual(
        changes.hunks(file('a.txt')).map(({ authors }) => authors[0]?.uncertain),
        [undefined, true],
      )
      assert.deepEqual(changes.checkpoint(1), [
        { path: file('a.txt'), action: 'change', added: 2, removed: 2, uncertain: 'some' },
      ])
      const asked: string[][] = []
      const confirm = async (
        ...[question, options, ...buttons]: Parameters<UndoServices['workbench']['dialogs']['confirm']>
      ) => {
        asked.push([question, options.detail ?? '', ...buttons])
        return asked.length > 2 ? buttons[0] : undefined
      }
      const showStatus = () => ({ dispose: () => {} })
      const dialogs: Partial<UndoServices['workbench']['dialogs']> = { confirm, showStatus }
      const folders = [{ name: 'w', path: root }]
      const workbench = { dialogs, folders, setContext: async () => undefined } as unknown as Workbench
      const decisions = new Decisions(workbench)
      const services = { workbench, tracker, decisions, sessions: { list: () => [] } }
      await confirmUndo(changes, { turn: 1 }, services)
      await confirmUndo(new ChangeScope(tracker), {}, services)
      await confirmUndo(changes, {}, services)
      assert.deepEqual(
        asked.map(([question]) => question),
        [
          'Revert all changes made to a.txt in this turn?',
          'Revert all changes that agents made to a.txt?',
          'Revert all changes made to a.txt in this session?',
        ],
      )
      assert.deepEqual(asked.slice(2), [
        [
          'Revert all changes made to a.txt in this session?',
          "Some of these changes happened during the turn but weren't reported by the agent.",
          'Revert Reported Changes Only',
          'Revert All',
        ],
      ])
      assert.equal(text('a.txt'), 'one\ntwo\nby another program\n')
    })

    it('by two tool calls at once, each with its own', async () => {
      writeFileSync(file('l.txt'), '1\n2\n3\n4\n5\n')
      await tool('running', change('l.txt', '1', 'one'), changes, 'x')
      await tool('running', change('l.txt', '5', 'five'), changes, 'y')
      writeFileSync(file('l.txt'), 'one\n2\n3\n4\nfive\n')
      await tool('done', change('l.txt', '1', 'one'), changes, 'x')
      await tool('done', change('l.txt', '5', 'five'), changes, 'y')
      const by = changes
        .hunks(file('l.txt'))
        .map(({ authors }) => [authors[0]?.toolCallId, authors[0]?.uncertain])
      assert.deepEqual(by, [
        ['x', undefined],
        ['y', undefined],
      ])
    })
  })

  describe("never removes the user's text", () => {
    it('saved while a tool call waits for its permission', async () => {
      editor.open(file('a.txt'))
      await tool('pending', change('a.txt', 'two', '2'))
      editor.type(file('a.txt'), 'one\ntwo\nthree\nmine\n')
      await editor.save(file('a.txt'))
      writeFileSync(file('a.txt'), 'one\n2\nthree\nmine\n')
      await tool('done', change('a.txt', 'two', '2'))
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
    })

    it('saved right before the agent writes again, even if that is seen before the save is reported', async () => {
      changes.beginTurn(1, () => true)
      await tool('running', change('a.txt', 'one\ntwo\nthree\n', '1\ntwo\nthree\n'))
      writeFileSync(file('a.txt'), '1\ntwo\nthree\n')
      await tool('done', change('a.txt', 'one\ntwo\nthree\n', '1\ntwo\nthree\n'))
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), '1\ntwo\nthree\nmine\n')
      await editor.save(file('a.txt'), async () => {
        const second = change('a.txt', '1\ntwo\nthree\nmine\n', '1\n2\nthree\nmine\n')
        writeFileSync(file('a.txt'), '1\n2\nthree\nmine\n')
        await tool('running', second, changes, 'second')
        await tool('done', second, changes, 'second')
      })
      editor.reload()
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 2)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
    })

    for (const known of ['was reported before', 'is reported only then'])
      it(`saved before a change of the agent's was seen that ${known}, which stays the agent's`, async () => {
        changes.beginTurn(1, () => true)
        writeFileSync(file('a.txt'), '1\ntwo\nthree\n')
        await tool('done', change('a.txt', 'one\ntwo\nthree\n', '1\ntwo\nthree\n'))
        await changes.endTurn()
        changes.beginTurn(2, () => true)
        const second = change('a.txt', '1\ntwo\nthree\n', '1\ntwo\n3\n')
        if (known === 'was reported before') await tool('running', second, changes, 'second')
        writeFileSync(file('a.txt'), '1\ntwo\n3\n')
        const reported = tool('done', second, changes, 'second')
        const isOver = changes.endTurn()
        editor.open(file('a.txt'))
        editor.type(file('a.txt'), 'mine\ntwo\n3\n')
        await editor.save(file('a.txt'))
        await reported
        await isOver
        const [restored] = changes.checkpoint(1)
        assert.deepEqual([restored?.added, restored?.removed, restored?.unchangedBecause], [1, 1, 'user'])
        assert.equal(changes.restored(file('a.txt'), 1)?.text, 'mine\ntwo\nthree\n')
      })

    it("saved together with an agent's change, also if that is seen before the editor reports it", async () => {
      changes.beginTurn(1, () => true)
      writeFileSync(file('a.txt'), '1\ntwo\nthree\n')
      await tool('done', change('a.txt', 'one\ntwo\nthree\n', '1\ntwo\nthree\n'))
      const second = change('a.txt', '1\ntwo\nthree\n', '1\ntwo\n3\n')
      writeFileSync(file('a.txt'), '1\ntwo\n3\n')
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'mine\n1\ntwo\n3\n')
      await editor.save(file('a.txt'), () => changes.refresh())
      await tool('done', second, changes, 'second')
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 2)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'mine\none\ntwo\nthree\n')
    })

    const LINES = '1\ntwo\nthree\nfour\nfive\n'
    const crlf = (given: string) => given.replaceAll('\n', '\r\n')
    /** `last` is a report of a change of `was` that comes after the user has saved `saved` and the file is `now`. */
    const lateReports: Array<{
      that: string
      was?: string
      saved: string
      now?: string
      last: [oldText: string | undefined, newText: string]
      listed?: [added: number, removed: number]
      undone: string
      whys?: string[]
    }> = [
      {
        that: 'overwrites the saved line',
        saved: '1\ntwo\nmine\nfour\nfive\n',
        now: "1\ntwo\nmine and the agent's\nfour\nfive\n",
        last: [undefined, "1\ntwo\nmine and the agent's\nfour\nfive\n"],
        undone: 'one\ntwo\nmine\nfour\nfive\n',
      },
      {
        that: 'adds a line below the saved one',
        saved: '1\ntwo\nmine\nthree\nfour\nfive\n',
        now: '1\ntwo\nmine\n2.5\nthree\nfour\nfive\n',
        last: [undefined, '1\ntwo\nmine\n2.5\nthree\nfour\nfive\n'],
        listed: [2, 1],
        undone: 'one\ntwo\nmine\nthree\nfour\nfive\n',
      },
      {
        that: 'changes the line below the saved one',
        saved: '1\ntwo\nthree\nmine\nfour\nfive\n',
        now: '1\ntwo\nthree\nmine\n4\nfive\n',
        last: ['four\n', '4\n'],
        undone: 'one\ntwo\nthree\nmine\nfour\nfive\n',
      },
      {
        that: "isn't in the file",
        saved: '1\ntwo\nthree\nmine\nfour\nfive\n',
        last: [undefined, '1\ntwo\nthree\nmine\n4\nfour\nfive\n'],
        listed: [1, 1],
        undone: 'one\ntwo\nthree\nmine\nfour\nfive\n',
      },
      {
        that: 'the user has undone and saved with a line above it',
        saved: '1\ntwo\nthree\nfour\nmine\nfive\n',
        last: ['five\n', '5\n'],
        listed: [1, 1],
        undone: 'one\ntwo\nthree\nfour\nmine\nfive\n',
      },
      {
        that: 'the user has partly undone',
        saved: '1\ntwo\nmine\nfour\n5\n',
        last: [LINES, '1\n2\nthree\nfour\n5\n'],
        undone: 'one\ntwo\nmine\nfour\nfive\n',
      },
      {
        that: 'the user has edited',
        saved: '1\ntwo\nthree\nfour\n5 mine\n',
        last: ['five\n', '5\n'],
        undone: 'one\ntwo\nthree\nfour\n5 mine\n',
        whys: ['user'],
      },
      {
        that: 'the user has inserted a line in',
        saved: '1\ntwo\nmine\n2.5\nthree\nfour\nfive\n',
        last: ['two\n', 'two\n2.5\n'],
        listed: [2, 1],
        undone: 'one\ntwo\nmine\nthree\nfour\nfive\n',
      },
      {
        that: 'the user has replaced a part of',
        saved: '1\ntwo\nmine\n2.6\nthree\nfour\nfive\n',
        last: ['two\n', 'two\n2.5\n2.6\n'],
        listed: [3, 1],
        undone: 'one\ntwo\nmine\n2.6\nthree\nfour\nfive\n',
        whys: ['user'],
      },
      {
        that: 'the user has replaced a part of, in another script',
        saved: '1\ntwo\nmine\nтри\nthree\nfour\nfive\n',
        last: ['two\n', 'two\nдва\nтри\n'],
        listed: [3, 1],
        undone: 'one\ntwo\nmine\nтри\nthree\nfour\nfive\n',
        whys: ['user'],
      },
      {
        that: 'has other line ends than the file',
        was: crlf(LINES),
        saved: crlf('1\ntwo\nmine\nfour\n5\n'),
        last: [undefined, '1\ntwo\nthree\nfour\n5\n'],
        undone: crlf('one\ntwo\nmine\nfour\nfive\n'),
      },
      {
        that: 'starts with a byte order mark',
        saved: '1\ntwo\nmine\nfour\n5\n',
        last: [undefined, '\ufeff1\ntwo\nthree\nfour\n5\n'],
        undone: 'one\ntwo\nmine\nfour\nfive\n',
      },
    ]
    for (const {
      that,
      was = LINES,
      saved,
      now = saved,
      last,
      listed: [added, removed] = [2, 2],
      undone,
      whys: why = [],
    } of lateReports)
      it(`saved before the report of an agent's change that ${that}`, async () => {
        writeFileSync(file('a.txt'), was.replace('1', 'one'))
        changes.beginTurn(1, () => true)
        writeFileSync(file('a.txt'), was)
        await tool('done', change('a.txt', was.replace('1', 'one'), was))
        editor.open(file('a.txt'))
        editor.type(file('a.txt'), saved)
        await editor.save(file('a.txt'))
        await until(() => tracker.files.at(file('a.txt'))?.text === saved)
        writeFileSync(file('a.txt'), now)
        await tool('done', change('a.txt', ...last), changes, 'last')
        await changes.endTurn()
        assert.deepEqual(listed(), [entry('modified', 'a.txt', added, removed)])
        assert.deepEqual(await whys(), why)
        assert.equal(text('a.txt'), undone)
      })

    for (const { that, meanwhile, edits, undone } of [
      { that: 'kept', meanwhile: () => changes.keep(), edits: 1, undone: '1\ntwo\nmine\nfour\nfive\n' },
      { that: 'undone', meanwhile: () => undo(), edits: 1, undone: 'one\ntwo\nmine\nfour\nfive\n' },
      {
        that: 'made and reported',
        meanwhile: async () => {
          writeFileSync(file('a.txt'), '1\n2\nmine\nfour\n5\n')
          await tool('done', change('a.txt', 'two\n', '2\n'), changes, 'another')
        },
        edits: 3,
        undone: 'one\ntwo\nmine\nfour\nfive\n',
      },
      {
        that: 'made and seen',
        meanwhile: async () => {
          writeFileSync(file('a.txt'), '1\n2\nmine\nfour\n5\n')
          await tracker.disk.refresh()
        },
        edits: 3,
        undone: 'one\ntwo\nmine\nfour\nfive\n',
      },
    ])
      it(`saved with an agent's change that is reported after others were ${that}`, async () => {
        writeFileSync(file('a.txt'), LINES.replace('1', 'one'))
        changes.beginTurn(1, () => true)
        writeFileSync(file('a.txt'), LINES)
        await tool('done', change('a.txt', 'one\n', '1\n'))
        writeFileSync(file('a.txt'), LINES.replace('five', '5'))
        editor.open(file('a.txt'))
        editor.type(file('a.txt'), '1\ntwo\nmine\nfour\n5\n')
        await editor.save(file('a.txt'))
        await until(() => tracker.files.at(file('a.txt'))?.text === '1\ntwo\nmine\nfour\n5\n')
        await meanwhile()
        await tool('done', change('a.txt', 'five\n', '5\n'), changes, 'last')
        await changes.endTurn()
        assert.deepEqual(
          listed().map(one => [one.added, one.removed]),
          [[edits, edits]],
        )
        assert.deepEqual(await whys(), [])
        assert.equal(text('a.txt'), undone)
      })

    it('saved before and after an agent wrote the whole file, which is reported only then', async () => {
      writeFileSync(file('a.txt'), LINES.replace('1', 'one'))
      changes.beginTurn(1, () => true)
      writeFileSync(file('a.txt'), LINES)
      await tool('done', change('a.txt', 'one\n', '1\n'))
      const save = async (saved: string) => {
        editor.type(file('a.txt'), saved)
        await editor.save(file('a.txt'))
        await until(() => tracker.files.at(file('a.txt'))?.text === saved)
      }
      editor.open(file('a.txt'))
      await save('1\ntwo\nmine\nfour\nfive\n')
      writeFileSync(file('a.txt'), '1\ntwo\nmine\nfour\n5\n')
      await save('1\nmine too\nmine\nfour\n5\n')
      await tool('done', change('a.txt', undefined, '1\ntwo\nmine\nfour\n5\n'), changes, 'last')
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 2)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\nmine too\nmine\nfour\nfive\n')
    })

    it('saved before and after an agent emptied the file, which is reported only then', async () => {
      changes.beginTurn(1, () => true)
      writeFileSync(file('new.txt'), '')
      await tool('done', change('new.txt', undefined, ''))
      const save = async (saved: string) => {
        editor.type(file('new.txt'), saved)
        await editor.save(file('new.txt'))
        await until(() => tracker.files.at(file('new.txt'))?.text === saved)
      }
      editor.open(file('new.txt'))
      await save('mine\n')
      writeFileSync(file('new.txt'), '')
      editor.reload()
      await save('mine too\n')
      await tool('done', change('new.txt', 'mine\n', ''), changes, 'last')
      await changes.endTurn()
      await undo()
      assert.equal(text('new.txt'), 'mine too\nmine\n')
    })

    it('saved in a file that an agent had just added, which stays added', async () => {
      changes.beginTurn(1, () => true)
      const added = change('new.txt', undefined, "the agent's\n")
      await tool('running', added)
      writeFileSync(file('new.txt'), "the agent's\n")
      editor.open(file('new.txt'))
      editor.type(file('new.txt'), "the agent's\nmine\n")
      await editor.save(file('new.txt'))
      await tool('done', added)
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('added', 'new.txt', 1, 0)])
      await undo()
      assert.equal(text('new.txt'), 'mine\n')
    })

    it('saved in a new file that the agent then deletes with a command', async () => {
      changes.beginTurn(1, () => true)
      const added = change('new.txt', undefined, "the agent's\n")
      writeFileSync(file('new.txt'), "the agent's\n")
      await tool('done', added)
      editor.open(file('new.txt'))
      editor.type(file('new.txt'), 'mine\n')
      await editor.save(file('new.txt'))
      await until(() => tracker.files.at(file('new.txt'))?.text === 'mine\n')
      rmSync(file('new.txt'))
      editor.close(file('new.txt'))
      await changes.endTurn()
      assert.deepEqual(
        listed().map(({ name, status }) => [name, status]),
        [['new.txt', 'deleted']],
      )
      assert.deepEqual(await whys(), ['user'])
      assert.equal(text('new.txt'), 'mine\n')
    })

    it('saved in a new file that an agent then overwrites', async () => {
      changes.beginTurn(1, () => true)
      const added = change('new.txt', undefined, "the agent's\n")
      await tool('running', added)
      writeFileSync(file('new.txt'), '')
      editor.open(file('new.txt'))
      editor.type(file('new.txt'), 'mine\n')
      await editor.save(file('new.txt'))
      await until(() => tracker.files.at(file('new.txt'))?.text === 'mine\n')
      writeFileSync(file('new.txt'), "the agent's\n")
      await tool('done', added)
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('modified', 'new.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('new.txt'), 'mine\n')
    })

    it("emptied but not saved when an agent deletes the file, which is the agent's", async () => {
      changes.beginTurn(1, () => true)
      editor.open(file('a.txt'))
      await tool('running', { operation: 'delete', path: file('a.txt') })
      editor.type(file('a.txt'), '')
      rmSync(file('a.txt'))
      await tool('done', { operation: 'delete', path: file('a.txt') })
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('deleted', 'a.txt', 0, 3)])
    })

    it('written by another program while a tool call waits or runs', async () => {
      await tool('pending', change('a.txt', 'two', '2'))
      writeFileSync(file('a.txt'), 'ONE\ntwo\nthree\n')
      await tool('running', change('a.txt', 'two', '2'))
      writeFileSync(file('a.txt'), 'ONE\n2\nthree\nformatted\n')
      await tool('done', change('a.txt', 'two', '2'))
      await undo()
      assert.equal(text('a.txt'), 'ONE\ntwo\nthree\nformatted\n')
    })

    it('written by another program to a file that an agent changed', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      writeFileSync(file('a.txt'), 'zero\none\n2\nthree\n')
      await write('a.txt', 'zero\none\n2\n3\n')
      await undo()
      assert.equal(text('a.txt'), 'zero\none\ntwo\nthree\n')
    })

    it('unsaved when the agent wrote through the client', async () => {
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'mine\none\ntwo\nthree\n')
      await write('a.txt', 'mine\none\n2\nthree\n')
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      editor.reload()
      await undo()
      assert.equal(text('a.txt'), 'mine\none\ntwo\nthree\n')
    })

    it('unsaved when the agent overwrote it through the client', async () => {
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'one\ntwo\nthree\nmine\n')
      await write('a.txt', '1\n')
      editor.reload()
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
    })

    it("unsaved after the agent wrote, and keeps it unsaved when the agent's lines are reverted", async () => {
      await write('a.txt', 'one\n2\nthree\n')
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'one\n2\nthree\nmine\n')
      await until(() => listed()[0]?.added === 1)
      assert.deepEqual(await whys(), [])
      assert.equal(editor.textOf(file('a.txt')), 'one\ntwo\nthree\nmine\n')
      assert.equal(editor.isDirty(file('a.txt')), true)
      assert.deepEqual(listed(), [])
      await editor.save(file('a.txt'))
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
      await until(() => store.files.size === 0)
    })

    it('unsaved in an editor that opened the file through a symbolic link', async () => {
      mkdirSync(file('real'))
      symlinkSync(file('real'), file('link'))
      writeFileSync(file('real/a.txt'), 'one\ntwo\n')
      await write('link/a.txt', 'one\n2\n')
      editor.open(file('link/a.txt'))
      editor.type(file('link/a.txt'), 'mine\none\n2\n')
      assert.deepEqual(await whys(), [])
      assert.equal(editor.textOf(file('link/a.txt')), 'mine\none\ntwo\n')
      assert.equal(text('real/a.txt'), 'one\n2\n')
    })

    it("unsaved next to one session's lines, which another session's reverted change restores", async () => {
      const other = session('other')
      await tool('running', change('a.txt', 'one\n', '1\n'))
      writeFileSync(file('a.txt'), '1\ntwo\nthree\n')
      await tool('done', change('a.txt', 'one\n', '1\n'))
      await write('a.txt', 'two\nthree\n', other)
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'mine\ntwo\nthree\n')
      await other.undo()
      assert.equal(editor.textOf(file('a.txt')), 'mine\n1\ntwo\nthree\n')
      const after = () => changes.hunks(file('a.txt')).map(hunk => [hunk.start, hunk.before, hunk.after])
      assert.deepEqual(after(), [[1, ['one\n'], ['1\n']]])
      assert.deepEqual(listed(other), [])
      await editor.save(file('a.txt'))
      await undo()
      assert.equal(text('a.txt'), 'mine\none\ntwo\nthree\n')
      assert.deepEqual(listed(), [])
    })

    it("next to a reverted change, even after the editor's own undo and redo", async () => {
      await write('a.txt', 'one\nthree\n')
      editor.open(file('a.txt'))
      const [before, after] = ['mine\none\nthree\n', 'mine\none\ntwo\nthree\n']
      editor.type(file('a.txt'), before)
      await undo()
      assert.equal(editor.textOf(file('a.txt')), after)
      assert.deepEqual(listed(), [])
      editor.type(file('a.txt'), before)
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 0, 1)])
      editor.type(file('a.txt'), after)
      editor.type(file('a.txt'), `${after}end\n`)
      assert.deepEqual(listed(), [])
      // the file on disk still has the change
      editor.revert(file('a.txt'))
      await until(() => listed().length === 1)
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it("restored with the editor's own undo, after which nothing is left to revert", async () => {
      await write('a.txt', 'one\nthree\n')
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'one\ntwo\nthree\n')
      await until(() => listed().length === 0)
      await editor.save(file('a.txt'))
      await until(() => store.files.size === 0)
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it('on top of lines of two sessions, which are reverted one after the other', async () => {
      const other = session('other')
      await write('a.txt', 'mine\none\ntwo\nthree\n')
      await write('a.txt', 'mine\ntwo\nthree\n', other)
      await write('a.txt', 'm\nthree\n')
      writeFileSync(file('a.txt'), 'three\n')
      await tracker.disk.refresh()
      assert.deepEqual(await whys(), ['user'])
      assert.deepEqual(await whys(undo({}, { force: true })), [])
      assert.equal(text('a.txt'), 'two\nthree\n')
      assert.deepEqual((await other.undo()).unchanged, [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it('in a file that the agent added and deleted', async () => {
      await write('new.txt', '')
      editor.open(file('new.txt'))
      editor.type(file('new.txt'), 'mine\n')
      await write('new.txt', 'mine\n')
      const deleted: FileChange = { operation: 'delete', path: file('new.txt') }
      await tool('running', deleted)
      rmSync(file('new.txt'))
      editor.close(file('new.txt'))
      await tool('done', deleted)
      assert.deepEqual(await whys(), [])
      assert.equal(text('new.txt'), 'mine\n')
    })

    it('in a file that one session changed and another deleted', async () => {
      const other = session('other')
      await write('a.txt', 'two\nthree\n')
      const deleted: FileChange = { operation: 'delete', path: file('a.txt') }
      await tool('running', deleted, other)
      rmSync(file('a.txt'))
      await tool('done', deleted, other)
      assert.deepEqual(await whys(), ['agent'])
      assert.deepEqual((await other.undo()).unchanged, [])
      assert.equal(text('a.txt'), 'two\nthree\n')
      await tool('running', deleted, other)
      rmSync(file('a.txt'))
      await tool('done', deleted, other)
      other.keep()
      assert.deepEqual(listed(), [])
    })

    it('unsaved over what the agent wrote to disk, and asks the user first', async () => {
      editor.open(file('a.txt'))
      await tool('running', change('a.txt', 'two', '2'))
      editor.type(file('a.txt'), 'one\ntwo\nthree\nmine\n')
      writeFileSync(file('a.txt'), 'one\n2\nthree\n')
      await tool('done', change('a.txt', 'two', '2'))
      assert.deepEqual(await whys(), ['conflict'])
      assert.equal(editor.textOf(file('a.txt')), 'one\ntwo\nthree\nmine\n')
      editor.revert(file('a.txt'))
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it('typed while the editor saves what the agent wrote', async () => {
      editor.open(file('a.txt'))
      editor.format = saved => saved.replace('three', 'three ')
      const files = new SessionFiles(shared, { roots: roots(), askAccess: async () => 'refuse' })
      const content = 'one\n2\nthree\n'
      await changes.writing(file('a.txt'), content, async () => {
        await files.writeTextFile({ path: file('a.txt'), content })
        editor.format = undefined
        editor.type(file('a.txt'), 'one\n2\nthree mine\n')
      })
      assert.equal(text('a.txt'), 'one\n2\nthree \n')
      await editor.save(file('a.txt'))
      await tracker.disk.refresh()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree mine\n')
    })

    it("typed while the editor doesn't save what the agent wrote, so that both are written directly", async () => {
      editor.open(file('a.txt'))
      const document = editor.find([file('a.txt')])!
      document.onSave = () => {
        document.onSave = undefined
        editor.type(file('a.txt'), 'one\n2\nthree mine\n')
        return false
      }
      await write('a.txt', 'one\n2\nthree\n')
      assert.equal(text('a.txt'), 'one\n2\nthree mine\n')
      await tracker.disk.refresh()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree mine\n')
    })

    it('saved in a notebook or a custom editor during a turn, whoever reports it first', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      changes.beginTurn(1, () => true)
      writeFileSync(file('a.txt'), 'one\n2\nthree mine\n')
      await tracker.disk.refresh()
      assert.equal(listed()[0]?.added, 2)
      tracker.edits.savedElsewhere(file('a.txt'))
      await until(() => listed()[0]?.added === 1)
      writeFileSync(file('a.txt'), 'one\n2\nthree mine, too\n')
      tracker.edits.savedElsewhere(file('a.txt'))
      await tracker.disk.refresh()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree mine, too\n')
      await changes.endTurn()
    })

    it('unsaved in a notebook or a custom editor', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      editor.elsewhere.add(file('a.txt'))
      assert.deepEqual(await whys(), ['unsaved'])
      assert.equal(text('a.txt'), 'one\n2\nthree\n')
      editor.elsewhere.clear()
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    it('saved during a turn, whoever reports it first', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      changes.beginTurn(1, () => true)
      editor.open(file('a.txt'))
      for (const [at, look] of [
        () => Promise.resolve(),
        // the change on disk is seen before the editor reports the save
        () => tracker.disk.refresh(),
      ].entries()) {
        const mine = `one\n2\nthree\nmine ${at}\n`
        editor.type(file('a.txt'), mine)
        writeFileSync(file('a.txt'), mine)
        await look()
        await editor.save(file('a.txt'))
        await tracker.disk.refresh()
        assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      }
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine 1\n')
    })

    it('in a file that a program truncates before it writes it', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      writeFileSync(file('a.txt'), 'one\n2\nthree\nmine\n')
      await tracker.disk.refresh()
      changes.beginTurn(1, () => true)
      writeFileSync(file('a.txt'), '')
      const { setTimeout } = globalThis
      // it writes while the tracker is waiting
      const waiting = mock.method(globalThis, 'setTimeout', (then: () => void) => {
        writeFileSync(file('a.txt'), 'one\n2\n3\nmine\n')
        return setTimeout(then)
      })
      await tracker.disk.refresh().finally(() => waiting.mock.restore())
      assert.deepEqual(listed(), [{ ...entry('modified', 'a.txt', 2, 2), uncertain: 'some' }])
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
    })

    it('in a file that a command moved and the user moved back', async () => {
      await write('a.txt', 'one\ntwo\nthree\nby another\n', session('other'))
      changes.beginTurn(1, () => true)
      const before = await tracker.reader.stateOf(file('a.txt'))
      editor.open(file('a.txt'))
      renameSync(file('a.txt'), file('b.txt'))
      editor.close(file('a.txt'))
      await changes.noticed([
        { path: file('a.txt'), before: before! },
        { path: file('b.txt'), before: { attributes: { type: 'absent' }, text: '' } },
      ])
      writeFileSync(file('b.txt'), 'one\n2\nthree\nby another\n')
      await tracker.disk.refresh()
      editor.open(file('b.txt'))
      editor.type(file('b.txt'), 'one\n2\nthree\nby another\nmine\n')
      await editor.save(file('b.txt'))
      await tracker.disk.refresh()
      tracker.renames.renaming(file('b.txt'), file('a.txt'))
      renameSync(file('b.txt'), file('a.txt'))
      editor.close(file('b.txt'))
      await tracker.renames.renamed(file('b.txt'), file('a.txt'))
      assert.deepEqual(listed(), [{ ...entry('modified', 'a.txt', 1, 1), uncertain: 'all' }])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nby another\nmine\n')
      assert.deepEqual(listed(session('other')), [entry('modified', 'a.txt', 1, 0)])
      assert.equal(existsSync(file('b.txt')), false)
    })

    it("that the agent removed from its own file, if the user then moves that file to a deleted file's path", async () => {
      await write('b.txt', '')
      writeFileSync(file('b.txt'), 'mine\n')
      await tracker.disk.refresh()
      await write('b.txt', '')
      const deleted: FileChange = { operation: 'delete', path: file('a.txt') }
      await tool('running', deleted)
      rmSync(file('a.txt'))
      await tool('done', deleted)
      tracker.renames.renaming(file('b.txt'), file('a.txt'))
      renameSync(file('b.txt'), file('a.txt'))
      await tracker.renames.renamed(file('b.txt'), file('a.txt'))
      await undo()
      assert.equal(text('a.txt'), 'mine\n')
    })

    it('saved during a turn and seen on disk before the editor reports it', async () => {
      changes.beginTurn(1, () => true)
      await write('a.txt', 'one\n2\nthree\n')
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'one\n2\nthree mine\n')
      writeFileSync(file('a.txt'), 'one\n2\nthree mine\n')
      const looking = tracker.disk.refresh()
      // the file is being read
      for (let i = 0; i < 10; i++) await null
      editor.saved(file('a.txt'))
      await looking
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree mine\n')
    })

    it('saved during a turn and seen on disk before the editor reports the typing', async () => {
      changes.beginTurn(1, () => true)
      await write('a.txt', 'one\n2\nthree\n')
      editor.open(file('a.txt'))
      writeFileSync(file('a.txt'), 'one\n2\nthree mine\n')
      await tracker.disk.refresh()
      editor.type(file('a.txt'), 'one\n2\nthree min\n')
      editor.type(file('a.txt'), 'one\n2\nthree mine\n')
      editor.saved(file('a.txt'))
      await write('a.txt', 'one\n2\nthree mine\nfour\n')
      await changes.endTurn()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 1)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree mine\n')
    })

    it('typed after a command wrote the file, whose changes still belong to the turn', async () => {
      changes.beginTurn(1, () => true)
      await write('a.txt', 'one\n2\nthree\n')
      editor.open(file('a.txt'))
      writeFileSync(file('a.txt'), 'one\n2\nthree\nfour\n')
      await tracker.disk.refresh()
      editor.reload()
      editor.type(file('a.txt'), 'one\n2\nthree\nfour\nx\n')
      editor.type(file('a.txt'), 'one\n2\nthree\nfour\n')
      await editor.save(file('a.txt'))
      await changes.endTurn()
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    })

    for (const seen of ['', ', even if that is seen before it is reported'])
      it(`unsaved when the agent deletes the file, and continues from the deleted text when it is saved${seen}`, async () => {
        await write('a.txt', 'one\n2\nthree\n')
        editor.open(file('a.txt'))
        editor.type(file('a.txt'), 'one\n2\nthree mine\n')
        await tool('running', { operation: 'delete', path: file('a.txt') })
        rmSync(file('a.txt'))
        await tool('done', { operation: 'delete', path: file('a.txt') })
        assert.deepEqual(await whys(), ['unsaved'])
        assert.equal(editor.textOf(file('a.txt')), 'one\n2\nthree mine\n')
        await editor.save(file('a.txt'), seen ? () => tracker.disk.refresh() : undefined)
        await tracker.disk.refresh()
        assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
        assert.deepEqual(await whys(), [])
        assert.equal(text('a.txt'), 'one\ntwo\nthree mine\n')
      })

    it("within the agent's lines until the user discards it, which can be undone", async () => {
      await write('a.txt', 'one\n2\nthree\nfour\n')
      writeFileSync(file('a.txt'), 'one\nmine\nthree\nfour\n')
      const report = await undo()
      assert.deepEqual(await whys(Promise.resolve(report)), ['user'])
      assert.equal(text('a.txt'), 'one\nmine\nthree\n')
      const forced = await undo({}, { force: true })
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
      assert.deepEqual(listed(), [])
      assert.deepEqual(await tracker.review.restore(forced.undone!.id), [])
      assert.equal(text('a.txt'), 'one\nmine\nthree\n')
      assert.deepEqual(await tracker.review.restore(report.undone!.id), [])
      assert.equal(text('a.txt'), 'one\nmine\nthree\nfour\n')
      assert.equal(changes.hunks(file('a.txt')).length, 2)
    })

    it('in a file that the agent added', async () => {
      await write('new.txt', 'agent\n')
      editor.open(file('new.txt'))
      editor.type(file('new.txt'), 'agent\nmine\n')
      await editor.save(file('new.txt'))
      await undo()
      assert.equal(text('new.txt'), 'mine\n')
      assert.deepEqual(listed(), [])
    })

    it('of another session in a file that its creator deleted', async () => {
      const other = session('other')
      await write('new.txt', 'a\n')
      await write('new.txt', 'b\na\n', other)
      await tool('running', { operation: 'delete', path: file('new.txt') })
      rmSync(file('new.txt'))
      await tool('done', { operation: 'delete', path: file('new.txt') })
      await undo()
      assert.equal(text('new.txt'), 'b\na\n')
      await other.undo({})
      await undo()
      assert.deepEqual([listed(), listed(other)], [[], []])
    })

    it('in a file that was seen empty while a program wrote it during a turn', async () => {
      changes.beginTurn(1, () => true)
      await write('a.txt', 'one\n2\nthree\n')
      for (const content of ['', 'one\n2\nthree\nmine\n']) {
        writeFileSync(file('a.txt'), content)
        await tracker.disk.refresh()
      }
      const [hunk] = changes.hunks(file('a.txt'))
      assert.deepEqual([hunk?.before, hunk?.after], [['two\n'], ['2\n']])
      await undo({ hunks: { path: file('a.txt'), ids: new Set([hunk!.id]) } })
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
    })

    it("of another session, and doesn't list one session's changes in the other", async () => {
      const other = session('other')
      await write('a.txt', '1\ntwo\nthree\n')
      await write('a.txt', '1\ntwo\n3\n', other)
      await write('b.txt', 'b\n', other)
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      assert.equal(changes.before(file('a.txt'))?.text, 'one\ntwo\n3\n')
      assert.equal(other.before(file('a.txt'))?.text, '1\ntwo\nthree\n')
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\n3\n')
      assert.equal(text('b.txt'), 'b\n')
      assert.deepEqual(listed(other), [entry('modified', 'a.txt', 1, 1), entry('added', 'b.txt', 1, 0)])
      await write('a.txt', 'mine\ntwo\nmine\n')
      assert.deepEqual((await other.undo({}, { force: true })).unchanged, [
        { path: file('a.txt'), why: 'agent' },
      ])
      assert.equal(text('a.txt'), 'mine\ntwo\nmine\n')
    })
  })

  describe('follows a file to its new name', () => {
    /** Runs a command of the agent, whose changes are found only when it has ended. */
    const command = async (work: () => void, found: string[], by = changes, turn = 1) => {
      const before = found.map(name => ({
        path: file(name),
        before: existsSync(file(name)) ? text(name) : null,
        ...(existsSync(file(name)) && { mode: statSync(file(name)).mode & 0o777 }),
      }))
      by.beginTurn(turn, () => true)
      work()
      await by.noticed(before)
      await by.endTurn()
    }
    const moved = (by = changes) =>
      command(() => renameSync(file('a.txt'), file('b.txt')), ['a.txt', 'b.txt'], by)
    const renamed = (from: string, name: string, added = 0, removed = 0) => ({
      status: 'renamed' as const,
      name,
      from: file(from),
      added,
      removed,
    })

    it('if a command moved it, as one change that is reverted and restored with its mode', async () => {
      chmodSync(file('a.txt'), 0o754)
      await moved()
      assert.deepEqual(listed(), [{ ...renamed('a.txt', 'b.txt'), uncertain: 'all' }])
      assert.equal(changes.file(file('b.txt'))?.status, 'renamed')
      assert.equal(changes.file(file('a.txt'))?.status, 'renamed')
      const { undone, unchanged } = await undo({ paths: [file('b.txt')] })
      assert.deepEqual(unchanged, [])
      assert.deepEqual([existsSync(file('b.txt')), text('a.txt')], [false, 'one\ntwo\nthree\n'])
      if (process.platform !== 'win32') assert.equal(statSync(file('a.txt')).mode & 0o777, 0o754)
      assert.deepEqual(listed(), [])
      assert.deepEqual(await tracker.review.restore(undone!.id), [])
      assert.deepEqual([existsSync(file('a.txt')), text('b.txt')], [false, 'one\ntwo\nthree\n'])
      assert.deepEqual(listed(), [{ ...renamed('a.txt', 'b.txt'), uncertain: 'all' }])
    })

    it('if a tool call reports that it moved and edited it', async () => {
      const move: FileChange = {
        operation: 'move',
        path: file('b.txt'),
        oldPath: file('a.txt'),
        oldText: 'one\ntwo\nthree\n',
        newText: 'one\n2\nthree\n',
      }
      await tool('running', move)
      rmSync(file('a.txt'))
      writeFileSync(file('b.txt'), 'one\n2\nthree\n')
      await tool('done', move)
      assert.deepEqual(listed(), [renamed('a.txt', 'b.txt', 1, 1)])
      assert.deepEqual(await whys(), [])
      assert.deepEqual([existsSync(file('b.txt')), text('a.txt')], [false, 'one\ntwo\nthree\n'])
    })

    it("if it's kept, as one change", async () => {
      await moved()
      changes.keep({ paths: [file('b.txt')] })
      assert.deepEqual([listed(), existsSync(file('a.txt'))], [[], false])
    })

    it('and back, if all of its lines are reverted in the editor', async () => {
      await moved()
      const ids = new Set(changes.hunks(file('b.txt')).map(({ id }) => id))
      assert.deepEqual(await whys(undo({ hunks: { path: file('b.txt'), ids } })), [])
      assert.deepEqual([existsSync(file('b.txt')), text('a.txt')], [false, 'one\ntwo\nthree\n'])
    })

    it("with the user's lines in it, all of which are kept", async () => {
      await moved()
      writeFileSync(file('b.txt'), 'one\ntwo\nthree\nmine\n')
      await changes.refresh()
      assert.deepEqual(listed(), [{ ...renamed('a.txt', 'b.txt', 1, 0), uncertain: 'all' }])
      await undo()
      assert.deepEqual([text('a.txt'), text('b.txt')], ['one\ntwo\nthree\n', 'mine\n'])
    })

    for (const opened of [undefined, 'b.txt', 'other.txt'])
      it(`and keeps that if the old name is taken, with ${opened ?? 'nothing'} in an editor`, async () => {
        mkdirSync(file('d'))
        writeFileSync(file('d/a.txt'), 'one\ntwo\n')
        await command(() => renameSync(file('d/a.txt'), file('b.txt')), ['d/a.txt', 'b.txt'])
        await write('other.txt', 'another one\n')
        rmSync(file('d'), { recursive: true })
        writeFileSync(file('d'), 'now a file')
        if (opened) editor.open(file(opened))
        const { unchanged } = await undo()
        assert.deepEqual(
          unchanged.map(({ path }) => path),
          [file('d/a.txt'), file('b.txt')],
        )
        assert.equal(text('b.txt'), 'one\ntwo\n')
      })

    it('only within a turn of one session, and only if the content is similar', async () => {
      const other = session('t')
      await command(() => rmSync(file('a.txt')), ['a.txt'])
      await command(() => writeFileSync(file('b.txt'), 'one\ntwo\nthree\n'), ['b.txt'], other)
      await command(() => writeFileSync(file('c.txt'), 'one\nelse\nelse\nmore\n'), ['c.txt'])
      await command(() => writeFileSync(file('d.txt'), 'one\ntwo\nthree\n'), ['d.txt'], changes, 2)
      assert.deepEqual(
        listed().map(({ status, name }) => [status, name]),
        [
          ['deleted', 'a.txt'],
          ['added', 'c.txt'],
          ['added', 'd.txt'],
        ],
      )
      await undo({ paths: [file('d.txt')] })
      assert.deepEqual([existsSync(file('a.txt')), existsSync(file('d.txt'))], [false, false])
    })

    it('even if the user gave the old name to another file, which keeps all its lines', async () => {
      writeFileSync(file('mine.txt'), 'mine\n')
      await command(() => renameSync(file('a.txt'), file('b.txt')), ['a.txt', 'b.txt'])
      changes.beginTurn(2, () => true)
      tracker.renames.renaming(file('mine.txt'), file('a.txt'))
      renameSync(file('mine.txt'), file('a.txt'))
      await tracker.renames.renamed(file('mine.txt'), file('a.txt'))
      await changes.refresh()
      await undo()
      assert.match(text('a.txt'), /^mine$/m)
      assert.match(text('a.txt'), /^one\ntwo\nthree$/m)
    })

    it('and keeps it if the user gives the old name to another file that the agent edited', async () => {
      const bytes = Buffer.from([0, 1, 2])
      writeFileSync(file('p.png'), bytes)
      for (const name of ['x.txt', 'y.txt']) writeFileSync(file(name), 'mine\n')
      for (const name of ['x.txt', 'y.txt']) await write(name, 'mine\nby the agent\n')
      const before = { path: file('p.png'), before: (await tracker.reader.stateOf(file('p.png')))! }
      await moved()
      writeFileSync(file('b.txt'), 'one\n2\nthree\n')
      changes.beginTurn(2, () => true)
      await tracker.disk.refresh()
      renameSync(file('p.png'), file('q.png'))
      const absent = { path: file('q.png'), before: { attributes: { type: 'absent' }, text: '' } } as const
      await changes.noticed([before, absent])
      await changes.endTurn()
      for (const [from, to] of [
        ['x.txt', 'a.txt'],
        ['y.txt', 'p.png'],
      ] as const) {
        tracker.renames.renaming(file(from), file(to))
        renameSync(file(from), file(to))
        await tracker.renames.renamed(file(from), file(to))
      }
      assert.deepEqual(listed(), [
        entry('modified', 'a.txt', 1, 0),
        { ...entry('modified', 'b.txt', 1, 1), uncertain: 'all' },
        entry('modified', 'p.png', 1, 0),
      ])
      assert.deepEqual(await whys(), [])
      assert.deepEqual(['a.txt', 'b.txt', 'p.png'].map(text), ['mine\n', 'one\ntwo\nthree\n', 'mine\n'])
      assert.deepEqual(readFileSync(file('q.png')), bytes)
    })

    it("if another session's command moved it to the path of a file that the agent deleted", async () => {
      const other = session('other')
      const deleted: FileChange = { operation: 'delete', path: file('a.txt') }
      await tool('running', deleted)
      rmSync(file('a.txt'))
      await tool('done', deleted)
      await write('b.txt', 'by the agent\n')
      await command(() => renameSync(file('b.txt'), file('a.txt')), ['a.txt', 'b.txt'], other)
      assert.deepEqual(listed(other), [{ ...renamed('b.txt', 'a.txt'), uncertain: 'all' }])
      assert.deepEqual((await other.undo()).unchanged, [])
      assert.deepEqual([existsSync(file('a.txt')), text('b.txt')], [false, 'by the agent\n'])
      assert.deepEqual(listed(), [entry('deleted', 'a.txt', 0, 3), entry('added', 'b.txt', 1, 0)])
      assert.deepEqual(listed(other), [])
    })

    it('for many files that were edited and moved with their folder', async () => {
      mkdirSync(file('from'))
      const names = Array.from({ length: 30 }, (_, i) => `${i}.txt`)
      for (const name of names) writeFileSync(file(`from/${name}`), 'one\ntwo\nthree\n')
      for (const name of names) await write(`from/${name}`, 'one\n2\nthree\n')
      const named = names.flatMap(name => [file(`from/${name}`), file(`to/${name}`)])
      const report = (done: boolean) => changes.tool({ toolCallId: 't', begun: true, done }, [], named)
      await report(false)
      renameSync(file('from'), file('to'))
      await report(true)
      assert.deepEqual(
        listed(),
        names.map(name => renamed(`from/${name}`, `to/${name}`, 1, 1)),
      )
    })

    it('file by file if a folder was moved, with names, bytes and links', async () => {
      mkdirSync(file('from'))
      for (const name of ['x', 'y']) writeFileSync(file(`from/${name}.txt`), 'the same\n')
      writeFileSync(file('from/p.png'), Buffer.from([0, 1, 2]))
      const named = ['x.txt', 'y.txt', 'p.png'].flatMap(name => [file(`from/${name}`), file(`to/${name}`)])
      const report = (done: boolean) => changes.tool({ toolCallId: 't', begun: true, done }, [], named)
      await report(false)
      renameSync(file('from'), file('to'))
      await report(true)
      assert.deepEqual(listed(), [
        renamed('from/x.txt', 'to/x.txt'),
        renamed('from/y.txt', 'to/y.txt'),
        { ...renamed('from/p.png', 'to/p.png'), opaque: true },
      ])
      assert.deepEqual(await whys(), [])
      assert.deepEqual(readFileSync(file('from/p.png')), Buffer.from([0, 1, 2]))
      assert.equal(existsSync(file('to/p.png')), false)
    })
  })

  describe('restores', () => {
    it('a deleted file with its mode, byte order mark and encoding, byte for byte', async () => {
      const bytes = Buffer.from('\ufefföne\r\ntwo\nthree', 'utf8')
      writeFileSync(file('a.txt'), bytes)
      chmodSync(file('a.txt'), 0o755)
      const utf16 = Buffer.from('\ufeffé\r\n', 'utf16le')
      writeFileSync(file('b.txt'), utf16)
      for (const name of ['a.txt', 'b.txt']) {
        const gone: FileChange = { operation: 'delete', path: file(name) }
        await tool('pending', gone, changes, name)
        await rm(file(name))
        await tool('done', gone, changes, name)
      }
      assert.deepEqual(listed(), [entry('deleted', 'a.txt', 0, 3), entry('deleted', 'b.txt', 0, 1)])
      assert.deepEqual(await whys(), [])
      assert.deepEqual(readFileSync(file('a.txt')), bytes)
      assert.deepEqual(readFileSync(file('b.txt')), utf16)
      if (process.platform !== 'win32') assert.equal(statSync(file('a.txt')).mode & 0o777, 0o755)
    })

    it('a byte order mark, encoding, mode and line endings that the agent changed', async () => {
      const bytes = Buffer.from('\ufeffone\r\ntwo\r\n')
      writeFileSync(file('a.txt'), bytes)
      await tool('running', change('a.txt', 'two', '2'))
      writeFileSync(file('a.txt'), 'one\n2\n')
      chmodSync(file('a.txt'), 0o700)
      await tool('done', change('a.txt', 'two', '2'))
      await undo()
      assert.deepEqual(readFileSync(file('a.txt')), bytes)
      if (process.platform !== 'win32') assert.notEqual(statSync(file('a.txt')).mode & 0o777, 0o700)
      assert.deepEqual(listed(), [])
    })

    it('binary files and links', async () => {
      writeFileSync(file('p.png'), Buffer.from([0, 1, 2]))
      const named = async (done: boolean) => {
        await changes.tool({ toolCallId: 't', begun: true, done }, [], [file('p.png'), file('a.txt')])
      }
      await named(false)
      writeFileSync(file('p.png'), Buffer.from([0, 3]))
      rmSync(file('a.txt'))
      symlinkSync('p.png', file('a.txt'))
      await changes.refresh()
      await named(true)
      assert.deepEqual(
        listed().map(({ name, status }) => [name, status]),
        [
          ['p.png', 'modified'],
          ['a.txt', 'modified'],
        ],
      )
      const { undone } = await undo()
      assert.deepEqual(readFileSync(file('p.png')), Buffer.from([0, 1, 2]))
      assert.equal(lstatSync(file('a.txt')).isSymbolicLink(), false)
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
      assert.deepEqual(await tracker.review.restore(undone!.id), [])
      assert.deepEqual(readFileSync(file('p.png')), Buffer.from([0, 3]))
      assert.equal(readlinkSync(file('a.txt')), 'p.png')
    })

    it("a state without the agent's new file by moving it to the trash", async () => {
      await write('new.txt', 'x')
      await undo()
      assert.deepEqual(trashed, [file('new.txt')])
      assert.equal(existsSync(file('new.txt')), false)
    })

    it('a removed file from its own storage if there is no trash', async () => {
      trash = undefined
      create()
      await write('new.txt', 'x')
      const { undone } = await undo()
      assert.equal(existsSync(file('new.txt')), false)
      create()
      await tracker.files.ready
      assert.deepEqual(await tracker.review.restore(undone!.id), [])
      assert.equal(text('new.txt'), 'x')
      assert.deepEqual(listed(), [entry('added', 'new.txt', 1, 0)])
    })

    it("a reverted change, with the user's later edits", async () => {
      await write('a.txt', 'one\n2\nthree\n')
      const { undone } = await undo()
      writeFileSync(file('a.txt'), 'one\ntwo\nthree\nmine\n')
      assert.deepEqual(await tracker.review.restore(undone!.id), [])
      assert.equal(text('a.txt'), 'one\n2\nthree\nmine\n')
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      const again = await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
      writeFileSync(file('a.txt'), 'one\nother\nthree\nmine\n')
      assert.deepEqual(await tracker.review.restore(again.undone!.id), [{ path: file('a.txt') }])
      assert.equal(text('a.txt'), 'one\nother\nthree\nmine\n')
    })
  })

  describe('keeps and reverts', () => {
    it('one of several changes', async () => {
      writeFileSync(file('l.txt'), '1\n2\n3\n4\n5\n')
      await write('l.txt', 'one\n2\n3\n4\nfive\n')
      const [first, second] = changes.hunks(file('l.txt'))
      changes.keep({ hunks: { path: file('l.txt'), ids: new Set([first!.id]) } })
      assert.equal(changes.hunks(file('l.txt')).length, 1)
      await undo({ hunks: { path: file('l.txt'), ids: new Set([second!.id]) } })
      assert.equal(text('l.txt'), 'one\n2\n3\n4\n5\n')
      assert.deepEqual(listed(), [])
    })

    it('the only change of an added file, and with it the file', async () => {
      for (const way of ['keep', 'undo'] as const) {
        await write('new.txt', 'x\n')
        const ids = new Set(changes.hunks(file('new.txt')).map(({ id }) => id))
        await changes[way]({ hunks: { path: file('new.txt'), ids } })
        assert.deepEqual(listed(), [])
        assert.equal(existsSync(file('new.txt')), way === 'keep')
        rmSync(file('new.txt'), { force: true })
      }
    })

    it('one turn', async () => {
      changes.beginTurn(1, () => false)
      await write('a.txt', '1\ntwo\nthree\n')
      changes.beginTurn(2, () => false)
      await write('a.txt', '1\ntwo\n3\n')
      await write('b.txt', 'b\n')
      assert.deepEqual(
        changes.list(2).map(({ path }) => path),
        [file('a.txt'), file('b.txt')],
      )
      await undo({ turn: 2 })
      assert.equal(text('a.txt'), '1\ntwo\nthree\n')
      assert.equal(existsSync(file('b.txt')), false)
      changes.keep({ turn: 1 })
      assert.deepEqual(listed(), [])
      assert.equal(text('a.txt'), '1\ntwo\nthree\n')
    })

    it('so that the next change starts from the kept text', async () => {
      await write('a.txt', 'x')
      changes.keep({ paths: [file('a.txt')] })
      assert.deepEqual(listed(), [])
      await write('a.txt', 'y')
      assert.equal(changes.before(file('a.txt'))?.text, 'x')
    })

    it('until the user undoes that, also after editing the file', async () => {
      await write('a.txt', 'one\n2\nthree\nfour\n')
      await write('b.txt', 'b\n')
      const [first] = changes.hunks(file('a.txt'))
      const one = changes.keep({ hunks: { path: file('a.txt'), ids: new Set([first!.id]) } })
      assert.deepEqual(one.paths, [file('a.txt')])
      const rest = changes.keep()
      assert.deepEqual(listed(), [])
      assert.deepEqual(await rest.undo(), [])
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 0), entry('added', 'b.txt', 1, 0)])
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'one\n2\nthree\nfour\nmine\n')
      await editor.save(file('a.txt'))
      await tracker.disk.refresh()
      assert.deepEqual(await one.undo(), [])
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 2, 1), entry('added', 'b.txt', 1, 0)])
      assert.deepEqual(await whys(), [])
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
      assert.equal(existsSync(file('b.txt')), false)
    })

    it('for good if an agent changes the file again', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      const kept = changes.keep()
      await write('a.txt', 'one\n2\n3\n')
      assert.deepEqual(await kept.undo(), [file('a.txt')])
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
    })

    it('in a document with unsaved changes, until the user undoes that', async () => {
      await write('a.txt', 'ONE\ntwo\nTHREE\n')
      editor.open(file('a.txt'))
      editor.type(file('a.txt'), 'ONE\ntwo\nTHREE\nmine\n')
      const [first, second] = changes.hunks(file('a.txt'))
      const one = (id: number) => ({ hunks: { path: file('a.txt'), ids: new Set([id]) } })
      await undo(one(first!.id))
      assert.equal(editor.textOf(file('a.txt')), 'one\ntwo\nTHREE\nmine\n')
      const kept = changes.keep(one(second!.id))
      assert.deepEqual(changes.hunks(file('a.txt')), [])
      assert.deepEqual(await kept.undo(), [])
      assert.deepEqual(
        changes.hunks(file('a.txt')).map(({ after }) => after),
        [['THREE\n']],
      )
    })

    it('no changes of an earlier session with the same id', async () => {
      await write('a.txt', 'x')
      changes.clear()
      await until(() => listed().length === 0)
      assert.equal(text('a.txt'), 'x')
    })
  })

  describe('stays up to date', () => {
    it('when the user takes over changes or deletes a file', async () => {
      await write('a.txt', 'one\n2\nthree\nfour\n')
      await write('new.txt', 'x\n')
      writeFileSync(file('a.txt'), 'one\ntwo\nthree\nfour\n')
      watching?.(file('a.txt'))
      await until(() => listed()[0]?.removed === 0)
      rmSync(file('new.txt'))
      watching?.(file('new.txt'))
      await until(() => listed().length === 1)
      writeFileSync(file('a.txt'), 'one\ntwo\nthree\n')
      await changes.refresh()
      assert.deepEqual(listed(), [])
    })

    it('when their folder is deleted, of which the system reports only the folder', async () => {
      mkdirSync(file('d/in'), { recursive: true })
      mkdirSync(file('da'))
      await write('d/in/new.txt', 'x\n')
      await write('da/new.txt', 'x\n')
      rmSync(file('d'), { recursive: true })
      watching?.(file('d'))
      await until(() => listed().length === 1)
      const other = session('other')
      other.beginTurn(1, () => true)
      await other.endTurn()
      assert.deepEqual([listed(), listed(other)], [[entry('added', 'da/new.txt', 1, 0)], []])
      await undo()
      assert.deepEqual([existsSync(file('d')), existsSync(file('da/new.txt'))], [false, false])
    })

    it('when a program briefly removes a file', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      renameSync(file('a.txt'), file('a.tmp'))
      await changes.refresh()
      assert.deepEqual(listed(), [])
      renameSync(file('a.tmp'), file('a.txt'))
      await changes.refresh()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
    })

    it('when the user renames a file or its folder in the editor', async () => {
      mkdirSync(file('d'))
      await write('d/new.txt', 'x\n')
      await write('a.txt', 'one\n2\nthree\n')
      for (const [from, to] of [
        ['d', 'e'],
        ['a.txt', 'b.txt'],
      ] as const) {
        tracker.renames.renaming(file(from), file(to))
        renameSync(file(from), file(to))
        await changes.refresh()
        await tracker.renames.renamed(file(from), file(to))
      }
      assert.deepEqual(listed(), [entry('added', 'e/new.txt', 1, 0), entry('modified', 'b.txt', 1, 1)])
      await undo()
      assert.equal(text('b.txt'), 'one\ntwo\nthree\n')
      assert.equal(existsSync(file('e/new.txt')), false)
    })

    it('without reading more of large files at a time than memory may hold', async () => {
      const names = Array.from({ length: 40 }, (_, i) => `${i}.bin`)
      for (const name of names) {
        writeFileSync(file(name), '')
        truncateSync(file(name), 40_000_000)
      }
      store.put = async () => 'hash'
      const before = process.memoryUsage().arrayBuffers
      let most = 0
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      }, 1)
      const reported = { begun: true, done: true }
      const named = names.map(name => [file(name)])
      await Promise.all(
        named.map((paths, i) => changes.tool({ ...reported, toolCallId: `t${i}` }, [], paths)),
      )
      clearInterval(watch)
      // without a limit, it's 1.6 GB; what isn't used anymore may stay for a while
      assert.ok(most < 500e6, `${Math.round(most / 1e6)} MB`)
    })

    it('across a reload of the window', async () => {
      await write('a.txt', 'one\n2\nthree\n')
      writeFileSync(file('a.txt'), 'one\n2\nthree\nmine\n')
      create()
      await changes.refresh()
      assert.deepEqual(listed(), [entry('modified', 'a.txt', 1, 1)])
      await undo()
      assert.equal(text('a.txt'), 'one\ntwo\nthree\nmine\n')
      assert.equal(store.files.size, 0)
    })

    it('and watches files only while there are changes or checkpoints', async () => {
      assert.equal(watching, undefined)
      await write('a.txt', 'x')
      assert.ok(watching)
      changes.keep()
      // still watched, since a restore has to know what the user changes now
      assert.ok(watching)
      await undo({ since: 0 })
      assert.equal(watching, undefined)
    })
  })
})
