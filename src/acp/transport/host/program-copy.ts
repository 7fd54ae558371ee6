import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { PRIVATE_FILE } from '../../../common/private-files.ts'

const COPY = /^program-[0-9a-f]{16}$/
const UNFINISHED = 'program-new-'
/** How long an unused copy is kept, in milliseconds, because a host that is starting may be about to use it. */
const KEEP_MS = 24 * 3_600_000

/**
 * Copies a program's files into a folder that is named after their content, and returns this folder. The copies are needed because an
 * update of the extension deletes the original files while the program runs. Several windows may call this at the same time.
 */
export function copyProgram(folder: string, files: readonly string[]): string {
  const contents = files.map(file => readFileSync(file))
  const hash = createHash('sha256')
  for (const content of contents) hash.update(`${content.length} `).update(content)
  const copy = path.join(folder, `program-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(copy)) return copy
  const unfinished = mkdtempSync(path.join(folder, UNFINISHED))
  for (const [i, file] of files.entries())
    writeFileSync(path.join(unfinished, path.basename(file)), contents[i]!, { mode: PRIVATE_FILE })
  try {
    renameSync(unfinished, copy)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // If the copy exists, another window was faster.
    if (!existsSync(copy)) throw error
  }
  return copy
}

/** Deletes old copies that no host uses, and incomplete copies that a crash has left. */
export function pruneCopies(folder: string, used: ReadonlySet<string>, now = Date.now()): void {
  for (const name of readdirSync(folder)) {
    const copy = path.join(folder, name)
    if (used.has(copy) || !(COPY.test(name) || name.startsWith(UNFINISHED))) continue
    try {
      if (now - statSync(copy).mtimeMs > KEEP_MS) rmSync(copy, { recursive: true, force: true })
    } catch {
      // Another window was faster.
    }
  }
}
