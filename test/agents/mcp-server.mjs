// An MCP server that uses the official SDK, over stdio, or over HTTP or SSE on a port that it prints:
// node mcp-server.mjs <folder with the SDK> <file for its calls> [http|sse]
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'

const [folder, calls, kind = 'stdio'] = process.argv.slice(2)
const require = createRequire(path.join(folder, 'package.json'))
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js')
const { z } = require('zod')

const connect = async transport => {
  const server = new McpServer({ name: 'probe', version: '1.0.0' })
  server.registerTool(
    'reverse_text',
    { description: 'Writes a text backwards', inputSchema: { text: z.string() } },
    ({ text }) => {
      appendFileSync(calls, `${text}\n`)
      return { content: [{ type: 'text', text: [...text].reverse().join('') }] }
    },
  )
  await server.connect(transport)
  const take = transport.onmessage
  transport.onmessage = (message, extra) => {
    take(message, extra)
    if (message.method === 'tools/list') appendFileSync(calls, 'tools/list\n')
  }
}

if (kind === 'stdio') {
  const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js')
  await connect(new StdioServerTransport())
} else {
  const sessions = new Map()
  const answer = kind === 'http' ? answerHttp : answerSse
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))

  async function answerHttp(request, response) {
    const { StreamableHTTPServerTransport } = require('@modelcontextprotocol/sdk/server/streamableHttp.js')
    let transport = sessions.get(request.headers['mcp-session-id'])
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: id => sessions.set(id, transport),
      })
      await connect(transport)
    }
    await transport.handleRequest(request, response)
  }

  async function answerSse(request, response) {
    const { SSEServerTransport } = require('@modelcontextprotocol/sdk/server/sse.js')
    const session = new URL(request.url, 'http://127.0.0.1').searchParams.get('sessionId')
    if (request.method === 'POST') return sessions.get(session)?.handlePostMessage(request, response)
    const transport = new SSEServerTransport('/messages', response)
    sessions.set(transport.sessionId, transport)
    await connect(transport)
  }
}
