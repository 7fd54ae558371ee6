import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Builds a folder that later runs use, unless it exists: next to the target, and renames it at the end, so that an existing
 * target is complete.
 */
export async function buildOnce(target: string, build: (directory: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true })
  removeAbandoned(target)
  const directory = mkdtempSync(`${target}.partial-`)
  try {
    await build(directory)
    renameSync(directory, target)
  } catch (error) {
    // Another run was faster, and its result is just as good.
    if (!existsSync(target)) throw error
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Removes incomplete folders of killed runs: those older than an hour, since none takes that long. */
function removeAbandoned(target: string): void {
  const directory = dirname(target)
  for (const entry of readdirSync(directory)) {
    const path = join(directory, entry)
    if (entry.startsWith(`${basename(target)}.partial-`) && Date.now() - statSync(path).mtimeMs > 3_600_000)
      rmSync(path, { recursive: true, force: true })
  }
}
