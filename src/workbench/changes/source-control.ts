import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { ChangedSession, EditorChanges, WhichChanges } from '../../app/changes/editor-changes.ts'
import { applyChange } from '../../app/changes/follow-list.ts'
import type { ChangedFile } from '../../changes/review/changed-file.ts'
import { type Disposable, DisposableStore, Owner, toDisposable } from '../../common/disposable.ts'
import { isText, readable } from '../../common/file-names.ts'
import { PathRules } from '../../editor/path-rules.ts'
import { changedFilesOf, type GitApi, onDidChangeGit, openGit } from '../editor/git-extension.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { onDidChangeSetting, readSetting } from '../settings.ts'
import { baseUri } from './base-files.ts'
import { TELL_UNNAMABLE } from './change-editors.ts'

/** Minimum interval between updates, in milliseconds. */
const UPDATE_MS = 100

const rules = new PathRules()

type ShownChanges = Pick<EditorChanges, 'followSessions' | 'followFiles' | 'isChanged'>

/** The changed files of a session. */
interface SessionFiles {
  files: Map<string, ChangedFile>
  /** whether the view doesn't show the latest files yet */
  isNew: boolean
  end: Disposable
}

interface Shown {
  control: vscode.SourceControl
  /** Follows Git's list of changed files. */
  git: DisposableStore
  /** by session */
  groups: Map<string, vscode.SourceControlResourceGroup>
}

/**
 * Agents' changes in the Source Control view, grouped by session, and in the gutter of editors, if the user's settings say so.
 * VS Code's provider exists only while there are changes, because an additional provider changes how the view looks.
 */
export class ChangesSourceControl extends Owner {
  readonly #changes: ShownChanges
  readonly #sessions = new Map<string, ChangedSession>()
  readonly #lists = new Map<string, SessionFiles>()
  /** following the changes, until the setting is turned off */
  #following: Disposable | undefined
  #shown: Shown | undefined
  #timer: NodeJS.Timeout | undefined
  /** resolves when Git's provider exists, which must be the first: VS Code shows the first provider's branch in the status bar */
  #git: Promise<void> | undefined
  #gitApi: { api: GitApi | undefined } | undefined

