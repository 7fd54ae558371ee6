// An MCP server over stdio that uses the official SDK: node mcp-server.mjs <folder with the SDK> <file for its calls>
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const [folder, calls] = process.argv.slice(2)
const require = createRequire(path.join(folder, 'package.json'))
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js')
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js')
const { z } = require('zod')

const server = new McpServer({ name: 'probe', version: '1.0.0' })
server.registerTool(
  'reverse_text',
  { description: 'Writes a text backwards', inputSchema: { text: z.string() } },
  ({ text }) => {
    appendFileSync(calls, `${text}\n`)
    return { content: [{ type: 'text', text: [...text].reverse().join('') }] }
  },
)
const transport = new StdioServerTransport()
await server.connect(transport)
const take = transport.onmessage
transport.onmessage = message => {
  take(message)
  if (message.method === 'tools/list') appendFileSync(calls, 'tools/list\n')
}
