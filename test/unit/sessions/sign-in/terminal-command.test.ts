import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  failedExitCode,
  keepOpenOnFailure,
  terminalCommand,
} from '../../../../src/sessions/sign-in/sign-in.ts'

describe('the command of a sign-in terminal', () => {
  let folder: string
  let file: string
  beforeEach(function () {
    if (process.platform === 'win32') this.skip()
    folder = mkdtempSync(path.join(tmpdir(), "parley it's $HOME "))
    file = path.join(folder, 'exit code')
  })
  afterEach(() => folder && rmSync(folder, { recursive: true, force: true }))

  const run = (args: string[], input: string) => {
    const wrapped = keepOpenOnFailure(process.execPath, args, {
      file,
      message: 'It failed.',
      platform: 'linux',
    })
    return spawnSync(wrapped.command, wrapped.args, { input, encoding: 'utf8' })
  }
  const script =
    'process.stdout.write(process.argv.slice(2).join("|")); process.exit(Number(process.argv[1]))'

  it('is found on the PATH, which VS Code searches without the file types of Windows', async () => {
    const launch = { command: '/agent', args: ['--acp'], env: { PATH: '/none', A: '1' }, cwd: folder }
    writeFileSync(path.join(folder, 'sign-in'), '', { mode: 0o755 })
    const own = { command: 'sign-in', args: ['now'], env: { PATH: folder } }
    assert.deepEqual(await terminalCommand(launch, own), {
      command: path.join(folder, 'sign-in'),
      args: ['now'],
      env: { PATH: folder, A: '1' },
    })
    assert.equal((await terminalCommand(launch, { ...own, command: 'other' })).command, 'other')
    assert.deepEqual(await terminalCommand(launch, { args: ['login'], env: {} }), {
      command: '/agent',
      args: ['--acp', 'login'],
      env: launch.env,
    })
    assert.deepEqual((await terminalCommand(launch, { ...own, env: { Path: 'x' } }, 'win32')).env, {
      A: '1',
      Path: 'x',
    })
  })

  it('runs unchanged with its arguments', async () => {
    const { stdout, status } = run(['-e', script, '0', "it's", '$HOME', 'a  b'], '')
    assert.deepEqual([stdout, status], ["it's|$HOME|a  b", 0])
    assert.equal(await failedExitCode(file), undefined)
  })

  it('reports a failure and waits for Enter', async () => {
    const { stdout, status } = run(['-e', script, '3', 'wrong'], '\n')
    assert.deepEqual([stdout, status], ['wrong\r\nIt failed.', 3])
    assert.equal(await failedExitCode(file), 3)
  })

  it('runs without a shell on Windows', () => {
    assert.deepEqual(keepOpenOnFailure('a.exe', ['b'], { file: 'f', message: 'm', platform: 'win32' }), {
      command: 'a.exe',
      args: ['b'],
    })
  })
})
