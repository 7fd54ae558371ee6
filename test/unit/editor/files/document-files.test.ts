import assert from 'node:assert/strict'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { MergeAnswer } from '../../../../src/editor/files/agent-write.ts'
import { disk, type FileSystem } from '../../../../src/editor/files/file-system.ts'
import { filesShared, SessionFiles } from '../../../../src/editor/files/files.ts'
import type { MergeConflict } from '../../../../src/editor/files/merge-texts.ts'
import { FakeDocument, fakeDocuments } from '../../../support/fake-document.ts'
import { useTemporaryFolder } from '../temporary-folder.ts'

describe('files with an open document', () => {
  const folder = useTemporaryFolder()
  const file = () => path.join(folder(), 'a.txt')
  const onDisk = () => readFileSync(file(), 'utf8')
  const open = (content: string) => {
    writeFileSync(file(), content)
    return new FakeDocument(file())
  }
  /** what the user was asked about lines that both changed, and their answer */
  let asked: Array<readonly MergeConflict[]> = []
  let answer: MergeAnswer = 'theirs'
  beforeEach(() => {
    asked = []
    answer = 'theirs'
  })
  const session = (document: FakeDocument, fileSystem: FileSystem = disk, cwd = folder()) =>
    new SessionFiles(filesShared({ documents: fakeDocuments(document), fileSystem }), {
      roots: { cwd, additionalDirectories: [] },
      askAccess: async () => 'refuse',
      askMerge: async ({ conflicts }) => {
        asked.push(conflicts)
        return answer
      },
    })
  const write = (document: FakeDocument, content: string, fileSystem?: FileSystem) =>
    session(document, fileSystem).writeTextFile({ path: file(), content })

  it('are read with unsaved changes', async () => {
    const document = open('one\ntwo\n')
    document.type('one\nTWO\nthree\n')
    assert.equal(await session(document).readTextFile({ path: file() }), 'one\nTWO\nthree\n')
    assert.equal(await session(document).readTextFile({ path: file(), line: 2, limit: 1 }), 'TWO\n')
  })

  it('are found also if only the folder in the editor is a link', async () => {
    const link = `${folder()}-link`
    writeFileSync(file(), 'one\ntwo\n')
    symlinkSync(folder(), link, 'junction')
    try {
      const document = new FakeDocument(path.join(link, 'a.txt'))
      document.type('one\nTWO\n')
      const parts = { documents: fakeDocuments(document), fileSystem: disk, folders: () => [link] }
      const files = new SessionFiles(filesShared(parts), {
        roots: { cwd: folder(), additionalDirectories: [] },
        askAccess: async () => 'refuse',
      })
      assert.equal(await files.readTextFile({ path: file() }), 'one\nTWO\n')
      await files.writeTextFile({ path: file(), content: 'ONE\nTWO\n' })
      assert.equal(document.saves, 1)
      assert.equal(onDisk(), 'ONE\nTWO\n')
    } finally {
      rmSync(link)
    }
  })

  it('are read from disk without unsaved changes, since the disk may be newer', async () => {
    const document = open('one\n')
    writeFileSync(file(), 'ahead\n')
    assert.equal(await session(document).readTextFile({ path: file() }), 'ahead\n')
  })

  it('are read from the document if the file was deleted', async () => {
    const document = open('one\n')
    document.type('kept\n')
    rmSync(file())
    assert.equal(await session(document).readTextFile({ path: file() }), 'kept\n')
  })

  it('are written as one undo step and saved', async () => {
    const document = open('one\ntwo\nthree\n')
    await write(document, 'one\n2\nthree\n')
    assert.equal(document.text(), 'one\n2\nthree\n')
    assert.equal(document.isDirty(), false)
    assert.equal(onDisk(), 'one\n2\nthree\n')
    assert.equal(document.undo(), 'one\ntwo\nthree\n')
  })

  it("get the agent's lines next to unsaved ones, as one undo step", async () => {
    const document = open('one\ntwo\nthree\n')
    document.type('one\ntwo\nthree\nmine\n')
    await write(document, 'ONE\ntwo\nthree\n')
    assert.equal(onDisk(), 'ONE\ntwo\nthree\nmine\n')
    assert.equal(document.isDirty(), false)
    assert.deepEqual(asked, [])
    assert.equal(document.undo(), 'one\ntwo\nthree\nmine\n')
  })

  it("stay as they are if the agent writes what's on disk", async () => {
    const document = open('one\ntwo\n')
    document.type('mine\ntwo\n')
    await write(document, 'one\ntwo\n')
    assert.equal(document.text(), 'mine\ntwo\n')
    assert.equal(document.isDirty(), true)
    assert.equal(onDisk(), 'one\ntwo\n')
    assert.deepEqual([document.saves, asked], [0, []])
  })

  it("get the agent's changes of unsaved lines that it has read", async () => {
    const document = open('one\n')
    document.type('one\nmine\n')
    const files = session(document)
    await files.readTextFile({ path: file() })
    await files.writeTextFile({ path: file(), content: 'one\nMINE\n' })
    assert.equal(onDisk(), 'one\nMINE\n')
    assert.deepEqual(asked, [])
  })

  it('keep what the user typed and saved since the agent read them', async () => {
    const document = open('one\ntwo\nthree\n')
    const files = session(document)
    await files.readTextFile({ path: file() })
    document.type('one\ntwo\nthree\nmine\n')
    await document.save()
    await files.writeTextFile({ path: file(), content: 'ONE\ntwo\nthree\n' })
    assert.equal(onDisk(), 'ONE\ntwo\nthree\nmine\n')
    // the agent continues with what it wrote
    await files.writeTextFile({ path: file(), content: 'ONE\ntwo\n3\n' })
    assert.equal(onDisk(), 'ONE\ntwo\n3\nmine\n')
    // and takes it back
    await files.writeTextFile({ path: file(), content: 'one\ntwo\nthree\n' })
    assert.equal(onDisk(), 'one\ntwo\nthree\nmine\n')
  })

  it('are what the agent read from disk, if it removes lines from there', async () => {
    const document = open('one\n')
    const files = session(document)
    await files.readTextFile({ path: file() })
    document.type('one\nmine\n')
    await document.save()
    await files.writeTextFile({ path: file(), content: 'mine\n' })
    assert.equal(onDisk(), 'mine\n')
  })

  it('are what the agent read from disk, if it writes a line that only is there', async () => {
    const document = open('one\ntwo\nthree\n')
    const files = session(document)
    await files.readTextFile({ path: file() })
    document.type('one\ntwo\nsaved\nthree\n')
    await document.save()
    document.type('mine\none\ntwo\nsaved\nthree\n')
    await files.writeTextFile({ path: file(), content: 'one\nsaved\nthree\n' })
    assert.equal(onDisk(), 'mine\none\nsaved\nthree\n')
  })

  it('are what the agent read with an unsaved line, if it writes that again', async () => {
    const document = open('one\ntwo\nthree\n')
    const files = session(document)
    document.type('one\ntwo\nunsaved\nthree\n')
    await files.readTextFile({ path: file() })
    document.type('mine\none\ntwo\nunsaved\nthree\n')
    await files.writeTextFile({ path: file(), content: 'one\nunsaved\nthree\n' })
    assert.equal(onDisk(), 'mine\none\nunsaved\nthree\n')
  })

  it("are what the agent read from disk, if it otherwise removed an unsaved line, which it can't know", async () => {
    const document = open('one\ntwo\nthree\n')
    const files = session(document)
    await files.readTextFile({ path: file() })
    document.type('two\nsaved\nthree\n')
    await document.save()
    document.type('one\ntwo\nsaved\nthree\n')
    await files.writeTextFile({ path: file(), content: 'two\nthree\n' })
    assert.equal(onDisk(), 'one\ntwo\nthree\n')
  })

  it('ask about unsaved lines that the agent changed, too', async () => {
    const document = open('one\ntwo\nthree\n')
    document.type('one\nmine\nthree\n')
    await write(document, "one\nthe agent's\nthree\n")
    assert.deepEqual(asked, [[{ line: 2, mine: 'mine\n', theirs: "the agent's\n" }]])
    assert.equal(onDisk(), "one\nthe agent's\nthree\n")
    assert.equal(document.undo(), 'one\nmine\nthree\n')
  })

  it("keep the user's lines, and get the rest, if the user wants that", async () => {
    answer = 'mine'
    const document = open('one\ntwo\nthree\n')
    document.type('one\nmine\nthree\n')
    assert.deepEqual(await write(document, "one\nthe agent's\nthree\nfour\n"), { hasUserLines: true })
    assert.equal(onDisk(), 'one\nmine\nthree\nfour\n')
  })

  it("aren't touched if the user refuses", async () => {
    answer = 'refuse'
    const document = open('one\n')
    document.type('mine\n')
    await assert.rejects(write(document, "the agent's\n"), { reason: 'refused' })
    assert.equal(document.text(), 'mine\n')
    assert.equal(onDisk(), 'one\n')
  })

  it('save unsaved changes if the agent writes the same text', async () => {
    const document = open('one\n')
    document.type('two\n')
    await write(document, 'two\n')
    assert.equal(onDisk(), 'two\n')
    assert.equal(document.isDirty(), false)
  })

  it("keep the document's line endings and byte order mark", async () => {
    const document = open('\ufeffone\r\ntwo\r\n')
    await write(document, 'one\n2\n')
    assert.equal(onDisk(), '\ufeffone\r\n2\r\n')
  })

  it('keep the line endings of unchanged lines if the file has mixed ones', async () => {
    const document = open('one\r\ntwo\nthree\r\n')
    await write(document, 'one\ntwo\n3\n')
    assert.equal(onDisk(), 'one\r\ntwo\n3\r\n')
  })

  it("aren't saved if nothing changes", async () => {
    const document = open('one\r\n')
    await write(document, 'one\n')
    assert.equal(document.saves, 0)
  })

  it('are found through another path to the same file', async () => {
    const document = open('one\n')
    document.type('unsaved\n')
    const door = path.join(folder(), 'door')
    symlinkSync(folder(), door)
    const throughLink = session(document).readTextFile({ path: path.join(door, 'a.txt') })
    assert.equal(await throughLink, 'unsaved\n')
    // the workspace was opened through a link, and the agent sends its target
    const linked = new FakeDocument(path.join(door, 'a.txt'))
    linked.type('through the link\n')
    assert.equal(await session(linked, disk, door).readTextFile({ path: file() }), 'through the link\n')
  })

  it('are edited again if the user types during the edit', async () => {
    const document = open('one\ntwo\nthree\n')
    let typed = 0
    document.beforeReplace = () => {
      typed += 1
      if (typed <= 2) document.type(`typed ${typed}\ntwo\nthree\n`)
    }
    await write(document, 'one\ntwo\nagent\n')
    assert.equal(onDisk(), 'typed 2\ntwo\nagent\n')
    assert.equal(document.undo(), 'typed 2\ntwo\nthree\n')
  })

  describe('in which the user types while the editor saves them, so that it reports them as unsaved', () => {
    /** What the user does as soon as Parley has heard that. */
    const written = async (act: (document: FakeDocument) => void) => {
      const document = open('one\ntwo\n')
      document.onSave = () => {
        delete document.onSave
        document.write()
        document.markSaved()
        document.type('ONE\ntwo\nmine\n')
        delayed = () => act(document)
        return false
      }
      let delayed: (() => void) | undefined
      const stat: FileSystem['stat'] = async found => {
        delayed?.()
        delayed = undefined
        return disk.stat(found)
      }
      await write(document, 'ONE\ntwo\n', { ...disk, stat })
      return document
    }

    it('keep what was typed, which the user can save or not', async () => {
      const document = await written(() => {})
      assert.equal(onDisk(), 'ONE\ntwo\n')
      assert.equal(document.text(), 'ONE\ntwo\nmine\n')
      assert.equal(document.isDirty(), true)
    })

    it('keep what the user has saved by then', async () => {
      const document = await written(async one => one.save())
      assert.equal(onDisk(), 'ONE\ntwo\nmine\n')
      assert.equal(document.text(), onDisk())
    })

    it("keep the user's later typing and another program's write", async () => {
      const document = await written(one => {
        writeFileSync(file(), 'newer\n')
        one.type('ONE\ntwo\nmine\nlater\n')
      })
      assert.equal(onDisk(), 'ONE\ntwo\nmine\nlater\n')
      assert.equal(document.isDirty(), false)
      assert.equal(document.undo(), 'newer\n')
    })
  })

  it("aren't changed if the editor doesn't accept the edit, which is reported", async () => {
    const document = open('one\n')
    let typed = 0
    document.beforeReplace = () => {
      typed += 1
      document.type(`one\ntyped ${typed}\n`)
    }
    await assert.rejects(write(document, 'agent\none\n'), { reason: 'not-saved' })
    assert.equal(onDisk(), 'one\n')
  })

  it('are written to disk if the document is closed meanwhile', async () => {
    const document = open('one\n')
    document.beforeReplace = () => {
      document.closed = true
    }
    await write(document, 'agent\n')
    assert.equal(onDisk(), 'agent\n')
  })

  it("are written to disk if it's newer than a document without changes", async () => {
    const document = open('one\n')
    writeFileSync(file(), 'ahead\n')
    await write(document, 'agent\n')
    assert.equal(onDisk(), 'agent\n')
    assert.equal(document.saves, 0)
    assert.equal(document.text(), 'one\n', 'the editor reads the file again by itself')
  })

  it("keep what is saved while the agent writes a file that's newer than its document", async () => {
    const document = open('one\n')
    writeFileSync(file(), 'one\ntwo\n')
    let saved: string | undefined = 'one\ntwo\nmine\n'
    const createFile: FileSystem['createFile'] = async (...given) => {
      if (saved !== undefined) writeFileSync(file(), saved)
      saved = undefined
      await disk.createFile(...given)
    }
    const files = session(document, { ...disk, createFile })
    await files.readTextFile({ path: file() })
    await files.writeTextFile({ path: file(), content: 'ONE\ntwo\n' })
    assert.equal(onDisk(), 'ONE\ntwo\nmine\n')
  })

  it('are recreated if they were deleted and the document has no unsaved changes', async () => {
    const document = open('one\n')
    rmSync(file())
    await write(document, 'one\n')
    assert.equal(onDisk(), 'one\n')
    rmSync(file())
    await write(document, 'agent\n')
    assert.equal(onDisk(), 'agent\n')
    assert.equal(document.text(), 'agent\n', 'shown though no deletion was heard of')
    assert.equal(document.isDirty(), false)
    assert.equal(document.undo(), 'one\n')
  })

  it('keep both unsaved changes and newer content on disk', async () => {
    const document = open('one\n')
    document.type('mine\n')
    writeFileSync(file(), 'newer\n')
    await write(document, 'agent\n')
    assert.equal(onDisk(), 'agent\n')
    assert.equal(document.isDirty(), false)
    assert.equal(document.undo(), 'newer\n')
    assert.equal(document.undo(), 'agent\n')
    assert.equal(document.undo(), 'mine\n')
  })

  it("don't change the editor if the file is read-only", async () => {
    const document = open('one\n')
    const locked: FileSystem = {
      ...disk,
      checkWritable: async () => Promise.reject(Object.assign(new Error(), { code: 'EACCES' })),
    }
    await assert.rejects(write(document, 'agent\n', locked), { reason: 'no-right' })
    assert.equal(document.text(), 'one\n')
  })

  it('keep the new text in the editor if the disk is full', async () => {
    const document = open('one\n')
    document.onSave = () => false
    const full: FileSystem = {
      ...disk,
      createFile: async () => Promise.reject(Object.assign(new Error(), { code: 'ENOSPC' })),
    }
    await assert.rejects(write(document, 'agent\n', full), {
      reason: 'not-saved',
      message: /no space is left.* in the editor, not saved/,
    })
    assert.equal(document.text(), 'agent\n')
    assert.equal(onDisk(), 'one\n')
  })
})
