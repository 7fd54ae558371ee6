import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { EditorChanges } from '../../app/changes/editor-changes.ts'
import { hunksAt } from '../../changes/review/hunk-navigation.ts'
import { Owner } from '../../common/disposable.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { baseUri } from './base-files.ts'
import type { ReviewCursor } from './review-cursor.ts'

/** Longer old text is truncated in the hover; the peek view shows all of it. Characters. */
const MAX_HOVER_TEXT = 3000

/** Shows the text that agents changed or deleted at its former place, on hover and in VS Code's peek view. */
export class OldTexts extends Owner implements vscode.HoverProvider {
  readonly #changes: Pick<EditorChanges, 'hunks' | 'pathOf'>
  readonly #cursor: Pick<ReviewCursor, 'shown' | 'isCompared'>

  constructor(
    changes: Pick<EditorChanges, 'hunks' | 'pathOf'>,
    cursor: Pick<ReviewCursor, 'shown' | 'isCompared'>,
  ) {
    super()
    this.#changes = changes
    this.#cursor = cursor
    this.register(vscode.languages.registerHoverProvider({ scheme: 'file' }, this))
  }

  async provideHover(
    { uri, languageId }: vscode.TextDocument,
    { line }: vscode.Position,
  ): Promise<vscode.Hover | undefined> {
    // a diff already shows the old text
    if (this.#cursor.isCompared) return undefined
    const at = { start: line, end: line + 1 }
    const all = await this.#changes.hunks(this.#cursor.shown, pathOnDisk(uri))
    const hunks = hunksAt(all, at).filter(({ before }) => before.length > 0)
    const [first] = hunks
    if (!first) return undefined
    const texts = hunks.map(({ before, after }) => {
      const text = before.join('')
      const cut = text.length > MAX_HOVER_TEXT ? `${text.slice(0, MAX_HOVER_TEXT)}…` : text
      const title =
        after.length > 0 ? l10n.t('Before the agent changed it:') : l10n.t('Deleted by the agent:')
      return new vscode.MarkdownString(title).appendCodeblock(cut.replace(/\r?\n$/, ''), languageId)
    })
    const end = Math.max(first.start + 1, first.start + first.after.length)
    return new vscode.Hover(texts, new vscode.Range(first.start, 0, end - 1, Number.MAX_SAFE_INTEGER))
  }

  /** Opens the peek view of a change with its original text. Resolves to false if the change has no original text. */
  async show(uri: vscode.Uri, line: number): Promise<boolean> {
    const { shown } = this.#cursor
    const path = await this.#changes.pathOf(pathOnDisk(uri))
    if (path === undefined) return false
    const { session } = shown
    const hunks = await this.#changes.hunks(shown, path)
    const [hunk] = hunksAt(hunks, { start: line, end: line + 1 })
    if (!hunk || hunk.before.length === 0) return false
    const earlier = hunks.slice(0, hunks.indexOf(hunk))
    const shift = earlier.reduce((lines, { before, after }) => lines + before.length - after.length, 0)
    const start = hunk.start + shift
    const old = new vscode.Range(start, 0, start + hunk.before.length - 1, Number.MAX_SAFE_INTEGER)
    const where = new vscode.Position(hunk.start, 0)
    await vscode.commands.executeCommand('editor.action.peekLocations', uri, where, [
      new vscode.Location(baseUri(path, session), old),
    ])
    return true
  }
}
