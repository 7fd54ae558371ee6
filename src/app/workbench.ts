import type { Roots, ToolCallLocation } from '../acp/model.ts'
import type { NetworkSettings } from '../agents/environment.ts'
import type { LayeredSetting, SettingLayer } from '../agents/setting-layers.ts'
import type { ChangedFile } from '../changes/review/changed-file.ts'
import type { Disposable } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import { readSettingValue, type SettingName, type SettingValue } from '../common/settings.ts'
import type {
  Attachment,
  CaptureKind,
  ExpandedPrompt,
  MentionRow,
  OutsideAnswer,
  PromptFileRow,
} from '../conversation/attachment.ts'
import type { DiffTexts } from '../editor/diff-texts.ts'
import type { ContextSources } from '../editor/mentions/prompt-content.ts'
import type { WorkspaceRoot } from '../editor/roots.ts'
import type { TokenColors } from '../editor/theme/token-colors.ts'
import type { EditorFeatures } from '../mcp/server/editor-features.ts'
import type { ShownTab, TabOptions } from './webviews.ts'

/** The known state of the window, as plain values. Each value is replaced when it changes. */
export interface WindowState {
  /** Whether the user trusts the workspace. Agents start only in a trusted workspace. */
  readonly isTrusted: boolean
  /** The user's language, as in `Intl` ("en", "zh-cn"). */
  readonly language: string
  /** The workspace folders on this machine's disk. */
  readonly folders: ReadonlyArray<{ name: string; path: string }>
  /** All workspace folders, local or remote. */
  readonly roots: readonly WorkspaceRoot[]
  /** The values of `parley.*` in the settings, as they apply in this window. They are unchecked: see {@link settingOf}. */
  readonly settingValues: Readonly<Partial<Record<SettingName, unknown>>>
  /** The settings' values in each scope, as in `SettingsSource`. */
  readonly settingLayers: Readonly<Record<LayeredSetting, readonly SettingLayer[]>>
  /** The editor's own network settings. */
  readonly network: NetworkSettings
  /** The patterns of files that the user hides. */
  readonly hiddenFiles: readonly string[]
  /** The beginning of a link that VS Code opens with Parley. An encoded path that starts with a slash follows. */
  readonly linkStart: string
}

/** Returns the value of a setting that applies in this window, or the default if the value is invalid. */
export function settingOf<N extends SettingName>(
  { settingValues }: Pick<WindowState, 'settingValues'>,
  name: N,
): SettingValue<N> {
  return readSettingValue(name, settingValues[name])
}

/**
 * What Parley needs from the editor. `workbench/` implements this with VS Code's API; the page tests and the playground implement it in
 * plain Node. Arguments and results are plain data, which the other side may receive later as a copy. The exceptions are event listeners,
 * disposables, `AbortSignal`s, progress reports, items to pick from, checks of an input, and tabs with the messages of their pages.
 */
export interface Workbench extends WindowState {
  /** Fires when any of the values in {@link WindowState} has changed. */
  readonly onDidChangeState: Event<void>
  readonly dialogs: Dialogs
  readonly settings: Settings
  readonly editors: Editors
  readonly context: PromptContext
  readonly appearance: Appearance
  /** Resolves to the editor's knowledge about files, for the MCP server of the editor tools. It's loaded on the first call. */
  features(): Promise<EditorFeatures>
  readonly comments: CommentThreads
  /** Opens an editor tab with a page. */
  openTab(options: TabOptions): ShownTab
  /** Resolves to the file of the active editor or notebook, if it's on disk. */
  activeFile(): Promise<string | undefined>
  /** Runs a command of Parley or of the editor. */
  execute(command: string, ...args: unknown[]): Promise<unknown>
  /** Shows Parley's item in the status bar, or hides it. */
  showStatusItem(item: StatusItem | undefined): void
  /** Sets a context key, on which keybindings and menus depend. */
  setContext(key: string, value: unknown): Promise<unknown>
  copy(text: string): Promise<void>
  /**
   * Brings the window with this folder or workspace file to the front, or opens one. Resolves to false if windows can't be reached, as in a
   * browser, or if the place is neither on this machine nor on the machine of this window.
   */
  focusWindow(uri: string): Promise<boolean>
  /** Opens a folder of this machine in a new window. */
  openFolder(path: string): Promise<void>
  /** Shows a folder of this machine in the file manager; without a file manager, in a new window. */
  showFolder(path: string): Promise<void>
  /**
   * Runs a shell command in a terminal, which stays open. Resolves to the exit code; `undefined` if the user or `signal` ended the command.
   */
  runInTerminal(command: string, cwd: string, name: string, signal?: AbortSignal): Promise<number | undefined>
  /** Opens an `http(s)` address in the browser. */
  openExternal(url: string): Promise<void>
}