  constructor(changes: ShownChanges) {
    super()
    this.#changes = changes
    this.register(onDidChangeSetting('changes.sourceControl', () => this.#turnOnOrOff()))
    this.register(toDisposable(() => clearTimeout(this.#timer)))
    this.register(toDisposable(() => this.#turnOff()))
    this.#turnOnOrOff()
  }

  /** The changes of the session that a group in the view shows. */
  changesOf(groupId: string): WhichChanges | undefined {
    const session = [...(this.#shown?.groups ?? [])].find(([, group]) => group.id === groupId)?.[0]
    return session === undefined ? undefined : { session }
  }

  #turnOnOrOff(): void {
    if (!readSetting('changes.sourceControl')) this.#turnOff()
    else
      this.#following ??= this.#changes.followSessions(change => {
        applyChange(this.#sessions, change, ({ session }) => session)
        for (const session of change.removed) this.#forget(session)
        for (const { session } of change.changed) this.#follow(session)
        this.#updateSoon()
      })
  }

  #turnOff(): void {
    this.#following?.dispose()
    this.#following = undefined
    this.#sessions.clear()
    for (const session of this.#lists.keys()) this.#forget(session)
    this.#hide()
  }

  #follow(session: string): void {
    if (this.#lists.has(session)) return
    const list: SessionFiles = { files: new Map(), isNew: true, end: toDisposable(() => {}) }
    this.#lists.set(session, list)
    list.end = this.#changes.followFiles({ session }, change => {
      applyChange(list.files, change, ({ path }) => path)
      list.isNew = true
      this.#updateSoon()
    })
  }

  #forget(session: string): void {
    this.#lists.get(session)?.end.dispose()
    this.#lists.delete(session)
  }

  #updateSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#update()
    }, UPDATE_MS)
  }

  #update(): void {
    if (this.#sessions.size === 0) {
      this.#hide()
      return
    }
    this.#git ??= openGit().then(api => {
      this.#gitApi = { api }
      this.#updateSoon()
    })
    if (!this.#gitApi) return
    this.#shown ??= this.#show(this.#gitApi.api)
    const { control, groups } = this.#shown
    for (const [session, group] of groups) {
      if (this.#sessions.has(session)) continue
      group.dispose()
      groups.delete(session)
    }
    const keys = new Set<string>()
    for (const { session, title } of this.#sessions.values()) {
      const list = this.#lists.get(session)
      const files = [...(list?.files.values() ?? [])]
      for (const { path } of files) keys.add(rules.key(path))
      let group = groups.get(session)
      const isNew = !group || list?.isNew
      if (!group) {
        group = control.createResourceGroup(`session-${groups.size}-${Date.now()}`, title)
        group.hideWhenEmpty = true
        groups.set(session, group)
      }
      if (group.label !== title) group.label = title
      if (isNew) group.resourceStates = files.map(file => resourceState(session, file))
      if (list) list.isNew = false
    }
    // the badge adds up the counts of all providers
    for (const uri of this.#gitFiles) keys.delete(rules.key(pathOnDisk(uri)))
    control.count = keys.size
  }

  get #gitFiles(): vscode.Uri[] {
    return this.#gitApi?.api ? changedFilesOf(this.#gitApi.api) : []
  }

  #show(api: GitApi | undefined): Shown {
    const control = vscode.scm.createSourceControl('parley', 'Parley')
    control.inputBox.visible = false
    control.quickDiffProvider = {
      provideOriginalResource: async uri =>
        uri.scheme === 'file' && (await this.#changes.isChanged(pathOnDisk(uri)))
          ? baseUri(pathOnDisk(uri))
          : undefined,
    }
    const git = new DisposableStore()
    if (api) git.add(onDidChangeGit(api, () => this.#updateSoon()))
    return { control, git, groups: new Map() }
  }

  #hide(): void {
    this.#shown?.control.dispose()
    this.#shown?.git.dispose()
    this.#shown = undefined
  }
}

/** Returns the item of a file in the view. VS Code passes this object unchanged to commands. */
function resourceState(
  session: string,
  file: ChangedFile,
): vscode.SourceControlResourceState & { session: string; path: string } {
  const uri = vscode.Uri.file(readable(file.path))
  const status =
    file.status === 'added'
      ? l10n.t('Added by the agent')
      : file.status === 'deleted'
        ? l10n.t('Deleted by the agent')
        : file.from !== undefined
          ? l10n.t('Renamed by the agent from {0}', path.basename(file.from))
          : l10n.t('Modified by the agent')
  return {
    session,
    path: file.path,
    resourceUri: uri,
    contextValue: file.status,
    command: openCommand(session, file, uri),
    decorations: {
      strikeThrough: file.status === 'deleted',
      faded: file.uncertain === 'all',
      tooltip:
        file.uncertain === 'all'
          ? l10n.t('Changed on disk during the turn (command or another program)')
          : file.uncertain
            ? `${status}\n${l10n.t('Some of it changed on disk during the turn (command or another program)')}`
            : status,
    },
  }
}

function openCommand(session: string, file: ChangedFile, uri: vscode.Uri): vscode.Command {
  const title = l10n.t('Open Diff')
  if (!isText(file.path) || !isText(file.from ?? ''))
    return { command: TELL_UNNAMABLE, title, arguments: [file.path] }
  const left = baseUri(file.from ?? file.path, session, file.status === 'added', file.path)
  const right = file.status === 'deleted' ? baseUri(file.path, session, true) : uri
  const name = l10n.t('{0} (Since Start of Session)', path.basename(file.path))
  return { command: 'vscode.diff', title, arguments: [left, right, name] }
}
