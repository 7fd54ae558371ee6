import * as vscode from 'vscode'
import type { DisposableStore } from '../../common/disposable.ts'

const ID = 'parley.comments'
/** Documents that aren't text which an agent could look at or change. */
const NOT_COMMENTED = new Set(['comment', 'output', 'vscode-scm', 'walkThrough', 'walkThroughSnippet'])

/**
 * Lets users comment on lines in editors and diffs. Created at startup, because VS Code asks for the lines as soon as a
 * document is shown; what a comment does is loaded when one is written.
 */
export function createCommentController(own: DisposableStore): vscode.CommentController {
  const controller = own.add(vscode.comments.createCommentController(ID, 'Parley'))
  const commentingRangeProvider: vscode.CommentingRangeProvider = {
    provideCommentingRanges({ uri, lineCount }) {
      // the module that reads all other settings isn't loaded at startup
      const isOn = vscode.workspace.getConfiguration('parley').get('lineComments') !== false
      if (!isOn || !vscode.workspace.isTrusted || NOT_COMMENTED.has(uri.scheme)) return []
      return [new vscode.Range(0, 0, Math.max(0, lineCount - 1), 0)]
    },
  }
  // VS Code asks again
  const update = () => Object.assign(controller, { commentingRangeProvider })
  update()
  own.add(
    vscode.workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration('parley.lineComments')) update()
    }),
  )
  own.add(vscode.workspace.onDidGrantWorkspaceTrust(update))
  return controller
}
