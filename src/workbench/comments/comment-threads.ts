import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { type CommandHandlers, CommandId, CommentMenuId } from '../../app/ids.ts'
import type { CommentAction, CommentThreads, ShownComment } from '../../app/workbench.ts'
import { Owner } from '../../common/disposable.ts'
import { UnavailableError } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import { PLAN_SCHEME } from '../../common/plan-uri.ts'
import { MAX_COMMENT_LENGTH } from '../../conversation/attachment.ts'
import { linesAfter, linesOf } from '../../editor/comment-lines.ts'
import { readSetting } from '../settings.ts'

/** Typing above a comment moves it with every line; other places are updated after this pause. Milliseconds. */
const REST_MS = 200

interface Thread {
  comment: ShownComment
  thread: vscode.CommentThread
  /** the comment as VS Code shows it, which changes while the user edits it */
  shown: vscode.Comment & { id: string }
}

/** The user's comments as VS Code shows them: one thread each, which moves with its lines. */
export class VsCodeComments extends Owner implements CommentThreads {
  readonly #controller: vscode.CommentController
  readonly #threads = new Map<string, Thread>()
  readonly #act = this.register(new Emitter<CommentAction>())
  readonly #moved = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  readonly onDidAct = this.#act.event

  constructor(controller: vscode.CommentController) {
    super()
    this.#controller = controller
    controller.options = {
      prompt: l10n.t('Comment for the agent'),
      placeHolder: l10n.t('What should the agent do here?'),
    }
    this.register(vscode.workspace.onDidChangeTextDocument(event => this.#documentChanged(event)))
    this.register(vscode.workspace.onDidRenameFiles(({ files }) => this.#filesRenamed(files)))
    this.register({
      dispose: () => {
        clearTimeout(this.#timer)
        for (const { thread } of this.#threads.values()) thread.dispose()
      },
    })
  }

  show(given: ShownComment): void {
    const known = this.#threads.get(given.id)
    const isElsewhere = known && known.comment.uri !== given.uri
    if (isElsewhere) known.thread.dispose()
    const comment =
      known && !isElsewhere && this.#moved.has(given.id)
        ? { ...given, startLine: known.comment.startLine, endLine: known.comment.endLine }
        : given
    const thread =
      known && !isElsewhere
        ? known.thread
        : this.#controller.createCommentThread(vscode.Uri.parse(comment.uri), rangeOf(comment), [])
    this.#draw(comment, thread, known?.comment)
  }

  hide(id: string): void {
    this.#threads.get(id)?.thread.dispose()
    this.#threads.delete(id)
    this.#moved.delete(id)
  }

  async reveal(id: string): Promise<void> {
    const { comment, thread } = this.#threads.get(id) ?? {}
    if (!comment || !thread) throw new Error(l10n.t('This comment was removed.'))
    const uri = vscode.Uri.parse(comment.uri)
    const selection = rangeOf(comment)
    try {
      await vscode.window.showTextDocument(uri, { selection: new vscode.Range(selection.end, selection.end) })
    } catch {
      throw new Error(l10n.t("{0} can't be opened.", nameOf(comment.uri)))
    }
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded
  }

  /** The buttons of the threads. Their arguments come from VS Code, which passes the thread or the comment. */
  get commands() {
    const unavailable = () =>
      new UnavailableError(l10n.t('Use the buttons of a comment to run this command.'))
    const found = (one: Thread | undefined) => {
      if (!one) throw unavailable()
      return one
    }
    const known = (given: unknown) => this.#threads.get(String((given as { id?: unknown } | null)?.id))
    const ofComment = (given: unknown) => found(known(given))
    const ofAny = (given: unknown) =>
      found([...this.#threads.values()].find(one => one.thread === given) ?? known(given))
    return {
      [CommandId.addComment]: async () => {
        if (!vscode.workspace.isTrusted)
          throw new UnavailableError(
            l10n.t("Agents don't start in Restricted Mode. Trust this workspace first."),
          )
        const editor = vscode.window.activeTextEditor
        if (!editor) throw new UnavailableError(l10n.t('Open a file in an editor first.'))
        const { start, end, isSingleLine } = editor.selection
        // a selection that ends before the first character of a line doesn't include that line
        const last = isSingleLine || end.character > 0 ? end.line : end.line - 1
        const hasInput = readSetting('lineComments') || editor.document.uri.scheme === PLAN_SCHEME
        if (!hasInput) {
          // VS Code's own input needs lines that are marked for comments
          const { uri } = editor.document
          const value = await vscode.window.showInputBox({
            title: l10n.t('Comment for the agent'),
            placeHolder: l10n.t('What should the agent do here?'),
          })
          if (!value?.trim()) return
          const lines = new vscode.Range(start.line, 0, last, 0)
          await this.#add(this.#controller.createCommentThread(uri, lines, []), value)
          return
        }
        const range = {
          ...{ startLineNumber: start.line + 1, startColumn: 1 },
          ...{ endLineNumber: last + 1, endColumn: 1 },
        }
        await vscode.commands.executeCommand('workbench.action.addComment', { range, fileComment: false })
      },
      [CommentMenuId.add]: async (given: unknown) => {
        const { thread, text } = (given ?? {}) as Partial<vscode.CommentReply>
        if (!thread || typeof text !== 'string') throw unavailable()
        if (text.trim() === '') throw new UnavailableError(l10n.t('The comment is empty.'))
        await this.#add(thread, text)
        // VS Code removes the input without focusing another element, so the editor's keys wouldn't work
        await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup')
      },
      [CommentMenuId.edit]: (given: unknown) => {
        const { shown, thread } = ofComment(given)
        shown.mode = vscode.CommentMode.Editing
        thread.comments = [shown]
      },
      [CommentMenuId.save]: (given: unknown) => {
        const edited = ofComment(given)
        const { body } = given as vscode.Comment
        const text = (typeof body === 'string' ? body : body.value).slice(0, MAX_COMMENT_LENGTH)
        if (text.trim() === '') throw new UnavailableError(l10n.t('The comment is empty.'))
        edited.shown.mode = vscode.CommentMode.Preview
        this.#act.fire({ type: 'edit', id: edited.comment.id, text })
        // the comment may have been sent meanwhile, and is then shown unchanged
        this.#draw(edited.comment, edited.thread)
      },
      [CommentMenuId.cancel]: (given: unknown) => {
        const { comment, thread } = ofComment(given)
        this.#draw(comment, thread)
      },
      [CommentMenuId.delete]: (given: unknown) => {
        this.#act.fire({ type: 'delete', id: ofAny(given).comment.id })
      },
      [CommentMenuId.resolve]: (given: unknown) => {
        this.#act.fire({ type: 'resolve', id: ofAny(given).comment.id })
      },
      [CommentMenuId.reopen]: (given: unknown) => {
        this.#act.fire({ type: 'reopen', id: ofAny(given).comment.id })
      },
    } satisfies Partial<CommandHandlers>
  }

  async #add(thread: vscode.CommentThread, written: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(thread.uri)
    const range = thread.range ?? new vscode.Range(0, 0, 0, 0)
    const lines = { startLine: range.start.line + 1, endLine: range.end.line + 1 }
    const text = written.slice(0, MAX_COMMENT_LENGTH)
    const quote = linesOf(document.getText(), lines).slice(0, MAX_COMMENT_LENGTH)
    const comment = { id: randomUUID(), uri: thread.uri.toString(), ...lines, quote, text }
    this.#draw({ ...comment, state: 'draft' }, thread)
    this.#act.fire({ type: 'add', ...comment })
  }

  #draw(comment: ShownComment, thread: vscode.CommentThread, before?: ShownComment): void {
    const { id, text, state } = comment
    const isDone = state === 'addressed' || state === 'resolved'
    const wasDone = before?.state === 'addressed' || before?.state === 'resolved'
    const edited = this.#threads.get(id)?.shown
    const isEdited = edited?.mode === vscode.CommentMode.Editing && before !== undefined && state === 'draft'
    const shown: Thread['shown'] = isEdited
      ? edited
      : {
          id,
          // shown as plain text
          body: text,
          mode: vscode.CommentMode.Preview,
          author: { name: l10n.t('You') },
          contextValue: state,
          label: labelOf(comment),
        }
    const known = this.#threads.get(id)
    if (known) Object.assign(known, { comment, thread, shown })
    else this.#threads.set(id, { comment, thread, shown })
    const range = rangeOf(comment)
    if (!thread.range?.isEqual(range)) thread.range = range
    thread.canReply = false
    thread.contextValue = state
    thread.label = l10n.t('Comment for the agent')
    thread.state = isDone ? vscode.CommentThreadState.Resolved : vscode.CommentThreadState.Unresolved
    // the user opens and closes threads; a finished thread is collapsed once
    if (isDone && !wasDone) thread.collapsibleState = vscode.CommentThreadCollapsibleState.Collapsed
    if (!isEdited) thread.comments = [shown]
  }

  #documentChanged({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    // the agent replaces a plan as a whole, so comments don't move with its text
    if (contentChanges.length === 0 || document.uri.scheme === PLAN_SCHEME) return
    const uri = document.uri.toString()
    const edits = contentChanges.map(({ range, text }) => ({ start: range.start, end: range.end, text }))
    for (const [id, one] of this.#threads) {
      const { comment } = one
      if (comment.uri !== uri) continue
      one.comment = { ...comment, ...linesAfter(comment, edits, document.getText()) }
      one.thread.range = rangeOf(one.comment)
      this.#moved.add(id)
    }
    if (this.#moved.size > 0) this.#timer ??= setTimeout(() => this.#reportMoved(), REST_MS)
  }

  #reportMoved(): void {
    this.#timer = undefined
    const ids = [...this.#moved]
    this.#moved.clear()
    for (const id of ids) {
      const comment = this.#threads.get(id)?.comment
      const document = vscode.workspace.textDocuments.find(one => one.uri.toString() === comment?.uri)
      if (!comment || !document) continue
      const quote = linesOf(document.getText(), comment).slice(0, MAX_COMMENT_LENGTH)
      const { uri, startLine, endLine } = comment
      this.#act.fire({ type: 'move', id, uri, startLine, endLine, quote })
    }
  }

  #filesRenamed(files: ReadonlyArray<{ oldUri: vscode.Uri; newUri: vscode.Uri }>): void {
    for (const { comment } of [...this.#threads.values()]) {
      const { id, startLine, endLine, quote } = comment
      const { path, scheme } = vscode.Uri.parse(comment.uri)
      const rename = files.find(
        ({ oldUri }) =>
          oldUri.scheme === scheme && (oldUri.path === path || path.startsWith(`${oldUri.path}/`)),
      )
      if (!rename) continue
      const { oldUri, newUri } = rename
      const uri = newUri.with({ path: newUri.path + path.slice(oldUri.path.length) }).toString()
      this.#act.fire({ type: 'move', id, uri, startLine, endLine, quote })
    }
  }
}

function rangeOf({ startLine, endLine }: ShownComment): vscode.Range {
  return new vscode.Range(startLine - 1, 0, endLine - 1, 0)
}

function labelOf({ state, agentName }: ShownComment): string {
  switch (state) {
    case 'draft':
      return l10n.t('Sent with your next prompt')
    case 'queued':
      return l10n.t('Queued')
    case 'sent':
      return agentName === undefined ? l10n.t('Sent') : l10n.t('Sent to {0}', agentName)
    case 'addressed':
      return agentName === undefined ? l10n.t('Addressed') : l10n.t('Addressed by {0}', agentName)
    case 'resolved':
      return l10n.t('Resolved')
  }
}

/** Returns the path of a document for the user. */
function nameOf(uri: string): string {
  const parsed = vscode.Uri.parse(uri)
  return parsed.scheme === 'file' ? vscode.workspace.asRelativePath(parsed) : parsed.path
}
