import * as vscode from 'vscode'
import type { AgentLine, AgentLines } from '../../app/conversation/agent-lines.ts'
import { type Disposable, DisposableStore, Owner, toDisposable } from '../../common/disposable.ts'
import { MAX_HIGHLIGHT_TEXT, MAX_HIGHLIGHTED_CALLS } from '../../common/limits.ts'
import { editedLines, type LineRange } from '../../editor/diff-texts.ts'
import { PathRules } from '../../editor/path-rules.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { onDidChangeSetting, readSetting } from '../settings.ts'

/** Only the latest reads and edits of a file are shown. */
const MAX_PLACES = 30
const REFRESH_MS = 100

type FollowLines = (listener: (lines: AgentLines) => void) => Disposable

const rules = new PathRules()

/**
 * Highlights the lines that agents read and edit in open editors, until the turn ends. Edits are found by their text, so that highlights
 * move with the text and disappear when the user changes it.
 */
export class AgentHighlights extends Owner {
  readonly #followLines: FollowLines
  /** by session, then by tool call, then by the key of the file's path; newest last */
  readonly #highlights = new Map<string, Map<string, Map<string, AgentLine[]>>>()
  readonly #shown = new Set<vscode.TextEditor>()
  #watching: DisposableStore | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(followLines: FollowLines) {
    super()
    this.#followLines = followLines
    this.register(onDidChangeSetting('agentLineHighlights', () => this.#turnOnOrOff()))
    this.register(toDisposable(() => clearTimeout(this.#timer)))
    this.#turnOnOrOff()
  }

  #turnOnOrOff(): void {
    const on = readSetting('agentLineHighlights')
    if (on === (this.#watching !== undefined)) return
    if (this.#watching) this.owned.release(this.#watching)
    this.#watching = undefined
    if (on) this.#watching = this.register(this.#watch())
  }

  #watch(): DisposableStore {
    const watching = new DisposableStore()
    const read = watching.add(lineDecoration('read'))
    const edited = watching.add(lineDecoration('edited'))
    const refresh = () => {
      this.#timer = undefined
      this.#refresh(read, edited)
    }
    const soon = () => {
      this.#timer ??= setTimeout(refresh, REFRESH_MS)
    }
    watching.add(
      this.#followLines(lines => {
        this.#note(lines)
        soon()
      }),
    )
    watching.add(
      vscode.window.onDidChangeVisibleTextEditors(() => {
        if (this.#highlights.size > 0) soon()
      }),
    )
    watching.add(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (this.#highlights.size === 0 || contentChanges.length === 0) return
        this.#moveReads(keyOf(document.uri), contentChanges)
        soon()
      }),
    )
    watching.add(
      toDisposable(() => {
        this.#highlights.clear()
        this.#shown.clear()
      }),
    )
    return watching
  }

  #note({ session, ...given }: AgentLines): void {
    if (given.toolCallId === undefined) {
      this.#highlights.delete(session)
      return
    }
    const calls = this.#highlights.get(session) ?? new Map<string, Map<string, AgentLine[]>>()
    this.#highlights.set(session, calls)
    const { toolCallId, cwd, lines } = given
    const files = new Map<string, AgentLine[]>()
    for (const line of lines) {
      const key = rules.key(rules.absolute(cwd, line.path))
      files.set(key, [...(files.get(key) ?? []), line])
    }
    calls.set(toolCallId, files)
    for (const oldest of calls.keys()) {
      if (calls.size <= MAX_HIGHLIGHTED_CALLS) break
      calls.delete(oldest)
    }
  }

  #moveReads(file: string, changes: readonly vscode.TextDocumentContentChangeEvent[]): void {
    for (const calls of this.#highlights.values())
      for (const files of calls.values()) {
        const highlights = files.get(file)
        if (highlights)
          files.set(
            file,
            highlights.flatMap(highlight => movedBy(changes, highlight) ?? []),
          )
      }
  }

  #refresh(read: vscode.TextEditorDecorationType, edited: vscode.TextEditorDecorationType): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const highlights = this.#highlightsIn(keyOf(editor.document.uri))
      if (highlights.length === 0 && !this.#shown.has(editor)) continue
      if (highlights.length > 0) this.#shown.add(editor)
      else this.#shown.delete(editor)
      const text = editor.document.getText()
      const edits = highlights.flatMap(highlight =>
        highlight.type === 'edit' && text.length <= MAX_HIGHLIGHT_TEXT
          ? editedLines(highlight.change, text)
          : [],
      )
      const isEdited = (line: number) => edits.some(({ start, end }) => line >= start && line < end)
      const reads = highlights.flatMap(highlight =>
        highlight.type === 'read' && !isEdited(highlight.line - 1)
          ? [{ start: highlight.line - 1, end: highlight.line }]
          : [],
      )
      editor.setDecorations(read, rangesIn(editor.document, reads))
      editor.setDecorations(edited, rangesIn(editor.document, edits))
    }
    const visible = new Set(vscode.window.visibleTextEditors)
    for (const editor of this.#shown) if (!visible.has(editor)) this.#shown.delete(editor)
  }

  #highlightsIn(file: string): AgentLine[] {
    if (this.#highlights.size === 0) return []
    return [...this.#highlights.values()]
      .flatMap(calls => [...calls.values()].flatMap(files => files.get(file) ?? []))
      .slice(-MAX_PLACES)
  }
}

function keyOf(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? rules.key(pathOnDisk(uri)) : ''
}

/** Returns the line after changes of the text; `undefined` if it was replaced. VS Code reports changes from the text's end to its start. */
function movedBy(
  changes: readonly vscode.TextDocumentContentChangeEvent[],
  highlight: AgentLine,
): AgentLine | undefined {
  if (highlight.type !== 'read') return highlight
  let { line } = highlight
  for (const { range, text } of changes) {
    const at = line - 1
    if (at < range.start.line) continue
    const added = text.split('\n').length - 1
    const removed = range.end.line - range.start.line
    if (at > range.end.line || (at === range.end.line && removed > 0 && range.end.character === 0))
      line += added - removed
    else if (at > range.start.line || removed > 0) return undefined
  }
  return { ...highlight, line }
}

function rangesIn(document: vscode.TextDocument, lines: readonly LineRange[]): vscode.Range[] {
  const last = document.lineCount - 1
  return lines
    .filter(({ start }) => start <= last)
    .map(({ start, end }) => new vscode.Range(start, 0, Math.min(end - 1, last), 0))
}

function lineDecoration(what: 'read' | 'edited'): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(`parley.${what}LineBackground`),
    borderStyle: 'solid',
    borderWidth: '0 0 0 2px',
    borderColor: new vscode.ThemeColor(`parley.${what}LineBorder`),
    overviewRulerColor: new vscode.ThemeColor(`parley.${what}LineBorder`),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  })
}
