/** The servers on this machine for other programs. They're loaded together, since most of their code is the MCP SDK. */
export { AcpEndpoint } from './server/acp-endpoint.ts'
export { ToolServer } from './server/tool-server.ts'
export { startClaudeIde } from './terminal/claude-ide.ts'
export { startGeminiIde } from './terminal/gemini-ide.ts'
