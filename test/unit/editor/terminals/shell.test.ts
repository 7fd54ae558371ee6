import assert from 'node:assert/strict'
import { shellFor } from '../../../../src/editor/terminals/command-process.ts'

const all = () => true
const only =
  (...paths: string[]) =>
  (path: string) =>
    paths.includes(path)

describe('the shell for command lines', () => {
  it('is the user’s own when models write for it', () => {
    assert.equal(shellFor({ SHELL: '/bin/zsh' }, 'darwin', all), '/bin/zsh')
    assert.equal(shellFor({ SHELL: '/opt/homebrew/bin/bash' }, 'darwin', all), '/opt/homebrew/bin/bash')
  })
  it('is bash when theirs is another, or is gone', () => {
    assert.equal(shellFor({ SHELL: '/usr/bin/fish' }, 'linux', all), '/bin/bash')
    assert.equal(shellFor({ SHELL: '/gone/zsh' }, 'linux', only('/usr/bin/bash')), '/usr/bin/bash')
    assert.equal(shellFor({}, 'linux', all), '/bin/bash')
  })
  it('is sh where there is no bash', () => {
    assert.equal(shellFor({ SHELL: '/usr/bin/fish' }, 'linux', only()), '/bin/sh')
  })
  it("is Node's choice on Windows", () => {
    assert.equal(shellFor({ SHELL: '/bin/bash' }, 'win32', all), undefined)
  })
})
