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

/** How much later than its task the end of the task's process, with the exit code, may be reported. Milliseconds. */
const EXIT_CODE_MS = 2000
/** The same for a task without a process, such as a task that only runs other tasks. Milliseconds. */
const NO_PROCESS_MS = 200

/** Runs a task; resolves to how it ended. */
export async function runToEnd(
  task: vscode.Task,
  { isSame, waitMs, signal }: RunOptions,
): Promise<Omit<TaskRun, 'output'>> {
  const own = new DisposableStore()
  try {
    return await new Promise((resolve, reject) => {
      let started: vscode.TaskExecution | undefined
      let hasProcess = false
      const isOwn = (execution: vscode.TaskExecution) =>
        started ? execution === started : isSame(execution.task)
      own.add(
        vscode.tasks.onDidStartTaskProcess(({ execution }) => {
          if (isOwn(execution)) hasProcess = true
        }),
      )
      own.add(
        vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
          if (isOwn(execution)) resolve(exitCode === undefined ? { ended: true } : { exitCode })
        }),
      )
      own.add(
        vscode.tasks.onDidEndTask(({ execution }) => {
          if (isOwn(execution))
            setTimeout(() => resolve({ ended: true }), hasProcess ? EXIT_CODE_MS : NO_PROCESS_MS)
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
