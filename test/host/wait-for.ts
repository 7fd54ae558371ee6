import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE_MS } from '../support/patience.ts'

/**
 * Polls until the result is neither false nor undefined, and resolves to it.
 * Throws after `timeout` milliseconds, with the name of the condition.
 */
export async function waitFor<T>(
  what: string,
  ask: () => T | Promise<T>,
  { timeout = PATIENCE_MS, interval = 50 } = {},
): Promise<Exclude<T, false | undefined>> {
  const end = Date.now() + timeout
  for (;;) {
    const answer = await ask()
    if (answer !== false && answer !== undefined) return answer as Exclude<T, false | undefined>
    if (Date.now() > end) throw new Error(`${what}: not within ${timeout / 1000} s`)
    await delay(interval)
  }
}

/** Whether the action succeeds before its timeout. */
export function succeeds(doing: Promise<unknown>): Promise<boolean> {
  return doing.then(
    () => true,
    () => false,
  )
}
