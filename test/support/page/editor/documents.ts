/** The documents of `vscode.workspace`: texts with undo steps that a person or an edit changes, and saves. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import { URI } from 'vscode-uri'
import {
  Disposable,
  EndOfLine,
  EventEmitter,
  Position,
  Range,
  TextDocumentSaveReason,
  type TextEdit,
  type WorkspaceEdit,
} from './values.ts'

interface ContentProvider {
  provideTextDocumentContent(uri: URI): unknown
}
interface FileProvider {
  readFile(uri: URI): unknown
}

/** A state in the undo history. Two states with the same text are different. */
interface Version {
  text: string
}

const LANGUAGES: Record<string, string> = {
  '.js': 'javascript',
  '.json': 'json',
  '.md': 'markdown',
  '.ts': 'typescript',
  '.html': 'html',
}

export class TextDocument {
  readonly uri: URI
  readonly languageId: string
  isClosed = false
  version = 1
  eol: number = EndOfLine.LF
  encoding = 'utf8'
  readonly #documents: Documents
  #now: Version
  #saved: Version
  #undo: Version[] = []
  /** what the file contained when it was read or saved last */
  #base: string | undefined

  constructor(documents: Documents, uri: URI, content: string, languageId?: string) {
    this.#documents = documents
    this.uri = uri
    this.languageId = languageId ?? LANGUAGES[extname(uri.path)] ?? 'plaintext'
    this.#base = uri.scheme === 'file' ? content : undefined
    this.encoding = content.startsWith('\ufeff') ? 'utf8bom' : 'utf8'
    const ends = content.match(/\r?\n/g) ?? []
    if (ends.filter(end => end === '\r\n').length * 2 > ends.length) this.eol = EndOfLine.CRLF
    this.#now = { text: this.#normal(content) }
    this.#saved = uri.scheme === 'untitled' ? { text: '' } : this.#now
  }

  get fileName(): string {
    return this.uri.fsPath
  }

  get isUntitled(): boolean {
    return this.uri.scheme === 'untitled'
  }

  get isDirty(): boolean {
    return this.#now !== this.#saved
  }

  get lineCount(): number {
    return this.#lines().length
  }

  getText(range?: Range): string {
    const { text } = this.#now
    return range ? text.slice(this.offsetAt(range.start), this.offsetAt(range.end)) : text
  }

  lineAt(at: number | Position) {
    const line = typeof at === 'number' ? at : at.line
    const text = this.#lines()[line]
    if (text === undefined) throw new Error(`There is no line ${line}`)
    const range = new Range(line, 0, line, text.length)
    return { text, range, lineNumber: line, isEmptyOrWhitespace: text.trim() === '' }
  }

