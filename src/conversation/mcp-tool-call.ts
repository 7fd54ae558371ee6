/** Recognizes calls of MCP servers' tools in the way agents report them. */
import { EDITOR_TOOL_NAMES } from '../common/editor-tool-names.ts'
import { isRecord } from '../common/is-record.ts'
import type { Translate } from './requests/elicitation.ts'

/**
 * Matches agents' names for the editor's MCP tools: `mcp__vscode__hover` (Claude Code), `mcp.vscode.hover` (Codex), `hover (vscode MCP
 * Server)` (Gemini CLI), `vscode_hover` (OpenCode), `vscode-hover` (Copilot CLI). A tool's own name may have a prefix (`tool-server.ts`).
 */
const CALL =
  /^(?:Tool: )?(?:mcp(?:__|[._/-]))?vscode(?:-editor)?(?:__|[._/-])(?:vscode_)?(\w+)$|^(?:vscode_)?(\w+) \(vscode(?:-editor)? MCP Server\)$/
const NAMES: ReadonlySet<string> = new Set(EDITOR_TOOL_NAMES)

/** Returns the name of the editor's tool and its subject, such as `hover parse`; `undefined` for other calls. */
export function editorToolCall(call: Call): string | undefined {
  const name = editorToolOf(call)
  if (name === undefined) return undefined
  const subject = subjectOf(call.rawInput)
  return subject === undefined ? name : `${name} ${subject}`
}

/** Matches calls of any MCP server's tools, for agents whose name for a call contains the server. */
const MCP_CALL =
  /^(?:Tool: )?mcp(?:__([\w-]+?)__|[./]([\w-]+)[./])([\w.-]+)$|^([\w-]+) \((\S.*) MCP Server\)$/
/** Maximum length of a name; a longer text isn't a name. Characters. */
const MAX_NAME = 300

/** A call of a tool of an MCP server. */
export interface McpToolCall {
  tool: string
  /** the server's display name */
  server: string
  /** the input that identifies the call, such as a path or a query */
  subject?: string
}

interface Call {
  title: string
  toolName?: string | undefined
  rawInput?: unknown
}

/** Returns the tool that is called, and its server; `undefined` if the agent's title or tool name doesn't contain both. */
export function mcpToolCall(call: Call): McpToolCall | undefined {
  const subject = subjectOf(call.rawInput)
  const about = subject === undefined ? {} : { subject }
  const own = editorToolOf(call)
  if (own !== undefined) return { tool: own, server: EDITOR_NAME, ...about }
  const found = MCP_CALL.exec(nameOf(call))
  const tool = found?.[3] ?? found?.[4]
  return tool === undefined ? undefined : { tool, server: found?.[1] ?? found?.[2] ?? found![5]!, ...about }
}

/** Returns the text for a call, such as `show_diff of VS Code: src/a.ts`. */
export function mcpToolText({ tool, server, subject }: McpToolCall, t: Translate): string {
  return subject === undefined ? `${tool} (${server})` : t('{0} of {1}: {2}', tool, server, subject)
}

/** Returns a readable title: `mcp__vault__read` becomes `read (vault)`. */
export function readableTitle(title: string): string {
  const call = /^(?:Tool: )?(?:mcp|vscode)\S*$/.test(title.trim()) && mcpToolCall({ title })
  return call ? `${call.tool} (${call.server})` : title
}

/** The display name of the editor's own server. */
const EDITOR_NAME = 'VS Code'

/** Returns the title, or else the tool's name. The titles of Parley's own questions don't match the patterns for calls. */
function nameOf({ title, toolName = '' }: Call): string {
  const name = title.trim() || toolName
  return name.length <= MAX_NAME ? name : ''
}

function editorToolOf(call: Call): string | undefined {
  const match = CALL.exec(nameOf(call))
  const name = match?.[1] ?? match?.[2]
  return name !== undefined && NAMES.has(name) ? name : undefined
}

/** Returns the subject of the call from its input; Codex has the input in `arguments`. */
function subjectOf(rawInput: unknown): string | undefined {
  if (!isRecord(rawInput)) return undefined
  const input = isRecord(rawInput.arguments) ? rawInput.arguments : rawInput
  const { name, query, file, files, line, new_name, question, apply, action, evaluate } = input
  const at = typeof file === 'string' && typeof line === 'number' ? `${file}:${line}` : file
  const first = [
    name,
    apply,
    query,
    question,
    action,
    evaluate,
    at,
    Array.isArray(files) ? files.filter(one => typeof one === 'string').join(', ') : undefined,
  ].find((one): one is string => typeof one === 'string' && one !== '')
  return first !== undefined && typeof new_name === 'string' ? `${first} → ${new_name}` : first
}

/** Returns an answer without the marks that delimit data for the model. */
export function withoutDataMarks(text: string): string {
  return text.replace(/^<\/?data-[0-9a-f]{12}>\n?/gm, '')
}
