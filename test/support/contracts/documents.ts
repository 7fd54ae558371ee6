import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Documents } from '../../../src/editor/files/documents.ts'
import { waitFor } from '../../host/wait-for.ts'

/** An editor, and what a user does in it. */
export interface EditorUnderTest {
  documents: Documents
  open(path: string): Promise<void>
  /** Replaces the whole text. */
  type(path: string, text: string): Promise<void>
  undo(path: string): Promise<void>
  close(path: string): Promise<void>
  /** Makes the editor notice changes on disk. */
  notice(path: string): void
}

/** The contract of VS Code's documents, and of their fakes. */
export function documentsContract(folder: () => string, create: () => EditorUnderTest): void {
  const file = () => join(folder(), 'a.txt')
  const onDisk = () => readFileSync(file(), 'utf8')
  const opened = async (content: string) => {
    const editor = create()
    writeFileSync(file(), content)
    await editor.open(file())
    const document = editor.documents.find([file()])
    assert.ok(document)
    return { editor, document }
  }
  const whole = (text: string, by: string) => ({ start: 0, end: text.length, text: by })

  it('finds an open document by any of its paths', async () => {
    const editor = create()
    writeFileSync(file(), 'one\n')
    assert.equal(editor.documents.find([file()]), undefined)
    await editor.open(file())
    const document = editor.documents.find([join(folder(), 'other.txt'), file()])
    assert.equal(document?.text(), 'one\n')
    assert.equal(document?.isClosed(), false)
    assert.equal(editor.documents.find([join(folder(), 'other.txt')]), undefined)
    await editor.close(file())
    await waitFor('the document to be closed', () => document?.isClosed())
    assert.equal(editor.documents.find([file()]), undefined)
  })

  it("returns its text without the byte order mark, with the file's line endings", async () => {
    const { document } = await opened('\ufeffone\r\ntwo\r\n')
    assert.equal(document.text(), 'one\r\ntwo\r\n')
    assert.equal(document.lineEnd, '\r\n')
    assert.equal(document.encoding, 'utf8bom')
    assert.equal(document.isDirty(), false)
    assert.ok(await document.replace({ start: 5, end: 8, text: '2\n3' }, document.text()))
    assert.equal(document.text(), 'one\r\n2\r\n3\r\n')
    assert.ok(await document.save())
    assert.equal(onDisk(), '\ufeffone\r\n2\r\n3\r\n')
  })

  it('accepts an edit only if its text is still the expected one', async () => {
    const { editor, document } = await opened('one\n')
    assert.equal(document.encoding, 'utf8')
    await editor.type(file(), 'mine\n')
    assert.equal(await document.replace(whole('one\n', 'two\n'), 'one\n'), false)
    assert.equal(document.text(), 'mine\n')
    assert.ok(await document.replace(whole('mine\n', 'two\n'), 'mine\n'))
    assert.equal(document.text(), 'two\n')
    assert.equal(onDisk(), 'one\n')
  })

  it('undoes an edit in one step, and can be saved afterward', async () => {
    const { editor, document } = await opened('one\ntwo\nthree\n')
    assert.ok(await document.replace({ start: 4, end: 7, text: '2\nadded' }, document.text()))
    assert.equal(document.isDirty(), true)
    await editor.undo(file())
    assert.equal(document.text(), 'one\ntwo\nthree\n')
    assert.equal(document.isDirty(), false)
  })

  it('has unsaved changes even if its original text was typed again', async () => {
    const { editor, document } = await opened('one\n')
    await editor.type(file(), 'two\n')
    await editor.type(file(), 'one\n')
    assert.equal(document.text(), 'one\n')
    assert.equal(document.isDirty(), true)
    assert.ok(await document.save())
    assert.equal(document.isDirty(), false)
  })

  it('saves nothing without unsaved changes', async () => {
    const { document } = await opened('one\n')
    writeFileSync(file(), 'newer on disk\n')
    await document.save()
    assert.equal(onDisk(), 'newer on disk\n')
  })

  it('saves after an undo', async () => {
    const { editor, document } = await opened('one\n')
    await editor.type(file(), 'two\n')
    assert.ok(await document.save())
    assert.equal(onDisk(), 'two\n')
    await editor.undo(file())
    assert.equal(document.isDirty(), true)
    assert.ok(await document.save())
    assert.equal(onDisk(), 'one\n')
  })

  it("recreates a deleted file when it's saved", async () => {
    const { editor, document } = await opened('one\n')
    await editor.type(file(), 'two\n')
    rmSync(file())
    assert.ok(await document.save())
    assert.equal(onDisk(), 'two\n')
  })

  it("doesn't overwrite a newer file when it's saved", async () => {
    const { editor, document } = await opened('one\n')
    await editor.type(file(), 'mine\n')
    writeFileSync(file(), 'newer on disk\n')
    assert.equal(await document.save(), false)
    assert.equal(onDisk(), 'newer on disk\n')
    assert.equal(document.text(), 'mine\n')
    assert.equal(document.isDirty(), true)
  })

  it('loads a newer file as an undo step if it has no unsaved changes', async () => {
    const { editor, document } = await opened('one\n')
    writeFileSync(file(), 'newer on disk\n')
    await waitFor('the newer text', () => {
      editor.notice(file())
      return document.text() === 'newer on disk\n'
    })
    assert.equal(document.isDirty(), false)
    await editor.undo(file())
    assert.equal(document.text(), 'one\n')
    assert.equal(document.isDirty(), true)
  })

  it('accepts no edits and saves nothing after it was closed', async () => {
    const { editor, document } = await opened('one\n')
    await editor.close(file())
    await waitFor('the document to be closed', () => document.isClosed())
    assert.equal(await document.replace(whole('one\n', 'two\n'), 'one\n'), false)
    assert.equal(await document.save(), false)
    assert.equal(onDisk(), 'one\n')
  })
}
