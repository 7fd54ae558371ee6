import * as vscode from 'vscode'
import type { PathRules } from '../path-rules.ts'
import type { Documents, OpenDocument } from './documents.ts'

/** The editor's open documents of files on disk. */
export class VscodeDocuments implements Documents {
  readonly #rules: PathRules

  constructor(rules: PathRules) {
    this.#rules = rules
  }

  find(paths: readonly string[]): OpenDocument | undefined {
    const keys = new Set(paths.map(path => this.#rules.key(path)))
    // One file may be open under two spellings of its path: the one with unsaved changes is the one that matters.
    let found: vscode.TextDocument | undefined
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme !== 'file' || document.isClosed) continue
      if (!keys.has(this.#rules.key(document.uri.fsPath))) continue
      if (!found || (document.isDirty && !found.isDirty)) found = document
    }
    return found && openDocument(found)
  }
}

function openDocument(document: vscode.TextDocument): OpenDocument {
  return {
    text: () => document.getText(),
    isDirty: () => document.isDirty,
    isClosed: () => document.isClosed,
    encoding: document.encoding,
    lineEnd: document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n',
    async replace({ start, end, text }, expected) {
      if (document.isClosed || document.getText() !== expected) return false
      const change = new vscode.WorkspaceEdit()
      const range = new vscode.Range(document.positionAt(start), document.positionAt(end))
      change.replace(document.uri, range, text)
      return vscode.workspace.applyEdit(change)
    },
    async save() {
      return document.save()
    },
  }
}
