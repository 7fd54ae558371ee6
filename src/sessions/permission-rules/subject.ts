import type { PermissionRequest } from '../../acp/model.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import { type CommandsOfInput, commandsOfInput, titleAsCommand } from '../../conversation/tool-command.ts'

/** What a permission request is about, as far as the agent reported. */
export interface RuleSubject {
  kind: string
  /** kinds that its content shows, whatever the agent calls it: a command is `execute`, a diff `edit` */
  shown: string[]
  /** every command line that was reported; nearly always one */
  commands: string[]
  /** the title, where it may be a command: good enough to reject, never to allow */
  title?: string
  /** where the command runs, when that was reported */
  cwd?: string
  /** every file that was reported, as the agent spells it */
  paths: string[]
  /** It holds something that no rule looks at, so no rule may allow it. */
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
const PATCH_KEYS = ['input', 'patch', 'diff'] as const

export function subjectOf(
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
): RuleSubject | undefined {
  const { subject } = request
  if (subject.type !== 'command' && (subject.type !== 'tool_call' || !tool)) return undefined
  const input = tool ? commandsOfInput(tool.rawInput) : NO_COMMANDS
  const own = subject.type === 'command' ? [subject.command] : []
  const commands = [...new Set([...own, ...input.commands])]
  const isCommand = subject.type === 'command' || tool?.toolKind === 'execute' || commands.length > 0
  const cwd = (subject.type === 'command' ? subject.cwd : undefined) ?? input.cwd
  const title = commands.length === 0 && tool?.toolKind === 'execute' ? titleAsCommand(tool.title) : undefined
  const edits = tool?.content.some(({ type }) => type === 'diff')
  return {
    kind: subject.type === 'command' ? 'execute' : (tool?.toolKind ?? 'other'),
    shown: [...(isCommand ? ['execute'] : []), ...(edits ? ['edit'] : [])],
    commands,
    ...(title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    paths: tool ? pathsOf(tool, isCommand) : [],
    obscure:
      input.environment.length > 0 ||
      input.unreadable ||
      // a different folder for each would be needed to know what each of them does
      (own.length > 0 && input.cwd !== undefined && cwd !== input.cwd) ||
      (tool?.content.some(content => content.type === 'unknown') ?? false),
  }
}

const NO_COMMANDS: CommandsOfInput = { commands: [], environment: [], unreadable: false }

function inputOf(tool: ToolCallEntry): Record<string, unknown> {
  const { rawInput } = tool
  return typeof rawInput === 'object' && rawInput !== null ? (rawInput as Record<string, unknown>) : {}
}

/** The files that a tool call reports: its locations, its diffs, its raw input. */
function pathsOf(tool: ToolCallEntry, isCommand: boolean): string[] {
  const paths = new Set<string>()
  for (const { path } of tool.locations) paths.add(path)
  for (const content of tool.content) {
    if (content.type !== 'diff') continue
    for (const { path, oldPath } of content.changes) {
      paths.add(path)
      if (oldPath !== undefined) paths.add(oldPath)
    }
  }
  const input = inputOf(tool)
  for (const key of PATCH_KEYS) for (const path of pathsOfPatch(input[key])) paths.add(path)
  if (typeof tool.rawInput === 'string') for (const path of pathsOfPatch(tool.rawInput)) paths.add(path)
  if (tool.toolKind === 'fetch' || isCommand) return [...paths]
  const lists = PATH_LIST_KEYS.flatMap(key => {
    const list = input[key]
    return Array.isArray(list) ? list : []
  })
  for (const value of [...PATH_KEYS.map(key => input[key]), ...lists]) {
    if (typeof value === 'string' && value !== '' && !/^[a-z][\w+.-]+:\/\/(?!\/)/i.test(value))
      paths.add(value)
  }
  return [...paths]
}

/** Files that a patch in the raw input changes: `*** Update File: x`, `+++ b/x`. */
function pathsOfPatch(patch: unknown): string[] {
  if (typeof patch !== 'string') return []
  const paths: string[] = []
  for (const line of patch.matchAll(
    /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:\+\+\+|---) (?:[abciwo]\/)?|rename (?:from|to) )([^\t\r\n]+)/gm,
  )) {
    const [, path = ''] = line
    if (path !== '/dev/null' && path !== '') paths.push(path)
  }
  return paths
}
