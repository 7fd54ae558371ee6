import * as vscode from 'vscode'
import type { EditorChanges, WhichChanges } from '../../app/changes/editor-changes.ts'
import type { Place } from '../../app/changes/editor-decisions.ts'
import type { HunkPosition } from '../../changes/review/hunk-navigation.ts'
import { Owner } from '../../common/disposable.ts'
import { EDITOR_LATE_RELOAD_MS, EDITOR_RELOAD_MS, REVIEW_SCROLL_MS } from '../../common/limits.ts'
import { BASE_SCHEME, filePathOf } from './base-files.ts'
import type { ChangeEditors } from './change-editors.ts'

type ShownChanges = Pick<EditorChanges, 'file' | 'first' | 'hunks' | 'pathOf' | 'text'>

/** The user's position among agents' changes. Moves to another change in the same kind of editor: a file, a diff or a review. */
export class ReviewCursor extends Owner {
  readonly #changes: ShownChanges
  readonly #editors: ChangeEditors
  /**
   * The last position of the cursor in a review. Extensions can't move the focus between the files of a review, so this is the user's
   * position until they do something in an editor.
   */
  #inReview: { tab: vscode.Tab | undefined; position: HunkPosition } | undefined
  /** the position that the last command moved the user to, until they move */
  #led: HunkPosition | undefined

