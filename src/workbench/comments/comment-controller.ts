import * as vscode from 'vscode'
import type { DisposableStore } from '../../common/disposable.ts'
import { PLAN_SCHEME } from '../../common/plan-uri.ts'

const ID = 'parley.comments'
/** The URI schemes of documents that an agent can't read or change. */
const NOT_COMMENTED = new Set(['comment', 'output', 'vscode-scm', 'walkThrough', 'walkThroughSnippet'])

/**
 * Lets users comment on lines in editors and diffs. Created at startup, because VS Code asks for the lines as soon as a
 * document is shown; what a comment does is loaded when one is written.
 */
export function createCommentController(own: DisposableStore): vscode.CommentController {
  const controller = own.add(vscode.comments.createCommentController(ID, 'Parley'))
  const ranges: vscode.CommentingRangeProvider = {
    provideCommentingRanges: ({ uri, lineCount }) =>
      vscode.workspace.isTrusted && (uri.scheme === PLAN_SCHEME || (isOn() && !NOT_COMMENTED.has(uri.scheme)))
        ? [new vscode.Range(0, 0, Math.max(0, lineCount - 1), 0)]
        : [],
  }
  // VS Code asks for the ranges again. To ask, it keeps a document open for up to three minutes after its last tab was closed.
  // the module that reads all other settings isn't loaded at startup
  const isOn = () => vscode.workspace.getConfiguration('parley').get('lineComments') === true
  const hasPlan = () => vscode.workspace.textDocuments.some(({ uri }) => uri.scheme === PLAN_SCHEME)
  const update = () => {
    Object.assign(controller, { commentingRangeProvider: isOn() || hasPlan() ? ranges : undefined })
  }
  update()
  const updateForPlan = ({ uri }: vscode.TextDocument) => uri.scheme === PLAN_SCHEME && update()
  own.add(vscode.workspace.onDidOpenTextDocument(updateForPlan))
  own.add(vscode.workspace.onDidCloseTextDocument(updateForPlan))
  own.add(
    vscode.workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration('parley.lineComments')) update()
    }),
  )
  own.add(vscode.workspace.onDidGrantWorkspaceTrust(update))
  return controller
}
