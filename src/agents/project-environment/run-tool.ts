import { SHELL_EXIT_MS } from '../../common/limits.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import { type SpawnRequest, spawnProcess } from '../../common/processes/spawn-process.ts'

export interface ToolLimits {
  timeoutMs: number
  /** UTF-16 units of its output */
  maxOutput: number
  /** Ends the tool immediately. */
  signal: AbortSignal
  guard?: ProcessGuard | undefined
}

export type ToolResult =
  | { code: number | null; stdout: string; stderr: string }
  /** It was ended, with all of its processes. */
  | { ended: 'too-slow' | 'too-long' | 'aborted' }

/**
 * Runs a program without a terminal and with an empty stdin, within bounds.
 * @throws SpawnError
 */
export async function runTool(request: SpawnRequest, limits: ToolLimits): Promise<ToolResult> {
  const { child, tree } = await spawnProcess(request, { stdio: ['ignore', 'pipe', 'pipe'] })
  limits.guard?.add(tree.root)
  const result = await new Promise<ToolResult>(resolve => {
    let stdout = ''
    let stderr = ''
    const end = (ended: 'too-slow' | 'too-long' | 'aborted') => finish({ ended })
    const abort = () => end('aborted')
    const timer = setTimeout(end, limits.timeoutMs, 'too-slow')
    const finish = (answer: ToolResult) => {
      clearTimeout(timer)
      limits.signal.removeEventListener('abort', abort)
      resolve(answer)
    }
    limits.signal.addEventListener('abort', abort)
    if (limits.signal.aborted) abort()
    const check = () => {
      if (stdout.length + stderr.length > limits.maxOutput) end('too-long')
    }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      check()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      check()
    })
    const close = (code: number | null) => finish({ code, stdout, stderr })
    child.on('close', close)
    // A background program that it started may keep the output open; then `close` would not fire.
    child.on('exit', code => setTimeout(close, SHELL_EXIT_MS, code).unref())
  })
  child.stdout?.destroy()
  child.stderr?.destroy()
  // After the tool exited, a daemon that it left keeps running.
  if ('ended' in result) await (result.ended === 'aborted' ? tree.kill() : tree.killAll())
  limits.guard?.remove(tree.root)
  return result
}
