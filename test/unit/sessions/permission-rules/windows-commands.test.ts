/** Rules for commands on Windows, whose disk is simulated. */
import assert from 'node:assert/strict'
import { Emitter } from '../../../../src/common/event.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { toolCallOf } from '../../../../src/conversation/entries/tool-call.ts'
import { createSessionState } from '../../../../src/conversation/reducer/reducing-state.ts'
import { PathRules } from '../../../../src/editor/path-rules.ts'
import { ProtectedFiles } from '../../../../src/editor/protected-files.ts'
import { parseCommandLine, possibleCommands } from '../../../../src/sessions/permission-rules/command-line.ts'
import { PermissionRules } from '../../../../src/sessions/permission-rules/permission-rules.ts'
import { foldingDisk } from '../../../support/folding-disk.ts'
import { OPTIONS, request } from './harness.ts'

describe('permission rules on Windows', () => {
  const paths = new PathRules('win32')
  const links = foldingDisk(
    ['C:\\Work\\App\\src\\a.ts', 'C:\\Users\\me\\.ssh\\id', 'D:\\lib\\b.ts'],
    true,
    '\\',
  )
  const roots = { cwd: 'c:\\work\\app', additionalDirectories: ['d:\\lib'] }
  const rulesOf = (rules: unknown[]) =>
    new PermissionRules({
      settings: {
        layers: key => (key === 'permissionRules' ? [{ scope: 'user', value: rules }] : []),
        onDidChange: new Emitter<void>().event,
      },
      trusted: () => true,
      log: silentLogger,
      protectedFiles: new ProtectedFiles(paths),
      paths,
      links,
    })
  const asked = (command: unknown) => request({ kind: 'execute', title: 'Run', rawInput: { command } })
  const answer = async (rule: object, command: unknown) => {
    const answers = rulesOf([{ action: 'allow', ...rule }]).answersFor('one', () => ({ roots }))
    const tool = toolCallOf(createSessionState(), asked(command))
    const given = await answers({ ...asked(command), options: OPTIONS }, tool, new AbortController().signal)
    if (given && 'refusal' in given) return given.refusal
    return given && 'rule' in given ? given.rule.action : 'ask'
  }
  const offers = async (command: unknown) => {
    const tool = toolCallOf(createSessionState(), asked(command))
    return (await rulesOf([]).suggest('one', { roots }, asked(command), tool)).map(({ text }) => text)
  }

  const outsideOf = (rule: string) =>
    `The rule “${rule}” doesn't allow anything outside of the session's folders.`

  it('allow commands in the folder of the session, whatever the case and the separators', async () => {
    for (const line of [
      'git diff src/a.ts',
      String.raw`git diff SRC\A.ts`,
      String.raw`git diff C:\WORK\App\src\a.ts`,
      String.raw`git diff d:\LIB\b.ts`,
    ])
      assert.equal(await answer({ command: 'git diff *' }, line), 'allow', line)
  })

  it("don't allow a path from the root of the drive, or as the bash of Git writes it", async () => {
    for (const path of [
      String.raw`\Users\me\.ssh\id`,
      '/Users/me/.ssh/id',
      '/c/Users/me/.ssh/id',
      '/c',
      '/d/x',
      '/etc/passwd',
      'C:id',
      String.raw`.\./../Users/me/.ssh/id`,
      String.raw`src\..\..\x`,
      String.raw`\\server\share\x`,
      'env:SECRET',
    ])
      assert.equal(
        (await answer({ kind: 'execute' }, `cat ${path}`.replace('cat C', 'type C'))) === 'allow',
        false,
        path,
      )
    assert.equal(
      await answer({ command: 'git diff **' }, String.raw`git diff \Users\me\.ssh\id src`),
      outsideOf('git diff **'),
    )
    assert.equal(
      await answer({ command: 'git diff **' }, 'git diff /c/Users/me/.ssh/id src'),
      outsideOf('git diff **'),
    )
    assert.equal(
      await answer({ command: 'git diff **' }, String.raw`git diff .\./.\./Users/me/.ssh/id`),
      outsideOf('git diff **'),
    )
    assert.equal(
      await answer({ command: 'git diff **' }, 'git diff /c/Work/App/src/a.ts'),
      outsideOf('git diff **'),
      'in cmd, a folder c',
    )
  })

  it('allow names with a colon for programs of projects, and the options of those of Windows', async () => {
    assert.equal(await answer({ command: 'npm run test:unit' }, 'npm run test:unit'), 'allow')
    assert.equal(await answer({ command: 'go test ./...' }, 'go test ./...'), 'allow')
    assert.equal(await answer({ command: 'findstr /s /i needle src' }, 'findstr /s /i needle src'), 'allow')
    for (const option of ['/c:needle', '/C:"a: b"', '/g:src'])
      assert.equal(await answer({ command: 'findstr **' }, `findstr ${option} src`), 'allow', option)
    for (const option of ['/d:..', '/D:C:', '/f:nul', '/sd:..'])
      assert.equal(
        await answer({ command: 'findstr **' }, `findstr ${option} /s needle src`),
        outsideOf('findstr **'),
        option,
      )
    assert.equal(
      await answer({ command: 'dir **' }, 'dir /Users'),
      outsideOf('dir **'),
      'in PowerShell, a folder of the drive',
    )
    assert.equal(await answer({ command: 'git show **' }, 'git show HEAD:C:id'), outsideOf('git show **'))
  })

  it('read the scripts of PowerShell, cmd.exe and bash', async () => {
    const powershell = String.raw`C:\WINDOWS\System32\WindowsPowerShell\v1.0\powershell.exe`
    for (const command of [
      [powershell, '-NoProfile', '-Command', 'git status'],
      ['powershell.exe', '-c', 'git status'],
      [String.raw`C:\Program Files\PowerShell\7\pwsh.exe`, '-NoLogo', '-Command', 'git status'],
      ['cmd.exe', '/d', '/s', '/c', 'git status'],
      [String.raw`C:\Program Files\Git\bin\bash.exe`, '-lc', 'git status'],
      ['bash', '-lc', 'git status'],
    ]) {
      assert.equal(await answer({ command: 'git status' }, command), 'allow', command[0])
      assert.deepEqual(await offers(command), ['git status', 'git status *'], command[0])
    }
    for (const command of [
      [String.raw`src\powershell.exe`, '-Command', 'git status'],
      ['powershell.exe', '-ExecutionPolicy', 'Bypass', '-Command', 'git status'],
      ['powershell.exe', '-Command', 'git status', 'x'],
      ['powershell.exe', '-Command', 'git status; Remove-Item x'],
      ['powershell.exe', '-File', 'git status'],
      ['cmd', '/c', 'git "status x"'],
    ])
      assert.notEqual(await answer({ command: 'git status' }, command), 'allow', command.join(' '))
  })

  it('are suggested for paths with backslashes and spaces', async () => {
    assert.deepEqual(await offers(String.raw`node src\a.ts`), [String.raw`node src\a.ts`])
    assert.deepEqual(await offers('node "src/my file.ts"'), ['node "src/my file.ts"'])
    for (const command of [String.raw`node src\a.ts`, 'node "src/my file.ts"'])
      assert.equal(await answer({ command }, command), 'allow', command)
  })

  it('see every command that a line may run', () => {
    const encoded = Buffer.from('rm -rf x', 'utf16le').toString('base64')
    for (const line of [
      'cmd /crm -rf x',
      'cmd.exe /c "rm -rf x"',
      String.raw`r\m -rf x`,
      'r`m -rf x',
      'r^m -rf x',
      `powershell -enc ${encoded}`,
      `pwsh -NoProfile -EncodedCommand ${encoded}`,
      'powershell -Command "cd y; rm -rf x"',
      // PowerShell takes every dash for a minus
      `powershell \u2013enc ${encoded}`,
      'call rm -rf x',
      '@rm -rf x',
      'wsl rm -rf x',
      'iex "rm -rf x"',
      'Start-Process rm -rf x',
    ]) {
      const all = possibleCommands(parseCommandLine(line, 'win32'), 'win32').map(words => words.join(' '))
      assert.ok(all.includes('rm -rf x'), `${line}: ${all}`)
    }
  })

  it('are unsure about what the shells of Windows take apart differently', () => {
    for (const line of ['git log "a"" --output=x"', 'git log ""', String.raw`git log \-\-output=x`])
      assert.equal(parseCommandLine(line, 'win32').sure, false, line)
  })
})
