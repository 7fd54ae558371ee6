import { createContext, Script } from 'node:vm'
import type { Matches } from './elicitation-schema.ts'

/** Longest time one pattern may take, in milliseconds. */
const LONGEST = 100

/**
 * Matches an agent's pattern where nothing else may wait for it: some expressions take longer than anyone lives. One
 * that is not through in time, or is no expression, asks for nothing.
 */
export const matchesInTime: Matches = (pattern, text) => {
  const context = createContext(Object.assign(Object.create(null), { pattern, text }))
  try {
    return (
      new Script("new RegExp(pattern, 'u').test(text)").runInContext(context, { timeout: LONGEST }) !== false
    )
  } catch {
    return true
  }
}
