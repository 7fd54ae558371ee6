import assert from 'node:assert/strict'
import { mayFocus } from '../../../src/app/window-uri.ts'

describe('the window of a session elsewhere', () => {
  const file = { scheme: 'file', authority: '' }
  const remote = (authority: string) => ({ scheme: 'vscode-remote', authority })

  it('may be asked for by a folder on this machine, or where this window is', () => {
    assert.ok(mayFocus(file, undefined))
    assert.ok(mayFocus(file, file))
    assert.ok(mayFocus(remote('wsl+ubuntu'), remote('wsl+ubuntu')))
  })

  it('may not be asked for by anything else', () => {
    assert.ok(!mayFocus(remote('ssh-remote+evil'), remote('wsl+ubuntu')))
    assert.ok(!mayFocus(remote('ssh-remote+evil'), file))
    assert.ok(!mayFocus(remote(''), undefined))
    // a share on the network
    assert.ok(!mayFocus({ scheme: 'file', authority: 'evil' }, file))
    assert.ok(
      !mayFocus({ scheme: 'vscode-vfs', authority: 'github' }, { scheme: 'vscode-vfs', authority: 'github' }),
    )
  })
})
