import * as vscode from 'vscode'
import { runToEnd } from './run-task.ts'

/** See `Workbench.runInTerminal`. A task has a terminal that stays, and reports the exit code of its process. */
export async function runInTerminal(
  command: string,
  cwd: string,
  name: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const task = new vscode.Task(
    // VS Code takes tasks with equal definitions for one task, and doesn't run two of them at once
    { type: 'parley', name, cwd },
    vscode.TaskScope.Workspace,
    name,
    'Parley',
    new vscode.ShellExecution(command, { cwd }),
    [],
  )
  task.presentationOptions = { panel: vscode.TaskPanelKind.New, reveal: vscode.TaskRevealKind.Always }
  const { exitCode } = await runToEnd(task, {
    // an earlier task of this name may still run
    isSame: other => other.source === 'Parley' && other.name === name,
    ...(signal && { signal }),
  })
  return exitCode
}
