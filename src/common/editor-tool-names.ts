/** The name of the editor's own MCP server, and the prefix of its tools' names in permission rules and conversations. */
export const EDITOR_SERVER = 'vscode'

/**
 * The tools of the editor's own MCP server, in the order in which agents see them. All of them are on by default in `parley.editorTools`.
 */
export const EDITOR_TOOL_NAMES = [
  'diagnostics',
  'symbols',
  'document_symbols',
  'definition',
  'type_definition',
  'implementations',
  'references',
  'hover',
  'call_hierarchy',
  'type_hierarchy',
  'open_editors',
  'selection',
  'unsaved_text',
  'open_file',
  'show_diff',
  'rename_symbol',
  'code_action',
  'format',
  'organize_imports',
  'ask_user',
  'list_tasks',
  'run_task',
  'run_tests',
  'test_results',
  'terminal_output',
  'terminal_selection',
  'debug_state',
  'debug_control',
] as const

export type EditorToolName = (typeof EDITOR_TOOL_NAMES)[number]

/** Tools that change files or run something: a task, tests, a debugger, or an evaluated expression. */
const ACTING_TOOLS: ReadonlySet<string> = new Set<EditorToolName>([
  'rename_symbol',
  'code_action',
  'format',
  'organize_imports',
  'run_task',
  'run_tests',
  'debug_state',
  'debug_control',
])

/** Whether a tool changes nothing and starts nothing. */
export function isReadingTool(name: string): boolean {
  return EDITOR_TOOL_NAMES.some(known => known === name) && !ACTING_TOOLS.has(name)
}
