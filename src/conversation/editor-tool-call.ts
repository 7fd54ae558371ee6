/** Calls of the editor tools, as agents report them. */
import { EDITOR_TOOL_NAMES } from '../common/editor-tool-names.ts'
import { isRecord } from '../common/is-record.ts'
import type { ToolCallEntry } from './entries/tool-call.ts'

/**
 * How agents name the tool of an MCP server: `mcp__vscode__hover` (Claude Code), `mcp.vscode.hover` (Codex), `hover (vscode MCP
 * Server)` (Gemini CLI), `vscode_hover` (OpenCode), `vscode-hover` (Copilot CLI). A tool may have a prefix itself (`tool-server.ts`).
 */
const CALL =
  /^(?:Tool: )?(?:mcp(?:__|[._/-]))?vscode(?:-editor)?(?:__|[._/-])(?:vscode_)?(\w+)$|^(?:vscode_)?(\w+) \(vscode(?:-editor)? MCP Server\)$/
const NAMES: ReadonlySet<string> = new Set(EDITOR_TOOL_NAMES)

/** The name of the tool and what it's about, `hover parse`; `undefined` for other calls. */
export function editorToolCall({
  title,
  toolName,
  rawInput,
}: Pick<ToolCallEntry, 'title' | 'toolName' | 'rawInput'>): string | undefined {
  // what Parley asks has a title of its own
  const match = CALL.exec(title.trim()) ?? (title === '' ? CALL.exec(toolName ?? '') : null)
  const name = match?.[1] ?? match?.[2]
  if (name === undefined || !NAMES.has(name)) return undefined
  const subject = subjectOf(rawInput)
  return subject === undefined ? name : `${name} ${subject}`
}

/** Its input, which Codex has below `arguments`. */
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
    Array.isArray(files) ? files.join(', ') : undefined,
  ].find((one): one is string => typeof one === 'string' && one !== '')
  return first !== undefined && typeof new_name === 'string' ? `${first} → ${new_name}` : first
}

/** An answer without the marks for the model. */
export function withoutDataMarks(text: string): string {
  return text.replace(/^<\/?data-[0-9a-f]{12}>\n?/gm, '')
}
