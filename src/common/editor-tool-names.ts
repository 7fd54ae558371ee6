/** The tools of the editor's own MCP server, in the order in which agents see them. Those of the default are on in `parley.editorTools`. */
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
  'terminal_output',
] as const

export type EditorToolName = (typeof EDITOR_TOOL_NAMES)[number]
