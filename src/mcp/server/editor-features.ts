import type { Disposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import type { DebugFeatures } from './debug-features.ts'

/** A location in a text: line and column from 1, columns in UTF-16 units. */
export interface Position {
  line: number
  column: number
}

/** A range from `start` to `end`, exclusive. */
export interface Span {
  start: Position
  end: Position
}

export interface Location extends Span {
  /** absolute */
  path: string
}

export interface FoundSymbol {
  name: string
  /** in lower case, such as `class` or `enum member` */
  kind: string
  /** the symbol, or package, that contains the symbol */
  container?: string
  /** location of its name, or of its whole declaration if the language doesn't report the name */
  location: Location
}

/** A symbol of one file, with its nested symbols. */
export interface OutlineSymbol {
  name: string
  kind: string
  detail?: string
  /** the whole declaration */
  span: Span
  /** position of its name */
  at: Position
  children: OutlineSymbol[]
}

/** A symbol that calls, is called, extends or is extended. `uses`: where. */
export interface RelatedSymbol extends FoundSymbol {
  uses: Location[]
}

export type Severity = 'error' | 'warning' | 'information' | 'hint'

export interface Problem extends Span {
  severity: Severity
  message: string
  /** the source of the problem, such as `ts` or `eslint`, and its code */
  source?: string
  code?: string
}

export interface FileProblems {
  path: string
  problems: Problem[]
}

export interface TextChange extends Span {
  text: string
}

export interface FileEdit {
  path: string
  changes: TextChange[]
}

export interface ProposedAction {
  title: string
  kind?: string
  isPreferred?: boolean
  /** Why the action is currently disabled. */
  disabled?: string
  /** The edit of the action; absent if the action only runs a command of the editor, which Parley doesn't do. */
  edit?: FileEdit[]
  /** Why the action's edit can't be made: it changes more than the text of files. */
  refusal?: string
  /** The action also runs a command of the editor after its edit. */
  hasCommand?: true
}

export interface OpenEditor {
  path: string
  isActive: boolean
  /** The editor is visible in its group. */
  isVisible: boolean
  isDirty: boolean
}

/** The beginning of a text that may be too large to read at once. */
export interface TextBeginning {
  text: string
  /** There is more. */
  isCut?: boolean
}

export interface EditorSelection extends Location, TextBeginning {
  /** empty for a cursor */
  text: string
}

export interface TaskInfo {
  name: string
  /** who offers it: `npm`, `Workspace`, … */
  source: string
  /** the path of its folder, if the editor has several */
  folder?: string
  /** `build`, `test`, … */
  group?: string
  /** The user has marked the task as the default of its group. */
  isDefault?: true
  detail?: string
  /** the command line, as far as the editor tells */
  command?: string
  /** JSON of the task's working directory, environment and shell, if set */
  options?: string
  /** The values that VS Code inserts for variables, as far as they are known, and the inputs that it asks for: lines for the user. */
  variables?: string[] | undefined
  /** The values contain variables that are nested too deeply to determine what the task runs. */
  isTooDeep?: boolean
  /** The tasks that run before this one: names, or JSON of an object that identifies a task. */
  dependsOn?: string[]
  /** The task's whole definition as text: if it differs from an earlier one, the task has changed. */
  content?: string
}

export interface TaskRun {
  /** absent: it hasn't ended when the time was over */
  exitCode?: number
  /** The task ended without an exit code, because it isn't a process. */
  ended?: true
  /** The output, if the task runs in a shell with shell integration. */
  output?: string
}

export interface TerminalCommand {
  /** the terminal's name */
  terminal: string
  command: string
  cwd?: string
  /** absent while the command runs */
  exitCode?: number
  isRunning: boolean
  output: string
}

export type TestToolName = 'runTests' | 'testFailure'
export type LocationKind = 'definition' | 'type_definition' | 'implementations' | 'references'
export type HierarchyKind = 'callers' | 'callees' | 'supertypes' | 'subtypes'

/**
 * The editor's knowledge about files that the tools of the MCP server use. Paths are absolute. `workbench/` implements this with VS Code.
 * All methods also work for files that no editor shows: they're opened in the background.
 */
export interface EditorFeatures {
  /** The problems known now: of a file, or of all files that have any. */
  problems(path?: string): Promise<FileProblems[]>
  /** The problems of these files may have changed. */
  readonly onDidChangeProblems: Event<readonly string[]>
  /**
   * Opens a file so that language extensions know its current text: with unsaved changes, or else as on disk. Rejects with a sentence if
   * the file isn't text. `isNew`: the file wasn't open before, so languages only begin to analyze it.
   */
  open(path: string): Promise<{ text: string; isNew: boolean }>
  /**
   * Makes language extensions report the problems of a file until the result is disposed: most do so only for files in tabs. The user's
   * active editor doesn't change. `isNew`: no problems are reported for the file yet.
   */
  attend(path: string): Promise<Disposable & { isNew: boolean }>
  /** The symbols of all files whose names match. */
  symbols(query: string): Promise<FoundSymbol[]>
  outline(path: string): Promise<OutlineSymbol[]>
  locations(kind: LocationKind, path: string, at: Position): Promise<Location[]>
  /** Markdown. */
  hover(path: string, at: Position): Promise<string[]>
  /** `undefined` if there is no such symbol or the language doesn't support the hierarchy. */
  hierarchy(kind: HierarchyKind, path: string, at: Position): Promise<RelatedSymbol[] | undefined>
  editors(): Promise<OpenEditor[]>
  /** The selection or cursor of the active editor, if it shows a file. */
  selection(): Promise<EditorSelection | undefined>
  /** The paths of the files with unsaved changes. */
  unsaved(): Promise<string[]>
  /** The text of a file with unsaved changes; `undefined` if it has none. */
  readUnsaved(path: string): Promise<TextBeginning | undefined>
  /** Rejects with the language's sentence if the symbol can't be renamed, or a `ToolError` if more than text would change. */
  rename(path: string, at: Position, name: string): Promise<FileEdit[]>
  /** `kind`: such as `quickfix` or `source.organizeImports`; by default, the kinds of the light bulb. */
  actions(path: string, span: Span, kind?: string): Promise<ProposedAction[]>
  /** The changes that format the file, or only `span`. */
  format(path: string, span?: Span): Promise<TextChange[]>
  /** Shows a file. */
  show(path: string, at?: Position): Promise<void>
  /** Shows a diff of a file, in which nothing is changed. */
  showDiff(path: string, texts: { oldText: string; newText: string }, title: string): Promise<void>
  tasks(): Promise<TaskInfo[]>
  /**
   * Runs a task of `tasks`, if it's still the same, and waits for its end, up to `waitMs`; ends the task when `signal` aborts.
   */
  runTask(task: TaskInfo, waitMs: number, signal: AbortSignal): Promise<TaskRun>
  /** The last commands of the user's terminals, the newest first. Only those with shell integration since Parley follows them. */
  terminalCommands(): Promise<TerminalCommand[]>
  /** The selection in the active terminal. The text of the clipboard is restored. */
  terminalSelection(): Promise<{ terminal: string; text: string } | undefined>
  /** Whether this VS Code has a tool for agents. */
  hasTestTool(name: TestToolName): Promise<boolean>
  /** Runs such a tool, which may ask the user by itself. */
  runTestTool(name: TestToolName, input: Record<string, unknown>, signal: AbortSignal): Promise<string>
  readonly debug: DebugFeatures
}