  readonly #here = this.register(
    vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      outline: '1px solid',
      outlineColor: new vscode.ThemeColor('focusBorder'),
    }),
  )

  constructor(changes: ShownChanges, editors: ChangeEditors) {
    super()
    this.#changes = changes
    this.#editors = editors
    this.register(
      vscode.window.onDidChangeTextEditorSelection(({ kind, selections: [selection] }) => {
        // VS Code has loaded a file
        if (kind === undefined) return
        if (kind !== vscode.TextEditorSelectionChangeKind.Command) this.#leave()
        // such as Go to Line
        else if (selection?.active.line !== this.#led?.line) this.#led = undefined
      }),
    )
    this.register(editors.onDidOpenReview(() => void this.#begin()))
    this.register(
      vscode.window.onDidChangeActiveTextEditor(editor => {
        if (editor) this.#leave()
      }),
    )
  }

  override dispose(): void {
    this.#led = undefined
    super.dispose()
  }

  /** Takes the cursor of the active editor as the user's position again. */
  #leave(): void {
    this.#led = undefined
    if (!this.#inReview) return
    this.#inReview = undefined
    for (const one of vscode.window.visibleTextEditors) one.setDecorations(this.#here, [])
  }

  /** The changes that the user reviews: the changes in the shown review, or else of all sessions. */
  get scope(): WhichChanges {
    return this.#editors.shownReview ?? {}
  }

  /** The changes that commands apply to: in a session's diff or review, the session's; in other editors, all. */
  get shown(): WhichChanges {
    return this.#editors.shown ?? {}
  }

  /** Whether the active editor also shows the text before the changes. */
  get isCompared(): boolean {
    return this.#editors.shown !== undefined
  }

  /** Resolves to the file and lines at the user's position; without lines, to the whole file. */
  async at(): Promise<Place | undefined> {
    const went = this.#inReview
    if (went && went.tab === activeTab()) {
      const { path, id } = went.position
      // an agent may have changed lines above the position since
      const hunks = await this.#changes.hunks(this.shown, path)
      const line = hunks.find(hunk => hunk.id === id)?.start ?? went.position.line
      return this.#place(path, line, line + 1)
    }
    const editor = vscode.window.activeTextEditor
    const { start, end } = editor?.selection ?? {}
    const path = editor && (await this.pathIn(editor.document.uri))
    if (start && end && path !== undefined) return this.#place(path, start.line, end.line + 1)
    const review = this.#editors.shownReview
    const first = review && (await this.#changes.first(review))
    if (first) return this.#place(first.path, first.line, first.line + 1)
    // an image, a notebook, a binary file
    const uri = uriOf(activeTab())
    const shown = uri && (await this.pathIn(uri))
    return shown === undefined ? undefined : { path: shown }
  }

  async #place(path: string, start: number, end: number): Promise<Place> {
    const file = await this.#changes.file(this.shown, path)
    return file?.status === 'deleted' || file?.opaque ? { path } : { path, start, end }
  }

  async position(): Promise<HunkPosition | undefined> {
    const at = await this.at()
    return at && { path: at.path, line: at.start ?? 0 }
  }

  /** Resolves to the path of the file that an editor shows, with agents' changes or without them. */
  async pathIn(uri: vscode.Uri): Promise<string | undefined> {
    if (uri.scheme !== 'file' && uri.scheme !== BASE_SCHEME) return undefined
    const path = filePathOf(uri)
    return (await this.#changes.pathOf(path)) ?? path
  }

  /** Moves to the first change of a review that the user opened. */
  async #begin(): Promise<void> {
    const first = await this.#changes.first(this.scope)
    if (!first) return
    if (editorsInReview().length === 0)
      await happens(vscode.window.onDidChangeVisibleTextEditors, REVIEW_SCROLL_MS)
    if (this.#editors.shownReview) await this.#goInReview(first)
  }

  async go(position: HunkPosition): Promise<void> {
    this.#led = position
    const end = performance.now() + EDITOR_RELOAD_MS
    const isLoaded = await this.#reloaded(position.path, () => end - performance.now())
    // a later key press has led the user elsewhere
    if (this.#led !== undefined && this.#led !== position) return
    await this.#show(position)
    if (!isLoaded) this.#stay(position).catch(() => {})
  }

  /**
   * Puts the cursor at the change again when the editor has loaded a write to the file after all, unless the user has moved or typed since.
   * The focus stays where it is.
   */
  async #stay(position: HunkPosition): Promise<void> {
    this.#led = position
    const { path, id } = position
    const end = performance.now() + EDITOR_LATE_RELOAD_MS
    const isHere = () => this.#led === position
    if (!(await this.#reloaded(path, () => (isHere() ? end - performance.now() : 0)))) return
    const hunks = await this.#changes.hunks(this.shown, path)
    const line = id === undefined ? position.line : hunks.find(hunk => hunk.id === id)?.start
    const inReview = this.#editors.shownReview && (await this.#innerEditors()).get(path)
    const active = vscode.window.activeTextEditor
    const editor =
      inReview ?? (active && (await this.pathIn(active.document.uri)) === path ? active : undefined)
    if (!editor || editor.document.isDirty || line === undefined || !isHere()) return
    putCursor(editor, line)
    if (inReview) this.#mark(inReview)
  }

  async #show(position: HunkPosition): Promise<void> {
    const review = this.#editors.shownReview
    const { path, line } = position
    if (review) {
      const isShown = (await this.#goInReview(position)) || (await this.#editors.addToReview(path))
      // the user stays in the review even if it can't show the file
      if (!isShown || !(await this.#goInReview(position))) this.#inReview = { tab: activeTab(), position }
      return
    }
    const range = new vscode.Range(line, 0, line, 0)
    const input = activeTab()?.input
    const diff =
      input instanceof vscode.TabInputTextDiff && input.original.scheme === BASE_SCHEME ? input : undefined
    const file = await this.#changes.file({}, path)
    const isWhole = async () => (await this.#changes.hunks({}, path)).length === 0
    if (file && (diff || file.status === 'deleted' || (await isWhole()))) {
      const session = diff && new URLSearchParams(diff.original.query).get('session')
      const inSession = session ? await this.#changes.file({ session }, path) : file
      await this.#editors.open(session && inSession ? session : undefined, inSession ?? file, range)
      return
    }
    const shown = await vscode.window.showTextDocument(vscode.Uri.file(path), { selection: range })
    shown.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport)
  }

  /** Waits until the editor has loaded a write to the file, which moves the cursors. Resolves to false if the time is up before. */
  async #reloaded(path: string, leftMs: () => number): Promise<boolean> {
    const document = await this.#documentOf(path)
    if (!document) return true
    const plain = (text: string | undefined) => text?.replaceAll('\r\n', '\n')
    const changed: vscode.Event<unknown> = listener =>
      vscode.workspace.onDidChangeTextDocument(event => {
        if (event.document === document) listener(event)
      })
    for (;;) {
      const text = await this.#changes.text(path)
      if (document.isDirty || plain(document.getText()) === plain(text)) return true
      const ms = leftMs()
      if (ms <= 0 || document.isClosed) return false
      await happens(changed, ms)
    }
  }

  async #documentOf(path: string): Promise<vscode.TextDocument | undefined> {
    const files = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file')
    const paths = await Promise.all(files.map(({ uri }) => this.pathIn(uri)))
    return files[paths.indexOf(path)]
  }

  /** Focuses the file, which scrolls to it: VS Code doesn't reveal lines of a file that fits into the review but is out of view. */
  async #focusInReview(path: string): Promise<void> {
    if (!(await this.#editors.hasArrows)) return
    const passed = new Set<string | undefined>()
    for (;;) {
      const editor = editorsInReview().find(one => one === vscode.window.activeTextEditor)
      const here = editor && (await this.pathIn(editor.document.uri))
      if (here === path || passed.has(here)) return
      passed.add(here)
      const isBefore = here === undefined || here < path
      const edge = isBefore ? (editor?.document.lineCount ?? 1) - 1 : 0
      if (editor) editor.selection = new vscode.Selection(edge, 0, edge, 0)
      const focused = happens(vscode.window.onDidChangeActiveTextEditor, REVIEW_SCROLL_MS)
      await vscode.commands.executeCommand(
        isBefore ? 'multiDiffEditor.goToNextChange' : 'multiDiffEditor.goToPreviousChange',
      )
      if (!(await focused)) return
    }
  }

  /** Moves to a position in the review; resolves to false if the review doesn't show the file. */
  async #goInReview(position: HunkPosition): Promise<boolean> {
    const { path, line } = position
    const tab = activeTab()
    await this.#focusInReview(path)
    for (;;) {
      const inner = await this.#innerEditors()
      const editor = inner.get(path)
      if (editor) {
        putCursor(editor, line)
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

  /** Resolves to the editors of the files in the shown review, by path. */
  async #innerEditors(): Promise<Map<string, vscode.TextEditor>> {
    const { scope } = this
    const found = await Promise.all(
      editorsInReview().map(async (editor): Promise<Array<[string, vscode.TextEditor]>> => {
        const { uri } = editor.document
        const path = await this.pathIn(uri)
        if (path === undefined) return []
        // a deleted file has an editor with its old text, and a file that isn't text has a summary
        const isShown =
          uri.scheme === 'file' ||
          new URLSearchParams(uri.query).get('summary') === 'now' ||
          (await this.#changes.file(scope, path))?.status === 'deleted'
        return isShown ? [[path, editor]] : []
      }),
    )
    return new Map(found.flat())
  }
}

function putCursor(editor: vscode.TextEditor, line: number): void {
  editor.selection = new vscode.Selection(line, 0, line, 0)
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport)
}

/** Returns the text editors in a review, the only editors without a view column. */
function editorsInReview(): vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter(
    ({ viewColumn, document: { uri } }) =>
      viewColumn === undefined && (uri.scheme === 'file' || uri.scheme === BASE_SCHEME),
  )
}

/** Returns the URI of the file in a tab without a text editor. */
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

/** Resolves to whether the event fires in time. */
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
