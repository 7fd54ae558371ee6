import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import * as z from 'zod'
import type { EditorChanges, WhichChanges } from '../../app/changes/editor-changes.ts'
import { ContextKey } from '../../app/ids.ts'
import type { ChangedFile } from '../../changes/review/changed-file.ts'
import { compareFiles } from '../../changes/review/hunk-navigation.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { isText, readable } from '../../common/file-names.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { BASE_SCHEME, baseUri, summaryUri } from './base-files.ts'

/** The command that reports that VS Code can't open a file, whose path is the argument. Not in `ids.ts`, which is loaded at startup. */
export const TELL_UNNAMABLE = 'parley.tellUnnamable'

/** A multi-file diff editor with the changes of a session. */
interface Review {
  tab: vscode.Tab
  changes: WhichChanges
  title: string
  /** the listed files, since VS Code can't change an editor's list later */
  shown: string
  /** whether the tab was active at the last event */
  isActive: boolean
}

/** Shows the changes of sessions in the editor's diff views, against the files without those changes. */
export class ChangeEditors extends Owner {
  readonly #changes: Pick<EditorChanges, 'onDidChange' | 'isEmpty' | 'list'>
  readonly #log: Logger
  readonly #reviews = new Set<Review>()
  /** Whether VS Code itself has buttons, and commands, for the previous and the next change in such editors. */
  readonly hasArrows = vscode.commands
    .getCommands()
    .then(all => all.includes('multiDiffEditor.goToNextChange'))
  #opening: Promise<void> = Promise.resolve()
  readonly #reviewsChange = this.register(new vscode.EventEmitter<void>())
  /** Fires when a review was opened, closed, shown or left. */
  readonly onDidChangeReviews = this.#reviewsChange.event
  readonly #reviewOpened = this.register(new vscode.EventEmitter<void>())
  /** Fires when the user opened a review. */
  readonly onDidOpenReview = this.#reviewOpened.event

