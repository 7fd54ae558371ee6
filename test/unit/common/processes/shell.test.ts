import assert from 'node:assert/strict'
import { shellFor } from '../../../../src/common/processes/run-command.ts'

const all = () => true
const only =
  (...paths: string[]) =>
  (path: string) =>
    paths.includes(path)

describe('the shell for command lines of agents', () => {
  it("is the user's shell if models know its syntax", () => {
    assert.equal(shellFor({ SHELL: '/bin/zsh' }, 'darwin', all), '/bin/zsh')
    assert.equal(shellFor({ SHELL: '/opt/homebrew/bin/bash' }, 'darwin', all), '/opt/homebrew/bin/bash')
  })
  it('is bash if the user has another shell or none', () => {
    assert.equal(shellFor({ SHELL: '/usr/bin/fish' }, 'linux', all), '/bin/bash')
    assert.equal(shellFor({ SHELL: '/gone/zsh' }, 'linux', only('/usr/bin/bash')), '/usr/bin/bash')
    assert.equal(shellFor({}, 'linux', all), '/bin/bash')
  })
  it('is sh without bash', () => {
    assert.equal(shellFor({ SHELL: '/usr/bin/fish' }, 'linux', only()), '/bin/sh')
  })
  it("is Node's default on Windows", () => {
    assert.equal(shellFor({ SHELL: '/bin/bash' }, 'win32', all), undefined)
  })
})
