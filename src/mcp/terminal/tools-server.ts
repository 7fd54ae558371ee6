import { type CallToolResult, Server, type Tool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { ToolError } from '../server/tool-error.ts'

/** A tool by which an agent in a terminal uses the editor. */
export interface TerminalTool {
  name: string
  /** for the model, which sees only a few of the tools: the agent itself calls the others */
  description?: string
  input: z.ZodType
  /** Returns texts. `signal`: the agent doesn't wait anymore. An expected failure throws a `ToolError`. */
  run(input: never, signal: AbortSignal): Promise<string[]>
}

/** Makes the compiler check that `run` accepts the type of `input`. */
export function terminalTool<T>(tool: {
  name: string
  description?: string
  input: z.ZodType<T>
  run(input: T, signal: AbortSignal): Promise<string[]>
}): TerminalTool {
  return tool
}

/** Creates the MCP server of one connection. */
export function toolsServer(tools: readonly TerminalTool[], version: string, log: Logger): Server {
  const server = new Server({ name: 'parley', title: 'VS Code', version }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(described) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }): Promise<CallToolResult> => {
    try {
      const tool = tools.find(({ name }) => name === params.name)
      if (!tool) throw new ToolError('There is no such tool.')
      const parsed = tool.input.safeParse(params.arguments ?? {})
      if (!parsed.success) throw new ToolError(`The arguments are wrong: ${z.prettifyError(parsed.error)}`)
      const texts = await tool.run(parsed.data as never, mcpReq.signal)
      return { content: texts.map(text => ({ type: 'text', text })) }
    } catch (error) {
      if (!(error instanceof ToolError))
        log.warn(`The editor tool ${params.name} failed: ${messageOf(error)}`)
      return { content: [{ type: 'text', text: messageOf(error) }], isError: true }
    }
  })
  return server
}

function described({ name, description, input }: TerminalTool): Tool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' })
  return { name, description, inputSchema: inputSchema as Tool['inputSchema'] }
}
