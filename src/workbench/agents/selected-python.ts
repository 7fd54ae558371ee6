import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { PythonSelection } from '../../agents/project-environment/python-environment.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'

/** The part of the Python extension's API that Parley uses, which may be missing or different. */
interface PythonApi {
  /** Resolves once the extension has chosen environments for folders without a selection by the user. */
  ready?: PromiseLike<unknown>
  environments?: {
    getActiveEnvironmentPath(resource: vscode.Uri): { path?: unknown } | undefined
    onDidChangeActiveEnvironmentPath(listener: () => void): vscode.Disposable
  }
}

/** Files that reveal a Python project without a search; a subset of those for which VS Code starts the Python extension. */
const PROJECT_FILES = [
  ...['pyproject.toml', 'requirements.txt', 'setup.py', 'Pipfile', 'pylock.toml'],
  ...['manage.py', 'app.py', '.venv', '.conda'],
]

/** The Python environments that the user selected with the Python extension, whose API includes the Python Environments extension. */
export class SelectedPython extends Owner implements PythonSelection {
  readonly #change = this.register(new Emitter<void>())
  #followed: PythonApi | undefined
  readonly onDidChange = this.#change.event

  constructor() {
    super()
    // the Python extension was installed or turned off
    const installed = vscode.extensions.onDidChange(() => this.#change.fire())
    this.register(toDisposable(() => installed.dispose()))
  }

  /** Resolves to the environment selected for a folder in the workspace; users select none for other folders, such as worktrees. */
  async selected(folder: string): Promise<unknown> {
    const resource = vscode.Uri.file(folder)
    if (!vscode.workspace.getWorkspaceFolder(resource)) return undefined
    const extension = vscode.extensions.getExtension<PythonApi | undefined>('ms-python.python')
    if (!extension) return undefined
    // Don't start the extension for a folder without a Python project. In a folder with a project, VS Code is about to start it
    // anyway, and a session that doesn't wait would have another environment than the next session.
    if (!extension.isActive && !(await hasProject(folder))) return undefined
    const api = await extension.activate()
    this.#follow(api)
    await api?.ready
    return api?.environments?.getActiveEnvironmentPath(resource)?.path
  }

  #follow(api: PythonApi | undefined): void {
    if (!api?.environments || api === this.#followed || this.owned.isDisposed) return
    this.#followed = api
    const following = api.environments.onDidChangeActiveEnvironmentPath(() => this.#change.fire())
    this.register(toDisposable(() => following.dispose()))
  }
}

async function hasProject(folder: string): Promise<boolean> {
  const exist = await Promise.all(
    PROJECT_FILES.map(name =>
      stat(join(folder, name)).then(
        () => true,
        () => false,
      ),
    ),
  )
  return exist.includes(true)
}
