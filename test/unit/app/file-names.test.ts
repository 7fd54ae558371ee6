import assert from 'node:assert/strict'
import path from 'node:path'
import { namesOf } from '../../../src/app/changes/file-names.ts'

describe('the names of files', () => {
  const folder = (...parts: string[]) => ({ name: parts.at(-1)!, path: path.resolve(path.sep, ...parts) })
  const file = (...parts: string[]) => path.resolve(path.sep, ...parts)

  it('are relative to the only folder, and full outside of it', () => {
    const folders = [folder('work', 'api')]
    const paths = [
      file('work', 'api', 'src', 'a.js'),
      file('work', 'api', '..notes'),
      file('work', 'web', 'b.js'),
    ]
    assert.equal(namesOf({ folders }, paths), [path.join('src', 'a.js'), '..notes', paths[2]].join(', '))
  })

  it('begin with the innermost of several folders', () => {
    const folders = [folder('work'), folder('work', 'api'), folder('elsewhere')]
    const paths = [file('work', 'api', 'a.js'), file('work', 'b.js'), file('elsewhere', 'c.js')]
    const names = [path.join('api', 'a.js'), path.join('work', 'b.js'), path.join('elsewhere', 'c.js')]
    assert.equal(namesOf({ folders }, paths), names.join(', '))
  })
})
