import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { CompareOptions } from '../../../src/app/compare/compare-options.ts'
import { Comparisons } from '../../../src/app/compare/comparisons.ts'
import { startInTab } from '../../../src/app/compare/start-agents.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { Emitter } from '../../../src/common/event.ts'
import { createWorktree } from '../../../src/editor/worktrees/create-worktree.ts'
import { findWorktree, openRepository, removeWorktree } from '../../../src/editor/worktrees/repository.ts'

describe('an agent of a comparison that needs a sign-in', () => {
  const participantId = { id: '1', agent: 0 }
  let directory = ''
  let top = ''
  let comparisons: Comparisons
  let started: string[]
  let sent: number
  let setup = ''
  let code: number
  let options: CompareOptions

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: top })
      .toString()
      .trimEnd()

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-sign-in-')))
    top = path.join(directory, 'project')
    mkdirSync(top)
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    const store = new Map<string, unknown>()
    comparisons = new Comparisons({
      store: { get: <T>(key: string) => store.get(key) as T, set: (key, value) => store.set(key, value) },
      drafts: { keys: () => [], onDidChangeItems: new Emitter<never>().event },
      onDidDelete: new Emitter<never>().event,
      manager: { list: () => [], find: () => undefined, onDidChange: new Emitter<void>().event },
      redact: text => text,
    })
    const from = { top, within: '', commit: git('rev-parse', 'HEAD') }
    comparisons.add({ id: '1', title: 'Fix it', at: 1, from }, [{ agentId: 'one', name: 'One' }])
    comparisons.apply(participantId, { type: 'fail', reason: 'Sign in first.', needsSignIn: true, at: 1 })
    started = []
    sent = 0
    setup = ''
    code = 0
    let draft = { ...EMPTY_DRAFT, text: 'Fix it' }
    const controller = {
      opener: { start: async (_: string, { cwd }: { cwd: string }) => void started.push(cwd) },
      prompts: { enqueue: () => sent++ },
    }
    options = {
      comparisons,
      drafts: { get: () => draft, set: (_: string, value: typeof draft) => (draft = value) },
      queues: { of: () => ({ returned: [], movedToComposer: () => {} }) },
      tabs: { open: () => controller },
      workbench: {
        get settingValues() {
          return { 'worktrees.setupCommand': setup }
        },
        runInTerminal: async () => code,
      },
      settings: { layers: () => [] },
      worktrees: { refresh: async () => {} },
    } as unknown as CompareOptions
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('gets its worktree again if that was removed meanwhile', async () => {
    const repository = await openRepository(top)
    const { worktree } = await createWorktree(repository, { name: 'fix-it', folder: '' })
    comparisons.worktreeMade(participantId, { path: worktree.path, name: worktree.name })
    await removeWorktree(repository, worktree)
    setup = 'npm ci'
    code = 3
    await assert.rejects(startInTab(options, participantId), /failed with code 3/)
    const { reason, needsSignIn } = comparisons.runOf(participantId)
    assert.match(reason ?? '', /failed with code 3/)
    assert.equal(needsSignIn, true)
    assert.deepEqual([started, sent], [[], 0])
    const made = comparisons.at(participantId)!.worktree!
    assert.ok(existsSync(made.path))
    await removeWorktree(repository, (await findWorktree(made.path))!)
    code = 0
    await startInTab(options, participantId)
    assert.deepEqual(started, [comparisons.at(participantId)!.worktree!.path])
    assert.ok(await findWorktree(started[0]!))
    assert.equal(sent, 1)
    assert.equal(comparisons.runOf(participantId).needsSignIn, true)
  })
})
