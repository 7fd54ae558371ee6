/**
 * The servers on this machine that other programs connect to. They're loaded together, since most of their code is the MCP SDK.
 */
export { ToolServer } from './server/tool-server.ts'
export { startClaudeIde } from './terminal/claude-ide.ts'
export { startGeminiIde } from './terminal/gemini-ide.ts'