/** An item in the status bar. */
export interface StatusItem {
  /** may contain codicons: `$(bell)` */
  text: string
  /** what a screen reader says */
  label: string
  tooltip: string
  command: string
  /** whether the item has the color of a warning */
  attention: boolean
}

/** Messages and questions outside of the webviews. Texts are plain: links in them can't be clicked. */
export interface Dialogs {
  /** Show notifications. Each resolves to the chosen button; `undefined` if the user chose none. */
  info(text: string, ...buttons: string[]): Promise<string | undefined>
  warn(text: string, ...buttons: string[]): Promise<string | undefined>
  error(text: string, ...buttons: string[]): Promise<string | undefined>
  /**
   * Fires when a modal dialog opened (`true`) or closed (`false`). VS Code takes the focus out of a webview for a dialog and doesn't give
   * it back.
   */
  readonly onDidAsk: Event<boolean>
  /** Shows a modal dialog with a Cancel button. Resolves to the chosen button; `undefined` for Cancel. */
  confirm(text: string, options: { detail?: string }, ...buttons: string[]): Promise<string | undefined>
  /**
   * Shows a notification that stays until the user chooses or closes it, or until `over` aborts. Resolves to the position of the choice; a
   * click that isn't on a choice counts as the first. Resolves to `undefined` if there is no choice.
   */
  notify(text: string, choices: readonly string[], over: AbortSignal): Promise<number | undefined>
  /** Shows a text in the status bar for some seconds. `action` is a command that runs when the user clicks the text. */
  showStatus(text: string, action?: { label: string; command: string }): Disposable
  /** Lets the user choose one item. `active` is the item that is selected at first. Resolves to `undefined` if the user cancels. */
  pick<T extends PickItem>(
    items: readonly T[],
    options?: PickOptions & { active?: T | undefined },
  ): Promise<T | undefined>
  /** Lets the user choose several items. Resolves to `undefined` if the user cancels. */
  pickMany<T extends PickItem>(items: readonly T[], options?: PickOptions): Promise<T[] | undefined>
  /** Creates a list whose items may change while it's open. The caller must dispose it. */
  createPicker<T extends PickItem>(): Picker<T>
  /** Asks for a text. Resolves to `undefined` if the user cancels. */
  input(options: InputOptions): Promise<string | undefined>
  /** Asks where to write a file. Resolves to `undefined` if the user cancels. */
  saveFile(options: SaveOptions): Promise<SaveTarget | undefined>
  /** Writes the file that the user chose. */
  writeSaved(target: SaveTarget, text: string): Promise<void>
  /** Opens the file that was written in the editor. */
  openSaved(target: SaveTarget): Promise<void>
  /** Asks for files to read. Resolves to their paths on this machine's disk; `undefined` if the user cancels. */
  openFiles(options: Pick<SaveOptions, 'title' | 'filters'>): Promise<string[] | undefined>
  /** Shows progress until `work` has settled. The signal aborts when the user cancels. */
  progress<T>(
    options: ProgressOptions,
    work: (report: (step: ProgressStep) => void, signal: AbortSignal) => Promise<T>,
  ): Promise<T>
}

export interface PickItem {
  /** may contain codicons: `$(bell)` */
  label: string
  description?: string
  detail?: string
  /** the name of a codicon, or the `data:` URI of an SVG in `currentColor` */
  icon?: string
  /** a line between items, with its label as a heading */
  isSeparator?: boolean
  alwaysShow?: boolean
  picked?: boolean
  buttons?: readonly PickButton[]
}

export interface PickButton {
  /** the name of a codicon */
  icon: string
  tooltip: string
}

export interface PickOptions {
  title?: string
  placeholder?: string
  /** whether to filter also by the description or the detail */
  matchOnDescription?: boolean
  matchOnDetail?: boolean
  /** whether the list stays open when something else gets the focus */
  ignoreFocusOut?: boolean
}

