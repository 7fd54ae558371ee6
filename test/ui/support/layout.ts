import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'

const page = readFileSync(join(import.meta.dirname, 'layout-page.js'), 'utf8')

/** What does not fit into a page, a line each. */
export async function layoutProblems(frame: Frame): Promise<string[]> {
  await frame.evaluate(page)
  return frame.evaluate<string[]>('parleyLayout.problems()')
}

/** What moves in a page by itself, a line each. */
export async function movingParts(frame: Frame): Promise<string[]> {
  await frame.evaluate(page)
  return frame.evaluate<string[]>('parleyLayout.moving()')
}
