import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { EditorChanges } from '../../app/changes/editor-changes.ts'
import { applyChange } from '../../app/changes/follow-list.ts'
import type { ChangedFile } from '../../changes/review/changed-file.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { isText } from '../../common/file-names.ts'
import { PathRules } from '../../editor/path-rules.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { onDidChangeSetting, readSetting } from '../settings.ts'
import { BASE_SCHEME, filePathOf } from './base-files.ts'
import type { ReviewCursor } from './review-cursor.ts'

/** Commands of the code lenses. Their arguments are the file's URI and the ids of the changes; `next` has the change's line. */
export interface LensCommands {
  keep: string
  revert: string
  showOld: string
  next: string
}

/** Context keys: whether there are changes by agents, and the paths of the changed files. */
export interface ChangeContextKeys {
  hasChanges: string
  changedFiles: string
}

const UPDATE_MS = 200
/** Maximum number of paths in the context key for `when` clauses. */
const MAX_CONTEXT_PATHS = 2000

const rules = new PathRules()

type ShownChanges = Pick<EditorChanges, 'onDidChange' | 'followFiles' | 'lenses'>

/** Shows agents' changes in the editor: file decorations, code lenses, and context keys for `when` clauses. */
export class ChangeDecorations
  extends Owner
  implements vscode.CodeLensProvider, vscode.FileDecorationProvider
{
  readonly #changes: ShownChanges
  readonly #cursor: Pick<ReviewCursor, 'isCompared' | 'shown' | 'scope'>
  readonly #commands: LensCommands
  readonly #keys: ChangeContextKeys
  readonly #lenses = this.register(new vscode.EventEmitter<void>())
  readonly #decorations = this.register(new vscode.EventEmitter<vscode.Uri[]>())
  #provider: vscode.Disposable | undefined
  readonly #files = new Map<string, ChangedFile>()
  /** keys of the paths of changed files; of renamed files, both paths */
  #marked = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  readonly onDidChangeCodeLenses = this.#lenses.event
  readonly onDidChangeFileDecorations = this.#decorations.event

  constructor(
    changes: ShownChanges,
    cursor: Pick<ReviewCursor, 'isCompared' | 'shown' | 'scope'>,
    commands: LensCommands,
    keys: ChangeContextKeys,
  ) {
    super()
    this.#changes = changes
    this.#cursor = cursor
    this.#commands = commands
    this.#keys = keys
    this.register(
      changes.followFiles({}, change => {
        applyChange(this.#files, change, ({ path }) => path)
        this.#mark()
      }),
    )
    this.register(changes.onDidChange(() => this.#updateLensesSoon()))
    // a diff of one session shows only that session's changes
    this.register(vscode.window.tabGroups.onDidChangeTabs(() => this.#lenses.fire()))
    this.register(vscode.window.registerFileDecorationProvider(this))
    this.register(onDidChangeSetting('changes.codeLens', () => this.#setLenses()))
    this.register(
      onDidChangeSetting('changes.sourceControl', () =>
        this.#decorations.fire([...this.#marked].map(key => vscode.Uri.file(key))),
      ),
    )
    this.register(toDisposable(() => this.#provider?.dispose()))
    this.register(toDisposable(() => clearTimeout(this.#timer)))
    this.#setLenses()
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== 'file' || !this.#marked.has(rules.key(pathOnDisk(uri)))) return undefined
    if (!readSetting('changes.sourceControl')) return undefined
    return new vscode.FileDecoration('P', l10n.t('Changed by an agent'))
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const { uri } = document
    const { isCompared, shown, scope } = this.#cursor
    const file = await this.#changes.lenses(shown, scope, filePathOf(uri))
    if (!file) return []
    const hasHunks = file.changes.some(({ id }) => id !== undefined)
    if (uri.scheme === BASE_SCHEME ? !isReviewed(file.status, uri) : !hasHunks) return []
    // a file without lines, such as a binary file, has one change without an ID, whose actions apply to the whole file
    return file.changes.flatMap(({ id, line: start, hasOld, at }) => {
      const line = Math.min(start, document.lineCount - 1)
      const range = new vscode.Range(line, 0, line, 0)
      const ids = id === undefined ? [] : [id]
      const lens = (title: string, command: string, tooltip: string) =>
        new vscode.CodeLens(range, { title, command, tooltip, arguments: [uri, { ids }] })
      return [
        lens(l10n.t('Keep'), this.#commands.keep, l10n.t('Keep this change of an agent')),
        lens(l10n.t('Revert'), this.#commands.revert, l10n.t('Revert this change of an agent')),
        ...(hasOld && !isCompared
          ? [
              lens(
                l10n.t('Show Old'),
                this.#commands.showOld,
                l10n.t('Show the text that the agent changed or deleted'),
              ),
            ]
          : []),
        ...(file.total > 1 && at >= 0
          ? [
              lens(
                l10n.t('{0} of {1}', at + 1, file.total),
                this.#commands.next,
                l10n.t('Go to the next change of an agent'),
              ),
            ]
          : []),
      ]
    })
  }

  #setLenses(): void {
    const wanted = readSetting('changes.codeLens')
    if (wanted === (this.#provider !== undefined)) return
    this.#provider?.dispose()
    this.#provider = wanted
      ? vscode.languages.registerCodeLensProvider([{ scheme: 'file' }, { scheme: BASE_SCHEME }], this)
      : undefined
  }

  #updateLensesSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#lenses.fire()
    }, UPDATE_MS)
  }

  #mark(): void {
    const all = [...this.#files.values()].flatMap(({ path, from }) =>
      from === undefined ? path : [from, path],
    )
    const paths = all.filter(isText)
    const marked = new Set(paths.map(path => rules.key(path)))
    const changed = [...new Set([...this.#marked, ...marked])].filter(
      key => this.#marked.has(key) !== marked.has(key),
    )
    this.#marked = marked
    if (changed.length === 0) return
    this.#decorations.fire(changed.map(key => vscode.Uri.file(key)))
    void vscode.commands.executeCommand('setContext', this.#keys.hasChanges, paths.length > 0)
    const known = paths.slice(0, MAX_CONTEXT_PATHS)
    void vscode.commands.executeCommand('setContext', this.#keys.changedFiles, known)
  }
}

/** Whether the document represents a file in a review that was deleted or isn't text. */
function isReviewed(status: ChangedFile['status'] | undefined, { query }: vscode.Uri): boolean {
  const summary = new URLSearchParams(query).get('summary')
  return summary === null
    ? status === 'deleted' && !query.includes('missing=')
    : status !== undefined && summary === (status === 'deleted' ? 'before' : 'now')
}
