import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PageWindow } from './page-window.ts'

/** Opens a file of the workspace by its name. */
export async function openFile(window: PageWindow, name: string): Promise<void> {
  const folder = dirname(window.workspace)
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find(
    path => path === name || path.endsWith(`/${name}`),
  )
  if (found === undefined) throw new Error(`The workspace has no ${name}`)
  await window.host.call('openFile', join(folder, found))
}

/** Selects the first lines of the file in the active editor. */
export async function selectLines(window: PageWindow, count: number): Promise<void> {
  await window.host.call('selectLines', count)
}

/** Replaces a word that the active editor contains once, and saves the file unless `saves` is false. */
export async function replaceWord(
  window: PageWindow,
  word: string,
  text: string,
  saves = true,
): Promise<void> {
  await window.host.call('replaceWord', word, text, saves)
}
