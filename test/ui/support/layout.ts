import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { succeeds, waitFor } from '../../host/wait-for.ts'

const page = readFileSync(join(import.meta.dirname, 'layout-page.js'), 'utf8')
const shapes = readFileSync(join(import.meta.dirname, 'shapes-page.js'), 'utf8')

/** What doesn't fit into a page, one line each. Waits for the layout after a change of size or content. */
export async function layoutProblems(frame: Frame): Promise<string[]> {
  await frame.evaluate(page)
  const look = () => frame.evaluate<string[]>('parleyLayout.problems()')
  const fits = waitFor('a page that fits', async () => (await look()).length === 0)
  return fits.then(
    () => [],
    () => look(),
  )
}

/**
 * Texts and controls that leave what contains them, overlap, or break inside a word, one line each. Those that stay once
 * the page has drawn what depends on its size.
 */
export async function shapeProblems(frame: Frame): Promise<string[]> {
  await frame.evaluate(shapes)
  const look = () =>
    frame.evaluate<string[]>(
      'new Promise(done => requestAnimationFrame(() => setTimeout(() => done(parleyShapes.problems()))))',
    )
  let problems = await look()
  if (problems.length === 0) return problems
  const isStable = async () => {
    const before = problems.join('\n')
    problems = await look()
    return problems.join('\n') === before
  }
  await succeeds(waitFor('the same look twice', isStable, { timeout: 3000, interval: 250 }))
  return problems
}

/** What is animated in a page, one line each. */
export async function animatedElements(frame: Frame): Promise<string[]> {
  await frame.evaluate(page)
  return frame.evaluate<string[]>('parleyLayout.moving()')
}