export interface Picker<T extends PickItem> extends Disposable {
  title: string
  placeholder: string
  items: readonly T[]
  activeItems: readonly T[]
  busy: boolean
  matchOnDescription: boolean
  matchOnDetail: boolean
  ignoreFocusOut: boolean
  /** whether to show a Back button */
  canGoBack: boolean
  readonly value: string
  onDidAccept(listener: (item: T | undefined) => void): Disposable
  onDidPressButton(listener: (button: PickButton, item: T) => void): Disposable
  onDidGoBack(listener: () => void): Disposable
  onDidChangeValue(listener: (value: string) => void): Disposable
  onDidHide(listener: () => void): Disposable
  show(): void
  hide(): void
}

export interface InputOptions extends Pick<PickOptions, 'title' | 'placeholder' | 'ignoreFocusOut'> {
  prompt?: string
  value?: string
  password?: boolean
  /** Closes the input when it aborts, as if the user had canceled. */
  signal?: AbortSignal
  /** Returns the problem with the value, if any. The input doesn't accept a value before this has resolved. */
  validate?: (value: string) => string | undefined | Promise<string | undefined>
}

export interface SaveOptions {
  title: string
  /** the folder for the file if no workspace folder is open */
  folder: string
  name: string
  /** the extensions of the file, without dots, by the name of the file type */
  filters: Record<string, string[]>
}

/** A file that the user chose to write. */
export interface SaveTarget {
  name: string
  uri: string
  /** absolute; `undefined` if it isn't on this machine's disk */
  path: string | undefined
}

export interface ProgressOptions {
  title: string
  where: 'notification' | 'status-bar'
  cancellable?: boolean
}

export interface ProgressStep {
  message?: string
  /** percent of the whole to add to the earlier steps */
  increment?: number
}

/** `parley.*` in the settings. */
export interface Settings {
  /** Writes a value, by default the user's; `undefined` removes it. Rejects when the editor can't write the file. */
  update(name: SettingName, value: unknown, scope?: 'user' | 'workspace'): Promise<void>
  onDidChange(name: SettingName, listener: () => void): Disposable
  /** Shows a setting, or all of them, in the Settings editor. */
  open(name?: SettingName): Promise<void>
}

/** Shows files and changes. Each method rejects with a sentence for the user. */
export interface Editors {
  /**
   * Opens a file, or shows a folder in the explorer. A relative path is searched in each root. Line and column are 1-based; a line beyond
   * the end means the last line.
   */
  openFile(target: { path: string; line?: number; column?: number }, roots?: Roots): Promise<void>
  /** Opens a link in an agent's text: an `http(s)` link in the browser, a file or path in the editor. Other links aren't opened. */
  openLink(href: string, roots?: Roots): Promise<void>
  /** Opens an agent's binary content in the editor for files with that name. */
  openContent(name: string, mimeType: string, bytes: Uint8Array): Promise<void>
  /** Opens a document that has no file yet. */
  openText(text: string, language: string): Promise<void>
  /** Renders a Markdown file in an editor tab. Its links to other files work. */
  previewMarkdown(path: string): Promise<void>
  /** Replaces the selection with the code, or inserts the code at the cursor. Then reveals the code. */
  insertCode(text: string): Promise<void>
  /** Shows the resulting file in a diff, asks for confirmation, and then writes the file. */
  applyCode(code: CodeToApply, roots: Roots | undefined): Promise<void>
  /** Opens an agent's edit of a file in a diff editor. With `title`, the texts can be any two versions of the file. */
  openDiff(file: string, texts: DiffTexts, title?: string): Promise<void>
  /** Opens a diff editor for a file with the changes of a session, or of all sessions without one. */
  openChanges(session: string | undefined, file: ChangedFile): Promise<void>
  /** Opens a file with Git conflicts in the merge editor. */
  openConflict(file: string): Promise<void>
  /** Opens all of a session's changes in one editor. */
  reviewChanges(session: string, title: string): Promise<void>
  /** Shows in one editor how restoring would change files. */
  previewRestore(files: readonly RestorePreview[], title: string): Promise<void>
  /** Shows the differences of files in one editor. */
  compareFiles(files: readonly ComparedSides[], title: string): Promise<void>
  /**
   * Writes a commit message in the input of the repository with this root folder. Asks the user if the input no longer contains the text
   * `begun`. Rejects with a sentence if there is no such repository.
   */
  writeCommitMessage(root: string, begun: string, message: string): Promise<void>
  /** Prepares the editor for {@link showLocation}. Disposing the result removes what was shown. */
  followLocations(): Disposable
  /** Shows where an agent works, without taking the focus. */
  showLocation(location: ToolCallLocation, roots: Roots): void
}

