import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import type { HunkPosition } from '../../../src/changes/review/hunk-navigation.ts'
import { ChangeScope, SessionChanges } from '../../../src/changes/session-changes.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import type * as base from '../../../src/workbench/changes/base-files.ts'
import type * as decorations from '../../../src/workbench/changes/change-decorations.ts'
import type * as editors from '../../../src/workbench/changes/change-editors.ts'
import type * as review from '../../../src/workbench/changes/review-cursor.ts'
import type * as changeCommands from '../../../src/workbench/commands/change-commands.ts'
import { editorChanges } from '../../support/editor-changes.ts'
import { memoryTracker } from '../../support/memory-tracker.ts'
import * as values from '../../support/page/editor/values.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

const ORIGINAL = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', ''].join('\n')

describe("an editor that shows one session's changes of a file that two have changed", () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'a.txt')
  const text = () => readFileSync(file(), 'utf8')
  const uri = () => values.Uri.file(file())
  let source: typeof base & typeof editors & typeof review & typeof decorations & typeof changeCommands
  let provider: { provideCodeLenses(document: unknown): Promise<values.CodeLens[]> }
  let tracker: ChangeTracker
  let lenses: () => Promise<Array<{ title: string; line: number; arguments: unknown[] }>>
  let handlers: Record<string, (...args: unknown[]) => unknown>
  let cursor: InstanceType<typeof review.ReviewCursor>
  let shown: { input: unknown } | undefined
  const show = (session?: string) => {
    shown = { input: new values.TabInputTextDiff(source.baseUri(file(), session) as never, uri()) }
  }
  /** The editors of the files in a review. */
  let inReview: object[]
  /** The files to which decisions led. */
  let went: string[]
  let previous: () => Promise<HunkPosition>
  let ran: string[]
  let told: string[]
  let asked: string[]
  let answer: string | undefined
  let openChanges: (path: string) => Promise<void>
  let stop: Array<{ dispose(): void }>

  const edit = async (session: string, from: string, to: string) => {
    const changes = new SessionChanges(tracker, session, { cwd: folder(), additionalDirectories: [] })
    const [oldText, newText] = [text(), text().replace(from, to)]
    const diffs = [{ changes: [{ operation: 'modify' as const, path: file(), oldText, newText }] }]
    writeFileSync(file(), newText)
    await changes.tool({ toolCallId: to, begun: true, done: true }, diffs, [])
  }

  before(async () => {
    const none = () => new values.Disposable(() => {})
    const vscode = {
      ...values,
      commands: {
        executeCommand: async (command: string) => ran.push(command),
        registerCommand: none,
        getCommands: async () => [],
      },
      languages: {
        registerCodeLensProvider(_selector: unknown, given: NonNullable<typeof provider>) {
          provider = given
          return none()
        },
      },
      workspace: {
        textDocuments: [],
        getConfiguration: () => ({ get: () => true }),
        onDidChangeConfiguration: none,
      },
      window: {
        tabGroups: {
          onDidChangeTabs: none,
          onDidChangeTabGroups: none,
          activeTabGroup: {
            get activeTab() {
              return shown
            },
          },
        },
        get visibleTextEditors() {
          return inReview
        },
        onDidChangeActiveTextEditor: none,
        onDidChangeTextEditorSelection: none,
        registerFileDecorationProvider: none,
        createTextEditorDecorationType: none,
        showInformationMessage: (message: string) => told.push(message),
      },
    }
    const load = <T>(name: string) => loadWithFakeVsCode<T>(`workbench/${name}.ts`, vscode)
    const loaded = await Promise.all([
      load<typeof base>('changes/base-files'),
      load<typeof editors>('changes/change-editors'),
      load<typeof review>('changes/review-cursor'),
      load<typeof decorations>('changes/change-decorations'),
      load<typeof changeCommands>('commands/change-commands'),
    ])
    source = Object.assign({}, ...loaded)
  })

  beforeEach(async () => {
    writeFileSync(file(), ORIGINAL)
    went = []
    ran = []
    inReview = []
    told = []
    asked = []
    answer = 'Revert'
    shown = undefined
    tracker = memoryTracker()
    const { changes, decisions } = editorChanges(tracker, async question => {
      asked.push(question)
      return answer
    })
    previous = () => decisions.next(undefined, -1, {})
    const changeEditors = new source.ChangeEditors(changes, silentLogger)
    openChanges = path => changeEditors.open(undefined, { path, status: 'modified', added: 1, removed: 1 })
    cursor = new source.ReviewCursor(changes, changeEditors)
    const keys = { keep: 'keep', revert: 'revert', showOld: 'showOld', next: 'next' }
    const context = { hasChanges: 'hasChanges', changedFiles: 'changedFiles' }
    stop = [changeEditors, cursor, new source.ChangeDecorations(changes, cursor, keys, context), tracker]
    lenses = async () => {
      const all = await provider.provideCodeLenses({ uri: uri(), lineCount: 8 })
      return all.map(({ range, command }) => ({
        ...(command as { title: string; arguments: unknown[] }),
        line: range.start.line,
      }))
    }
    handlers = source.changeCommands({
      decisions,
      pathOf: changes.pathOf,
      sourceControl: { changesOf: () => undefined },
      reviews: {},
      reviewKeys: { resume: () => {} },
      cursor: {
        at: async () => ({ path: file(), start: 0, end: 1 }),
        go: async ({ path }: { path: string }) => went.push(path),
        pathIn: async () => file(),
        get scope() {
          return cursor.scope
        },
        get shown() {
          return cursor.shown
        },
      },
    } as never) as unknown as typeof handlers
    await edit('a', 'one', 'ONE')
    await edit('b', 'three', 'THREE')
    await edit('a', 'seven', 'SEVEN')
    await edit('b', 'SEVEN', 'Seven')
  })
  afterEach(() => {
    for (const one of stop) one.dispose()
  })

  it('has lenses only for those, unlike one that shows the file', async () => {
    const lines = async () => (await lenses()).flatMap(({ title, line }) => (title === 'Revert' ? line : []))
    assert.deepEqual(await lines(), [0, 2, 6])
    show('a')
    assert.deepEqual(await lines(), [0, 6])
    show('b')
    assert.deepEqual(await lines(), [2, 6])
    show()
    assert.deepEqual(await lines(), [0, 2, 6])
  })

  it("reverts only that session's part of lines that both have changed", async () => {
    show('b')
    const lens = (await lenses()).findLast(({ title }) => title === 'Revert')
    await handlers['parley.revertChange']!(...lens!.arguments)
    assert.equal(text(), ORIGINAL.replace('one', 'ONE').replace('three', 'THREE').replace('seven', 'SEVEN'))
  })

  it('reverts nothing else of the file', async () => {
    show('b')
    await handlers['parley.revertFileChanges']!(uri())
    assert.deepEqual(asked, [])
    assert.equal(text(), ORIGINAL.replace('one', 'ONE').replace('seven', 'SEVEN'))
  })

  it('asks once before it reverts files of two sessions that are selected in Source Control', async () => {
    const other = join(folder(), 'b.txt')
    writeFileSync(other, 'new\n')
    const changes = new SessionChanges(tracker, 'a', { cwd: folder(), additionalDirectories: [] })
    const diffs = [{ changes: [{ operation: 'add' as const, path: other, newText: 'new\n' }] }]
    await changes.tool({ toolCallId: 'add', begun: true, done: true }, diffs, [])
    answer = undefined
    const selected = [
      { path: file(), session: 'b' },
      { path: other, session: 'a' },
    ]
    const before = text()
    await handlers['parley.revertFileChanges']!(...selected)
    assert.deepEqual(asked, ['Revert all changes that agents made to 2 files?'])
    assert.deepEqual([text(), existsSync(other)], [before, true])
    answer = 'Revert'
    await handlers['parley.revertFileChanges']!(...selected)
    assert.equal(asked.length, 2)
    assert.equal(text(), ORIGINAL.replace('one', 'ONE').replace('seven', 'SEVEN'))
    assert.equal(existsSync(other), false)
  })

  it('keeps nothing else of the file, nor does the list in Source Control', async () => {
    const by = () => [...tracker.views.sessions()].join()
    show('b')
    await handlers['parley.keepFileChanges']!(uri())
    assert.equal(by(), 'a')
    await edit('b', 'three', '3')
    await edit('b', 'two', '2')
    shown = undefined
    await handlers['parley.keepFileChanges']!({ path: file(), session: 'a' })
    assert.equal(by(), 'b')
  })

  it('has a decision that reads no other file, unless it holds the next change', async () => {
    const paths = ['b.txt', 'c.txt'].map(name => join(folder(), name))
    const changes = new SessionChanges(tracker, 'a', { cwd: folder(), additionalDirectories: [] })
    for (const path of paths) {
      writeFileSync(path, 'new\n')
      const diffs = [{ changes: [{ operation: 'add' as const, path, newText: 'new\n' }] }]
      await changes.tool({ toolCallId: path, begun: true, done: true }, diffs, [])
    }
    const known = () => paths.map(path => tracker.views.at(path)?.text)
    for (const path of paths) writeFileSync(path, 'new\nuser\n')
    const lens = async () => (await lenses()).find(({ title }) => title === 'Keep')!
    await handlers['parley.keepChange']!(...(await lens()).arguments)
    await handlers['parley.keepChange']!(...(await lens()).arguments)
    assert.deepEqual(known(), ['new\n', 'new\n'])
    await handlers['parley.keepChange']!(...(await lens()).arguments)
    assert.deepEqual(known(), ['new\nuser\n', 'new\n'])
    assert.deepEqual(went, [file(), file(), paths[0]])
  })

  it("isn't opened for a file that VS Code can't name, which is told", async () => {
    await openChanges('/w/caf\udce9.txt')
    assert.deepEqual(told, ["VS Code can't open caf\ufffd.txt: its name isn't UTF-8."])
    assert.equal(ran.includes('vscode.diff'), false)
    await openChanges(file())
    assert.equal(ran.includes('vscode.diff'), true)
  })

  it('reverts nothing else if the change of a lens is gone', async () => {
    const [lens] = (await lenses()).filter(({ title }) => title === 'Revert')
    const changes = new SessionChanges(tracker, 'a', { cwd: folder(), additionalDirectories: [] })
    new ChangeScope(tracker).keep()
    rmSync(file())
    await changes.refresh()
    writeFileSync(file(), '')
    const diffs = [{ changes: [{ operation: 'add' as const, path: file(), newText: '' }] }]
    await changes.tool({ toolCallId: 'empty', begun: true, done: true }, diffs, [])
    assert.equal(new ChangeScope(tracker).list().length, 1)
    assert.equal(new ChangeScope(tracker).hunks(file()).length, 0)
    await assert.rejects(
      async () => handlers['parley.revertChange']!(...lens!.arguments),
      /There is no agent change at this line/,
    )
    assert.equal(existsSync(file()), true)
  })

  it('stays at the change that a review shows while an agent adds lines above it', async () => {
    const original = source.baseUri(file())
    shown = { input: { textDiffs: [{ original, modified: uri() }] } }
    const reveal = { revealRange: () => {}, setDecorations: () => {}, selection: undefined }
    inReview = [{ ...reveal, viewColumn: undefined, document: { uri: uri(), lineCount: 8 } }]
    const third = await previous()
    await cursor.go(third)
    assert.equal((await cursor.at())?.start, 6)
    await edit('a', 'two', 'two\nand\na\nhalf')
    assert.equal((await cursor.at())?.start, 9)
    assert.equal((await cursor.position())?.line, 9)
  })
})
