import * as vscode from 'vscode'
import type { EditorDecisions } from '../../app/changes/editor-decisions.ts'
import { ContextKey } from '../../app/ids.ts'
import { Owner } from '../../common/disposable.ts'
import type { ChangeEditors } from './change-editors.ts'

/**
 * Whether single keys decide about agents' changes: in a review, or the diff of a file, until the user edits its text, which has these
 * keys then. They decide again once the user has saved the text, decided otherwise, or gone to another change or tab. But a decision is
 * undone by the key for text only if the user has edited no text since.
 */
export class ReviewKeys extends Owner {
  readonly #editors: Pick<ChangeEditors, 'shown'>
  /** The tab in which the user edits the text. */
  #edited: vscode.Tab | undefined
  /** The user saves this document. */
  #saving: vscode.TextDocument | undefined
  #areOn = false

  constructor(
    editors: Pick<ChangeEditors, 'shown' | 'onDidChangeReviews'>,
    decisions: Pick<EditorDecisions, 'textEdited'>,
  ) {
    super()
    this.#editors = editors
    this.register(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        // not what an agent writes on disk, nor in another file
        if (document !== vscode.window.activeTextEditor?.document || !document.isDirty) return
        decisions.textEdited()
        this.#edited = activeTab()
        this.#update()
      }),
    )
    this.register(
      vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
        // VS Code may save by itself while the user types
        if (reason === vscode.TextDocumentSaveReason.Manual) this.#saving = document
      }),
    )
    this.register(
      vscode.workspace.onDidSaveTextDocument(document => {
        if (document === this.#saving) this.resume()
      }),
    )
    this.register(editors.onDidChangeReviews(() => this.#update()))
    this.#update()
  }

  /** The user doesn't edit the text anymore. */
  resume(): void {
    this.#edited = undefined
    this.#saving = undefined
    this.#update()
  }

  #update(): void {
    if (this.#edited !== activeTab()) this.#edited = undefined
    const areOn = this.#editors.shown !== undefined && !this.#edited
    if (areOn === this.#areOn) return
    this.#areOn = areOn
    void vscode.commands.executeCommand('setContext', ContextKey.reviewKeys, areOn)
  }
}

function activeTab(): vscode.Tab | undefined {
  return vscode.window.tabGroups.activeTabGroup.activeTab
}
