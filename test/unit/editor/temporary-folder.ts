import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A folder of its own for each test of the suite, removed after it. */
export function useTemporaryFolder(): () => string {
  let folder = ''
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-editor-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  return () => folder
}
