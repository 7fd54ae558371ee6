import { SHELL_EXIT_MS } from '../limits.ts'
import type { ProcessGuard } from './process-guard.ts'
import { type SpawnRequest, spawnProcess } from './spawn-process.ts'

export interface ProgramLimits {
  timeoutMs: number
  /** Maximum length of the output, in UTF-16 units. */
  maxOutput: number
  /** Ends the program immediately when it aborts. */
  signal?: AbortSignal | undefined
  guard?: ProcessGuard | undefined
  /**
   * Whether stdout already contains the wanted output; the part from `from` is new. If so, the program may continue for a moment, and then
   * is ended.
   */
  isEnough?: (stdout: string, from: number) => boolean
}

export type ProgramResult =
  /** `code` and `killed` are null if there was enough output before the program exited. */
  | { code: number | null; killed: NodeJS.Signals | null; stdout: string; stderr: string }
  /** The program was ended, with all of its processes. */
  | { ended: 'too-slow' | 'too-long' | 'aborted' }

/**
 * Runs a program without a terminal and with an empty stdin, within bounds.
 * @throws SpawnError
 */
export async function runProgram(request: SpawnRequest, limits: ProgramLimits): Promise<ProgramResult> {
  const { child, tree } = await spawnProcess(request, { stdio: ['ignore', 'pipe', 'pipe'] })
  limits.guard?.add(tree.root)
  const result = await new Promise<ProgramResult>(resolve => {
    let stdout = ''
    let stderr = ''
    const end = (ended: 'too-slow' | 'too-long' | 'aborted') => finish({ ended })
    const abort = () => end('aborted')
    const timer = setTimeout(end, limits.timeoutMs, 'too-slow')
    const finish = (answer: ProgramResult) => {
      clearTimeout(timer)
      limits.signal?.removeEventListener('abort', abort)
      resolve(answer)
    }
    const close = (code: number | null, killed: NodeJS.Signals | null) =>
      finish({ code, killed, stdout, stderr })
    limits.signal?.addEventListener('abort', abort)
    if (limits.signal?.aborted) abort()
    const check = () => {
      if (stdout.length + stderr.length > limits.maxOutput) end('too-long')
    }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const from = stdout.length
      stdout += text
      if (limits.isEnough?.(stdout, from)) close(null, null)
      else check()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      check()
    })
    child.on('close', close)
    // A background process that the program started may keep the output open, so that `close` doesn't fire.
    child.on('exit', (code, killed) => setTimeout(close, SHELL_EXIT_MS, code, killed).unref())
  })
  child.stdout?.destroy()
  child.stderr?.destroy()
  const isRunning = () => child.exitCode === null && child.signalCode === null
  // Processes that a normally exited program left behind keep running.
  if ('ended' in result) await (result.ended === 'aborted' ? tree.kill() : tree.killAll())
  else if (isRunning()) setTimeout(() => isRunning() && tree.kill(), SHELL_EXIT_MS).unref()
  limits.guard?.remove(tree.root)
  return result
}