  constructor(changes: Pick<EditorChanges, 'onDidChange' | 'isEmpty' | 'list'>, log: Logger) {
    super()
    this.#changes = changes
    this.#log = log
    this.#setContext()
    const tell = (file: unknown) => tellUnnamable(String(file))
    this.register(vscode.commands.registerCommand(TELL_UNNAMABLE, tell))
    this.register(changes.onDidChange(() => void this.#closeEmpty()))
    this.register(
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const review of this.#reviews) {
          const { isActive } = review.tab
          if (closed.includes(review.tab)) this.#reviews.delete(review)
          // not when the user saves the review's text, which also fires this event
          else if (isActive && !review.isActive) void this.#renew(review)
          review.isActive = isActive
        }
        void this.#closeEmpty()
        this.#setContext()
      }),
    )
    this.register(vscode.window.tabGroups.onDidChangeTabGroups(() => this.#setContext()))
  }

  /** The changes in the review that is the active editor. */
  get shownReview(): WhichChanges | undefined {
    const { activeTab } = vscode.window.tabGroups.activeTabGroup
    const known = [...this.#reviews].find(({ tab }) => tab === activeTab)?.changes
    if (known || !activeTab) return known
    // restored after a reload
    return changesIn(baseOfReview(activeTab.input))
  }

  /** The changes in the shown review, or else in the review that was opened last. */
  get openReview(): WhichChanges | undefined {
    return this.shownReview ?? [...this.#reviews].at(-1)?.changes
  }

  /** The changes that the active editor shows, if it's a review or the diff of a file. */
  get shown(): WhichChanges | undefined {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input
    const base = input instanceof vscode.TabInputTextDiff ? input.original : undefined
    return this.shownReview ?? changesIn(base?.scheme === BASE_SCHEME ? base : undefined)
  }

  #setContext(): void {
    const isShown = this.shownReview !== undefined
    this.#reviewsChange.fire()
    void vscode.commands.executeCommand('setContext', ContextKey.reviewShown, isShown)
    void this.hasArrows.then(has =>
      vscode.commands.executeCommand('setContext', ContextKey.reviewLacksArrows, isShown && !has),
    )
  }

  /** Opens one file in a diff editor. `selection`: the range to reveal. */
  async open(session: string | undefined, file: ChangedFile, selection?: vscode.Range): Promise<void> {
    if (!isText(file.path) || !isText(file.from ?? '')) return tellUnnamable(file.path)
    const title = l10n.t('{0} (Since Start of Session)', path.basename(file.path))
    const left = baseUri(file.from ?? file.path, session, file.status === 'added', file.path)
    const right = file.status === 'deleted' ? baseUri(file.path, session, true) : vscode.Uri.file(file.path)
    await vscode.commands.executeCommand('vscode.diff', left, right, title, {
      preview: true,
      ...(selection && { selection }),
    })
  }

  /** Shows the review that was opened last, if none is shown. */
  async showReview(): Promise<void> {
    const latest = [...this.#reviews].at(-1)
    if (!this.shownReview && latest) await this.#reopen(latest.changes, latest.title)
  }

  /** Opens a review of the changes of a session that is or was open. */
  reviewSession(session: string, title: string): Promise<void> {
    return this.review({ session, and: 'origins' }, title)
  }

  /** Shows all changed files in one editor, which is reused as long as it shows the same files. */
  async review(changes: WhichChanges, title: string): Promise<void> {
    await this.#reopen(changes, title)
    this.#reviewOpened.fire()
  }

  #reopen(changes: WhichChanges, title: string): Promise<void> {
    const open = this.#opening.then(() => this.#review(changes, title))
    this.#opening = open.catch(() => {})
    return open
  }

  async #review(changes: WhichChanges, title: string): Promise<void> {
    const before = [...this.#reviews].filter(one => one.changes.session === changes.session)
    const files = await this.#inOrder(changes)
    const resources = files.map(({ path, status, from = path, opaque }) => {
      const uri = vscode.Uri.file(path)
      const [before, now] = opaque
        ? [summaryUri(from, 'before', changes.session, path), summaryUri(path, 'now', changes.session)]
        : [baseUri(from, changes.session, false, path), uri]
      return [uri, status === 'added' ? undefined : before, status === 'deleted' ? undefined : now]
    })
    await vscode.commands.executeCommand('vscode.changes', title, resources)
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab
    if (tab?.label.startsWith(title))
      this.#reviews.add({ tab, changes, title, shown: listed(files), isActive: true })
    this.#setContext()
    // VS Code would ask the user before closing a review with unsaved changes
    await close(before.flatMap(one => (one.tab === tab || one.tab.isDirty ? [] : one.tab)))
  }

  /** Adds the file to the active review, which may be older than the file's changes. Resolves to false if the review lists the file. */
  async addToReview(path: string): Promise<boolean> {
    const { activeTab } = vscode.window.tabGroups.activeTabGroup
    const review = [...this.#reviews].find(({ tab }) => tab === activeTab)
    const isListed = review?.shown.split('\n').some(line => line.endsWith(` ${path}`))
    if (!review || isListed || review.tab.isDirty) return false
    await this.#reopen(review.changes, review.title)
    return true
  }

  /** Opens a review again, to which the user returned, if its list of files is outdated. */
  async #renew(review: Review): Promise<void> {
    try {
      const files = await this.#inOrder(review.changes)
      if (review.tab.isDirty || files.length === 0 || listed(files) === review.shown) return
      review.shown = listed(files)
      await this.#reopen(review.changes, review.title)
    } catch (error) {
      this.#log.warn(`The review couldn't be updated: ${messageOf(error)}`)
    }
  }

  /** Resolves to the changed files in the order of *Next Agent Change*. */
  async #inOrder(changes: WhichChanges): Promise<ChangedFile[]> {
    const files = await this.#changes.list(changes)
    return files.filter(({ path, from = path }) => isText(path) && isText(from)).sort(compareFiles)
  }

  /** Closes reviews without changes, except the active one: other tabs would move under the pointer. */
  async #closeEmpty(): Promise<void> {
    const mayClose = ({ tab }: Review) => !tab.isDirty && !tab.isActive
    for (const review of [...this.#reviews].filter(mayClose)) {
      if (!(await this.#changes.isEmpty(review.changes)) || !mayClose(review)) continue
      this.#reviews.delete(review)
      await close([review.tab])
    }
  }
}

/** Returns the changes that an editor shows, by the URI of the file without these changes. */
function changesIn(base: vscode.Uri | undefined): WhichChanges | undefined {
  const session = base && new URLSearchParams(base.query).get('session')
  return base && (session ? { session, and: 'earlier' } : {})
}

async function close(tabs: readonly vscode.Tab[]): Promise<void> {
  const open = tabs.filter(tab => tab.group.tabs.includes(tab))
  if (open.length > 0) await vscode.window.tabGroups.close(open, true)
}

/** The input of a multi-file diff editor, for which VS Code's API has no type. */
const multiDiff = z.object({
  textDiffs: z.array(z.object({ original: z.custom<vscode.Uri>(value => value instanceof vscode.Uri) })),
})

/** Returns the URI of a file without agents' changes in a multi-file diff editor. */
function baseOfReview(input: unknown): vscode.Uri | undefined {
  const { data } = multiDiff.safeParse(input)
  return data?.textDiffs.find(({ original }) => original.scheme === BASE_SCHEME)?.original
}

function listed(files: readonly ChangedFile[]): string {
  return files.map(({ path, status }) => `${status} ${path}`).join('\n')
}

/** Reports that VS Code can't open a file: it would open another file, or offer to create one. */
function tellUnnamable(file: string): void {
  const name = plainMessage(readable(path.basename(file)))
  void vscode.window.showInformationMessage(l10n.t("VS Code can't open {0}: its name isn't UTF-8.", name))
}
