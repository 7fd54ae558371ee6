import assert from 'node:assert/strict'
import { FilePaths } from '../../../src/changes/detect/file-paths.ts'
import { PathRules } from '../../../src/editor/path-rules.ts'

describe('the paths of a file', () => {
  it('lead to its own key, and are all known by the real one', () => {
    const paths = new FilePaths(new PathRules('linux'))
    assert.equal(paths.ownKey('/link/a'), '/link/a')
    paths.alias('/real/a', ['/real/a', '/link/a', '/other/a', '/link/a'])
    assert.equal(paths.ownKey('/link/a'), '/real/a')
    assert.equal(paths.ownKey('/real/a'), '/real/a')
    assert.deepEqual(paths.of('/real/a'), ['/real/a', '/link/a', '/other/a'])
    assert.deepEqual(paths.keysOf('/other/a'), ['/other/a'])
  })

  it('are the same in other letters, if the disk ignores case', () => {
    const paths = new FilePaths(new PathRules('win32'))
    paths.alias('C:\\w\\A.txt', ['c:\\W\\a.txt'])
    assert.deepEqual(paths.of('C:\\w\\A.txt'), ['C:\\w\\A.txt'])
    assert.equal(paths.ownKey('c:\\W\\a.txt'), paths.key('C:\\w\\A.txt'))
  })

  it('are bounded: with too many, the earlier ones are forgotten', () => {
    const paths = new FilePaths(new PathRules('linux'))
    for (let i = 0; i <= 10_000; i++) paths.alias(`/real/${i}`, [`/link/${i}`])
    assert.deepEqual(paths.of('/real/0'), ['/real/0'])
    assert.equal(paths.ownKey('/link/0'), '/link/0')
    assert.equal(paths.ownKey('/link/10000'), '/real/10000')
  })
})
