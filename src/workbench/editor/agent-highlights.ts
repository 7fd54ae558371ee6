import * as vscode from 'vscode'
import type { FileChange } from '../../acp/model.ts'
import { type Disposable, DisposableStore, Owner, toDisposable } from '../../common/disposable.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import { editedLines, type LineRange } from '../../editor/diff-texts.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { watchSessions } from '../../sessions/watch-sessions.ts'
import { onDidChangeSetting, readSetting } from '../settings.ts'

/** Number of tool calls of a turn whose lines are kept. */
const MAX_TOOL_CALLS = 100
/** Lines of longer text aren't searched for. UTF-16 units. */
const MAX_TEXT = 1_000_000
/** Only the latest reads and edits of a file are shown. */
const MAX_PLACES = 30
const REFRESH_MS = 100
/** How long the lines stay after the turn. */
const STAY_MS = 3000

/** The lines that a tool call read or wrote in a file. */
type Highlight = { type: 'read'; line: number } | { type: 'edit'; change: FileChange }

const rules = new PathRules()

/**
 * Highlights the lines that agents read and edit in open editors, until the turn ends. Edits are found by their text, so that highlights
 * move with the text and disappear when the user changes it.
 */
export class AgentHighlights extends Owner {
  readonly #manager: Pick<SessionManager, 'list' | 'onDidChange'>
  /** by session, then by tool call, then by the key of the file's path; newest last */
  readonly #highlights = new Map<OpenSession, Map<string, Map<string, Highlight[]>>>()
  readonly #shown = new Set<vscode.TextEditor>()
  #watching: DisposableStore | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(manager: Pick<SessionManager, 'list' | 'onDidChange'>) {
    super()
    this.#manager = manager
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
    watching.add(watchSessions(this.#manager, open => this.#follow(open, soon)))
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

  #follow(open: OpenSession, changed: () => void): Disposable {
    const { session } = open
    let fade: NodeJS.Timeout | undefined
    const clear = () => {
      if (this.#highlights.delete(open)) changed()
    }
    const following = session.onDidChange(changes => {
      for (const change of changes) {
        if (change.type === 'reset') clear()
        if (change.type === 'head' && change.key === 'activity') {
          clearTimeout(fade)
          if (session.state.activity === 'idle') fade = setTimeout(clear, STAY_MS)
          else if (fade) {
            fade = undefined
            clear()
          }
        }
        // a replay reports old work
        if (change.type !== 'entry' || session.phase !== 'ready') continue
        if (session.agent.capabilities.isRemote) continue
        const entry = session.state.entries[session.state.index.get(change.id) ?? -1]
        if (entry?.kind !== 'tool_call' || entry.startedAt === undefined) continue
        if (this.#note(open, entry)) changed()
      }
    })
    return toDisposable(() => {
      following.dispose()
      clearTimeout(fade)
      clear()
    })
  }

  /** Returns false if the tool call reports no lines. */
  #note(open: OpenSession, call: ToolCallEntry): boolean {
    const highlights = highlightsOf(call, open.plan.setup.cwd)
    const known = this.#highlights.get(open)
    if (highlights.size === 0) return known?.delete(call.toolCallId) ?? false
    const calls = known ?? new Map<string, Map<string, Highlight[]>>()
    this.#highlights.set(open, calls)
    calls.set(call.toolCallId, highlights)
    for (const oldest of calls.keys()) {
      if (calls.size <= MAX_TOOL_CALLS) break
      calls.delete(oldest)
    }
    return true
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
        highlight.type === 'edit' && text.length <= MAX_TEXT ? editedLines(highlight.change, text) : [],
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

  #highlightsIn(file: string): Highlight[] {
    if (this.#highlights.size === 0) return []
    return [...this.#highlights.values()]
      .flatMap(calls => [...calls.values()].flatMap(files => files.get(file) ?? []))
      .slice(-MAX_PLACES)
  }
}

function keyOf(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? rules.key(uri.fsPath) : ''
}

function highlightsOf(
  { toolKind, status, content, locations }: ToolCallEntry,
  cwd: string,
): Map<string, Highlight[]> {
  const highlights = new Map<string, Highlight[]>()
  const add = (path: string, highlight: Highlight) => {
    const key = rules.key(rules.absolute(cwd, path))
    const known = highlights.get(key)
    if (known) known.push(highlight)
    else highlights.set(key, [highlight])
  }
  // a rejected or stopped edit wasn't made
  if (status === 'failed' || status === 'cancelled') return highlights
  for (const block of content) {
    if (block.type !== 'diff') continue
    for (const change of block.changes) add(change.path, { type: 'edit', change })
  }
  if (toolKind === 'read' || toolKind === 'search')
    for (const { path, line } of locations) if (line !== undefined) add(path, { type: 'read', line })
  return highlights
}

/** `undefined` if the line was replaced or removed. VS Code reports changes from the end of the text to its start. */
function movedBy(
  changes: readonly vscode.TextDocumentContentChangeEvent[],
  highlight: Highlight,
): Highlight | undefined {
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
