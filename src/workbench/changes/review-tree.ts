import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { EditorChanges, WhichChanges } from '../../app/changes/editor-changes.ts'
import { applyChange } from '../../app/changes/follow-list.ts'
import { CommandId, ContextKey, HiddenCommandId, ViewId } from '../../app/ids.ts'
import { compareFiles } from '../../changes/review/hunk-navigation.ts'
import { decidedCount, outcomeOf, type ReviewedFile } from '../../changes/review/review-progress.ts'
import { type Disposable, Owner, toDisposable } from '../../common/disposable.ts'
import { UnavailableError } from '../../common/errors.ts'
import { isText, readable } from '../../common/file-names.ts'
import { gitApi } from '../editor/git-extension.ts'
import type { ChangeEditors } from './change-editors.ts'

/** VS Code's command that shows Source Control, with the focus in the commit message. */
export const COMMIT = 'workbench.view.scm'

/** The properties of all nodes of the tree. VS Code passes the nodes unchanged to commands. */
interface InReview {
  inReview: true
  session: string | undefined
}
interface Folder extends InReview {
  /** the folder's path relative to its parent in the tree */
  name: string
  /** the folder's absolute path */
  folder: string
  /** paths of the files in the folder with undecided changes */
  readonly paths: string[]
  children: Node[]
}
type File = ReviewedFile & InReview
type Node = Folder | File

/**
 * The files of the open review as a tree in the review's order, with the decisions. Its title and the status bar count the decisions, since
 * an editor's title can't change.
 */
