import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { projectDirectory } from '../../host/paths.ts'

/** The first thing that newcomers see, so every entry has to be necessary. */
const allowed = [
  /^(src|media|test|l10n|\.ci|\.github|\.vscode)$/,
  /^package(-lock)?\.json$/,
  /^package\.nls(\.[\w-]+)?\.json$/,
  /^(README|CONTRIBUTING|CHANGELOG)\.md$/,
  /^LICENSE$/,
  /^(tsconfig|biome)\.json$/,
  /^esbuild\.mjs$/,
  /^\.(vscodeignore|gitignore|gitattributes|editorconfig|mocharc\.json)$/,
]

describe('the top level of the repository', () => {
  it('contains only what belongs there', () => {
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: projectDirectory, encoding: 'utf8' })
    const entries = new Set(files.split('\0').map(file => file.split('/')[0]!))
    entries.delete('')
    assert.ok(entries.has('package.json'))
    assert.deepEqual(
      [...entries].filter(entry => !allowed.some(pattern => pattern.test(entry))),
      [],
    )
  })
})