  offsetAt({ line, character }: Position): number {
    const lines = this.#lines()
    const before = lines.slice(0, line).reduce((sum, text) => sum + text.length + this.#end().length, 0)
    return Math.min(before + Math.min(character, lines[line]?.length ?? 0), this.#now.text.length)
  }

  positionAt(offset: number): Position {
    let rest = Math.max(0, Math.min(offset, this.#now.text.length))
    const lines = this.#lines()
    for (const [line, text] of lines.entries()) {
      if (rest <= text.length) return new Position(line, rest)
      rest -= text.length + this.#end().length
    }
    return new Position(lines.length - 1, lines.at(-1)?.length ?? 0)
  }

  validateRange(range: Range): Range {
    const inside = (position: Position) => this.positionAt(this.offsetAt(position))
    return new Range(inside(range.start), inside(range.end))
  }

  /** Applies edits of the same version, as one undo step. */
  apply(edits: readonly TextEdit[]): void {
    const places = edits
      .map(({ range, newText }) => ({
        start: this.offsetAt(range.start),
        end: this.offsetAt(range.end),
        range,
        text: newText,
      }))
      .sort((a, b) => b.start - a.start)
    let { text } = this.#now
    for (const place of places)
      text = text.slice(0, place.start) + this.#normal(place.text) + text.slice(place.end)
    this.#become(
      text,
      places.map(place => ({
        range: place.range,
        rangeOffset: place.start,
        rangeLength: place.end - place.start,
        text: this.#normal(place.text),
      })),
    )
  }

  /** Replaces the whole text, as a person does who types. */
  type(text: string): void {
    const whole = new Range(this.positionAt(0), this.positionAt(this.#now.text.length))
    this.apply([{ range: whole, newText: text }])
  }

  undo(): void {
    const version = this.#undo.pop()
    if (!version) return
    const change = this.#changeTo(version.text)
    this.#now = version
    this.version++
    this.#documents.changed(this, [change])
  }

  /** Reads the file again if it's another and nothing is unsaved. */
  reload(): void {
    if (this.uri.scheme !== 'file' || this.isDirty || !existsSync(this.uri.fsPath)) return
    const content = readFileSync(this.uri.fsPath, 'utf8')
    if (content === this.#base) return
    this.#base = content
    const text = this.#normal(content)
    this.#become(text, [this.#changeTo(text)])
    this.#saved = this.#now
    this.#documents.changed(this, [])
  }

  /** Doesn't overwrite a file that changed since it was read. */
  async save(): Promise<boolean> {
    if (this.isClosed || this.uri.scheme !== 'file') return false
    if (!this.isDirty) return true
    this.#documents.willSave.fire({ document: this, reason: TextDocumentSaveReason.Manual })
    const file = this.uri.fsPath
    const onDisk = existsSync(file) ? readFileSync(file, 'utf8') : undefined
    const bytes = this.encoding === 'utf8bom' ? `\ufeff${this.#now.text}` : this.#now.text
    if (onDisk !== undefined && onDisk !== this.#base && onDisk !== bytes) return false
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes)
    this.#base = bytes
    this.#saved = this.#now
    this.#documents.saved(this)
    return true
  }

  #become(text: string, changes: readonly unknown[]): void {
    this.#undo.push(this.#now)
    this.#now = { text }
    this.version++
    this.#documents.changed(this, changes)
  }

  #changeTo(text: string) {
    const change = changeOf(this.#now.text, text)
    const rangeOffset = this.offsetAt(change.range.start)
    return { ...change, rangeOffset, rangeLength: this.offsetAt(change.range.end) - rangeOffset }
  }

  #lines(): string[] {
    return this.#now.text.split(this.#end())
  }

  #end(): string {
    return this.eol === EndOfLine.CRLF ? '\r\n' : '\n'
  }

  #normal(text: string): string {
    return text.replace(/^\ufeff/, '').replace(/\r?\n/g, this.#end())
  }
}

export class Documents {
  readonly #open = new Map<string, TextDocument>()
  readonly #contents = new Map<string, ContentProvider>()
  readonly #files = new Map<string, FileProvider>()
  readonly opened = new EventEmitter<TextDocument>()
  readonly didChange = new EventEmitter<{ document: TextDocument; contentChanges: readonly unknown[] }>()
  readonly willSave = new EventEmitter<{ document: TextDocument; reason: number }>()
  readonly didSave = new EventEmitter<TextDocument>()
  readonly closed = new EventEmitter<TextDocument>()

  get all(): TextDocument[] {
    return [...this.#open.values()]
  }

  addContentProvider(scheme: string, provider: ContentProvider): Disposable {
    this.#contents.set(scheme, provider)
    return new Disposable(() => this.#contents.delete(scheme))
  }

  addFileProvider(scheme: string, provider: FileProvider): Disposable {
    this.#files.set(scheme, provider)
    return new Disposable(() => this.#files.delete(scheme))
  }

  /** Like `workspace.openTextDocument`. */
  async open(what?: URI | string | { content?: string; language?: string }): Promise<TextDocument> {
    if (what === undefined || !(typeof what === 'string' || URI.isUri(what))) {
      const uri = URI.from({ scheme: 'untitled', path: `Untitled-${randomUUID().slice(0, 8)}` })
      return this.#add(new TextDocument(this, uri, what?.content ?? '', what?.language))
    }
    const uri = typeof what === 'string' ? URI.file(what) : what
    const known = this.#open.get(uri.toString())
    if (known) return known
    const content = await this.read(uri)
    return this.#open.get(uri.toString()) ?? this.#add(new TextDocument(this, uri, content))
  }

  /** The content of a URI of any scheme. */
  async read(uri: URI): Promise<string> {
    const provider = this.#contents.get(uri.scheme)
    if (provider) return String((await provider.provideTextDocumentContent(uri)) ?? '')
    const files = this.#files.get(uri.scheme)
    if (files) return Buffer.from((await files.readFile(uri)) as Uint8Array).toString('utf8')
    return readFileSync(uri.fsPath, 'utf8')
  }

  close(document: TextDocument): void {
    if (!this.#open.delete(document.uri.toString())) return
    document.isClosed = true
    this.closed.fire(document)
  }

  /** A file changed on disk. */
  notice(path: string): void {
    this.#open.get(URI.file(path).toString())?.reload()
  }

  async applyEdit(edit: WorkspaceEdit): Promise<boolean> {
    for (const uri of edit.created) {
      await mkdir(dirname(uri.fsPath), { recursive: true })
      await writeFile(uri.fsPath, '', { flag: 'wx' })
    }
    for (const [uri, edits] of edit.entries()) (await this.open(uri)).apply(edits)
    return true
  }

  changed(document: TextDocument, contentChanges: readonly unknown[]): void {
    this.didChange.fire({ document, contentChanges })
  }

  saved(document: TextDocument): void {
    this.didSave.fire(document)
  }

  #add(document: TextDocument): TextDocument {
    this.#open.set(document.uri.toString(), document)
    this.opened.fire(document)
    return document
  }
}

/** What differs, as VS Code reports it for a file that changed on disk: without the same lines around it. */
function changeOf(before: string, after: string): { range: Range; text: string } {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const most = Math.min(old.length, now.length) - 1
  let head = 0
  while (head < most && old[head] === now[head]) head++
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  const end = old.length - 1 - tail
  return {
    range: new Range(head, 0, end, (old[end] ?? '').length),
    text: now.slice(head, now.length - tail).join('\n'),
  }
}

/** The name that a tab shows for a file. */
export function nameOf(uri: URI): string {
  return basename(uri.path)
}
