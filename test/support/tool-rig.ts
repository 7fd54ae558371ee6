import { writeFileSync } from 'node:fs'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ElicitationOutcome, ElicitationRequest } from '../../src/acp/model.ts'
import { EDITOR_TOOL_NAMES, type EditorToolName } from '../../src/common/editor-tool-names.ts'
import { type Logger, silentLogger } from '../../src/common/logger.ts'
import { PathGuard } from '../../src/editor/path-guard.ts'
import type { EditorFeatures } from '../../src/mcp/server/editor-features.ts'
import { Roots } from '../../src/mcp/server/roots.ts'
import type { ToolConversation, ToolPermission } from '../../src/mcp/server/tool.ts'
import { ToolError } from '../../src/mcp/server/tool-error.ts'
import { type Endpoint, ToolServer } from '../../src/mcp/server/tool-server.ts'

/** A conversation that allows, or not, and writes to disk. */
export class FakeToolConversation implements ToolConversation {
  readonly asked: ToolPermission[] = []
  readonly questions: ElicitationRequest[] = []
  readonly written: string[] = []
  allows = true
  /** of the last call that asked */
  signal: AbortSignal | undefined
  answer: ElicitationOutcome = { action: 'cancel' }
  /** done while the user is asked */
  meanwhile: (() => void | Promise<void>) | undefined

  async permitted<T>(permission: ToolPermission, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.signal = signal
    this.asked.push(permission)
    await this.meanwhile?.()
    if (!this.allows) throw new ToolError('The user rejected it. Nothing was done.')
    return work()
  }

  async write(path: string, content: string): Promise<void> {
    this.written.push(path)
    writeFileSync(path, content)
  }

  async elicit(request: ElicitationRequest): Promise<ElicitationOutcome> {
    this.questions.push(request)
    return this.answer
  }
}

export interface ToolRig {
  server: ToolServer
  endpoint: Endpoint
  conversation: FakeToolConversation
  /** The text of an answer. */
  call(name: EditorToolName, input?: Record<string, unknown>): Promise<string>
  /** The text of a failure. */
  fails(name: EditorToolName, input?: Record<string, unknown>): Promise<string>
  client: Client
  close(): Promise<void>
}

export interface ToolRigOptions {
  features: EditorFeatures
  folder: string
  server?: ToolServer
  era?: 'legacy' | 'modern'
  names?: () => readonly EditorToolName[]
  conversation?: FakeToolConversation
  log?: Logger
}

/** The editor's MCP server, with a session in a folder and the official client. */
export async function toolRig(options: ToolRigOptions): Promise<ToolRig> {
  const { features, folder, era = 'legacy', names = () => EDITOR_TOOL_NAMES, log = silentLogger } = options
  const conversation = options.conversation ?? new FakeToolConversation()
  const server = options.server ?? (await ToolServer.listen('1.2.3', log))
  const endpoint = server.add({
    features,
    roots: new Roots(new PathGuard({ cwd: folder, additionalDirectories: [] })),
    conversation: async () => conversation,
    tools: names,
  })
  const client = await connect(endpoint, era)
  const text = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    const [part] = content as Array<{ type: string; text?: string }>
    return { text: part?.text ?? '', isError: isError === true }
  }
  return {
    ...{ server, endpoint, conversation, client },
    async call(name, input) {
      const answer = await text(name, input)
      if (answer.isError) throw new Error(`${name} failed: ${answer.text}`)
      return answer.text
    },
    async fails(name, input) {
      const answer = await text(name, input)
      if (!answer.isError) throw new Error(`${name} didn't fail: ${answer.text}`)
      return answer.text
    },
    async close() {
      await client.close()
      endpoint.close()
      if (!options.server) server.close()
    },
  }
}

export async function connect(
  { url, token }: Pick<Endpoint, 'url' | 'token'>,
  era: 'legacy' | 'modern' = 'legacy',
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return client
}

/** The lines of an answer that come from files. */
export function dataOf(answer: string): string[] {
  const found = /<data-\w+>\n([\s\S]*)\n<\/data-\w+>/.exec(answer)?.[1]
  return found === undefined ? [] : found.split('\n')
}
