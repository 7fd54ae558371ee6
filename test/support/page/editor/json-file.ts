import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What is in `file`; `undefined` if there is none. */
export function readJson(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** Another window that reads `file` meanwhile gets all of it or what was there before. */
export function writeJson(file: string, value: unknown): void {
  // not beside the file, where a workspace's watcher would see it
  const written = join(tmpdir(), `parley-json-${process.pid}`)
  writeFileSync(written, JSON.stringify(value, null, 2))
  renameSync(written, file)
}
