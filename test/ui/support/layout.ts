import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { waitFor } from '../../host/wait-for.ts'

const page = readFileSync(join(import.meta.dirname, 'layout-page.js'), 'utf8')

/** What doesn't fit into a page, one line each. Waits for the layout after a change of size or content. */
export async function layoutProblems(frame: Frame): Promise<string[]> {
  await frame.evaluate(page)
  const look = () => frame.evaluate<string[]>('parleyLayout.problems()')
  const fits = waitFor('a page that fits', async () => (await look()).length === 0, { timeout: 5000 })
  return fits.then(
    () => [],
    () => look(),
  )
}

/** What is animated in a page, one line each. */
export async function animatedElements(frame: Frame): Promise<string[]> {
  await frame.evaluate(page)
  return frame.evaluate<string[]>('parleyLayout.moving()')
}
