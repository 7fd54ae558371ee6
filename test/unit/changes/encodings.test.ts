import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import type { OpenDocument } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { type FilesShared, filesShared } from '../../../src/editor/files/files.ts'
import { encodeText } from '../../../src/editor/text.ts'
import { charactersOf, LEGACY_ENCODINGS, legacyEncodings } from '../../support/legacy-encodings.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'

/** How a file is encoded, and how VS Code names that. */
interface Case {
  title: string
  encoding: string
  characters: string
  bytesOf(text: string): Promise<Uint8Array>
}

const UNICODE: Case[] = (['utf8', 'utf8bom', 'utf16le', 'utf16be'] as const).map(encoding => ({
  title: encoding,
  encoding,
  characters: 'é字',
  bytesOf: async text =>
    encoding === 'utf8bom' ? encodeText(text, 'utf8', true) : encodeText(text, encoding, encoding !== 'utf8'),
}))
const LEGACY: Case[] = LEGACY_ENCODINGS.map(encoding => ({
  title: encoding,
  encoding,
  characters: charactersOf(encoding),
  bytesOf: text => legacyEncodings.encode(text, encoding),
}))

describe('the encoding of a changed file', () => {
  let root: string
  let path: string
  let store: MemoryStore
  let shared: FilesShared
  let tracker: ChangeTracker
  let changes: SessionChanges
  let open: (Pick<OpenDocument, 'encoding'> & { text: string; dirty?: boolean }) | undefined

  const create = () => {
    tracker = new ChangeTracker({ files: shared, store })
    changes = new SessionChanges(tracker, 's', { cwd: root, additionalDirectories: [] })
  }
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-encodings-')))
    path = join(root, 'a.txt')
    store = new MemoryStore()
    open = undefined
    const find = (): OpenDocument | undefined =>
      open && {
        text: () => open!.text,
        isDirty: () => open!.dirty === true,
        isClosed: () => false,
        lineEnd: '\n',
        encoding: open.encoding,
        replace: async () => false,
        save: async () => false,
      }
    shared = filesShared({
      documents: { find, isUnsavedElsewhere: () => false, unsaved: () => [] },
      fileSystem: disk,
      encodings: legacyEncodings,
    })
    create()
  })
  afterEach(() => {
    tracker.dispose()
    rmSync(root, { recursive: true, force: true })
  })

  /** VS Code shows the file in this encoding; `undefined`: its tab is closed. */
  const shown = async (encoding: string | undefined) => {
    const text = async (bytes: Buffer) =>
      (await legacyEncodings.decode(bytes, encoding!)).replace('\ufeff', '')
    open = encoding === undefined ? undefined : { encoding, text: await text(readFileSync(path)) }
    tracker.edits.typed(path, () => open?.text ?? '', false)
    await changes.refresh()
  }
  const write = async (bytes: Uint8Array, oldText: string, newText: string) => {
    const toolCallId = newText
    const diffs = [{ changes: [{ operation: 'modify' as const, path, oldText, newText }] }]
    await changes.tool({ toolCallId, begun: true, done: false }, diffs, [])
    writeFileSync(path, bytes)
    if (open) open.text = open.text.replace(oldText, newText)
    await changes.tool({ toolCallId, begun: true, done: true }, diffs, [])
  }
  const counts = () => changes.list().map(({ status, added, removed }) => [status, added, removed])

  for (const { title, encoding, characters, bytesOf } of [...UNICODE, ...LEGACY])
    it(`is kept while its tab is open, closed, opened in another encoding, and across a reload: ${title}`, async () => {
      assert.ok(characters.length > 1)
      const before = await bytesOf(`${characters}\ntwo\n3 ${characters}\n`)
      const after = await bytesOf(`${characters}\n2\n3 ${characters}\n`)
      writeFileSync(path, before)
      await shown(encoding)
      await write(after, 'two', '2')
      const expected = [['modified', 1, 1]]
      assert.deepEqual(counts(), expected)
      for (const other of [undefined, 'windows1252', 'utf8', undefined, encoding]) {
        await shown(other)
        assert.deepEqual(counts(), expected, `shown as ${other}`)
      }
      await shown(undefined)
      create()
      await changes.refresh()
      assert.deepEqual(counts(), expected, 'after a reload')
      const again = await bytesOf(`${characters}\n2\nthree ${characters}\n`)
      await write(again, '3', 'three')
      assert.deepEqual(counts(), [['modified', 2, 2]])
      // the user's edit by another program belongs to the original
      writeFileSync(path, await bytesOf(`mine ${characters}\n2\nthree ${characters}\n`))
      await changes.refresh()
      assert.deepEqual(counts(), [['modified', 2, 2]])
      const { undone, unchanged } = await changes.undo()
      assert.deepEqual(unchanged, [])
      const original = await bytesOf(`mine ${characters}\ntwo\n3 ${characters}\n`)
      assert.deepEqual(readFileSync(path), Buffer.from(original))
      assert.deepEqual(await tracker.review.restore(undone!.id), [])
      const restored = await bytesOf(`mine ${characters}\n2\nthree ${characters}\n`)
      assert.deepEqual(readFileSync(path), Buffer.from(restored))
    })

  it('changes if the user saves the file in another one', async () => {
    const text = (two: string) => `é\n${two}\nü\n`
    writeFileSync(path, Buffer.from(text('two'), 'latin1'))
    await shown('windows1252')
    await write(Buffer.from(text('2'), 'latin1'), 'two', '2')
    writeFileSync(path, text('2'))
    open = { encoding: 'utf8', text: text('2') }
    tracker.edits.saved(path, text('2'))
    await changes.refresh()
    await shown(undefined)
    assert.deepEqual(counts(), [['modified', 1, 1]])
    assert.deepEqual((await changes.undo()).unchanged, [])
    assert.equal(readFileSync(path, 'utf8'), text('two'))
  })

  it("stays if the user edits and saves the file as it's shown in a wrong one", async () => {
    const text = (one: string, two: string) => `${one}\n${two}\nü\n`
    writeFileSync(path, text('é', 'two'))
    await shown('utf8')
    await write(Buffer.from(text('é', '2')), 'two', '2')
    await shown('windows1252')
    open!.text = `mine\n${open!.text}`
    writeFileSync(path, `mine\n${text('é', '2')}`)
    tracker.edits.saved(path, open!.text)
    await changes.refresh()
    assert.deepEqual(counts(), [['modified', 1, 1]])
    assert.deepEqual((await changes.undo()).unchanged, [])
    assert.equal(readFileSync(path, 'utf8'), `mine\n${text('é', 'two')}`)
  })

  it("doesn't mix with unsaved text that is shown in another one", async () => {
    writeFileSync(path, 'é\ntwo\n')
    await shown('utf8')
    await write(Buffer.from('é\n2\n'), 'two', '2')
    await shown('windows1252')
    open = { ...open!, text: `mine\n${open!.text}`, dirty: true }
    tracker.edits.typed(path, () => open!.text, true)
    await changes.refresh()
    assert.deepEqual(
      (await changes.undo()).unchanged.map(({ why }) => why),
      ['unsaved'],
    )
    assert.equal(readFileSync(path, 'utf8'), 'é\n2\n')
  })

  it("isn't taken for a change if a file's tab is closed during a turn", async () => {
    writeFileSync(path, Buffer.from('é\ntwo\n', 'latin1'))
    await shown('windows1252')
    const tree = new WorkTree(changes)
    changes.beginTurn(1, () => true)
    const before = (await tracker.reader.stateOf(path))!
    await shown(undefined)
    await changes.noticed([{ path, before }])
    assert.deepEqual(counts(), [])
    const snapshot = await tree.snapshot([root])
    writeFileSync(path, Buffer.from('é\n2\n', 'latin1'))
    await changes.noticed([{ path, before }])
    assert.deepEqual(counts(), [['modified', 1, 1]])
    await changes.noticed((await tree.changed(snapshot)).changes)
    await changes.endTurn()
    await changes.undo()
    assert.deepEqual(readFileSync(path), Buffer.from('é\ntwo\n', 'latin1'))
  })
})
