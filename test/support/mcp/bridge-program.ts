import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { McpServer } from '../../../src/acp/model.ts'
import type { BridgeProgram } from '../../../src/mcp/bridge/bridged-server.ts'
import { bundlePrograms } from '../bundle-program.ts'

/** The bridge's program, built in a folder of its own. */
export class BuiltBridge implements BridgeProgram {
  readonly execPath = process.execPath
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-bridge-test-'))
  readonly script = join(this.folder, 'mcp-bridge.mjs')

  async build(): Promise<void> {
    await bundlePrograms(this.folder, { 'mcp-bridge': 'src/mcp/bridge/main.ts' })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** An agent that can only run commands: the MCP SDK's client over stdio. */
export class StdioAgent {
  readonly client: Client
  readonly transport: StdioClientTransport
  /** All that arrived. */
  readonly messages: JSONRPCMessage[] = []
  stderr = ''

  constructor(server: McpServer, mode: 'legacy' | 'auto' = 'legacy') {
    if (server.type !== 'stdio') throw new Error('not over stdio')
    const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]))
    this.transport = new StdioClientTransport({
      command: server.command,
      args: server.args,
      env,
      stderr: 'pipe',
      maxBufferSize: 256 * 1024 * 1024,
    })
    this.transport.stderr?.on('data', chunk => {
      this.stderr += String(chunk)
    })
    this.client = new Client(
      { name: 'agent', version: '1' },
      { capabilities: { elicitation: {}, roots: {} }, versionNegotiation: { mode } },
    )
  }

  async connect(): Promise<this> {
    await this.client.connect(this.transport)
    const receive = this.transport.onmessage
    this.transport.onmessage = message => {
      this.messages.push(message)
      receive?.(message)
    }
    return this
  }

  async call(name: string, args: Record<string, unknown> = {}, options = {}): Promise<string> {
    const { content } = await this.client.callTool({ name, arguments: args }, options)
    const [first] = content
    return first?.type === 'text' ? first.text : ''
  }
}
