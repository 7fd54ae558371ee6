/** Calls of tools of MCP servers, as agents report them. */
import { EDITOR_TOOL_NAMES } from '../common/editor-tool-names.ts'
import { isRecord } from '../common/is-record.ts'
import type { Translate } from './requests/elicitation.ts'

/**
 * How agents name the tool of an MCP server: `mcp__vscode__hover` (Claude Code), `mcp.vscode.hover` (Codex), `hover (vscode MCP
 * Server)` (Gemini CLI), `vscode_hover` (OpenCode), `vscode-hover` (Copilot CLI). A tool may have a prefix itself (`tool-server.ts`).
 */
const CALL =
  /^(?:Tool: )?(?:mcp(?:__|[._/-]))?vscode(?:-editor)?(?:__|[._/-])(?:vscode_)?(\w+)$|^(?:vscode_)?(\w+) \(vscode(?:-editor)? MCP Server\)$/
const NAMES: ReadonlySet<string> = new Set(EDITOR_TOOL_NAMES)

/** The tool's name and its subject, such as `hover parse`; `undefined` for other calls. */
export function editorToolCall(call: Call): string | undefined {
  const name = editorToolOf(call)
  if (name === undefined) return undefined
  const subject = subjectOf(call.rawInput)
  return subject === undefined ? name : `${name} ${subject}`
}

/** Matches calls of any MCP server's tools, if the name reveals them. */
const MCP_CALL =
  /^(?:Tool: )?mcp(?:__([\w-]+?)__|[./]([\w-]+)[./])([\w.-]+)$|^([\w-]+) \((\S.*) MCP Server\)$/
/** Longer texts are no names. Characters. */
const MAX_NAME = 300

/** A call of a tool of an MCP server. */
export interface McpToolCall {
  tool: string
  /** the server's name for the user */
  server: string
  /** the input that identifies the call, such as a path or a query */
  subject?: string
}

interface Call {
  title: string
  toolName?: string | undefined
  rawInput?: unknown
}

/** The tool that a call is of, and its server; `undefined` if the agent's words don't say so. */
export function mcpToolCall(call: Call): McpToolCall | undefined {
  const subject = subjectOf(call.rawInput)
  const about = subject === undefined ? {} : { subject }
  const own = editorToolOf(call)
  if (own !== undefined) return { tool: own, server: EDITOR_NAME, ...about }
  const found = MCP_CALL.exec(nameOf(call))
  const tool = found?.[3] ?? found?.[4]
  return tool === undefined ? undefined : { tool, server: found?.[1] ?? found?.[2] ?? found![5]!, ...about }
}

/** `show_diff of VS Code: src/a.ts` */
export function mcpToolText({ tool, server, subject }: McpToolCall, t: Translate): string {
  return subject === undefined ? `${tool} (${server})` : t('{0} of {1}: {2}', tool, server, subject)
}

/** A title for the user: `mcp__vault__read` is `read (vault)`. */
export function readableTitle(title: string): string {
  const call = /^(?:Tool: )?(?:mcp|vscode)\S*$/.test(title.trim()) && mcpToolCall({ title })
  return call ? `${call.tool} (${call.server})` : title
}

/** The editor's own server. */
const EDITOR_NAME = 'VS Code'

/** The title, or else the tool's name. Parley's own questions have a title in other words, so they aren't taken for calls. */
function nameOf({ title, toolName = '' }: Call): string {
  const name = title.trim() || toolName
  return name.length <= MAX_NAME ? name : ''
}

function editorToolOf(call: Call): string | undefined {
  const match = CALL.exec(nameOf(call))
  const name = match?.[1] ?? match?.[2]
  return name !== undefined && NAMES.has(name) ? name : undefined
}

/** The subject of the call in its input, which Codex has in `arguments`. */
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

/** An answer without the marks for the model. */
export function withoutDataMarks(text: string): string {
  return text.replace(/^<\/?data-[0-9a-f]{12}>\n?/gm, '')
}
