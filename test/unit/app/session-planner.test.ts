import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { AgentCapabilities } from '../../../src/acp/model.ts'
import { WorkspaceSessionPlanner } from '../../../src/app/session-planner.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import type { McpServers } from '../../../src/mcp/mcp-servers.ts'

describe('a session in a window whose folder is a link', () => {
  let directory = ''
  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-planner-')))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it("is in that folder by the folder's real path, too, which the agent gets as it knows it", async () => {
    for (const name of ['real', 'lib', 'storage']) mkdirSync(path.join(directory, name))
    const [real, link, lib] = ['real', 'link', 'lib'].map(name => path.join(directory, name)) as [
      string,
      string,
      string,
    ]
    symlinkSync(real, link, 'junction')
    const folders = [link, lib].map(one => ({ name: path.basename(one), scheme: 'file', path: one }))
    const forServers: unknown[] = []
    const planner = new WorkspaceSessionPlanner(
      { folders, roots: folders } as unknown as Workbench,
      {
        select: async (_: unknown, { cwd }: { cwd: string }) => {
          forServers.push(cwd)
          return { passed: [], notes: [] }
        },
      } as unknown as McpServers,
      path.join(directory, 'storage'),
      async () => undefined,
      { offer: async () => ({}), ended: () => undefined, resume: () => assert.fail() },
    )
    const can = { mcp: {}, additionalDirectories: true } as AgentCapabilities
    const session = { agentId: 'a', sessionId: 's', additionalDirectories: [] }
    const { setup, roots } = await planner.forExisting({ ...session, cwd: real }, can)
    assert.equal(setup.cwd, real)
    assert.deepEqual(setup.additionalDirectories, [lib])
    assert.equal(roots.cwdLabel, 'link')
    assert.equal(roots.cwdRemark, undefined)
    assert.deepEqual(roots.unseen, [])
    assert.deepEqual(forServers, [link])
    const gone = path.join(real, 'gone')
    const inside = await planner.forExisting({ ...session, cwd: gone }, can)
    assert.deepEqual(inside.setup.additionalDirectories, [link, lib])
    assert.equal(inside.setup.cwd, gone)
  })
})

describe('the folder of a session from an imported file', () => {
  let directory = ''
  let workspace = ''
  let asked: string[]
  let answer: boolean

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-planner-')))
    workspace = path.join(directory, 'project')
    for (const folder of ['project/sub', 'elsewhere', 'storage'])
      mkdirSync(path.join(directory, folder), { recursive: true })
    asked = []
    answer = true
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const cwdOf = async (cwd: string, imported: boolean, isNew = false) => {
    const folders = [{ name: 'project', scheme: 'file', path: workspace }]
    const workbench = {
      folders,
      roots: folders,
      dialogs: {
        confirm: async (_: string, { detail }: { detail: string }, open: string) => {
          asked.push(detail)
          return answer ? open : undefined
        },
      },
    } as unknown as Workbench
    const planner = new WorkspaceSessionPlanner(
      workbench,
      { select: async () => ({ passed: [], notes: [] }) } as unknown as McpServers,
      path.join(directory, 'storage'),
      async () => undefined,
      { offer: async () => ({}), ended: () => undefined, resume: () => assert.fail() },
    )
    const session = { agentId: 'a', sessionId: 's', cwd, additionalDirectories: [], imported }
    const can = { mcp: {} } as AgentCapabilities
    const plan = await (isNew ? planner.forNew('b', can, cwd, imported) : planner.forExisting(session, can))
    return plan?.setup.cwd
  }

  it('is used by another agent that continues its conversation only if the user agrees', async () => {
    const elsewhere = path.join(directory, 'elsewhere')
    assert.equal(await cwdOf(elsewhere, true, true), elsewhere)
    answer = false
    await assert.rejects(cwdOf(elsewhere, true, true), { name: 'CancelledError' })
    assert.equal(asked.length, 2)
  })

  it('is used if it is in this window', async () => {
    const sub = path.join(workspace, 'sub')
    assert.equal(await cwdOf(sub, true), sub)
    assert.equal(await cwdOf(workspace, true), workspace)
    assert.deepEqual(asked, [])
  })

  it('is used elsewhere only if the user agrees', async () => {
    const elsewhere = path.join(directory, 'elsewhere')
    assert.equal(await cwdOf(elsewhere, true), elsewhere)
    answer = false
    await assert.rejects(cwdOf('/', true), { name: 'CancelledError' })
    assert.equal(asked.length, 2)
    assert.ok(asked[0]?.endsWith(`\n${elsewhere}`))
    assert.equal(await cwdOf(elsewhere, false), elsewhere)
    assert.equal(asked.length, 2)
  })

  it('is where a link leads', async () => {
    answer = false
    const link = path.join(workspace, 'link')
    symlinkSync(path.join(directory, 'elsewhere'), link, 'junction')
    await assert.rejects(cwdOf(link, true), { name: 'CancelledError' })
    assert.ok(asked[0]?.endsWith(`\n${path.join(directory, 'elsewhere')}`))
  })
})
