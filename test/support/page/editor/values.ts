/** The plain values of VS Code's API that Parley uses. */
import { URI, Utils } from 'vscode-uri'

export class Position {
  readonly line: number
  readonly character: number

  constructor(line: number, character: number) {
    this.line = line
    this.character = character
  }

  isBefore(other: Position): boolean {
    return this.line < other.line || (this.line === other.line && this.character < other.character)
  }

  isEqual(other: Position): boolean {
    return this.line === other.line && this.character === other.character
  }

  translate(lines = 0, characters = 0): Position {
    return new Position(this.line + lines, this.character + characters)
  }
}

export class Range {
  readonly start: Position
  readonly end: Position

  constructor(start: Position | number, end: Position | number, endLine?: number, endCharacter?: number) {
    const [from, to] =
      typeof start === 'number' || typeof end === 'number'
        ? [new Position(Number(start), Number(end)), new Position(endLine ?? 0, endCharacter ?? 0)]
        : [start, end]
    const isOrdered = !to.isBefore(from)
    this.start = isOrdered ? from : to
    this.end = isOrdered ? to : from
  }

  get isEmpty(): boolean {
    return this.start.isEqual(this.end)
  }

  get isSingleLine(): boolean {
    return this.start.line === this.end.line
  }

  isEqual(other: Range): boolean {
    return this.start.isEqual(other.start) && this.end.isEqual(other.end)
  }

  contains(other: Position | Range): boolean {
    const [start, end] = other instanceof Range ? [other.start, other.end] : [other, other]
    return !start.isBefore(this.start) && !this.end.isBefore(end)
  }
}

export class Selection extends Range {
  readonly anchor: Position
  readonly active: Position

  constructor(anchor: Position | number, active: Position | number, line = 0, character = 0) {
    const isPlain = typeof anchor === 'number' || typeof active === 'number'
    const from = isPlain ? new Position(Number(anchor), Number(active)) : anchor
    const to = isPlain ? new Position(line, character) : active
    super(from, to)
    this.anchor = from
    this.active = to
  }
}

export class Location {
  readonly uri: URI
  readonly range: Range

  constructor(uri: URI, range: Range | Position) {
    this.uri = uri
    this.range = range instanceof Range ? range : new Range(range, range)
  }
}

export class SymbolInformation {
  readonly name: string
  readonly kind: number
  readonly containerName: string
  readonly location: Location

  constructor(name: string, kind: number, containerName: string, location: Location) {
    this.name = name
    this.kind = kind
    this.containerName = containerName
    this.location = location
  }
}

export class CodeLens {
  readonly range: Range
  readonly command: unknown

  constructor(range: Range, command: unknown) {
    this.range = range
    this.command = command
  }
}

export class CodeAction {
  readonly title: string
  readonly kind: unknown

  constructor(title: string, kind: unknown) {
    this.title = title
    this.kind = kind
  }
}

export class FileDecoration {
  readonly badge: string | undefined
  readonly tooltip: string | undefined

  constructor(badge?: string, tooltip?: string) {
    this.badge = badge
    this.tooltip = tooltip
  }
}

export class ThemeColor {
  readonly id: string

  constructor(id: string) {
    this.id = id
  }
}

export class ThemeIcon extends ThemeColor {}

export class TabInputText {
  readonly uri: URI

  constructor(uri: URI) {
    this.uri = uri
  }
}

export class TabInputTextDiff {
  readonly original: URI
  readonly modified: URI

  constructor(original: URI, modified: URI) {
    this.original = original
    this.modified = modified
  }
}

export class TabInputCustom extends TabInputText {}
export class TabInputNotebook extends TabInputText {}

export class TabInputWebview {
  readonly viewType: string

  constructor(viewType: string) {
    this.viewType = viewType
  }
}

export class TextEdit {
  readonly range: Range
  readonly newText: string

  constructor(range: Range, newText: string) {
    this.range = range
    this.newText = newText
  }
}

export class WorkspaceEdit {
  readonly #edits: Array<{ uri: URI; edit: TextEdit }> = []
  readonly #created: URI[] = []

  replace(uri: URI, range: Range, newText: string): void {
    this.#edits.push({ uri, edit: new TextEdit(range, newText) })
  }

  insert(uri: URI, position: Position, newText: string): void {
    this.replace(uri, new Range(position, position), newText)
  }

  createFile(uri: URI): void {
    this.#created.push(uri)
  }

  get created(): readonly URI[] {
    return this.#created
  }

