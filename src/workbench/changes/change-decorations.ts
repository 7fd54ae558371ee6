import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { Hunk } from '../../changes/model/file-log.ts'
import type { HunkPosition } from '../../changes/review/hunk-navigation.ts'
import { ChangeScope } from '../../changes/session-changes.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { isText } from '../../common/file-names.ts'
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

/** Shows agents' changes in the editor: file decorations, code lenses, and context keys for `when` clauses. */
export class ChangeDecorations
  extends Owner
  implements vscode.CodeLensProvider, vscode.FileDecorationProvider
{
  readonly #tracker: ChangeTracker
  readonly #all: ChangeScope
  readonly #cursor: Pick<ReviewCursor, 'isCompared' | 'shown' | 'positions'>
  readonly #commands: LensCommands
  readonly #keys: ChangeContextKeys
  readonly #lenses = this.register(new vscode.EventEmitter<void>())
  readonly #decorations = this.register(new vscode.EventEmitter<vscode.Uri[]>())
  #provider: vscode.Disposable | undefined
  #marked = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  /** The changes in the order of review, until one changes or another editor is active. */
  #positions: readonly HunkPosition[] | undefined

  readonly onDidChangeCodeLenses = this.#lenses.event
  readonly onDidChangeFileDecorations = this.#decorations.event

  constructor(
    tracker: ChangeTracker,
    cursor: Pick<ReviewCursor, 'isCompared' | 'shown' | 'positions'>,
    commands: LensCommands,
    keys: ChangeContextKeys,
  ) {
    super()
    this.#tracker = tracker
    this.#all = new ChangeScope(tracker)
    this.#cursor = cursor
    this.#commands = commands
    this.#keys = keys
    this.register(
      tracker.files.onDidChange(() => {
        this.#positions = undefined
        this.#updateSoon()
      }),
    )
    // a diff of one session shows only that session's changes
    this.register(
      vscode.window.tabGroups.onDidChangeTabs(() => {
        this.#positions = undefined
        this.#lenses.fire()
      }),
    )
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
    this.#updateSoon()
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== 'file' || !this.#marked.has(this.#tracker.files.key(uri.fsPath))) return undefined
    if (!readSetting('changes.sourceControl')) return undefined
    const file = this.#all.file(uri.fsPath)
    return file && new vscode.FileDecoration('P', l10n.t('Changed by an agent'))
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { uri } = document
    const file = this.#tracker.views.at(filePathOf(uri))
    const hunks = file ? this.#cursor.shown.hunks(file.path) : []
    if (!file || (uri.scheme === BASE_SCHEME ? !this.#isReviewed(file.path, uri) : hunks.length === 0))
      return []
    this.#positions ??= this.#cursor.positions
    const positions = this.#positions
    // a file without lines, such as a binary file, is kept as a whole
    const all: ReadonlyArray<Partial<Hunk> & { start: number }> = hunks.length > 0 ? hunks : [{ start: 0 }]
    const { isCompared } = this.#cursor
    return all.flatMap(({ id, start, before = [] }) => {
      const at = positions.findIndex(one => one.path === file.path && one.id === id)
      const line = Math.min(start, document.lineCount - 1)
      const range = new vscode.Range(line, 0, line, 0)
      const ids = id === undefined ? [] : [id]
      const lens = (title: string, command: string, tooltip: string) =>
        new vscode.CodeLens(range, { title, command, tooltip, arguments: [uri, { ids }] })
      return [
        lens(l10n.t('Keep'), this.#commands.keep, l10n.t('Keep this change of an agent')),
        lens(l10n.t('Revert'), this.#commands.revert, l10n.t('Revert this change of an agent')),
        ...(before.length > 0 && !isCompared
          ? [
              lens(
                l10n.t('Show Old'),
                this.#commands.showOld,
                l10n.t('Show the text that the agent changed or deleted'),
              ),
            ]
          : []),
        ...(positions.length > 1 && at >= 0
          ? [
              lens(
                l10n.t('{0} of {1}', at + 1, positions.length),
                this.#commands.next,
                l10n.t('Go to the next change of an agent'),
              ),
            ]
          : []),
      ]
    })
  }

  /** Whether the document represents a file in a review that is missing or isn't text. */
  #isReviewed(path: string, { query }: vscode.Uri): boolean {
    const summary = new URLSearchParams(query).get('summary')
    const status = this.#cursor.shown.file(path)?.status
    return summary === null
      ? status === 'deleted' && !query.includes('missing=')
      : status !== undefined && summary === (status === 'deleted' ? 'before' : 'now')
  }

  #setLenses(): void {
    const wanted = readSetting('changes.codeLens')
    if (wanted === (this.#provider !== undefined)) return
    this.#provider?.dispose()
    this.#provider = wanted
      ? vscode.languages.registerCodeLensProvider([{ scheme: 'file' }, { scheme: BASE_SCHEME }], this)
      : undefined
  }

  #updateSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#update()
    }, UPDATE_MS)
  }

  #update(): void {
    const paths = this.#tracker.views.changed().flatMap(({ path }) => (isText(path) ? path : []))
    const marked = new Set(paths.map(path => this.#tracker.files.key(path)))
    const changed = [...new Set([...this.#marked, ...marked])].filter(
      key => this.#marked.has(key) !== marked.has(key),
    )
    this.#marked = marked
    if (changed.length > 0) {
      this.#decorations.fire(changed.map(key => vscode.Uri.file(key)))
      void vscode.commands.executeCommand('setContext', this.#keys.hasChanges, paths.length > 0)
      const known = paths.slice(0, MAX_CONTEXT_PATHS)
      void vscode.commands.executeCommand('setContext', this.#keys.changedFiles, known)
    }
    this.#lenses.fire()
  }
}
