import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentCapabilities } from '../../../src/acp/model.ts'
import { WorkspaceSessionPlanner } from '../../../src/app/session-planner.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import type { McpServers } from '../../../src/mcp/mcp-servers.ts'
import type { SessionTools } from '../../../src/mcp/server/editor-tools.ts'

describe('the plan of a session that goes on with the same process', () => {
  let storage: string
  beforeEach(() => {
    storage = mkdtempSync(join(tmpdir(), 'parley-planner-'))
  })
  afterEach(() => rmSync(storage, { recursive: true }))

  it("asks about no MCP server, lists the session's servers, and says that the connection to the editor has ended", async () => {
    const selected: unknown[] = []
    const mcp = {
      select: async (_: unknown, session: unknown) => {
        selected.push(session)
        return { passed: [], notes: [] }
      },
    }
    const note = {
      name: 'vscode',
      type: 'http',
      source: 'parley.editorTools',
      isEditor: true as const,
      passed: false,
      reason: 'ended',
    }
    let lose = () => {}
    const server = { name: 'vscode', port: 4000, path: '/x', token: 't', mark: 'm' }
    const tools = { address: server } as unknown as SessionTools
    const planner = new WorkspaceSessionPlanner(
      { roots: [] } as unknown as Workbench,
      mcp as unknown as McpServers,
      storage,
      async () => undefined,
      {
        offer: async () => ({ note: { ...note, passed: true } }),
        ended: () => note,
        resume: (address, _roots, _can, key, onLost) => {
          assert.deepEqual([address, key], [server, 'one/s1'])
          lose = onLost
          return { tools, note: { ...note, passed: true } }
        },
      },
    )
    const session = { agentId: 'one', sessionId: 's1', cwd: storage, additionalDirectories: [] }
    const can = { mcp: { http: true, stdio: true } } as unknown as AgentCapabilities
    const plan = await planner.forReattached(session, can)
    assert.deepEqual(plan.mcpServers, [note])
    assert.deepEqual(plan.setup.mcpServers, [])
    assert.equal(plan.setup.cwd, storage)
    assert.equal(plan.editorTools, undefined)
    const own = { key: 'k', name: 'clock', type: 'stdio', source: 'user mcp.json', passed: true }
    const mcpServers = [own, { ...note, passed: true }]
    assert.deepEqual((await planner.forReattached(session, can, { mcpServers })).mcpServers, [own, note])
    const resumed = await planner.forReattached(session, can, { server, mcpServers })
    assert.equal(resumed.editorTools, tools)
    assert.deepEqual(resumed.mcpServers, mcpServers)
    lose()
    assert.deepEqual(
      [resumed.mcpServers, resumed.lostEditorTools, resumed.editorTools],
      [[own, note], true, undefined],
    )
    assert.deepEqual(selected, [])
    assert.equal((await planner.forExisting(session, can)).mcpServers[0]?.passed, true)
    assert.equal(selected.length, 1)
  })
})
