import * as vscode from 'vscode'
import { DisposableStore, toDisposable } from '../common/disposable.ts'
import type { TaskRun } from '../mcp/server/editor-features.ts'

interface RunOptions {
  /** An execution that ends before VS Code has reported which one was started may belong to an equal task. */
  isSame: (task: vscode.Task) => boolean
  /** How long to wait for the end. By default, without a limit. */
  waitMs?: number
  /** Ends the task. */
  signal?: AbortSignal
}

/** How much later than its task the end of a process, with the exit code, may be reported: more on a busy machine. Milliseconds. */
const EXIT_CODE_MS = 2000

/** Runs a task and tells how it ended. */
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
          // the end of its process, which has the exit code, may be reported right after this
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
