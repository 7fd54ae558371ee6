import assert from 'node:assert/strict'
import { devNull, tmpdir } from 'node:os'
import type { McpServer } from '../../src/acp/model.ts'
import { checkServer } from '../../src/mcp/check-server.ts'
import { installAgent, MCP_SERVER } from './install.ts'
import { mcpServerArgs, startMcpServer } from './mcp-server.ts'

const TOOL = { name: 'reverse_text', description: 'Writes a text backwards' }
const options = { environment: { env: {}, platform: process.platform }, cwd: tmpdir(), version: '1.0.0' }

/** The servers of version 1 of the SDK, which most servers use. */
describe('a check of an MCP server of the official SDK', () => {
  let sdk: string
  before(async () => {
    sdk = await installAgent(MCP_SERVER)
  })

  const lists = async (server: McpServer) => {
    const check = await checkServer(server, options)
    assert.ok('server' in check, JSON.stringify(check))
    assert.deepEqual([check.server.name, check.server.tools], ['probe', [TOOL]])
  }

  it('lists its tools over stdio', () =>
    lists({
      type: 'stdio',
      name: 'probe',
      command: process.execPath,
      args: mcpServerArgs(sdk, devNull),
      env: [],
    }))

  for (const type of ['http', 'sse'] as const) {
    it(`lists its tools over ${type}`, async () => {
      const { child, url } = await startMcpServer(sdk, devNull, type)
      try {
        await lists({ type, name: 'probe', url, headers: [] })
      } finally {
        child.kill()
      }
    })
  }
})
