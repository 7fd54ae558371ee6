import * as vscode from 'vscode'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import { type HunkPosition, hunkPositions } from '../../changes/review/hunk-navigation.ts'
import { ChangeScope } from '../../changes/session-changes.ts'
import { Owner } from '../../common/disposable.ts'
import { isText } from '../../common/file-names.ts'
import { EDITOR_RELOAD_MS, REVIEW_SCROLL_MS } from '../../common/limits.ts'
import { BASE_SCHEME, filePathOf } from './base-files.ts'
import type { ChangeEditors } from './change-editors.ts'

/** The user's position among agents' changes. Moves to another change in the same kind of editor: a file, a diff or a review. */
export class ReviewCursor extends Owner {
  readonly #tracker: ChangeTracker
  readonly #editors: ChangeEditors
  readonly #all: ChangeScope
  /**
   * The last position of the cursor in a review. Extensions can't move the focus between the files of a review, so this is the user's
   * position until they do something there.
   */
  #inReview: { tab: vscode.Tab | undefined; position: HunkPosition } | undefined

  readonly #here = this.register(
    vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      outline: '1px solid',
      outlineColor: new vscode.ThemeColor('focusBorder'),
    }),
  )

  constructor(tracker: ChangeTracker, editors: ChangeEditors) {
    super()
    this.#tracker = tracker
    this.#editors = editors
    this.#all = new ChangeScope(tracker)
    this.register(
      vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
        if (kind !== undefined && kind !== vscode.TextEditorSelectionChangeKind.Command) this.#leave()
      }),
    )
    this.register(editors.onDidOpenReview(() => void this.#begin()))
    this.register(
      vscode.window.onDidChangeActiveTextEditor(editor => {
        if (editor) this.#leave()
      }),
    )
  }

  /** The user is where the cursor of an editor is. */
  #leave(): void {
    if (!this.#inReview) return
    this.#inReview = undefined
    for (const one of vscode.window.visibleTextEditors) one.setDecorations(this.#here, [])
  }

  /** The changes that the user reviews: those of the shown review, else those of all sessions. */
  get scope(): ChangeScope {
    return this.#editors.shownReview ?? this.#all
  }

  /** The changes that commands apply to: those in the active editor, which in a session's diff are the session's. */
  get shown(): ChangeScope {
    return this.#editors.shown ?? this.#all
  }

  /** Whether the active editor also shows the text before the changes. */
  get isCompared(): boolean {
    return this.#editors.shown !== undefined
  }

  /** In the order of review. */
  get positions(): HunkPosition[] {
    return hunkPositions(this.scope).filter(({ path }) => isText(path))
  }

  /** The file and lines that the user is at; `end` is exclusive. Without lines, the user is at the whole file. */
  get at(): Place | undefined {
    const went = this.#inReview
    if (went && went.tab === activeTab()) {
      const { path, id } = went.position
      // an agent may have changed lines above it since
      const line = this.shown.hunks(path).find(hunk => hunk.id === id)?.start ?? went.position.line
      return this.#place(path, line, line + 1)
    }
    const editor = vscode.window.activeTextEditor
    const path = editor && this.pathIn(editor.document.uri)
    if (editor && path !== undefined)
      return this.#place(path, editor.selection.start.line, editor.selection.end.line + 1)
    const [first] = this.#editors.shownReview ? this.positions : []
    if (first) return this.#place(first.path, first.line, first.line + 1)
    // an image, a notebook, a binary file
    const uri = uriOf(activeTab())
    const shown = uri && this.pathIn(uri)
    return shown === undefined ? undefined : { path: shown }
  }

  #place(path: string, start: number, end: number): Place {
    const file = this.shown.file(path)
    return file?.status === 'deleted' || file?.opaque ? { path } : { path, start, end }
  }

  get position(): HunkPosition | undefined {
    const { at } = this
    return at && { path: at.path, line: at.start ?? 0 }
  }

  /** The file that an editor shows, with agents' changes or without them. */
  pathIn(uri: vscode.Uri): string | undefined {
    if (uri.scheme !== 'file' && uri.scheme !== BASE_SCHEME) return undefined
    const path = filePathOf(uri)
    return this.#tracker.views.at(path)?.path ?? path
  }

  /** A review begins at its first change. */
  async #begin(): Promise<void> {
    const [first] = this.positions
    if (!first) return
    if (this.#innerEditors().size === 0)
      await happens(vscode.window.onDidChangeVisibleTextEditors, REVIEW_SCROLL_MS)
    if (this.#editors.shownReview) await this.#goInReview(first)
  }

  async go(position: HunkPosition): Promise<void> {
    const { scope } = this
    const { path, line } = position
    await this.#reloaded(path)
    if (scope !== this.#all) {
      const isShown = (await this.#goInReview(position)) || (await this.#editors.addToReview(path))
      // the user stays in the review even if it can't show the file
      if (!isShown || !(await this.#goInReview(position))) this.#inReview = { tab: activeTab(), position }
      return
    }
    const range = new vscode.Range(line, 0, line, 0)
    const input = activeTab()?.input
    const diff =
      input instanceof vscode.TabInputTextDiff && input.original.scheme === BASE_SCHEME ? input : undefined
    const file = scope.file(path)
    if (file && (diff || file.status === 'deleted' || scope.hunks(path).length === 0)) {
      const session = diff && new URLSearchParams(diff.original.query).get('session')
      const ofSession = session ? new ChangeScope(this.#tracker, session) : this.#all
      const inSession = ofSession.file(path)
      await this.#editors.open(inSession && ofSession.session, inSession ?? file, range)
      return
    }
    const shown = await vscode.window.showTextDocument(vscode.Uri.file(path), { selection: range })
    shown.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport)
  }

  /** Waits until the editor has loaded a write to the file, which moves the cursors. */
  async #reloaded(path: string): Promise<void> {
    const document = vscode.workspace.textDocuments.find(
      ({ uri }) => uri.scheme === 'file' && this.pathIn(uri) === path,
    )
    const plain = (text: string | undefined) => text?.replaceAll('\r\n', '\n')
    const isOld = () =>
      document && !document.isDirty && plain(document.getText()) !== plain(this.#tracker.views.at(path)?.text)
    const end = performance.now() + EDITOR_RELOAD_MS
    while (isOld() && performance.now() < end)
      await happens(vscode.workspace.onDidChangeTextDocument, end - performance.now())
  }

  /** Returns false if the review doesn't show the file. */
  async #goInReview(position: HunkPosition): Promise<boolean> {
    const { path, line } = position
    const tab = activeTab()
    for (;;) {
      const inner = this.#innerEditors()
      const editor = inner.get(path)
      if (editor) {
        editor.selection = new vscode.Selection(line, 0, line, 0)
        editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport)
        this.#mark(editor)
        this.#inReview = { tab, position }
        return true
      }
      // a review has editors only for the files in its viewport, so scroll to the next file in that direction
      const shown = [...inner.keys()].sort()
      const before = shown.findLast(one => one < path)
      const nearest = inner.get(before ?? shown[0] ?? '')
      if (!nearest) return false
      const edge = before === undefined ? 0 : nearest.document.lineCount - 1
      const scrolled = happens(vscode.window.onDidChangeVisibleTextEditors, REVIEW_SCROLL_MS)
      nearest.revealRange(
        new vscode.Range(edge, 0, edge, 0),
        before === undefined ? vscode.TextEditorRevealType.InCenter : vscode.TextEditorRevealType.AtTop,
      )
      if (!(await scrolled) || activeTab() !== tab) return false
    }
  }

  /** Marks the line, since the cursor isn't shown in an editor without the focus. */
  #mark(editor: vscode.TextEditor): void {
    for (const one of vscode.window.visibleTextEditors) if (one !== editor) one.setDecorations(this.#here, [])
    editor.setDecorations(this.#here, [editor.selection])
  }

  /** The editors of the files in the shown review, by path. Only they are in no column. */
  #innerEditors(): Map<string, vscode.TextEditor> {
    const editors = new Map<string, vscode.TextEditor>()
    const { scope } = this
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.viewColumn !== undefined) continue
      const { uri } = editor.document
      const path = this.pathIn(uri)
      if (path === undefined) continue
      // a deleted file has an editor with its old text, and a file that isn't text has a summary
      const isShown =
        uri.scheme === 'file' ||
        new URLSearchParams(uri.query).get('summary') === 'now' ||
        scope.file(path)?.status === 'deleted'
      if (isShown) editors.set(path, editor)
    }
    return editors
  }
}

/** Where the user is in a file. */
export type Place =
  | { path: string; start: number; end: number }
  | { path: string; start?: never; end?: never }

/** The file of a tab without a text editor. */
function uriOf(tab: vscode.Tab | undefined): vscode.Uri | undefined {
  const input = tab?.input
  if (
    input instanceof vscode.TabInputText ||
    input instanceof vscode.TabInputCustom ||
    input instanceof vscode.TabInputNotebook
  )
    return input.uri
  return input instanceof vscode.TabInputTextDiff || input instanceof vscode.TabInputNotebookDiff
    ? input.modified
    : undefined
}

function activeTab(): vscode.Tab | undefined {
  return vscode.window.tabGroups.activeTabGroup.activeTab
}

/** Resolves to false if it doesn't happen in time. */
function happens(event: vscode.Event<unknown>, timeoutMs: number): Promise<boolean> {
  return new Promise(resolve => {
    const end = (happened: boolean) => {
      clearTimeout(timer)
      listener.dispose()
      resolve(happened)
    }
    const timer = setTimeout(() => end(false), timeoutMs)
    const listener = event(() => end(true))
  })
}
