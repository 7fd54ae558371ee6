import * as vscode from 'vscode'
import type { EditorDecisions } from '../../app/changes/editor-decisions.ts'
import { ContextKey } from '../../app/ids.ts'
import { Owner } from '../../common/disposable.ts'
import type { ChangeEditors } from './change-editors.ts'

/**
 * Controls whether single keys decide about agents' changes: in a review, or the diff of a file, until the user edits the text, which then
 * gets the keys. The keys decide again once the user has saved the text, decided in another way, or moved to another change or tab. The
 * key that undoes text undoes a decision only if the user has edited no text since.
 */
export class ReviewKeys extends Owner {
  readonly #editors: Pick<ChangeEditors, 'shown'>
  /** the tab in which the user edits the text */
  #edited: vscode.Tab | undefined
  /** the document that the user is saving */
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
        // ignore changes that an agent writes to disk, and changes of other files
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

  /** Lets the keys decide again, because the user no longer edits the text. */
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
