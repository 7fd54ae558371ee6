import { createContext, Script } from 'node:vm'
import { PATTERN_MS } from './limits.ts'

const context: { work?: () => void } = createContext({})
const script = new Script('work()')

/**
 * Runs `work` and ends it after this time, in milliseconds, also in the middle of a regular expression: some take longer
 * than anyone lives. Returns `undefined` then.
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

/** Whether a text matches an agent's pattern. One that isn't done in time, or is no expression, asks for nothing. */
export function matchesInTime(pattern: string, text: string): boolean {
  try {
    return inTime(PATTERN_MS, () => new RegExp(pattern, 'u').test(text)) ?? true
  } catch {
    return true
  }
}
