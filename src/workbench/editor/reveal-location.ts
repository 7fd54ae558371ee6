import { stat } from 'node:fs/promises'
import * as vscode from 'vscode'
import type { Roots, ToolCallLocation } from '../../acp/model.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { chooseEditorGroup, type EditorGroup } from '../../editor/agent-location.ts'
import { PathGuard } from '../../editor/path-guard.ts'

/** If locations arrive faster than this, only the last one is shown. Milliseconds. */
const DEBOUNCE_MS = 200
const HIGHLIGHT_MS = 1500
/** Larger files aren't opened automatically. Bytes. */
const MAX_FILE_BYTES = 5_000_000

/** Shows the location where an agent works in a preview editor, without taking the focus. */
export class FollowEditor extends Owner {
  readonly #used = new Map<number, number>()
  readonly #highlight = this.register(
    vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
      borderColor: new vscode.ThemeColor('editor.rangeHighlightBorder'),
      borderStyle: 'solid',
      borderWidth: '0',
      overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.rangeHighlightForeground'),
    }),
  )
  #next: { location: ToolCallLocation; roots: Roots } | undefined
  #timer: NodeJS.Timeout | undefined
  #fade: NodeJS.Timeout | undefined

  constructor() {
    super()
    this.register(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        // selection changes by our commands have no kind
        if (kind !== undefined && kind !== vscode.TextEditorSelectionChangeKind.Command)
          this.#usedBy(textEditor)
      }),
    )
    this.register(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const editor = vscode.window.activeTextEditor
        if (contentChanges.length > 0 && editor?.document === document) this.#usedBy(editor)
      }),
    )
    this.register(
      toDisposable(() => {
        clearTimeout(this.#timer)
        clearTimeout(this.#fade)
      }),
    )
  }

  show(location: ToolCallLocation, roots: Roots): void {
    this.#next = { location, roots }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const next = this.#next
      this.#next = undefined
      // don't report files that can't be shown, since the user didn't ask to open them
      if (next) this.#open(next.location, next.roots).then(undefined, () => {})
    }, DEBOUNCE_MS)
  }

  async #open({ path, line }: ToolCallLocation, roots: Roots): Promise<void> {
    const file = await new PathGuard(roots).check(path)
    if (!file.inside) return
    const info = await stat(file.path)
    if (!info.isFile() || info.size > MAX_FILE_BYTES) return
    const place = chooseEditorGroup(this.#groups(), performance.now())
    if (place === undefined) return
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file.path))
    const editor = await vscode.window.showTextDocument(document, {
      viewColumn: place === 'beside' ? vscode.ViewColumn.Beside : place,
      preview: true,
      preserveFocus: true,
    })
    if (line === undefined) return
    const at = Math.min(Math.max(0, line - 1), document.lineCount - 1)
    const range = document.lineAt(at).range
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport)
    editor.setDecorations(this.#highlight, [range])
    clearTimeout(this.#fade)
    this.#fade = setTimeout(() => {
      for (const one of vscode.window.visibleTextEditors) one.setDecorations(this.#highlight, [])
    }, HIGHLIGHT_MS)
  }

  #groups(): EditorGroup[] {
    return vscode.window.tabGroups.all.map(group => {
      const tab = group.activeTab
      const text = tab?.input instanceof vscode.TabInputText || tab?.input instanceof vscode.TabInputTextDiff
      const usedAt = this.#used.get(group.viewColumn)
      return {
        viewColumn: group.viewColumn,
        isActive: group.isActive,
        shows: !tab ? 'nothing' : text ? 'text' : 'other',
        isDirty: tab?.isDirty ?? false,
        ...(usedAt !== undefined && { usedAt }),
      }
    })
  }

  #usedBy(editor: vscode.TextEditor): void {
    if (editor.viewColumn !== undefined) this.#used.set(editor.viewColumn, performance.now())
  }
}
