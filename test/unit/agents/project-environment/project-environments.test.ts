import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  type StatsListener,
  statSync,
  unwatchFile,
  watchFile,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { LaunchEnvironment } from '../../../../src/agents/launch-environment.ts'
import {
  ProjectEnvironments,
  type ProjectEnvironmentsOptions,
} from '../../../../src/agents/project-environment/project-environments.ts'
import { readChanges } from '../../../../src/agents/project-environment/project-tools.ts'
import { deferred } from '../../../../src/common/async.ts'
import { Emitter } from '../../../../src/common/event.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import type { Environment } from '../../../../src/common/processes/spawn-process.ts'
import { installMise } from '../../../agents/install.ts'
import { findProgram } from '../../../host/system-packages.ts'
import { until } from '../../../support/until.ts'

describe('the environment of a project', () => {
  let home: string
  let folder: string
  let base: LaunchEnvironment
  let isOn: boolean
  let all: ProjectEnvironments[]

  const create = (options: Partial<ProjectEnvironmentsOptions> = {}) => {
    const created = new ProjectEnvironments({
      base: async () => base,
      isOn: () => isOn,
      log: silentLogger,
      watchMs: 20,
      ...options,
    })
    all.push(created)
    return created
  }
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, env: base.env, stdio: 'pipe' }).toString()
  const withEnv = (more: Environment) => {
    base = { ...base, env: { ...base.env, ...more } }
  }

  beforeEach(() => {
    home = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-project-')))
    folder = path.join(home, 'code', 'planets')
    mkdirSync(folder, { recursive: true })
    const env = { HOME: home, PATH: process.env.PATH ?? '' }
    base = { env, platform: process.platform, source: 'login-shell' }
    isOn = true
    all = []
  })
  afterEach(() => {
    for (const one of all) one.dispose()
    rmSync(home, { recursive: true, force: true })
  })

  it('is that of the login shell without a file of a tool, and nothing runs then', async () => {
    const bin = path.join(home, 'bin')
    mkdirSync(bin)
    for (const tool of ['direnv', 'mise'])
      writeFileSync(path.join(bin, tool), `#!/bin/sh\ntouch ${home}/ran\necho '{}'\n`, { mode: 0o755 })
    withEnv({ PATH: `${bin}:${base.env.PATH}` })
    const projects = create()
    assert.deepEqual(await projects.environmentFor(folder), base)
    assert.throws(() => readFileSync(path.join(home, 'ran')))
    write('.envrc', '')
    isOn = false
    assert.deepEqual(await projects.environmentFor(folder), base)
    assert.throws(() => readFileSync(path.join(home, 'ran')))
    isOn = true
    await projects.environmentFor(folder)
    readFileSync(path.join(home, 'ran'))
  })

  it('is not that of a tool that is not installed', async () => {
    withEnv({ PATH: home })
    write('.envrc', 'export PLANET=mars')
    const environment = await create().of(folder)
    assert.deepEqual(environment, { tools: [], problems: [], changes: [] })
  })

  it('has a limit for all tools', async () => {
    const bin = path.join(home, 'bin')
    mkdirSync(bin)
    writeFileSync(path.join(bin, 'mise'), `#!/bin/sh\necho x >> ${home}/runs\nexec sleep 300\n`, {
      mode: 0o755,
    })
    writeFileSync(path.join(bin, 'direnv'), "#!/bin/sh\nsleep 0.1; echo '{}'\n", { mode: 0o755 })
    withEnv({ PATH: `${bin}:${base.env.PATH}` })
    write('mise.toml', '')
    write('.envrc', '')
    // time for the tools to begin, which may take long on a busy machine
    const projects = create({ timeoutMs: 3000, retryMs: 0 })
    const { problems } = await projects.of(folder)
    assert.deepEqual(
      problems.map(({ description }) => description),
      ["mise.toml didn't finish within 3 seconds.", ".envrc didn't finish within 3 seconds."],
    )
    // a later start of the agent tries again, a command doesn't
    await projects.of(folder)
    assert.equal(readFileSync(path.join(home, 'runs'), 'utf8'), 'x\n')
    await projects.of(folder, true)
    assert.equal(readFileSync(path.join(home, 'runs'), 'utf8'), 'x\nx\n')
  })

  it('has only variables that a process can have', () => {
    const printed = { 'A=B': '1', '': '2', NUL: 'a\0b', SAME: 'x', GONE: null, NEVER: null, NEW: 'y' }
    const changes = readChanges(JSON.stringify(printed), { SAME: 'x', GONE: 'z' })
    assert.deepEqual(changes, { GONE: null, NEW: 'y' })
    assert.deepEqual(readChanges('\n', {}), {})
    assert.throws(() => readChanges(JSON.stringify({ LONG: 'é'.repeat(65_534) }), {}), /LONG is too long/)
    for (const text of ['[]', '{"A":1}', 'Loading…']) assert.throws(() => readChanges(text, {}))
  })

  describe('of direnv', () => {
    before(function () {
      // Debian's package `direnv`
      if (!findProgram(['direnv'])) this.skip()
    })
    const allowed = (text: string) => {
      write('.envrc', text)
      run('direnv', 'allow')
    }

    it('has what an allowed .envrc of a parent sets and removes', async () => {
      withEnv({ OLD: 'gone', PLANET: 'earth' })
      allowed('export PLANET=mars MOON="pho\nbos"; unset OLD; PATH_add bin')
      const inside = path.join(folder, 'src', 'deep')
      mkdirSync(inside, { recursive: true })
      const projects = create()
      const { env } = await projects.environmentFor(inside)
      assert.equal(env.PLANET, 'mars')
      assert.equal(env.MOON, 'pho\nbos')
      assert.equal(env.OLD, undefined)
      assert.equal(env.PATH, `${folder}/bin:${base.env.PATH}`)
      assert.equal(base.env.OLD, 'gone')
      const { tools, problems } = projects.known(inside)
      assert.deepEqual(tools, [{ tool: 'direnv', names: ['MOON', 'OLD', 'PATH', 'PLANET'] }])
      assert.deepEqual(problems, [])
    })

    it('is only used once the user has allowed it, which is noticed', async () => {
      write('.envrc', 'export PLANET=mars')
      const projects = create()
      const changed: string[] = []
      projects.onDidChange(one => changed.push(one))
      assert.equal((await projects.environmentFor(folder)).env.PLANET, undefined)
      assert.deepEqual(projects.known(folder).problems, [
        {
          title: "The environment of direnv isn't used",
          description: 'To use .envrc, review it and run `direnv allow` in its folder.',
        },
      ])
      assert.throws(() => run('direnv', 'exec', '.', 'true'))
      run('direnv', 'allow')
      await until(() => projects.mayDiffer(folder))
      assert.equal((await projects.environmentFor(folder)).env.PLANET, 'mars')
      assert.deepEqual([projects.mayDiffer(folder), projects.known(folder).problems], [false, []])
      // an agent may change it, but not allow that
      write('.envrc', 'export PLANET=venus')
      await until(() => projects.mayDiffer(folder))
      assert.equal((await projects.environmentFor(folder)).env.PLANET, undefined)
      assert.equal(projects.known(folder).problems.length, 1)
      assert.equal(changed.length, 5)
    })

    it('runs nothing because a file changes, which an agent may have done', async () => {
      write('env.sh', '')
      allowed(`echo x >> ${home}/runs; watch_file env.sh; source_env env.sh`)
      const projects = create()
      await projects.environmentFor(folder)
      for (const planet of ['venus', 'jupiter']) {
        write('env.sh', `export PLANET=${planet}`)
        await until(() => projects.mayDiffer(folder))
        projects.dismiss(folder)
        assert.equal(projects.mayDiffer(folder), false)
      }
      assert.deepEqual(projects.known(folder).tools, [])
      assert.equal((await projects.environmentFor(folder)).env.PLANET, 'jupiter')
      assert.equal(readFileSync(path.join(home, 'runs'), 'utf8'), 'x\nx\n')
    })

    it('is current once it was read, also if the change is noticed only afterward', async () => {
      const file = path.join(folder, 'env.sh')
      write('env.sh', '')
      allowed('watch_file env.sh; source_env env.sh')
      const projects = create({ watchMs: 600 })
      await projects.environmentFor(folder)
      let noticed: number | undefined
      const notice: StatsListener = now => {
        noticed = now.mtimeMs
      }
      // Node notices changes for both at the same time
      watchFile(file, { persistent: false, interval: 600 }, notice)
      try {
        let lines = ''
        await until(() => {
          lines += '#\n'
          write('env.sh', lines)
          return noticed !== undefined
        })
        write('env.sh', 'export PLANET=jupiter')
        assert.equal((await projects.environmentFor(folder)).env.PLANET, 'jupiter')
        await until(() => noticed === statSync(file).mtimeMs)
        for (let looks = 0; looks < 20; looks++) {
          await stat(file)
          assert.equal(projects.mayDiffer(folder), false)
        }
      } finally {
        unwatchFile(file, notice)
      }
    })

    it('is read once until a file changes that it depends on', async () => {
      write('planet.txt', 'mars')
      allowed(`watch_file planet.txt; export PLANET=$(cat planet.txt); echo x >> ${home}/runs`)
      const runs = () => readFileSync(path.join(home, 'runs'), 'utf8').length / 2
      const projects = create({ watchMs: 60_000 })
      await Promise.all([projects.environmentFor(folder), projects.environmentFor(folder)])
      await projects.environmentFor(folder)
      assert.equal(runs(), 1)
      write('planet.txt', 'jupiter')
      assert.equal((await projects.environmentFor(folder)).env.PLANET, 'jupiter')
      assert.equal(runs(), 2)
    })

    it('is known by name if the editor was started in a terminal that has it', async () => {
      allowed('export PLANET=mars')
      const loaded = JSON.parse(run('direnv', 'export', 'json')) as Environment
      withEnv(loaded)
      const projects = create()
      assert.equal((await projects.environmentFor(folder)).env.PLANET, 'mars')
      assert.deepEqual(projects.known(folder).tools, [{ tool: 'direnv', names: ['PLANET'] }])
    })

    it("is not another project's, from whose terminal the editor was started", async () => {
      withEnv({ MOON: 'own' })
      const own = base
      allowed('export PLANET=mars MOON=phobos')
      withEnv(JSON.parse(run('direnv', 'export', 'json')) as Environment)
      const other = path.join(home, 'code', 'moons')
      mkdirSync(other)
      const projects = create()
      assert.deepEqual(await projects.environmentFor(other), own)
      assert.deepEqual(projects.known(other).tools, [])
      assert.equal((await projects.environmentFor(folder)).env.PLANET, 'mars')
    })

    it('is not used if it hangs, and its processes end', async () => {
      allowed(`sleep 300 & echo $! > ${home}/pid; wait`)
      // time for direnv to begin, which may take long on a busy machine
      const projects = create({ timeoutMs: 3000 })
      assert.equal((await projects.environmentFor(folder)).env.DIRENV_DIR, undefined)
      assert.deepEqual(
        projects.known(folder).problems[0]?.description,
        ".envrc didn't finish within 3 seconds.",
      )
      const pid = Number(readFileSync(path.join(home, 'pid'), 'utf8'))
      await until(() => {
        try {
          return !process.kill(pid, 0)
        } catch {
          return true
        }
      })
      // a command doesn't try again, nor does a start of the agent immediately, with the shell's environment read again
      rmSync(path.join(home, 'pid'))
      await projects.environmentFor(folder)
      base = { ...base, env: { ...base.env } }
      await projects.environmentFor(folder, true)
      assert.equal(existsSync(path.join(home, 'pid')), false)
    })

    for (const stream of ['1', '2'])
      it(`is not used if it prints megabytes to stream ${stream}`, async () => {
        allowed(`head -c 5000000 /dev/zero | tr '\\0' x >&${stream}; export PLANET=mars`)
        const projects = create()
        assert.equal((await projects.environmentFor(folder)).env.PLANET, undefined)
        const [problem] = projects.known(folder).problems
        assert.equal(problem?.description, '.envrc printed more than 1000000 characters.')
      })

    it('is not used if it fails, of which only what direnv says is shown', async () => {
      allowed('echo "the password is hunter2" >&2; export PLANET=mars; exit 3')
      const projects = create()
      assert.equal((await projects.environmentFor(folder)).env.PLANET, undefined)
      const [problem] = projects.known(folder).problems
      assert.equal(problem?.description, '.envrc failed: exit status 3')
    })

    it('ends when the window closes', async () => {
      allowed(`touch ${home}/begun; sleep 300`)
      const projects = create()
      const asked = projects.environmentFor(folder)
      await until(() => {
        try {
          readFileSync(path.join(home, 'begun'))
          return true
        } catch {
          return false
        }
      })
      projects.dispose()
      assert.deepEqual(await asked, base)
    })
  })

  describe('of mise', () => {
    let installed: string | undefined
    before(async function () {
      this.timeout(120_000)
      try {
        installed = await installMise()
      } catch (error) {
        console.log(`Skipped, since mise can't be installed: ${String(error)}`)
        this.skip()
      }
    })
    beforeEach(() => {
      if (installed !== undefined) withEnv({ PATH: [installed, base.env.PATH].join(path.delimiter) })
    })

    it('is only used once the user has trusted it, whatever the user answers to questions of mise', async () => {
      withEnv({ MISE_YES: '1', MISE_OFFLINE: '1' })
      write('mise.toml', '[env]\nPLANET = "mars"\n_.path = ["./bin"]\n[tools]\nnode = "0.0.1"\n')
      const projects = create()
      assert.equal((await projects.environmentFor(folder)).env.PLANET, undefined)
      assert.deepEqual(
        projects.known(folder).problems.map(({ description }) => description),
        ['To use mise.toml, review it and run `mise trust` in its folder.'],
      )
      run('mise', 'trust')
      await until(() => projects.mayDiffer(folder))
      const { env } = await projects.environmentFor(folder)
      assert.equal(env.PLANET, 'mars')
      assert.ok(env.PATH?.split(path.delimiter).includes(path.join(folder, 'bin')))
      assert.deepEqual(projects.known(folder).tools, [{ tool: 'mise', names: ['PATH', 'PLANET'] }])
    })

    it('is not used in a continuous integration either before the user has trusted it', async () => {
      write('mise.toml', `[env]\nPLANET = "{{ exec(command='touch ${home}/ran; echo mars') }}"\n`)
      const ran: string[] = []
      const names =
        'CI GITHUB_ACTIONS GITLAB_CI BUILD_NUMBER RUN_ID VELA_BUILD_NUMBER AGOLA_REPOSITORY_URL NETLIFY DRONE'
      for (const name of names.split(' ')) {
        base = { ...base, env: { HOME: home, PATH: base.env.PATH!, MISE_OFFLINE: '1', [name]: 'true' } }
        const { env } = await create().environmentFor(folder)
        assert.equal(env.PLANET, undefined)
        assert.equal(env[name], 'true')
        if (existsSync(path.join(home, 'ran'))) ran.push(name)
      }
      assert.deepEqual(ran, [])
      // which a project that is trusted may know
      write('mise.toml', '[env]\nPLANET = "{{ env.DRONE }}"\n')
      const { DRONE, ...others } = base.env
      base = { ...base, env: others }
      run('mise', 'trust')
      withEnv({ DRONE: 'true' })
      const projects = create()
      const { env } = await projects.environmentFor(folder)
      assert.deepEqual([env.PLANET, projects.known(folder).problems], ['true', []])
    })

    it('is checked without running what it would run, which is slow or has effects', async () => {
      write('mise.toml', `[env]\nPLANET = "{{ exec(command='echo x >> ${home}/runs; echo mars') }}"\n`)
      run('mise', 'trust')
      // its first command reads the file, whether trusted or not
      rmSync(path.join(home, 'runs'), { force: true })
      assert.equal((await create().environmentFor(folder)).env.PLANET, 'mars')
      assert.equal(readFileSync(path.join(home, 'runs'), 'utf8'), 'x\n')
    })

    /** The environment of a terminal that mise has loaded the environment of a folder into. */
    const terminalIn = (cwd: string): Environment => {
      const print = `"${process.execPath}" -e 'console.log(JSON.stringify(process.env))'`
      const script = `eval "$(mise activate bash)"; eval "$(mise hook-env -s bash)"; ${print}`
      const printed = execFileSync('bash', ['--norc', '--noprofile', '-c', script], { cwd, env: base.env })
      const { PWD, SHLVL, _, ...env } = JSON.parse(printed.toString())
      return env
    }

    it("is not another project's, from whose terminal the editor was started", async () => {
      // mise leaves out what is there twice, and its activation adds this
      const directories = new Set([path.join(home, '.local/share/mise/shims'), ...base.env.PATH!.split(':')])
      withEnv({ MOON: 'own', OLD: 'own', PATH: [...directories].join(':') })
      const own = base
      write('mise.toml', '[env]\nPLANET = "mars"\nMOON = "phobos"\nOLD = false\n_.path = ["./bin"]\n')
      run('mise', 'trust')
      base = { ...base, env: terminalIn(folder) }
      assert.deepEqual([base.env.PLANET, base.env.OLD], ['mars', undefined])
      const other = path.join(home, 'code', 'moons')
      mkdirSync(other)
      const projects = create()
      assert.deepEqual(await projects.environmentFor(other), own)
      assert.deepEqual(projects.known(other).tools, [])
      // and its own project has it as it is now
      write('mise.toml', '[env]\nMOON = "deimos"\n')
      const { env } = await projects.environmentFor(folder)
      assert.deepEqual(env, { ...own.env, MOON: 'deimos' })
    })

    it('of all folders is kept, and nothing runs if it is all that the terminal has', async () => {
      const outside = mkdtempSync(path.join(tmpdir(), 'parley-outside-'))
      try {
        mkdirSync(path.join(home, '.config', 'mise'), { recursive: true })
        const ran = `{{ exec(command='echo x >> ${home}/runs') }}`
        const config = `[env]\nSUN = "sol"\nRAN = "${ran}"\n`
        writeFileSync(path.join(home, '.config', 'mise', 'config.toml'), config)
        const own = base
        base = { ...own, env: terminalIn(home) }
        assert.equal(base.env.SUN, 'sol')
        rmSync(path.join(home, 'runs'))
        assert.deepEqual(await create().environmentFor(outside), base)
        assert.equal(existsSync(path.join(home, 'runs')), false)
        write('mise.toml', '[env]\nPLANET = "mars"\n')
        run('mise', 'trust')
        base = { ...own, env: terminalIn(folder) }
        const { env } = await create().environmentFor(outside)
        assert.deepEqual([env.PLANET, env.SUN], [undefined, 'sol'])
      } finally {
        rmSync(outside, { recursive: true })
      }
    })

    it('is read again when an agent starts, since mise does not tell all that it reads', async () => {
      write('.env', 'PLANET=mars')
      write('mise.toml', '[env]\n_.file = ".env"\n')
      run('mise', 'trust')
      const projects = create()
      assert.equal((await projects.environmentFor(folder)).env.PLANET, 'mars')
      write('.env', 'PLANET=venus')
      assert.equal((await projects.environmentFor(folder, true)).env.PLANET, 'venus')
    })

    it('is changed by direnv', async function () {
      if (!findProgram(['direnv'])) this.skip()
      write('mise.toml', '[env]\nPLANET = "mars"\nMOON = "phobos"\n_.path = ["./bin"]\n')
      run('mise', 'trust')
      write('.envrc', 'export PLANET=venus; unset MOON; PATH_add direnv-bin')
      run('direnv', 'allow')
      const projects = create()
      const { env } = await projects.environmentFor(folder)
      assert.equal(env.PLANET, 'venus')
      assert.equal(env.MOON, undefined)
      assert.ok(env.PATH?.startsWith(`${folder}/direnv-bin:${folder}/bin:`))
      assert.deepEqual(
        projects.known(folder).tools.map(({ tool }) => tool),
        ['mise', 'direnv'],
      )
    })
  })

  describe('with Python', () => {
    let selection: () => Promise<unknown>
    let change: Emitter<void>
    const select = (value: unknown) => {
      selection = async () => value
      change.fire()
    }
    const withPython = (options: Partial<ProjectEnvironmentsOptions> = {}) =>
      create({ python: { selected: () => selection(), onDidChange: change.event }, ...options })
    const fakeConda = () => {
      mkdirSync(path.join(folder, 'conda', 'conda-meta'), { recursive: true })
      return path.join(folder, 'conda')
    }
    const fake = (name: string) => {
      write(`${name}/pyvenv.cfg`, '')
      return path.join(folder, name)
    }

    beforeEach(() => {
      change = new Emitter()
      select(undefined)
    })

    it('has the selected environment first in the PATH, as after `activate`', async function () {
      // Debian's package `python3-venv`
      try {
        run('python3', '-m', 'venv', '--without-pip', '.venv')
      } catch {
        this.skip()
      }
      const venv = path.join(folder, '.venv')
      withEnv({ PYTHONHOME: '/usr' })
      const activated =
        'unset VIRTUAL_ENV_PROMPT; . .venv/bin/activate; echo "$VIRTUAL_ENV $PATH $PYTHONHOME"'
      const expected = run('sh', '-c', activated).trim()
      for (const selected of [path.join(venv, 'bin', 'python'), venv]) {
        select(selected)
        const projects = withPython()
        const { env } = await projects.environmentFor(folder)
        assert.equal(`${env.VIRTUAL_ENV} ${env.PATH}`, expected)
        assert.equal(env.PYTHONHOME, undefined)
        const prefix = ['python', '-c', 'import sys; print(sys.prefix)']
        assert.equal(execFileSync('env', prefix, { env }).toString().trim(), venv)
        const names = ['PATH', 'PYTHONHOME', 'VIRTUAL_ENV']
        assert.deepEqual(projects.known(folder).tools, [{ tool: 'Python', names }])
      }
    })

    it('has an environment of conda by its name, or its path', async () => {
      const conda = path.join(home, 'conda')
      for (const [selected, name] of [
        [conda, 'base'],
        [path.join(conda, 'envs', 'planets'), 'planets'],
        [path.join(folder, 'own'), path.join(folder, 'own')],
      ] as const) {
        mkdirSync(path.join(selected, 'conda-meta'), { recursive: true })
        mkdirSync(path.join(conda, 'condabin'), { recursive: true })
        select(path.join(selected, 'bin', 'python'))
        const { env } = await withPython().environmentFor(folder)
        assert.equal(env.CONDA_PREFIX, selected)
        assert.equal(env.CONDA_DEFAULT_ENV, name)
        assert.equal(env.VIRTUAL_ENV, undefined)
        assert.equal(env.PATH, `${selected}/bin:${base.env.PATH}`)
      }
    })

    it('has what conda stores for the activation of an environment', async () => {
      const env = fakeConda()
      const projects = withPython()
      select(path.join(env, 'bin', 'python'))
      write('conda/conda-meta/state', 'damaged')
      write('conda/etc/conda/env_vars.d/a.json', '{"PLANET": "mars", "MOON": "phobos"}')
      write('conda/etc/conda/env_vars.d/b.json', '{"MOON": "deimos", "A=B": "1", "SUN": 5}')
      write('conda/etc/conda/env_vars.d/c.txt', '{"PLANET": "pluto"}')
      const { env: first } = await projects.environmentFor(folder)
      assert.deepEqual([first.PLANET, first.MOON, first.SUN], ['mars', 'phobos', undefined])
      const variables = { PLANET: 'venus', MOON: '***unset***', PATH: '/nowhere', CONDA_PREFIX: '/nowhere' }
      write('conda/conda-meta/state', JSON.stringify({ env_vars: variables }))
      const { env: second } = await projects.environmentFor(folder)
      assert.deepEqual([second.PLANET, second.MOON, second.CONDA_PREFIX], ['venus', 'phobos', env])
      assert.equal(second.PATH, `${env}/bin:${base.env.PATH}`)
    })

    it('ignores an interpreter without an environment, and what is no path', async () => {
      const odd = fake('a:b')
      const long = `/${'x/'.repeat(3000)}bin/python`
      const inNone = path.join(fake('.venv'), 'lib', 'python3')
      for (const selected of [
        '/usr/bin/python3',
        'python',
        '.venv',
        `${odd}/bin/python`,
        inNone,
        long,
        '/a\0b',
        7,
        null,
        {},
      ]) {
        select(selected)
        assert.deepEqual(
          await withPython().of(folder),
          { tools: [], problems: [], changes: [] },
          String(selected),
        )
      }
      selection = () => Promise.reject(new Error('no'))
      assert.deepEqual(await withPython().environmentFor(folder), base)
      isOn = false
      select(path.join(folder, '.venv'))
      assert.deepEqual(await withPython().environmentFor(folder), base)
    })

    it('notices another selection, and that the environment is deleted', async () => {
      const projects = withPython()
      const changed: string[] = []
      projects.onDidChange(one => changed.push(one))
      assert.deepEqual(await projects.environmentFor(folder), base)
      const [one, two] = [fake('one'), fake('two')]
      select(one)
      await until(() => projects.known(folder).tools.length === 1)
      assert.equal((await projects.environmentFor(folder)).env.VIRTUAL_ENV, one)
      select(two)
      await until(() => changed.length === 2)
      assert.equal((await projects.environmentFor(folder)).env.VIRTUAL_ENV, two)
      rmSync(two, { recursive: true })
      await until(() => projects.known(folder).tools.length === 0)
      assert.deepEqual(await projects.environmentFor(folder), base)
    })

    it('starts without an answer that is late, waits for it once, and notices it', async () => {
      const answer = deferred<unknown>()
      let asked = 0
      selection = () => {
        asked++
        return answer.promise
      }
      const projects = withPython({ pythonMs: 20 })
      assert.deepEqual(await projects.environmentFor(folder), base)
      assert.deepEqual(await projects.environmentFor(folder), base)
      assert.equal(asked, 1)
      answer.resolve(fake('.venv'))
      await until(() => projects.known(folder).tools.length === 1)
    })

    it('has the environment that direnv activates instead, else the selected one before what direnv adds', async function () {
      // Debian's package `direnv`
      if (!findProgram(['direnv'])) this.skip()
      const selected = fake('.venv')
      select(selected)
      write('.envrc', 'export VIRTUAL_ENV=/explicit; PATH_add bin')
      run('direnv', 'allow')
      const projects = withPython()
      const { env } = await projects.environmentFor(folder)
      assert.equal(env.VIRTUAL_ENV, '/explicit')
      assert.equal(env.PATH, `${folder}/bin:${base.env.PATH}`)
      assert.deepEqual(projects.known(folder).tools, [{ tool: 'direnv', names: ['PATH', 'VIRTUAL_ENV'] }])
      // whatever the Python extension then says, direnv doesn't run because of it
      const second = fake('second')
      write('.envrc', 'PATH_add bin')
      run('direnv', 'allow')
      select(second)
      await until(() => projects.mayDiffer(folder))
      const before = [{ tool: 'direnv', names: ['PATH', 'VIRTUAL_ENV'] }]
      assert.deepEqual(projects.known(folder).tools, before)
      select(selected)
      const { env: other } = await projects.environmentFor(folder)
      assert.equal(other.VIRTUAL_ENV, selected)
      assert.equal(other.PATH, `${selected}/bin:${folder}/bin:${base.env.PATH}`)
    })
  })
})
