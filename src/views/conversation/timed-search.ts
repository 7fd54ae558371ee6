import { createContext, Script } from 'node:vm'

/**
 * Runs `work` and ends it when it takes longer than this, in milliseconds, also in the middle of a regular expression:
 * some take longer than anyone lives. Answers undefined then.
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

const context: { work?: () => void } = createContext({})
const script = new Script('work()')
