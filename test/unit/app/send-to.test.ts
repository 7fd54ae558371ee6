import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { CompareOptions } from '../../../src/app/compare/compare-options.ts'
import { sendTo } from '../../../src/app/compare/send-to.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'

describe('a prompt for several agents', () => {
  let top = ''
  let stored: object
  let asked: number
  /** What the user types and selects. */
  let typed: string | undefined
  let chosen: object[] | undefined
  let isStartable: boolean
  const written: string[] = []
  const told: object[] = []
  const titles: string[] = []
  let options: CompareOptions

  beforeEach(() => {
    top = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-send-')))
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: top })
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    for (const list of [written, told, titles]) list.length = 0
    stored = EMPTY_DRAFT
    asked = 0
    typed = 'Rename the planets'
    isStartable = false
    const agents = ['one', 'two'].map(agentId => ({ agentId, name: agentId }))
    chosen = agents.map(agent => ({ label: agent.name, agent }))
    const surface = {
      controller: { key: 'new', opener: {} },
      write: (text: string) => void written.push(text),
      sendToPage: (_: string, sent: object) => void told.push(sent),
    }
    const set = (_: string, draft: object) => {
      stored = draft
    }
    options = {
      agents: { ready: async () => {}, list: () => agents },
      comparePage: { show: () => {} },
      comparisons: {
        list: () => [],
        add: ({ title }: { title: string }) => void titles.push(title),
        // an agent that is being started needs nothing more
        begin: () => {
          if (!isStartable) throw new Error('No.')
        },
      },
      drafts: { get: () => stored, set },
      surfaces: { active: surface, withKey: () => surface },
      workbench: {
        folders: [{ name: 'project', path: top }],
        settingValues: {},
        dialogs: {
          input: async () => {
            asked++
            return typed
          },
          pickMany: async () => chosen,
          warn: async () => {},
        },
      },
    } as unknown as CompareOptions
  })
  afterEach(() => rmSync(top, { recursive: true, force: true }))

  it('is asked for if the input is empty', async () => {
    isStartable = true
    await sendTo(options, 'new')
    assert.equal(asked, 1)
    assert.deepEqual(titles, ['Rename the planets'])
    assert.deepEqual(told, [{ key: 'new', text: '', ids: '' }])
    assert.deepEqual(written, [])
  })

  it('is asked for if there are only files, which are kept', async () => {
    stored = { ...EMPTY_DRAFT, items: [{ id: '1', label: 'a.ts' }] }
    isStartable = true
    await sendTo(options, 'new')
    assert.equal(asked, 1)
    assert.deepEqual(titles, ['Rename the planets'])
    assert.deepEqual(told, [{ key: 'new', text: '', ids: '1' }])
  })

  it('is in the input if no agent was selected or started', async () => {
    await sendTo(options, 'new')
    assert.deepEqual(written, ['Rename the planets'])
    chosen = undefined
    await sendTo(options, 'new')
    assert.deepEqual(written, ['Rename the planets', 'Rename the planets'])
    typed = undefined
    await sendTo(options, 'new')
    assert.equal(written.length, 2)
  })

  it("isn't asked for if it's in the input", async () => {
    stored = { ...EMPTY_DRAFT, text: 'Do it' }
    isStartable = true
    await sendTo(options, 'new')
    assert.equal(asked, 0)
    assert.deepEqual(titles, ['Do it'])
    assert.equal(stored, EMPTY_DRAFT)
  })
})
