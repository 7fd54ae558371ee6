import { setTimeout as delay } from 'node:timers/promises'

/**
 * Asks again and again until the answer is neither false nor undefined, and resolves to it.
 * Throws after `timeout` milliseconds, naming what was waited for.
 */
export async function waitFor<T>(
  what: string,
  ask: () => T | Promise<T>,
  { timeout = 30_000, interval = 50 } = {},
): Promise<Exclude<T, false | undefined>> {
  const end = Date.now() + timeout
  for (;;) {
    const answer = await ask()
    if (answer !== false && answer !== undefined) return answer as Exclude<T, false | undefined>
    if (Date.now() > end) throw new Error(`${what}: not within ${timeout / 1000} s`)
    await delay(interval)
  }
}
