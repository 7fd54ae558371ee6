import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { compareActions } from '../../../src/app/compare/compare-actions.ts'
import type { CompareActions } from '../../../src/app/compare/compare-page.ts'
import { createWorktree } from '../../../src/editor/worktrees/create-worktree.ts'
import { openRepository, type Worktree } from '../../../src/editor/worktrees/repository.ts'

describe('what the buttons of a comparison do', () => {
  const participantId = { id: '1', agent: 0 }
  let directory = ''
  let top = ''
  let worktrees: Worktree[]
  let folders: string[]
  let shown: string[]
  /** the files of each diff that was shown */
  let compared: Array<Array<{ path: string; before?: object; after?: object }>>
  let actions: CompareActions
  let isStarting: boolean
  let claimed: string[]

  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd })
      .toString()
      .trimEnd()
  const write = (name: string, content: string | Buffer, agent = 0) =>
    writeFileSync(path.join(worktrees[agent]!.path, name), content)
  const read = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8')

  beforeEach(async () => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-compare-')))
    top = path.join(directory, 'project')
    mkdirSync(top)
    git(top, 'init', '-q')
    writeFileSync(path.join(top, 'a.txt'), 'one\n')
    writeFileSync(path.join(top, 'bytes'), Buffer.from([0, 1]))
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'first')
    const repository = await openRepository(top)
    worktrees = []
    for (const name of ['one', 'two'])
      worktrees.push((await createWorktree(repository, { name, folder: '' })).worktree)
    folders = [top]
    isStarting = false
    claimed = []
    shown = []
    compared = []
    const note = async (text: string) => void shown.push(text)
    const participants = worktrees.map(({ path: at, name }) => ({
      agentName: name,
      worktree: { path: at, name },
    }))
    const comparison = { id: '1', from: { top, within: '', commit: repository.head }, participants }
    const options = {
      workbench: {
        isTrusted: true,
        get folders() {
          return folders.map(folder => ({ name: 'project', scheme: 'file', path: folder }))
        },
        editors: { compareFiles: async (files: (typeof compared)[0]) => void compared.push(files) },
        dialogs: {
          ...{ info: note, warn: note },
          progress: (_: object, work: () => Promise<unknown>) => work(),
        },
      },
      documents: { find: () => undefined, isUnsavedElsewhere: () => false },
      comparisons: {
        at: ({ agent }: { agent: number }) => participants[agent],
        get: () => comparison,
        isStarting: () => isStarting,
        sessionOf: () => undefined,
        runOf: () => ({}),
      },
      queues: { claimed: async (key: string) => void claimed.push(key) },
    }
    actions = compareActions(options as unknown as Parameters<typeof compareActions>[0])
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('apply to the work tree that the comparison was made from, and to no other', async () => {
    const other = path.join(directory, 'other')
    git(top, 'worktree', 'add', '-q', '--detach', other)
    write('a.txt', 'two\n')
    folders = [other]
    await assert.rejects(
      actions.apply(participantId),
      /project, which the worktree was made from, isn't open/,
    )
    folders = [other, path.join(directory, 'missing'), top]
    await actions.apply(participantId)
    assert.deepEqual(shown, ['Applied the changes to 1 file.'])
    assert.deepEqual([read(top, 'a.txt'), read(other, 'a.txt')], ['two\n', 'one\n'])
  })

  it('show the changes of an agent, and say how many files are left out', async () => {
    write('a.txt', 'two\n')
    await actions.changes(participantId)
    assert.deepEqual(shown, [])
    write('bytes', Buffer.from([0, 2]))
    await actions.changes(participantId)
    await actions.changes(participantId, 'bytes')
    const left = "1 file isn't shown, since it's binary, very large or another repository."
    assert.deepEqual(shown, [left, left])
    const file = path.join(worktrees[0]!.path, 'a.txt')
    const expected = [{ path: file, before: { text: 'one\n' }, after: { file } }]
    assert.deepEqual(compared, [expected, expected])
  })

  it('show how two agents differ', async () => {
    write('a.txt', 'two\n')
    write('new.txt', 'new\n', 1)
    await actions.compareTwo('1', [0, 1])
    assert.deepEqual(
      compared[0]?.map(({ path: file }) => path.basename(file)),
      ['a.txt', 'new.txt'],
    )
  })

  it('start no agent a second time, and know what an earlier window left', async () => {
    isStarting = true
    await actions.retry(participantId)
    await actions.signIn(participantId)
    assert.deepEqual(claimed, ['compare 1 0', 'compare 1 0'])
  })
})
