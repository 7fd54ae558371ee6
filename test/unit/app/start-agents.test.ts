import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { CompareOptions } from '../../../src/app/compare/compare-options.ts'
import { Comparisons, draftKeyOf } from '../../../src/app/compare/comparisons.ts'
import { startAgent } from '../../../src/app/compare/start-agents.ts'
import { Emitter } from '../../../src/common/event.ts'
import { PromptQueue } from '../../../src/conversation/prompts/prompt-queue.ts'
import { openRepository } from '../../../src/editor/worktrees/repository.ts'

describe('the start of an agent of a comparison', () => {
  const participantId = { id: '1', agent: 0 }
  const draft = { text: 'Do it', chips: [], items: [] }
  let directory = ''
  let comparisons: Comparisons
  let queue: PromptQueue
  let created: string[]
  let onContent: () => void
  let runInTerminal: (signal?: AbortSignal) => Promise<number | undefined>
  let options: CompareOptions

  beforeEach(async () => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-start-')))
    const top = path.join(directory, 'project')
    mkdirSync(top)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: top })
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    const { head: commit } = await openRepository(top)
    const stored = new Map<string, unknown>()
    const store = {
      get: <T>(key: string) => stored.get(key) as T | undefined,
      set: (key: string, value: unknown) => void stored.set(key, value),
    }
    const nothing = new Emitter<never>().event
    queue = new PromptQueue(draftKeyOf(participantId))
    const session = {
      ...{ sessionId: 's', phase: 'ready', state: { activity: 'idle', entries: [] } },
      ...{ onDidChange: nothing, onDidChangeStatus: nothing, onDidEnd: nothing },
      turns: { queue },
      requests: { open: [] },
    }
    const opened = new Emitter<void>()
    created = []
    const manager = {
      list: () => [],
      find: () => undefined,
      onDidChange: opened.event,
      create: async (_: string, signal: AbortSignal, __: object, { cwd }: { cwd: string }) => {
        signal.throwIfAborted()
        created.push(cwd)
        return { agentId: 'one', session }
      },
    }
    comparisons = new Comparisons({
      store,
      manager: manager as never,
      redact: text => text,
      drafts: { keys: () => [], onDidChangeItems: nothing },
      onDidDelete: nothing,
    })
    comparisons.add({ id: '1', title: 'Do it', at: 1, from: { top, within: '', commit } }, [
      { agentId: 'one', name: 'One' },
    ])
    onContent = () => {}
    runInTerminal = async () => 0
    options = {
      comparisons,
      manager,
      starter: manager,
      queues: {
        of: () => queue,
        contentOf: async () => {
          onContent()
          return [{ type: 'text', text: draft.text }]
        },
      },
      workbench: {
        settingValues: {},
        runInTerminal: (_: string, __: string, ___: string, signal?: AbortSignal) => runInTerminal(signal),
      },
      worktrees: { refresh: async () => {} },
    } as unknown as CompareOptions
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('sends the prompt from a worktree of its own', async () => {
    await startAgent(options, participantId, draft, 'npm ci')
    assert.deepEqual(created, [path.join(directory, 'project.worktrees', 'do-it-one')])
    assert.equal(queue.returned.length, 0)
  })

  it('ends with Stop while the prompt is made, which stays', async () => {
    onContent = () => comparisons.stop(participantId)
    await assert.rejects(startAgent(options, participantId, draft, undefined), { name: 'CancelledError' })
    assert.equal(comparisons.runOf(participantId).state, 'stopped')
    assert.deepEqual(
      queue.returned.map(one => one.draft),
      [draft],
    )
  })

  it('ends with Stop while the setup command runs, which is ended', async () => {
    runInTerminal = signal =>
      new Promise(resolve => {
        signal?.addEventListener('abort', () => resolve(undefined))
        comparisons.stop(participantId)
      })
    await assert.rejects(startAgent(options, participantId, draft, 'npm ci'), { name: 'CancelledError' })
    assert.equal(comparisons.runOf(participantId).state, 'stopped')
    assert.deepEqual(created, [])
    assert.equal(queue.returned.length, 1)
  })
})