/** A text file before and after it's restored. */
export interface RestorePreview {
  path: string
  /** Absent: the file is missing now. */
  before?: string
  /** Absent: the file is deleted. */
  after?: string
}

/** A version of a file: a text, or the file on disk, which the user can edit. */
export type FileVersion = { text: string } | { file: string }

/** Two versions of a file. */
export interface ComparedSides {
  /** the path that the name shows */
  path: string
  /** Absent: the file was added. */
  before?: FileVersion
  /** Absent if the file was deleted. */
  after?: FileVersion
}

export interface CodeToApply {
  text: string
  language: string
  /** the file; by default that of the last active editor */
  path?: string
  /** 1-based lines */
  from?: number
  to?: number
}

/** What users can add to a prompt. */
export interface PromptContext {
  /** The content of attachments, read when a prompt is sent. */
  readonly sources: ContextSources
  /** Resolves to suggestions for `@` and the text after it, except those from Git and language servers. */
  mentions(query: string): Promise<MentionRow[]>
  revisions(query: string): Promise<MentionRow[]>
  symbols(query: string): Promise<MentionRow[]>
  /** Resolves to prompt files, under names that no command of the agent has. */
  promptFiles(commands: readonly string[]): Promise<PromptFileRow[]>
  /**
   * Resolves to the text of the prompt file whose command is at the start of a text, unless it's a command of the agent. Rejects with a
   * sentence if something is missing.
   */
  expandPrompt(
    text: string,
    commands: readonly string[],
    roots: Roots | undefined,
  ): Promise<ExpandedPrompt | 'none' | 'canceled'>
  /** Resolves to the user's selection in an editor or terminal, or to what the user picks. Rejects with a sentence if there is none. */
  capture(kind: CaptureKind): Promise<Attachment[]>
  /** Asks whether a prompt may contain a file outside of the folders, unless it may be read already. */
  askOutside(uri: string, roots: Roots | undefined): Promise<OutsideAnswer>
  /** Resolves to the file or folder of the workspace with this path; empty if there is none. */
  takePath(path: string): Promise<Attachment[]>
  /** Resolves to the lines of an editor or open file that contain exactly this code; empty if there is no such place, or more than one. */
  takeCode(code: string): Promise<Attachment[]>
  /** Resolves to dropped files, given their URIs. Rejects with a sentence if none can be added. */
  takeDropped(uris: readonly string[]): Promise<Attachment[]>
  /** Reports what the user is working on: the selection, or else the file of the active editor. */
  followActive(onChange: (attachment: Attachment | undefined) => void): Disposable
}

/** A comment on lines, as the editor shows it. Lines are 1-based and inclusive. */
export interface ShownComment {
  id: string
  uri: string
  startLine: number
  endLine: number
  quote: string
  text: string
  /** Only in the state `draft`, the comment can still be edited. */
  state: 'draft' | 'queued' | 'sent' | 'addressed' | 'resolved'
  /** the name of the prompt's agent, if known */
  agentName?: string
}

/** An action of the user at the lines of a comment. */
export type CommentAction =
  | ({ type: 'add' } & Pick<ShownComment, 'id' | 'uri' | 'startLine' | 'endLine' | 'quote' | 'text'>)
  | { type: 'edit'; id: string; text: string }
  /** The comment's lines were moved or edited, or its file was renamed. */
  | ({ type: 'move' } & Pick<ShownComment, 'id' | 'uri' | 'startLine' | 'endLine' | 'quote'>)
  | { type: 'delete'; id: string }
  | { type: 'resolve' | 'reopen'; id: string }

/** The threads of the user's comments in documents. */
export interface CommentThreads {
  readonly onDidAct: Event<CommentAction>
  /** Shows a comment at its lines, or updates the shown comment. */
  show(comment: ShownComment): void
  hide(id: string): void
  /** Opens the comment's document at the commented lines. Rejects with a sentence if that isn't possible. */
  reveal(id: string): Promise<void>
}

export interface Appearance {
  /** Resolves to the colors of code in a theme, with the user's customizations; empty if the theme's file can't be read. */
  tokenColors(themeId: string): Promise<TokenColors>
  onDidChangeTokenColors(listener: () => void): Disposable
}
