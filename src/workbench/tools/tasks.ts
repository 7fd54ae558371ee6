import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore, toDisposable } from '../../common/disposable.ts'
import type { TaskInfo, TaskRun } from '../../mcp/server/editor-features.ts'

/** The tasks that the workspace defines and that extensions find. */
export async function listTasks(): Promise<TaskInfo[]> {
  return (await vscode.tasks.fetchTasks()).map(infoOf)
}

/** Runs a task and waits for its end, up to `waitMs`; ends the task when `signal` aborts. */
export async function runTask(
  { name, source }: Pick<TaskInfo, 'name' | 'source'>,
  waitMs: number,
  signal: AbortSignal,
): Promise<TaskRun> {
  const task = (await vscode.tasks.fetchTasks()).find(one => one.name === name && one.source === source)
  if (!task) throw new Error(l10n.t('The task {0} no longer exists.', name))
  const own = new DisposableStore()
  try {
    return await new Promise<TaskRun>((resolve, reject) => {
      let started: vscode.TaskExecution | undefined
      // a task may end before executeTask resolves
      const isOwn = (execution: vscode.TaskExecution) =>
        started ? execution === started : execution.task.name === name && execution.task.source === source
      own.add(
        vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
          if (isOwn(execution)) resolve(exitCode === undefined ? { ended: true } : { exitCode })
        }),
      )
      own.add(
        vscode.tasks.onDidEndTask(({ execution }) => {
          // the end of its process, which has the exit code, may be reported right after this
          if (isOwn(execution)) setTimeout(() => resolve({ ended: true }), 200)
        }),
      )
      const timer = setTimeout(() => resolve({}), waitMs)
      own.add(toDisposable(() => clearTimeout(timer)))
      const stop = () => {
        started?.terminate()
        resolve({})
      }
      signal.addEventListener('abort', stop, { once: true })
      own.add(toDisposable(() => signal.removeEventListener('abort', stop)))
      vscode.tasks.executeTask(task).then(execution => {
        started = execution
        if (signal.aborted) stop()
      }, reject)
    })
  } finally {
    own.dispose()
  }
}

function infoOf({ name, source, group, detail, execution }: vscode.Task): TaskInfo {
  const command = execution && commandOf(execution)
  return {
    name,
    source,
    ...(group && { group: group.id }),
    ...(detail && { detail }),
    ...(command && { command }),
  }
}

function commandOf(execution: NonNullable<vscode.Task['execution']>): string | undefined {
  if (execution instanceof vscode.ProcessExecution) return [execution.process, ...execution.args].join(' ')
  if (!(execution instanceof vscode.ShellExecution)) return undefined
  if (execution.commandLine !== undefined) return execution.commandLine
  const words = [execution.command, ...(execution.args ?? [])]
  return words.flatMap(word => (typeof word === 'string' ? [word] : word ? [word.value] : [])).join(' ')
}