export class ReviewTree extends Owner implements vscode.TreeDataProvider<Node> {
  readonly #changes: Pick<EditorChanges, 'followReview'>
  readonly #editors: Pick<ChangeEditors, 'openReview' | 'shownReview' | 'onDidChangeReviews'>
  readonly #change = this.register(new vscode.EventEmitter<Node[] | undefined>())
  readonly #view: vscode.TreeView<Node>
  readonly #status = this.register(
    vscode.window.createStatusBarItem('parley.review', vscode.StatusBarAlignment.Left, -100),
  )
  #nodes: Node[] = []
  /** the review that the tree shows */
  #scope: string | undefined
  /** the open review, and its last reported files */
  #followed:
    | { changes: WhichChanges; key: string; files: Map<string, ReviewedFile>; end: Disposable }
    | undefined
  #hidesDecided = false
  /** whether all changes of the review were decided at the last update */
  #isDone = false
  /** by review: its last shown state. `isReviewed`: whether the review ended with the user's decisions */
  readonly #last = new Map<string, { decided: number; total: number; isReviewed: boolean }>()

  readonly onDidChangeTreeData = this.#change.event

  constructor(
    changes: Pick<EditorChanges, 'followReview'>,
    editors: Pick<ChangeEditors, 'openReview' | 'shownReview' | 'onDidChangeReviews'>,
  ) {
    super()
    this.#changes = changes
    this.#editors = editors
    this.#status.name = l10n.t('Review of Agent Changes')
    this.#view = this.register(
      vscode.window.createTreeView(ViewId.review, { treeDataProvider: this, showCollapseAll: true }),
    )
    this.register(editors.onDidChangeReviews(() => this.#follow()))
    this.register(toDisposable(() => this.#followed?.end.dispose()))
    this.#update()
    this.#follow()
  }

  #follow(): void {
    const { openReview: changes } = this.#editors
    const key = changes && keyOf(changes)
    if (key === this.#followed?.key) return
    this.#followed?.end.dispose()
    this.#followed = undefined
    if (!changes || key === undefined) {
      this.#update()
      return
    }
    const files = new Map<string, ReviewedFile>()
    const end = this.#changes.followReview(changes, change => {
      applyChange(files, change, ({ path }) => path)
      if (this.#followed?.files === files) this.#update()
    })
    this.#followed = { changes, key, files, end }
  }

  /** Shows all files, or only those with undecided changes. */
  toggleDecided(): void {
    if (!this.#editors.openReview) throw new UnavailableError(l10n.t('No review is open.'))
    this.#hidesDecided = !this.#hidesDecided
    this.#update()
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.#nodes
    return 'children' in node ? node.children : []
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return 'children' in node ? folderItem(node) : fileItem(node)
  }

  #update(): void {
    const scope = this.#followed?.key
    const files = [...(this.#followed?.files.values() ?? [])].sort(compareFiles)
    const { decided, total } = decidedCount(files)
    void vscode.commands.executeCommand('setContext', ContextKey.reviewOpen, total > 0)
    this.#show(this.#hidesDecided ? files.filter(({ undecided }) => undecided > 0) : files)
    const isDone = total > 0 && decided === total
    const isReviewed = scope !== undefined && this.#isReviewed(scope, { decided, total })
    const text = isReviewed
      ? l10n.t('All reviewed')
      : isDone
        ? l10n.t('No changes left')
        : l10n.t('{0} of {1} decided', decided, total)
    this.#view.description = total > 0 ? text : ''
    this.#view.message =
      isDone && this.#hidesDecided
        ? isReviewed
          ? l10n.t('All changes are kept or reverted.')
          : l10n.t('No changes left')
        : undefined
    if (total === 0) this.#status.hide()
    else {
      this.#status.text = `$(${isDone ? 'check-all' : 'checklist'}) ${text}`
      this.#status.tooltip = isDone ? l10n.t('Commit…') : l10n.t('Show the files of the review')
      this.#status.command = isDone ? CommandId.commitReviewed : `${ViewId.review}.focus`
      this.#status.show()
    }
    void vscode.commands.executeCommand('setContext', ContextKey.reviewDone, isDone)
    if (isReviewed && !this.#isDone && this.#editors.shownReview) void reportReviewDone(files)
    this.#isDone = isDone
  }

  /**
   * Updates only the nodes that look different: changed files, and folders whose children changed, or that now have no undecided changes or
   * have some again. Updates the whole tree only if its first level changes.
   */
  #show(files: readonly ReviewedFile[]): void {
    const { key: scope, changes } = this.#followed ?? {}
    const nodes = nodesOf(files, changes)
    const changed: Node[] = []
    const update = scope === this.#scope ? updated(this.#nodes, nodes, changed) : { nodes, isSame: false }
    this.#scope = scope
    this.#nodes = update.nodes
    if (!update.isSame) this.#change.fire(undefined)
    else if (changed.length > 0) this.#change.fire(changed)
  }

  /** Whether the review ended with the user's decisions, not because Git or another program removed changes from the files. */
  #isReviewed(scope: string, now: { decided: number; total: number }): boolean {
    const last = this.#last.get(scope)
    const isDone = now.decided === now.total && now.total > 0
    const wasDone = last?.decided === last?.total
    const isReviewed = isDone && last !== undefined && (wasDone ? last.isReviewed : now.total >= last.total)
    this.#last.set(scope, { ...now, isReviewed })
    return isReviewed
  }
}

function keyOf({ session, and }: WhichChanges): string {
  return `${and ?? ''} ${session ?? ''}`
}

/** Reports once that a review is done, since decisions in a review show no notifications. */
async function reportReviewDone(files: readonly ReviewedFile[]): Promise<void> {
  const sum = (of: 'kept' | 'reverted') => files.reduce((all, file) => all + file[of], 0)
  const commit = l10n.t('Commit…')
  const undo = l10n.t('Undo Last')
  const hasGit = ((await gitApi())?.repositories.length ?? 0) > 0
  const text = l10n.t('All changes reviewed: {0} kept, {1} reverted.', sum('kept'), sum('reverted'))
  const answer = await vscode.window.showInformationMessage(
    text,
    ...(hasGit && sum('kept') > 0 ? [commit] : []),
    undo,
  )
  if (answer === commit) await vscode.commands.executeCommand(COMMIT)
  if (answer === undo) await vscode.commands.executeCommand(CommandId.undoDecision)
}

/** Returns the tree of the files, below the folder that contains all of them. */
function nodesOf(files: readonly ReviewedFile[], changes: WhichChanges | undefined): Node[] {
  const review: InReview = { inReview: true, session: changes?.session }
  const root = folderOf(review, '', '', [])
  const folders = new Map<string, Folder>([['', root]])
  const within = (folder: string): Folder => {
    const above = path.dirname(folder)
    const known = folders.get(folder)
    if (known) return known
    const made = folderOf(review, path.basename(folder), folder, [])
    folders.set(folder, made)
    within(above === folder ? '' : above).children.push(made)
    return made
  }
  for (const file of files) within(path.dirname(file.path)).children.push({ ...file, ...review })
  let top = joined(root)
  while (top.children.length === 1 && 'children' in top.children[0]!) top = top.children[0]
  return top.children
}

/**
 * Returns the `next` nodes, with the objects of the nodes `before` for the same files and folders. Adds nodes that look different to
 * `changed`. `isSame`: whether the nodes are the same as before, in the same order.
 */
function updated(
  before: readonly Node[],
  next: readonly Node[],
  changed: Node[],
): { nodes: Node[]; isSame: boolean } {
  const known = new Map(before.map(node => [itemId(node), node]))
  const nodes = next.map(node => {
    const shown = known.get(itemId(node))
    if (!shown) return node
    if ('children' in node && 'children' in shown) {
      const wasUndecided = shown.paths.length > 0
      const { nodes: children, isSame } = updated(shown.children, node.children, changed)
      const isUndecided = node.paths.length > 0
      if (!isSame || shown.name !== node.name || wasUndecided !== isUndecided) changed.push(shown)
      Object.assign(shown, { name: node.name, children })
    } else if (!('children' in node || 'children' in shown)) {
      if (outcomeOf(shown) !== outcomeOf(node) || describe(shown) !== describe(node)) changed.push(shown)
      delete shown.file
      Object.assign(shown, node)
    }
    return shown
  })
  return { nodes, isSame: nodes.length === before.length && nodes.every((node, at) => node === before[at]) }
}

/** Returns the ID of a node, by which its row in the tree stays selected, expanded and in view. */
function itemId(node: Node): string {
  return 'children' in node ? `folder ${node.folder}` : `file ${node.path}`
}

function folderOf({ session }: InReview, name: string, folder: string, children: Node[]): Folder {
  const undecidedIn = (node: Node): string[] =>
    'children' in node ? node.children.flatMap(undecidedIn) : node.undecided > 0 ? [node.path] : []
  return {
    ...{ inReview: true, session, name, folder, children },
    get paths() {
      return this.children.flatMap(undecidedIn)
    },
  }
}

/** Joins each folder that contains only another folder with that folder. */
function joined(folder: Folder): Folder {
  const children = folder.children.map(child => ('children' in child ? joined(child) : child))
  const [only] = children
  if (folder.name !== '' && children.length === 1 && only && 'children' in only)
    return folderOf(only, `${folder.name}/${only.name}`, only.folder, only.children)
  return folderOf(folder, folder.name, folder.folder, children)
}

function folderItem(folder: Folder): vscode.TreeItem {
  const { name, paths } = folder
  const item = new vscode.TreeItem(readable(name), vscode.TreeItemCollapsibleState.Expanded)
  item.id = itemId(folder)
  item.iconPath = vscode.ThemeIcon.Folder
  if (paths.length > 0) item.contextValue = 'undecided'
  return item
}

function fileItem(file: File): vscode.TreeItem {
  const name = readable(path.basename(file.path))
  const item = new vscode.TreeItem(name)
  item.id = itemId(file)
  if (isText(file.path)) item.resourceUri = vscode.Uri.file(file.path)
  const isDecided = file.undecided === 0
  const [icon, color] = outcomeOf(file) === 'reverted' ? ['discard', 'charts.red'] : ['check', 'charts.green']
  item.iconPath = isDecided ? new vscode.ThemeIcon(icon, new vscode.ThemeColor(color)) : vscode.ThemeIcon.File
  item.description = describe(file)
  item.contextValue = isDecided ? 'decided' : 'undecided'
  item.tooltip = `${readable(file.path)}\n${item.description}`
  item.accessibilityInformation = { label: `${name}, ${item.description}` }
  item.command = {
    command: HiddenCommandId.reviewFile,
    title: l10n.t('Show in Review'),
    arguments: [file.path],
  }
  return item
}

function describe(reviewed: ReviewedFile): string {
  const { file, undecided, kept, reverted } = reviewed
  const outcome = outcomeOf(reviewed)
  if (outcome === 'kept') return l10n.t('Kept')
  if (outcome === 'reverted') return l10n.t('Reverted')
  if (outcome === 'both') return l10n.t('{0} kept, {1} reverted', kept, reverted)
  const parts: string[] = []
  if (file?.status === 'added') parts.push(l10n.t('Added'))
  if (file?.status === 'deleted') parts.push(l10n.t('Deleted'))
  if (file?.from !== undefined) parts.push(l10n.t('was {0}', readable(path.basename(file.from))))
  if (file && file.added + file.removed > 0) parts.push(`+${file.added} −${file.removed}`)
  if (outcome === 'some')
    parts.push(l10n.t('{0} of {1} decided', kept + reverted, kept + reverted + undecided))
  return parts.length > 0 ? parts.join(' · ') : l10n.t('Modified')
}
