import * as vscode from 'vscode'
import { runToEnd } from './run-task.ts'

/** Runs a command as a task: see `Workbench.runInTerminal`. A task's terminal stays, and VS Code reports its exit code. */
export async function runInTerminal(
  command: string,
  cwd: string,
  name: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const task = new vscode.Task(
    // VS Code treats tasks with equal definitions as the same task, which doesn't run twice at once
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
