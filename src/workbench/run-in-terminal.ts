import * as vscode from 'vscode'
import { DisposableStore } from '../common/disposable.ts'

/** See `Workbench.runInTerminal`. A task has a terminal that stays, and reports the exit code of its process. */
export async function runInTerminal(command: string, cwd: string, name: string): Promise<number | undefined> {
  const task = new vscode.Task(
    { type: 'parley', name },
    vscode.TaskScope.Workspace,
    name,
    'Parley',
    new vscode.ShellExecution(command, { cwd }),
    [],
  )
  task.presentationOptions = { panel: vscode.TaskPanelKind.New, reveal: vscode.TaskRevealKind.Always }
  const own = new DisposableStore()
  try {
    return await new Promise<number | undefined>((resolve, reject) => {
      // only one window can prepare a worktree of this name
      const isOwn = ({ task: { source, name: other } }: vscode.TaskExecution) =>
        source === 'Parley' && other === name
      own.add(
        vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
          if (isOwn(execution)) resolve(exitCode)
        }),
      )
      own.add(
        vscode.tasks.onDidEndTask(({ execution }) => {
          // the end of its process, which has the exit code, may be reported right after this
          if (isOwn(execution)) setTimeout(() => resolve(undefined), 200)
        }),
      )
      vscode.tasks.executeTask(task).then(undefined, reject)
    })
  } finally {
    own.dispose()
  }
}
