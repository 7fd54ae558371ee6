import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'

/** The files of src that contain a text, without the demo agent, which is a program of its own. */
function filesWith(text: RegExp): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', 'src'], { cwd: projectDirectory, encoding: 'utf8' })
  const files = listed.split('\0').filter(file => /\.tsx?$/.test(file) && !file.startsWith('src/demo-agent/'))
  assert.ok(files.length > 500)
  return files.filter(file => text.test(readFileSync(join(projectDirectory, file), 'utf8')))
}

describe('what depends on the system', () => {
  it('takes the platform as a parameter, whose default has one owner', () => {
    assert.deepEqual(
      filesWith(
        /\bprocess\.platform\b|\bos\.platform\(|import \{[^}]*\bplatform\b[^}]*\} from 'node:(?:os|process)'/,
      ),
      ['src/common/platform.ts'],
    )
  })

  it('gets the paths of the editor as agents spell them', () => {
    assert.deepEqual(filesWith(/\bfsPath\b/), ['src/workbench/path-on-disk.ts'])
  })
})

describe('what may come from another process', () => {
  it("tells a cancellation by the error's name, since no class arrives", () => {
    assert.deepEqual(filesWith(/instanceof CancelledError\b/), [])
  })
})
