import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A new folder for each test of the suite, which is deleted after the test. */
export function useTemporaryFolder(): () => string {
  let folder = ''
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-editor-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  return () => folder
}