  entries(): Array<[URI, TextEdit[]]> {
    const found = new Map<string, [URI, TextEdit[]]>()
    for (const { uri, edit } of this.#edits) {
      const entry = found.get(uri.toString()) ?? [uri, []]
      entry[1].push(edit)
      found.set(uri.toString(), entry)
    }
    return [...found.values()]
  }
}

export class FileSystemError extends Error {
  readonly code: string

  constructor(message: string, code = 'Unknown') {
    super(message)
    this.code = code
  }

  static FileNotFound(uri?: URI | string): FileSystemError {
    return new FileSystemError(`No such file: ${uri}`, 'FileNotFound')
  }

  static NoPermissions(uri?: URI | string): FileSystemError {
    return new FileSystemError(`Not permitted: ${uri}`, 'NoPermissions')
  }
}

export class Disposable {
  readonly #dispose: () => unknown

  constructor(dispose: () => unknown) {
    this.#dispose = dispose
  }

  static from(...all: Array<{ dispose(): unknown }>): Disposable {
    return new Disposable(() => {
      for (const one of all) one.dispose()
    })
  }

  dispose(): void {
    this.#dispose()
  }
}

export class EventEmitter<T> {
  readonly #listeners = new Set<(value: T) => unknown>()

  readonly event = (listener: (value: T) => unknown, thisArgument?: unknown): Disposable => {
    const bound = thisArgument === undefined ? listener : listener.bind(thisArgument)
    // each registration counts, even of the same function
    const own = (value: T) => bound(value)
    this.#listeners.add(own)
    return new Disposable(() => this.#listeners.delete(own))
  }

  /** An error of one listener doesn't affect the others. */
  fire(value: T): void {
    for (const listener of [...this.#listeners])
      try {
        listener(value)
      } catch (error) {
        console.error(error)
      }
  }

  dispose(): void {
    this.#listeners.clear()
  }
}

export class CancellationTokenSource {
  readonly #cancelled = new EventEmitter<void>()
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.#cancelled.event }

  cancel(): void {
    if (this.token.isCancellationRequested) return
    this.token.isCancellationRequested = true
    this.#cancelled.fire()
  }

  dispose(): void {
    this.#cancelled.dispose()
  }
}

class Kind {
  readonly value: string

  constructor(value: string) {
    this.value = value
  }

  append(part: string): Kind {
    return new Kind(this.value === '' ? part : `${this.value}.${part}`)
  }

  contains(other: Kind): boolean {
    return this.value === '' || other.value === this.value || other.value.startsWith(`${this.value}.`)
  }
}

export const CodeActionKind = { Empty: new Kind(''), QuickFix: new Kind('quickfix') }
export const CodeActionTriggerKind = { Invoke: 1, Automatic: 2 }
export const CommentMode = { Editing: 0, Preview: 1 }
export const CommentThreadCollapsibleState = { Collapsed: 0, Expanded: 1 }
export const CommentThreadState = { Unresolved: 0, Resolved: 1 }
export const ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 }
export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 }
export const EndOfLine = { LF: 1, CRLF: 2 }
export const FileChangeType = { Changed: 1, Created: 2, Deleted: 3 }
export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 }
export const OverviewRulerLane = { Left: 1, Center: 2, Right: 4, Full: 7 }
export const ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 }
export const QuickInputButtons = { Back: { iconPath: new ThemeIcon('quick-input-back'), tooltip: 'Back' } }
export const QuickPickItemKind = { Separator: -1, Default: 0 }
export const StatusBarAlignment = { Left: 1, Right: 2 }
export const TextEditorRevealType = { Default: 0, InCenter: 1, InCenterIfOutsideViewport: 2, AtTop: 3 }
export const TextEditorSelectionChangeKind = { Keyboard: 1, Mouse: 2, Command: 3 }
export const TextDocumentSaveReason = { Manual: 1, AfterDelay: 2, FocusOut: 3 }
export const UIKind = { Desktop: 1, Web: 2 }
export const ViewColumn = { Active: -1, Beside: -2, One: 1, Two: 2, Three: 3 }
/** By name and by number, as TypeScript compiles an enum. */
export const SymbolKind: Record<string | number, number | string> = {}
for (const [number, name] of [
  'File Module Namespace Package Class Method Property Field Constructor Enum Interface Function Variable',
  'Constant String Number Boolean Array Object Key Null EnumMember Struct Event Operator TypeParameter',
]
  .join(' ')
  .split(' ')
  .entries()) {
  SymbolKind[name] = number
  SymbolKind[number] = name
}
/** The package has this function apart from the class. */
export const Uri = Object.assign(URI, { joinPath: Utils.joinPath })
