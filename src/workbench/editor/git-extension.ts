import * as vscode from 'vscode'

/** The part of the API of VS Code's Git extension, version 1, that Parley uses. */
export interface GitApi {
  /** whether the repositories of the workspace have been opened */
  state: 'uninitialized' | 'initialized'
  onDidChangeState: vscode.Event<string>
  repositories: Repository[]
  getRepository(uri: vscode.Uri): Repository | null
  onDidOpenRepository: vscode.Event<Repository>
}

export interface Repository {
  rootUri: vscode.Uri
  inputBox: { value: string }
  state: {
    /** Staged, unstaged and unmerged changes, and files that Git doesn't know. */
    indexChanges: Change[]
    workingTreeChanges: Change[]
    mergeChanges: Change[]
    untrackedChanges?: Change[]
    onDidChange: vscode.Event<void>
  }
}

interface Change {
  uri: vscode.Uri
}

/** Resolves to the Git extension's API; `undefined` if the extension is turned off. */
export async function gitApi(): Promise<GitApi | undefined> {
  try {
    const extension = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git')
    return (await extension?.activate())?.getAPI(1)
  } catch {
    // throws if `git.enabled` is off
    return undefined
  }
}

/** Like {@link gitApi}, but resolves only once the repositories of the workspace are open. */
export async function openGit(): Promise<GitApi | undefined> {
  const api = await gitApi()
  if (!api || api.state === 'initialized') return api
  return new Promise(resolve => {
    const listener = api.onDidChangeState(state => {
      if (state !== 'initialized') return
      listener.dispose()
      resolve(api)
    })
  })
}

/** Returns the files that Git lists as changed. */
export function changedFilesOf(git: GitApi): vscode.Uri[] {
  return git.repositories.flatMap(({ state }) => {
    const { indexChanges, workingTreeChanges, mergeChanges, untrackedChanges = [] } = state
    const changes = [...indexChanges, ...workingTreeChanges, ...mergeChanges, ...untrackedChanges]
    return changes.map(({ uri }) => uri)
  })
}

/** Calls the listener when a repository's changes may be different. */
export function onDidChangeGit(git: GitApi, listener: () => void): vscode.Disposable {
  const following = new Map<string, vscode.Disposable>()
  const follow = ({ rootUri, state }: Repository) => {
    const key = rootUri.toString()
    following.get(key)?.dispose()
    following.set(key, state.onDidChange(listener))
  }
  git.repositories.forEach(follow)
  const opening = git.onDidOpenRepository(follow)
  return new vscode.Disposable(() => {
    opening.dispose()
    for (const one of following.values()) one.dispose()
  })
}
