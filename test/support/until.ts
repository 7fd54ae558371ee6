import { PATIENCE_MS } from './patience.ts'

/**
 * Polls until a condition is true; fails if it never becomes true, also if a test sets the clock.
 * @param what names the condition in the error
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = 'the condition',
  withinMs = PATIENCE_MS,
): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what} did not come true within ${withinMs} ms`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
