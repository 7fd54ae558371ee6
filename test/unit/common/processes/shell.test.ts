import assert from 'node:assert/strict'
import { needsBash, shellFor } from '../../../../src/common/processes/command-shell.ts'
import { parseCommandLine } from '../../../../src/sessions/permission-rules/command-line.ts'

const all = () => true
const only =
  (...paths: string[]) =>
  (path: string) =>
    paths.includes(path)

describe('the shell for command lines of agents', () => {
  it("is the user's shell if models know its syntax", () => {
    assert.equal(shellFor('ls', { SHELL: '/bin/zsh' }, 'darwin', all), '/bin/zsh')
    assert.equal(shellFor('ls', { SHELL: '/opt/homebrew/bin/bash' }, 'darwin', all), '/opt/homebrew/bin/bash')
  })
  it('is bash if the user has another shell or none', () => {
    assert.equal(shellFor('ls', { SHELL: '/usr/bin/fish' }, 'linux', all), '/bin/bash')
    assert.equal(shellFor('ls', { SHELL: '/gone/zsh' }, 'linux', only('/usr/bin/bash')), '/usr/bin/bash')
    assert.equal(shellFor('ls', {}, 'linux', all), '/bin/bash')
  })
  it('is sh without bash', () => {
    assert.equal(shellFor('ls', { SHELL: '/usr/bin/fish' }, 'linux', only()), '/bin/sh')
  })

  describe('on Windows', () => {
    const git = {
      Path: String.raw`C:\Windows\System32;D:\Tools\Git\cmd`,
      ProgramFiles: String.raw`C:\Program Files`,
      LOCALAPPDATA: String.raw`C:\Users\me\AppData\Local`,
    }
    const bash = String.raw`D:\Tools\Git\bin\bash.exe`
    const shell = (
      line: string,
      env: Record<string, string>,
      isExecutable: (path: string) => boolean = all,
    ) => shellFor(line, env, 'win32', isExecutable)

    for (const line of [
      'ls -la src',
      'npm test; npm run lint',
      "git commit -m 'one thing'",
      'git commit -m "$(cat message.txt)"',
      'echo "$HOME"',
      'FOO=1 npm test',
      'npm test 2>/dev/null',
      'cd src && rm -rf dist',
      'npm ls | grep react',
      'mkdir -p a/b',
      'find . -name "*.ts"',
      'cat <<EOF\nx\nEOF',
      'npm ci\nnpm test',
      'set -e; npm test',
    ])
      it(`is the bash of Git for ${JSON.stringify(line)}`, () => {
        assert.equal(shell(line, git), bash)
      })
    for (const line of [
      'npm test',
      'npm ci && npm test',
      'git commit -m "one; two \'three\' for $5"',
      'git log --format="%h %s"',
      String.raw`node scripts\build.js --out "C:\My Files"`,
      'dir /b src & ls',
      'type a.txt | findstr x',
      'echo %PATH%; ls',
      'if exist a.txt del a.txt',
      "powershell -Command 'Get-ChildItem'",
      'set FOO=1&& npm test',
      'node -e "console.log(1); console.log(2)"',
    ])
      it(`is Node's default, cmd.exe, for ${JSON.stringify(line)}`, () => {
        assert.equal(shell(line, git), undefined)
        assert.equal(shell(line, {}, only()), undefined)
      })

    it('is the bash that the environment names, or the one beside git, or an installed one', () => {
      const own = String.raw`E:\bash\bash.exe`
      assert.equal(shell('ls', { ...git, CLAUDE_CODE_GIT_BASH_PATH: own }), own)
      assert.equal(shell('ls', { ...git, SHELL: own }), own)
      // not Windows's path
      assert.equal(shell('ls', { ...git, SHELL: '/usr/bin/bash' }), bash)
      for (const installed of [
        String.raw`C:\Program Files\Git\bin\bash.exe`,
        String.raw`C:\Users\me\AppData\Local\Programs\Git\bin\bash.exe`,
      ])
        assert.equal(shell('ls', git, only(installed)), installed)
    })
    it("isn't the one of the Windows Subsystem for Linux", () => {
      assert.throws(
        () => shell('ls; pwd', git, only(String.raw`C:\Windows\System32\bash.exe`)),
        /Git for Windows/,
      )
    })
    it('is said to be missing if a line needs it', () => {
      assert.throws(() => shell('ls -la; pwd', {}, only()), /written for bash, which isn't installed/)
      // other programs of that name may be on the PATH
      assert.equal(shell('ls -la', {}, only()), undefined)
    })
    it('leaves no rule sure of what bash would read differently', () => {
      assert.equal(parseCommandLine(String.raw`node src\a.js`, 'win32').sure, true)
      assert.equal(needsBash(String.raw`cat src\a.js`), true)
      assert.equal(parseCommandLine(String.raw`cat src\a.js`, 'win32').sure, false)
      assert.equal(parseCommandLine('cat src/a.js', 'win32').sure, true)
    })
  })
})
