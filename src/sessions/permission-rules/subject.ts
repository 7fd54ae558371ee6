import type { PermissionRequest } from '../../acp/model.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import { commandOf } from '../../conversation/tool-command.ts'

/** What a question is about, as far as the agent told. */
export interface RuleSubject {
  kind: string
  /** Every command line that was told; nearly always one. */
  commands: string[]
  /** where the command runs, when it was told */
  cwd?: string
  /** every file that was told, as the agent spells it */
  paths: string[]
  /** It tells of something that no rule looks at, so that none may allow it. */
  obscure: boolean
}

/** Where agents put the files of a tool into its raw input. */
const PATH_KEYS = [
  'path',
  'file_path',
  'filePath',
  'abs_path',
  'absolute_path',
  'notebook_path',
  'file',
  'filename',
  'source',
  'destination',
  'old_path',
  'new_path',
  'directory',
  'dir_path',
] as const
const PATH_LIST_KEYS = ['paths', 'files', 'file_paths'] as const

export function subjectOf(
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
): RuleSubject | undefined {
  const { subject } = request
  if (subject.type === 'command') {
    const told = tool?.toolKind === 'execute' ? commandOf(tool) : undefined
    const commands = new Set([subject.command, ...(told && hasInput(tool) ? [told.command] : [])])
    const cwd = subject.cwd ?? told?.cwd
    return {
      kind: 'execute',
      commands: [...commands],
      ...(cwd !== undefined && { cwd }),
      paths: tool ? pathsOf(tool) : [],
      obscure: tool !== undefined && hasEnvironment(tool),
    }
  }
  if (subject.type !== 'tool_call' || !tool) return undefined
  const told = tool.toolKind === 'execute' || hasCommand(tool) ? commandOf(tool) : undefined
  // a title that was cut short says nothing of the rest
  const cut = told !== undefined && /(?:…|\.\.\.)\s*[`'"]?$/.test(told.command)
  return {
    kind: tool.toolKind,
    commands: told ? [told.command] : [],
    ...(told?.cwd !== undefined && { cwd: told.cwd }),
    paths: pathsOf(tool),
    obscure: cut || hasEnvironment(tool) || tool.content.some(content => content.type === 'unknown'),
  }
}

function inputOf(tool: ToolCallEntry): Record<string, unknown> {
  const { rawInput } = tool
  return typeof rawInput === 'object' && rawInput !== null ? (rawInput as Record<string, unknown>) : {}
}

function hasInput(tool: ToolCallEntry | undefined): boolean {
  return tool !== undefined && hasCommand(tool)
}

function hasCommand(tool: ToolCallEntry): boolean {
  const { command, cmd } = inputOf(tool)
  return command !== undefined || cmd !== undefined
}

function hasEnvironment(tool: ToolCallEntry): boolean {
  const { env } = inputOf(tool)
  return typeof env === 'object' && env !== null && Object.keys(env).length > 0
}

/** The files that a tool call tells: its locations, its diffs, its raw input. */
function pathsOf(tool: ToolCallEntry): string[] {
  const paths = new Set<string>()
  for (const { path } of tool.locations) paths.add(path)
  for (const content of tool.content) {
    if (content.type !== 'diff') continue
    for (const { path, oldPath } of content.changes) {
      paths.add(path)
      if (oldPath !== undefined) paths.add(oldPath)
    }
  }
  if (tool.toolKind !== 'fetch' && tool.toolKind !== 'execute') {
    const input = inputOf(tool)
    const lists = PATH_LIST_KEYS.flatMap(key => {
      const list = input[key]
      return Array.isArray(list) ? list : []
    })
    for (const value of [...PATH_KEYS.map(key => input[key]), ...lists]) {
      if (typeof value === 'string' && value !== '' && !/^[a-z][\w+.-]+:\/\/(?!\/)/i.test(value))
        paths.add(value)
    }
  }
  return [...paths]
}
