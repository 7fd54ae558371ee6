import assert from 'node:assert/strict'
import type { ProjectEnvironment } from '../../../src/agents/project-environment/project-environments.ts'
import { AgentEnvironments } from '../../../src/app/agents/agent-environments.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { until } from '../../support/until.ts'

describe('the environments of agents', () => {
  let known: Map<string, ProjectEnvironment>
  let mayDiffer: Set<string>
  let environments: AgentEnvironments
  let changed: Emitter<string>

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
    environments = new AgentEnvironments({
      known: of,
      of: async folder => of(folder),
      mayDiffer: folder => mayDiffer.has(folder),
      dismiss: folder => mayDiffer.delete(folder),
      onDidChange: changed.event,
    })
  })
  afterEach(() => environments.dispose())

  it('are outdated if they are, or may be, different in the folder in which the agent started', () => {
    known.set('/main', planets('mars'))
    environments.started('one', '/main')
    assert.equal(environments.isOutdated('one'), false)
    mayDiffer.add('/main')
    assert.equal(environments.isOutdated('one'), true)
    environments.dismiss('one')
    assert.equal(environments.isOutdated('one'), false)
    known.set('/main', planets('venus'))
    assert.equal(environments.isOutdated('one'), true)
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
    environments.started('one', '/main')
    environments.continued('one', '/elsewhere')
    assert.equal(environments.note('one', '/worktree')?.agentFolder, '/main')
  })

  it("that aren't used are told once, in a session that is ready, also those of the agent's folder", async () => {
    const notes: string[][] = [[], [], []]
    known.set('/main', blocked('main')).set('/worktree', blocked('worktree'))
    environments.started('one', '/main')
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
