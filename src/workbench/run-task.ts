import * as vscode from 'vscode'
import { DisposableStore, toDisposable } from '../common/disposable.ts'
import type { TaskRun } from '../mcp/server/editor-features.ts'

interface RunOptions {
  /** Whether another task equals this one: an execution that ends before VS Code has reported the started one may be of an equal task. */
  isSame: (task: vscode.Task) => boolean
  /** How long to wait for the end, in milliseconds; by default, without a limit. */
  waitMs?: number
  /** Ends the task. */
  signal?: AbortSignal
}

/** How long to wait after a task's end for the end of its process, with the exit code, which VS Code reports later. Milliseconds. */
const EXIT_CODE_MS = 2000

/** Runs a task; resolves to how it ended. */
export async function runToEnd(
  task: vscode.Task,
  { isSame, waitMs, signal }: RunOptions,
): Promise<Omit<TaskRun, 'output'>> {
  const own = new DisposableStore()
  try {
    return await new Promise((resolve, reject) => {
      let started: vscode.TaskExecution | undefined
      const isOwn = (execution: vscode.TaskExecution) =>
        started ? execution === started : isSame(execution.task)
      own.add(
        vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
          if (isOwn(execution)) resolve(exitCode === undefined ? { ended: true } : { exitCode })
        }),
      )
      own.add(
        vscode.tasks.onDidEndTask(({ execution }) => {
          // the end of the task's process, with the exit code, may be reported right after this event
          if (isOwn(execution)) setTimeout(() => resolve({ ended: true }), EXIT_CODE_MS)
        }),
      )
      if (waitMs !== undefined) {
        const timer = setTimeout(() => resolve({}), waitMs)
        own.add(toDisposable(() => clearTimeout(timer)))
      }
      const stop = () => {
        started?.terminate()
        resolve({})
      }
      signal?.addEventListener('abort', stop, { once: true })
      own.add(toDisposable(() => signal?.removeEventListener('abort', stop)))
      vscode.tasks.executeTask(task).then(execution => {
        started = execution
        if (signal?.aborted) stop()
      }, reject)
    })
  } finally {
    own.dispose()
  }
}
