import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** The arguments of the MCP server over stdio. */
export function mcpServerArgs(sdk: string, callLog: string): string[] {
  return [path.join(import.meta.dirname, 'mcp-server.mjs'), sdk, callLog]
}

/** Starts it on a port of its own. */
export async function startMcpServer(
  sdk: string,
  callLog: string,
  type: 'http' | 'sse',
): Promise<{ child: ChildProcess; url: string }> {
  const args = [...mcpServerArgs(sdk, callLog), type]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, url: `http://127.0.0.1:${Number(port)}/${type}` }
}
