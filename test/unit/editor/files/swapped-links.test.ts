import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { noDocuments } from '../../../../src/editor/files/documents.ts'
import { disk, type FileError } from '../../../../src/editor/files/file-system.ts'
import { filesShared, SessionFiles } from '../../../../src/editor/files/files.ts'
import { readSmallFile } from '../../../../src/editor/files/no-follow.ts'
import { FakeDocument, fakeDocuments } from '../../../support/fake-document.ts'
import { until } from '../../../support/until.ts'
import { useTemporaryFolder } from '../temporary-folder.ts'

const SWAPPER = path.join(import.meta.dirname, '../../../fixtures/swap-links.mjs')
const ROUNDS = 2000

describe('files in a folder that another process replaces by a link', () => {
  let swapper: ChildProcess | undefined
  afterEach(async () => {
    if (!swapper) return
    assert.equal(swapper.exitCode, null, 'it runs until the end')
    const ended = once(swapper, 'exit')
    swapper.kill('SIGKILL')
    await ended
    swapper = undefined
  })
  const folder = useTemporaryFolder()
  const at = (...names: string[]) => path.join(folder(), ...names)

  /** A session in `root`, while a process makes `root/door` lead to `outside` and back. */
  const start = async () => {
    mkdirSync(at('root'))
    mkdirSync(at('outside'))
    writeFileSync(at('outside', 'file.txt'), 'outside')
    swapper = spawn(process.execPath, [SWAPPER, at('root'), at('outside')], { stdio: 'inherit' })
    await until(() => existsSync(at('root', 'door', 'file.txt')), 'the process')
    return new SessionFiles(filesShared({ documents: noDocuments, fileSystem: disk }), {
      roots: { cwd: at('root'), additionalDirectories: [] },
      askAccess: async () => 'refuse',
    })
  }
  const file = () => at('root', 'door', 'file.txt')

  it('are never written outside of the roots', async function () {
    if (process.platform === 'win32') this.skip()
    const session = await start()
    let written = 0
    let refused = 0
    // the other process may be slow
    for (let round = 0; round < ROUNDS || written === 0 || refused === 0; round++) {
      // a longer text takes longer to write
      const content = `round ${round}\n`.repeat(round % 2 ? 1 : 20_000)
      await session.writeTextFile({ path: file(), content }).then(
        () => written++,
        () => refused++,
      )
      assert.equal(readFileSync(at('outside', 'file.txt'), 'utf8'), 'outside', `round ${round}`)
      assert.deepEqual(readdirSync(at('outside')), ['file.txt'], `round ${round}`)
    }
  })

  it('are never read outside of the roots', async function () {
    if (process.platform === 'win32') this.skip()
    const session = await start()
    let found = 0
    let refused = 0
    for (let round = 0; round < 2 * ROUNDS || found === 0 || refused === 0; round++) {
      try {
        assert.equal(await session.readTextFile({ path: file() }), 'inside', `round ${round}`)
        found++
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        if ((error as FileError).reason === 'moved') refused++
      }
    }
  })

  it('are never read outside of the roots, also in a look at many files', async function () {
    if (process.platform === 'win32') this.skip()
    await start()
    let found = 0
    let left = 0
    for (let round = 0; round < 2 * ROUNDS || found === 0 || left === 0; round++) {
      const small = await readSmallFile(file(), 100)
      if (small) assert.equal(Buffer.from(small.bytes).toString(), 'inside', `round ${round}`)
      if (small) found++
      else left++
    }
  })

  it('are read in such a look only if they are small files', async () => {
    const names = ['small', 'large', 'empty', 'missing', 'folder', 'link']
    writeFileSync(at('small'), '12345')
    writeFileSync(at('large'), '123456')
    writeFileSync(at('empty'), '')
    mkdirSync(at('folder'))
    symlinkSync(at('small'), at('link'))
    const read = await Promise.all(names.map(name => readSmallFile(at(name), 5)))
    assert.deepEqual(
      read.map(one => one && Buffer.from(one.bytes).toString()),
      ['12345', undefined, '', undefined, undefined, undefined],
    )
  })

  it("aren't used if the link appears while the user is asked", async () => {
    mkdirSync(at('root', 'door'), { recursive: true })
    mkdirSync(at('elsewhere'))
    mkdirSync(at('outside'))
    for (const name of ['elsewhere', 'outside']) writeFileSync(at(name, 'file.txt'), name)
    symlinkSync(at('elsewhere'), at('root', 'link'))
    const session = new SessionFiles(filesShared({ documents: noDocuments, fileSystem: disk }), {
      roots: { cwd: at('root'), additionalDirectories: [] },
      async askAccess({ realPath }) {
        assert.equal(realPath, at('elsewhere', 'file.txt'))
        rmSync(at('root', 'link'))
        symlinkSync(at('outside'), at('root', 'link'))
        return 'once'
      },
    })
    const path = at('root', 'link', 'file.txt')
    await assert.rejects(session.writeTextFile({ path, content: 'x' }), {
      reason: 'moved',
      message: `Cannot write ${path}: a folder or link in its path was replaced meanwhile, so it leads elsewhere.`,
    })
    assert.equal(readFileSync(at('outside', 'file.txt'), 'utf8'), 'outside')
    assert.equal(readFileSync(at('elsewhere', 'file.txt'), 'utf8'), 'elsewhere')
  })

  it("aren't saved by the editor if the link appears while it's edited", async () => {
    mkdirSync(at('root', 'door'), { recursive: true })
    mkdirSync(at('outside'))
    writeFileSync(file(), 'inside')
    writeFileSync(at('outside', 'file.txt'), 'inside')
    const document = new FakeDocument(file())
    document.beforeReplace = () => {
      renameSync(at('root', 'door'), at('root', 'aside'))
      symlinkSync(at('outside'), at('root', 'door'))
    }
    const session = new SessionFiles(filesShared({ documents: fakeDocuments(document), fileSystem: disk }), {
      roots: { cwd: at('root'), additionalDirectories: [] },
      askAccess: async () => 'refuse',
    })
    await assert.rejects(session.writeTextFile({ path: file(), content: 'new' }), { reason: 'moved' })
    assert.equal(document.saves, 0)
    assert.equal(readFileSync(at('outside', 'file.txt'), 'utf8'), 'inside')
  })
})
