import assert from 'node:assert/strict'
import type { CatalogAgent } from '../../../src/agents/agent-catalog.ts'
import type { ProjectEnvironment } from '../../../src/agents/project-environment/project-environments.ts'
import { type AgentDirectoryParts, agentDirectory } from '../../../src/app/agents/agent-directory.ts'
import { AgentEnvironments } from '../../../src/app/agents/agent-environments.ts'
import { deferred } from '../../../src/common/async.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { until } from '../../support/until.ts'

describe('the environments of agents', () => {
  let known: Map<string, ProjectEnvironment>
  let mayDiffer: Set<string>
  let environments: AgentEnvironments
  let changed: Emitter<string>
  let slowChanged: Emitter<void>
  let slow: string | undefined
  let answer: Promise<void>

  const planets = (planet: string): ProjectEnvironment => ({
    tools: [{ tool: 'direnv', names: ['PLANET'] }],
    problems: [],
    changes: [{ PLANET: planet }],
  })
  const blocked = (description: string): ProjectEnvironment => ({
    tools: [],
    problems: [{ title: 'not used', description }],
    changes: [],
  })
  const of = (folder: string) => known.get(folder) ?? { tools: [], problems: [], changes: [] }
  const session = (cwd: string, phase: string, notes: string[]) =>
    ({
      agentId: 'one',
      plan: { setup: { cwd } },
      session: {
        phase,
        notify: ({ description }: { description: string }) => notes.push(description),
        onDidChangeStatus: () => ({ dispose: () => {} }),
      },
    }) as unknown as OpenSession

  beforeEach(() => {
    known = new Map()
    mayDiffer = new Set()
    changed = new Emitter()
    slowChanged = new Emitter()
    slow = undefined
    answer = Promise.resolve()
    environments = new AgentEnvironments({
      known: of,
      of: async folder => of(folder),
      environmentFor: async () => {
        await answer
        return { env: {}, platform: process.platform, source: 'process' }
      },
      slowTool: () => slow,
      onDidChangeSlow: slowChanged.event,
      mayDiffer: folder => mayDiffer.has(folder),
      dismiss: folder => mayDiffer.delete(folder),
      onDidChange: changed.event,
    })
  })
  afterEach(() => environments.dispose())

  it('are outdated if they are, or may be, different in the folder in which the agent started', () => {
    known.set('/main', planets('mars'))
    environments.starting('one', '/main')()
    assert.equal(environments.isOutdated('one'), false)
    mayDiffer.add('/main')
    assert.equal(environments.isOutdated('one'), true)
    environments.dismiss('one')
    assert.equal(environments.isOutdated('one'), false)
    known.set('/main', planets('venus'))
    assert.equal(environments.isOutdated('one'), true)
  })

  it('are those of the process that runs, whatever another one would start with, as the terminal of a sign-in', async () => {
    const folder = process.cwd()
    const definition = {
      ...{ id: 'one', name: 'One', command: process.execPath, args: [], env: {} },
      ...{ source: 'settings', startable: true },
    } as unknown as CatalogAgent
    const directory = agentDirectory({
      catalog: { get: () => definition },
      environment: { get: async () => ({ env: {}, platform: process.platform }), refresh() {} },
      environments,
      folders: () => [{ name: 'w', path: folder }],
      logFor: () => silentLogger,
      signInEnvironment: async () => ({}),
    } as unknown as AgentDirectoryParts)
    known.set(folder, planets('mars'))
    environments.starting('one', folder)()
    known.set(folder, planets('venus'))
    await directory.resolveLaunch('one')
    assert.equal(environments.isOutdated('one'), true)
    // neither does a start that fails replace it
    environments.starting('one', folder)
    assert.equal(environments.isOutdated('one'), true)
  })

  it('name the slow tool of the folder in which the agent starts, while it waits for it', async () => {
    const end = deferred()
    answer = end.promise
    let changes = 0
    environments.onDidChange(() => changes++)
    const starting = environments.environmentFor('one', '/main')
    slow = 'direnv'
    slowChanged.fire()
    assert.deepEqual(
      [environments.slowTool('one'), environments.slowTool('two'), changes],
      ['direnv', undefined, 1],
    )
    end.resolve()
    await starting
    assert.equal(environments.slowTool('one'), undefined)
  })

  it('of an agent that an earlier window started are those of its own folder, and not known', () => {
    known.set('/main', planets('mars')).set('/worktree', planets('venus'))
    environments.continued('one', '/main')
    assert.equal(environments.note('one', '/worktree')?.agentFolder, '/main')
    assert.equal(environments.note('one', '/main')?.agentFolder, undefined)
    assert.equal(environments.isOutdated('one'), false)
    mayDiffer.add('/main')
    assert.equal(environments.isOutdated('one'), true)
    environments.dismiss('one')
    assert.equal(environments.isOutdated('one'), false)
    environments.starting('one', '/main')()
    environments.continued('one', '/elsewhere')
    assert.equal(environments.note('one', '/worktree')?.agentFolder, '/main')
  })

  it("that can't be used are reported once, in a ready session, also for the agent's folder", async () => {
    const notes: string[][] = [[], [], []]
    known.set('/main', blocked('main')).set('/worktree', blocked('worktree'))
    environments.starting('one', '/main')()
    const ready = new Emitter<void>()
    const list = [session('/worktree', 'ready', notes[0]!)]
    environments.follow({ list: () => list, onDidChange: ready.event })
    await until(() => notes[0]!.length > 0)
    assert.deepEqual(notes[0], ['worktree', 'main'])
    list.unshift(session('/worktree', 'loading', notes[1]!), session('/other', 'ready', notes[2]!))
    known.set('/worktree', blocked('again'))
    changed.fire('/worktree')
    assert.deepEqual(notes, [['worktree', 'main', 'again'], [], []])
  })
})
