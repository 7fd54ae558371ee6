import { createContext, Script } from 'node:vm'
import { PATTERN_MS } from './limits.ts'

const context: { work?: () => void } = createContext({})
const script = new Script('work()')

/**
 * Runs `work` with a time limit in milliseconds, which also stops a regular expression with catastrophic backtracking.
 * Returns `undefined` on timeout.
 */
export function inTime<T>(milliseconds: number, work: () => T): T | undefined {
  let answer: T | undefined
  context.work = () => {
    answer = work()
  }
  try {
    script.runInContext(context, { timeout: Math.max(1, Math.ceil(milliseconds)) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  }
  return answer
}

/** Whether a text matches an agent's pattern. A pattern that is invalid or times out matches everything. */
export function matchesInTime(pattern: string, text: string): boolean {
  try {
    return inTime(PATTERN_MS, () => new RegExp(pattern, 'u').test(text)) ?? true
  } catch {
    return true
  }
}
