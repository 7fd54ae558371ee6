import type { ToolKind } from '../../acp/model.ts'
import type { RootsPlan } from '../../common/roots-plan.ts'
import { visibleProse } from '../../common/visible.ts'
import { editorToolCall, readableTitle } from '../../conversation/mcp-tool-call.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import { plural, t } from '../l10n.ts'

/** The folders to which paths are made relative. */
export type PathRoots = Pick<RootsPlan, 'cwd' | 'additional'>

/** Maximum number of files that a title names; the others are counted. */
const NAMED = 2

/** A tool call's title, split so that an ellipsis does the least harm: `head` is truncated, `tail` stays visible. */
interface TitleParts {
  head: string
  tail: string
  /** whether the title is a command or a piece of code */
  code: boolean
  /** the whole title on one line, for the tooltip */
  full: string
}

/** A path inside a text: at least one separator, no white space; not a URL. */
const pathInText =
  /(?<![\w:/\\.-])(?:file:\/\/)?(?:~|\.{1,2})?\/?(?:[^\s"'`<>|*?:;,()[\]{}\\/]+\/)+[^\s"'`<>|*?:;,()[\]{}\\/]+/g
/** Paths on Windows, where a backslash is a separator; elsewhere, it's part of a command. */
const windowsPathInText =
  /(?<![\w:/\\.-])(?:file:\/\/)?(?:~|\.{1,2}|[A-Za-z]:)?[\\/]?(?:[^\s"'`<>|*?:;,()[\]{}\\/]+[\\/])+[^\s"'`<>|*?:;,()[\]{}\\/]+/g
const beginsWithDrive = /(?<!\w)[A-Za-z]:[\\/]/

/**
 * Splits a title so that the name of its file stays visible: `Edit src/a/` + `parser.ts`. Paths in the session's directory become relative;
 * backticks around code are removed.
 */
export function titleParts(title: string, roots: PathRoots | undefined): TitleParts {
  let text = visibleProse(title.replace(/\s+/g, ' ').trim())
  const code = /^`[^`]+`$/.test(text)
  if (code) text = text.slice(1, -1)
  else text = text.replace(/`([^`]+)`/g, '$1')
  const onWindows = beginsWithDrive.test(roots?.cwd ?? '') || beginsWithDrive.test(text)
  const path = onWindows ? windowsPathInText : pathInText
  text = text.replace(path, found => relativePath(found, roots))
  const last = [...text.matchAll(path)].at(-1)
  if (!last) return { head: '', tail: text, code, full: text }
  const end = last.index + last[0].length
  const slash = Math.max(last[0].lastIndexOf('/'), last[0].lastIndexOf('\\'))
  const cut = last.index + slash + 1
  // a long command with a path in the middle is truncated at the end, like any text
  if (text.length - end > 60) return { head: '', tail: text, code, full: text }
  return { head: text.slice(0, cut), tail: text.slice(cut), code, full: text }
}

/**
 * Returns the title of a tool call, with its files if the agent's title doesn't name any, as with *Edit files* or *read*. Without
 * a diff, files are added only to a title of one word.
 */
export function titleOfTool(tool: ToolCallEntry): string {
  const editorTool = editorToolCall(tool)
  if (editorTool !== undefined) return editorTool
  const title = readableTitle(withoutInput(tool) || tool.toolName || kindName(tool.toolKind))
  const changed = tool.content.flatMap(part =>
    part.type === 'diff' ? part.changes.map(({ path }) => path) : [],
  )
  return titleOfEdit(title, changed.length > 0 || !/^\w+$/.test(title) ? changed : filesOf(tool))
}

/**
 * Returns the title without the tool's input as JSON, which some agents append to the tool's name or use as the title (Cline, Qwen
 * Code). That JSON is often cut off, and the input is shown elsewhere anyway.
 */
export function withoutInput({ title, rawInput, toolKind }: ToolCallEntry): string {
  if (rawInput === undefined || toolKind === 'execute') return title
  const found = /^\s*([\w./:-]{0,80}?|[^{}]{1,120}:)[\s:(]*\{\s*(?:"[^"]*(?:"\s*:|$)|\}?\s*$)/.exec(title)
  return found ? (found[1] ?? '').replace(/[\s:]+$/, '') : title
}

/** Returns the files that a tool call is about, as far as the agent reported them. */
export function filesOf({ locations, rawInput, toolKind }: ToolCallEntry): string[] {
  if (locations.length > 0) return locations.map(({ path }) => path)
  if (!['read', 'edit', 'delete'].includes(toolKind) || typeof rawInput !== 'object' || rawInput === null)
    return []
  const { path, file_path, filePath } = rawInput as Record<string, unknown>
  const file = path ?? file_path ?? filePath
  return typeof file === 'string' && file !== '' ? [file] : []
}

/** Returns the title of an edit, with its files if the agent's title doesn't name any, as with *Edit files*. */
export function titleOfEdit(title: string, paths: readonly string[]): string {
  const files = [...new Set(paths)]
  const [only] = files
  if (only === undefined || files.some(path => title.includes(baseName(path)))) return title
  if (files.length === 1) return `${title} ${only}`
  const names = files.slice(0, NAMED).map(baseName).join(', ')
  return files.length > NAMED ? `${title} ${names} +${files.length - NAMED}` : `${title} ${names}`
}

/** Returns the path relative to `cwd`, or to another root of the session, with the root's name before it. */
export function relativePath(path: string, roots: PathRoots | undefined): string {
  const plain = path.replace(/^file:\/\//, '')
  if (!roots) return plain
  const inside = within(plain, roots.cwd)
  if (inside !== undefined) return inside
  for (const { path: root, label } of roots.additional) {
    const rest = within(plain, root)
    if (rest !== undefined) return `${label}${plain[plain.length - rest.length - 1]}${rest}`
  }
  return plain
}

/** Returns the path relative to the folder, with its original separators; `undefined` if the path is elsewhere. */
function within(path: string, folder: string): string | undefined {
  const root = folder.replace(/[\\/]+$/, '')
  if (root === '' || path.length <= root.length + 1) return undefined
  const windows = /^[A-Za-z]:/.test(root)
  const starts = windows ? path.toLowerCase().startsWith(root.toLowerCase()) : path.startsWith(root)
  return starts && /[\\/]/.test(path[root.length]!) ? path.slice(root.length + 1) : undefined
}

/** Returns the last part of a path. */
export function baseName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path
}

const icons: ReadonlyMap<ToolKind, string> = new Map<ToolKind, string>([
  ['read', 'file'],
  ['edit', 'edit'],
  ['delete', 'trash'],
  ['move', 'file-symlink-file'],
  ['search', 'search'],
  ['execute', 'terminal'],
  ['think', 'lightbulb'],
  ['fetch', 'globe'],
  ['switch_mode', 'arrow-swap'],
])

export function kindIcon(kind: ToolKind): string {
  return icons.get(kind) ?? 'tools'
}

/** Returns the name of this kind of tool's action, for screen readers. */
export function kindName(kind: ToolKind): string {
  switch (kind) {
    case 'read':
      return t('Read')
    case 'edit':
      return t('Edit')
    case 'delete':
      return t('Delete')
    case 'move':
      return t('Move')
    case 'search':
      return t('Search')
    case 'execute':
      return t('Command')
    case 'think':
      return t('Thought')
    case 'fetch':
      return t('Fetch')
    default:
      return t('Tool')
  }
}

/** Returns `Searched 3 times, read 2 files`, or `Edited 5 files`. `files`: the number of edited files. */
export function runSummary(
  { search = 0, read = 0, fetch = 0 }: Partial<Record<ToolKind, number>>,
  files = 0,
): string {
  if (files > 0) return plural(files, 'Edited 1 file', 'Edited {0} files')
  const parts: string[] = []
  if (search > 0) parts.push(plural(search, 'searched once', 'searched {0} times'))
  if (read > 0) parts.push(plural(read, 'read 1 file', 'read {0} files'))
  if (fetch > 0) parts.push(plural(fetch, 'fetched 1 page', 'fetched {0} pages'))
  const text = parts.join(t(', '))
  return text.charAt(0).toLocaleUpperCase() + text.slice(1)
}
