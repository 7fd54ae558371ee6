import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { ChangedFile } from '../../changes/review/changed-file.ts'
import { ChangeScope } from '../../changes/session-changes.ts'
import { DisposableStore, Owner, toDisposable } from '../../common/disposable.ts'
import { isText, readable } from '../../common/file-names.ts'
import { changedFilesOf, type GitApi, onDidChangeGit, openGit } from '../editor/git-extension.ts'
import { onDidChangeSetting, readSetting } from '../settings.ts'
import { baseUri } from './base-files.ts'
import { TELL_UNNAMABLE } from './change-editors.ts'

/** Minimum interval between updates, in milliseconds. */
const UPDATE_MS = 200

interface Shown {
  control: vscode.SourceControl
  /** Follows Git's list of changed files. */
  git: DisposableStore
  /** by session */
  groups: Map<string, vscode.SourceControlResourceGroup>
}

/**
 * Agents' changes in the Source Control view, grouped by session, and in the gutter of editors, if the user wants that. Only
 * exists while there are changes, because an additional provider changes how the view looks.
 */
export class ChangesSourceControl extends Owner {
  readonly #tracker: ChangeTracker
  readonly #nameOf: (session: string) => string
  readonly #scopes = new Map<string, ChangeScope>()
  #shown: Shown | undefined
  #timer: NodeJS.Timeout | undefined
  /** Git's provider is to come first: VS Code shows the branch of the first provider in the status bar. */
  #git: Promise<void> | undefined
  #gitApi: { api: GitApi | undefined } | undefined

  /** `nameOf`: the title of a session. */
  constructor(tracker: ChangeTracker, nameOf: (session: string) => string) {
    super()
    this.#tracker = tracker
    this.#nameOf = nameOf
    this.register(tracker.files.onDidChange(() => this.updateSoon()))
    this.register(onDidChangeSetting('changes.sourceControl', () => this.updateSoon()))
    this.register(toDisposable(() => clearTimeout(this.#timer)))
    this.register(toDisposable(() => this.#hide()))
    this.updateSoon()
  }

  updateSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#update()
    }, UPDATE_MS)
  }

  /** The changes of the session that a group in the view shows. */
  scopeOf(groupId: string): ChangeScope | undefined {
    const session = [...(this.#shown?.groups ?? [])].find(([, group]) => group.id === groupId)?.[0]
    return session === undefined ? undefined : this.#scope(session)
  }

  #scope(session: string): ChangeScope {
    let scope = this.#scopes.get(session)
    if (!scope) {
      scope = new ChangeScope(this.#tracker, session)
      this.#scopes.set(session, scope)
    }
    return scope
  }

  #update(): void {
    const sessions = this.#tracker.views.sessions()
    for (const session of this.#scopes.keys()) if (!sessions.has(session)) this.#scopes.delete(session)
    if (sessions.size === 0 || !readSetting('changes.sourceControl')) {
      this.#hide()
      return
    }
    this.#git ??= openGit().then(api => {
      this.#gitApi = { api }
      this.updateSoon()
    })
    if (!this.#gitApi) return
    this.#shown ??= this.#show(this.#gitApi.api)
    const { control, groups } = this.#shown
    for (const [session, group] of groups) {
      if (sessions.has(session)) continue
      group.dispose()
      groups.delete(session)
    }
    const paths = new Set<string>()
    for (const session of sessions) {
      const files = this.#scope(session).list()
      for (const file of files) paths.add(file.path)
      const name = this.#nameOf(session)
      let group = groups.get(session)
      if (!group) {
        group = control.createResourceGroup(`session-${groups.size}-${Date.now()}`, name)
        group.hideWhenEmpty = true
        groups.set(session, group)
      }
      if (group.label !== name) group.label = name
      group.resourceStates = files.map(file => resourceState(session, file))
    }
    // the badge adds up the counts of all providers
    const byGit = new Set(this.#gitFiles.map(({ fsPath }) => this.#tracker.files.key(fsPath)))
    control.count = [...paths].filter(path => !byGit.has(this.#tracker.files.key(path))).length
  }

  get #gitFiles(): vscode.Uri[] {
    return this.#gitApi?.api ? changedFilesOf(this.#gitApi.api) : []
  }

  #show(api: GitApi | undefined): Shown {
    const control = vscode.scm.createSourceControl('parley', 'Parley')
    control.inputBox.visible = false
    control.quickDiffProvider = {
      provideOriginalResource: uri => {
        const view = uri.scheme === 'file' ? this.#tracker.views.at(uri.fsPath) : undefined
        return view?.hasChanges && !view.gone ? baseUri(uri.fsPath) : undefined
      },
    }
    const git = new DisposableStore()
    if (api) git.add(onDidChangeGit(api, () => this.updateSoon()))
    return { control, git, groups: new Map() }
  }

  #hide(): void {
    this.#shown?.control.dispose()
    this.#shown?.git.dispose()
    this.#shown = undefined
  }
}

/** Commands get this object back unchanged. */
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
