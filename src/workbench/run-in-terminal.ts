import * as vscode from 'vscode'
import { DisposableStore } from '../common/disposable.ts'

/** See `Workbench.runInTerminal`. A task has a terminal that stays, and reports the exit code of its process. */
export async function runInTerminal(command: string, cwd: string, name: string): Promise<number | undefined> {
  const task = new vscode.Task(
    // VS Code doesn't run the same task twice at a time
    { type: 'parley', name, cwd },
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
      let started: vscode.TaskExecution | undefined
      // an earlier task of this name may still run; a short one may end before its start is reported
      const isOwn = (execution: vscode.TaskExecution) =>
        started ? execution === started : execution.task.source === 'Parley' && execution.task.name === name
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
      vscode.tasks.executeTask(task).then(execution => {
        started = execution
      }, reject)
    })
  } finally {
    own.dispose()
  }
}
