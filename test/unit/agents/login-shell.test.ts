import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LaunchEnvironmentSource } from '../../../src/agents/launch-environment.ts'
import { loginShell, readLoginShellEnvironment } from '../../../src/agents/login-shell.ts'
import type { Logger } from '../../../src/common/logger.ts'

const BASH = '/bin/bash'

describe('the environment of a login shell', () => {
  let home: string
  const profile = (script: string) => writeFileSync(join(home, '.bash_profile'), script)
  const ask = (options: Partial<Parameters<typeof readLoginShellEnvironment>[0]> = {}) =>
    readLoginShellEnvironment({
      shell: BASH,
      env: { HOME: home, PATH: '/usr/bin:/bin' },
      cwd: home,
      timeoutMs: 15_000,
      execPath: process.execPath,
      ...options,
    })
  const environment = async (options: Parameters<typeof ask>[0] = {}) => {
    const answer = await ask(options)
    assert.ok('env' in answer, JSON.stringify(answer))
    return answer.env
  }
  const failure = async (options: Parameters<typeof ask>[0] = {}) => {
    const answer = await ask(options)
    assert.ok('failure' in answer)
    return answer.failure
  }

  before(function () {
    if (process.platform === 'win32') this.skip()
  })
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'parley-shell-'))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  it('contains what the profile adds to the PATH', async () => {
    profile('export PATH="$HOME/versions/bin:$PATH"; export MINE=1')
    const env = await environment()
    assert.ok(env.PATH?.split(':').includes(`${home}/versions/bin`))
    assert.equal(env.MINE, '1')
  })

  it("isn't affected by anything that a profile prints, including markers and JSON", async () => {
    profile(`echo 'Welcome! {"PATH":"no"}'; echo "_SHELL_ENV_DELIMITER_" ; printf '\\033[31mred\\033[0m'
      echo warning >&2; export MINE=yes; trap 'echo goodbye' EXIT`)
    assert.equal((await environment()).MINE, 'yes')
  })

  it('keeps values with line breaks, equal signs and any characters', async () => {
    profile(`export MULTI=$'one\\nFAKE=2\\ntwo' EQUALS='a=b=c' ODD='"quoted" \\ ümläut 🙂 $HOME'`)
    const env = await environment()
    assert.equal(env.MULTI, 'one\nFAKE=2\ntwo')
    assert.equal(env.FAKE, undefined)
    assert.equal(env.EQUALS, 'a=b=c')
    assert.equal(env.ODD, '"quoted" \\ ümläut 🙂 $HOME')
  })

  it('is read without input, so that a profile that asks a question continues', async () => {
    profile('read -r -p "Update now? " answer; export ANSWER="[$answer]"')
    assert.equal((await environment()).ANSWER, '[]')
  })

  it('is read without waiting for a background program of the profile, which keeps running', async () => {
    profile('sleep 600 & echo $! > "$HOME/pid"; export MINE=1')
    assert.equal((await environment()).MINE, '1')
    const pid = Number(readFileSync(join(home, 'pid'), 'utf8'))
    assert.ok(isAlive(pid))
    process.kill(pid, 'SIGKILL')
  })

  it('contains no variable of Parley', async () => {
    profile('')
    const names = Object.keys(await environment())
    assert.deepEqual(
      names.filter(name => /^(PARLEY|VSCODE|ELECTRON|ZSH_TMUX|DISABLE_AUTO)/.test(name)),
      [],
    )
  })

  it("isn't read from a profile that hangs, which is stopped at the time limit with its child processes", async () => {
    profile('echo $$ > "$HOME/shell"; sleep 600 & echo $! > "$HOME/child"; sleep 601')
    // a slow machine may need longer to reach the point where the profile hangs
    for (const seconds of [0.5, 2, 8]) {
      assert.equal(
        await failure({ timeoutMs: seconds * 1000 }),
        `its profile didn't finish within ${seconds} seconds`,
      )
      if (fileHasText(join(home, 'child'))) break
    }
    for (const name of ['shell', 'child']) {
      const pid = Number(readFileSync(join(home, name), 'utf8'))
      await until(() => !isAlive(pid))
    }
  })

  it("isn't read from a profile that prints endlessly, which is stopped", async () => {
    profile('yes 0123456789012345678901234567890123456789')
    assert.equal(await failure(), 'its profile printed more than 8 MB')
  })

  it('is missing if the profile exits the shell, which is reported', async () => {
    profile('exit 3')
    assert.equal(await failure(), 'it ended (exit code 3) without telling its environment')
  })

  it("is missing if the shell or directory doesn't exist, which is reported", async () => {
    assert.match(await failure({ shell: join(home, 'no-shell') }), /command .*no-shell doesn't exist/)
    assert.match(await failure({ cwd: join(home, 'nowhere') }), /working directory .*nowhere doesn't exist/)
  })

  it('is missing if no process can be started', async () => {
    assert.match(await failure({ env: { HUGE: 'x'.repeat(4 * 1024 * 1024) } }), /E2BIG/)
  })

  it('is no longer read when nothing needs it', async () => {
    profile('echo $$ > "$HOME/shell"; sleep 600')
    const gone = new AbortController()
    const answer = failure({ signal: gone.signal })
    const shell = join(home, 'shell')
    await until(() => fileHasText(shell))
    gone.abort()
    assert.equal(await answer, 'it was no longer needed')
    await until(() => !isAlive(Number(readFileSync(shell, 'utf8'))))
  })

  it('can be read with a path of Node that contains a space and a quote', async () => {
    profile('')
    const link = join(home, "it's node")
    symlinkSync(process.execPath, link)
    assert.equal((await environment({ execPath: link })).HOME, home)
  })

  describe('the environment of agents', () => {
    let lines: string[]
    const log: Logger = {
      trace() {},
      debug() {},
      info: message => lines.push(`info ${message}`),
      warn: message => lines.push(`warn ${message}`),
      error() {},
    }
    const source = (options: Partial<ConstructorParameters<typeof LaunchEnvironmentSource>[0]> = {}) =>
      new LaunchEnvironmentSource({
        log,
        env: { HOME: home, PATH: '/usr/bin:/bin:/remote/bin', VSCODE_PID: '1', ELECTRON_RUN_AS_NODE: '1' },
        home,
        shell: BASH,
        ...options,
      })
    beforeEach(() => {
      lines = []
    })

    it("is that of the login shell, without the editor's variables and with the directories of both PATHs", async () => {
      profile('export PATH="$HOME/bin:/usr/bin:/bin" FROM_PROFILE=1 VSCODE_FROM_PROFILE=1')
      const { env, source: from } = await source().get()
      assert.equal(from, 'login-shell')
      assert.equal(env.FROM_PROFILE, '1')
      assert.equal(env.PATH?.split(':')[0], `${home}/bin`)
      assert.equal(env.PATH?.split(':').at(-1), '/remote/bin')
      assert.deepEqual(
        Object.keys(env).filter(name => /^(VSCODE|ELECTRON)_/.test(name)),
        [],
      )
    })

    it("is read only once, even concurrently, until it's refreshed", async () => {
      profile('echo x >> "$HOME/runs"; export MINE=1')
      const runs = () => readFileSync(join(home, 'runs'), 'utf8').length / 2
      const environments = source()
      const [one, two] = await Promise.all([environments.get(), environments.get()])
      assert.equal(one, two)
      await environments.get()
      assert.equal(runs(), 1)
      environments.refresh()
      await environments.get()
      assert.equal(runs(), 2)
    })

    it("falls back to the editor's own environment and common directories if the profile hangs, and reports it", async () => {
      profile('sleep 600')
      for (const version of ['v9.1.0', 'v18.20.0', 'v20.3.1', 'system']) {
        mkdirSync(join(home, '.nvm/versions/node', version, 'bin'), { recursive: true })
      }
      mkdirSync(join(home, '.volta/bin'), { recursive: true })
      const { env, source: from } = await source({ timeoutMs: 300 }).get()
      assert.equal(from, 'fallback')
      const path = env.PATH?.split(':') ?? []
      assert.deepEqual(path.slice(0, 5), [
        '/usr/bin',
        '/bin',
        '/remote/bin',
        `${home}/.nvm/versions/node/v20.3.1/bin`,
        `${home}/.volta/bin`,
      ])
      assert.equal(env.VSCODE_PID, undefined)
      assert.match(
        lines.join('\n'),
        /^warn The environment of the login shell couldn't be read .*didn't finish within 0\.3 seconds/,
      )
    })

    it("is read without a shell on Windows, or if it isn't needed", async () => {
      profile('touch "$HOME/ran"')
      const { env, source: from } = source().current()
      assert.equal(from, 'process')
      assert.deepEqual(env, { HOME: home, PATH: '/usr/bin:/bin:/remote/bin' })
      const windows = await source({ platform: 'win32', env: { Path: 'C:\\bin', VSCODE_PID: '1' } }).get()
      assert.deepEqual(windows, { env: { Path: 'C:\\bin' }, platform: 'win32', source: 'process' })
      assert.equal(fileHasText(join(home, 'ran')), false)
    })

    it("isn't logged", async () => {
      profile('export API_KEY=sk-secret')
      await source().get()
      assert.ok(!lines.join().includes('sk-secret'))
    })
  })
})

describe("the user's shell", () => {
  it('is SHELL', () => {
    assert.equal(loginShell({ SHELL: '/bin/zsh' }), '/bin/zsh')
  })
  it("is undefined for a user who can't log in", () => {
    assert.equal(loginShell({ SHELL: '/usr/sbin/nologin' }), undefined)
    assert.equal(loginShell({ SHELL: '/bin/false' }), undefined)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // a killed process stays a zombie until its parent waits for it, which never happens without an init process
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}

function fileHasText(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() !== ''
  } catch {
    return false
  }
}

/** Waits for a condition and fails if it never becomes true. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000
  while (!condition()) {
    assert.ok(Date.now() < deadline, 'waited in vain')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
