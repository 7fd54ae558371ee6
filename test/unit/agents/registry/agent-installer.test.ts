import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import {
  AgentInstaller,
  InstallError,
  type InstallOptions,
  type InstallProgress,
} from '../../../../src/agents/registry/agent-installer.ts'
import { type InstalledAgent, InstalledAgents } from '../../../../src/agents/registry/installed-agents.ts'
import { type RegistryAgent, readRegistry } from '../../../../src/agents/registry/registry-format.ts'
import { CancelledError } from '../../../../src/common/errors.ts'
import type { Environment } from '../../../../src/common/processes/spawn-process.ts'
import { rootVariable } from '../../../host/isolated-root.ts'
import { projectDirectory } from '../../../host/paths.ts'
import { processesStartedIn } from '../../../host/processes.ts'
import { waitFor } from '../../../host/wait-for.ts'
import { bundlePrograms } from '../../../support/bundle-program.ts'
import { LoopbackServer } from '../../../support/loopback-server.ts'
import { NpmRegistry } from '../../../support/npm-registry.ts'
import { processWindow } from '../../../support/process-windows.ts'

const log = { error() {}, warn() {}, info() {}, debug() {}, trace() {} }

describe('AgentInstaller', () => {
  let home: string
  let storage: string
  let env: Environment
  let installed: InstalledAgents
  let npm: NpmRegistry
  let files: LoopbackServer
  let answer: (request: IncomingMessage, response: ServerResponse) => void

  before(async () => {
    npm = await NpmRegistry.start()
    files = await LoopbackServer.start((request, response) => answer(request, response))
  })
  after(() => Promise.all([npm.server.stop(), files.stop()]))

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'parley-install-'))
    storage = join(home, 'agents')
    const { PATH = '' } = process.env
    env = { PATH, HOME: home, npm_config_registry: npm.server.origin, npm_config_cache: join(home, 'cache') }
    installed = new InstalledAgents(storage, processWindow(), log)
    npm.gate = Promise.resolve()
  })
  afterEach(async () => {
    installed.dispose()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  })

  const installer = (more: Partial<ConstructorParameters<typeof AgentInstaller>[0]> = {}) =>
    new AgentInstaller({
      installed,
      environment: async () => ({ env, platform: process.platform }),
      fetch,
      log,
      ...more,
    })
  /** As a user who agrees. */
  const confirmAndInstall = async (by: AgentInstaller, agent: RegistryAgent, options?: InstallOptions) =>
    by.install(agent, await by.plan(agent), options)
  const agentOf = (distribution: object, more: object = {}): RegistryAgent => {
    const about = { id: 'mine', name: 'Mine', version: '1.0.0', description: 'An agent' }
    const { agents, problems } = readRegistry({ agents: [{ ...about, ...more, distribution }] })
    assert.deepEqual(problems, [])
    return agents[0]!
  }
  const npx = (version = '1.0.0') => agentOf({ npx: { package: 'mine', args: ['--acp'] } }, { version })
  const publish = (version: string, more: object = {}) =>
    npm.publish({
      name: 'mine',
      version,
      bin: 'run.js',
      files: { 'run.js': `#!/usr/bin/env node\nconsole.log('${version}', ...process.argv.slice(2))\n` },
      ...more,
    })
  const binary = (archive: string, more: object = {}) =>
    agentOf({ binary: { 'linux-x86_64': { archive, cmd: './run', args: ['acp'], ...more } } })
  const linux = { environment: async () => ({ env, platform: 'linux' as const }), arch: 'x64' }
  const run = ({ directory, launch: { type, path, args } }: InstalledAgent) => {
    const program = join(directory, path)
    const [command, all] = type === 'program' ? [program, args] : [process.execPath, [program, ...args]]
    return execFileSync(command, all, { encoding: 'utf8', env }).trim()
  }
  const nothingLeft = async () => assert.deepEqual(await readdir(storage, { recursive: true }), [])

  it('installs an npm package that starts without the network', async () => {
    publish('1.0.0')
    const reported: InstallProgress[] = []
    await confirmAndInstall(installer(), npx(), { onProgress: progress => reported.push(progress) })
    const [agent] = installed.agents
    assert.equal(run(agent!), '1.0.0 --acp')
    assert.deepEqual([agent?.distribution, agent?.source], ['npx', 'mine@1.0.0'])
    // npm doesn't look for a newer npm
    assert.deepEqual(
      npm.server.requests.map(({ url }) => url?.split('/')[1]),
      ['mine', 'mine'],
    )
    assert.ok(reported.some(({ step }) => step.includes('mine@1.0.0')))
    // another window finds the agent
    const other = new InstalledAgents(storage, processWindow(), log)
    await other.ready()
    assert.deepEqual(other.agents, installed.agents)
  })

  it('reports beforehand which commands will run and what is missing', async () => {
    assert.deepEqual(await installer().plan(npx()), {
      distribution: 'npx',
      version: '1.0.0',
      action: 'npm install --ignore-scripts mine@1.0.0',
      args: ['--acp'],
      env: {},
    })
    const empty = { environment: async () => ({ env: { PATH: home }, platform: 'linux' as const }) }
    assert.equal((await installer(empty).plan(npx())).missing, 'npm')
    await assert.rejects(confirmAndInstall(installer(empty), npx()), { kind: 'missing-program' })
    const python = agentOf({ uvx: { package: 'mine' } })
    assert.equal((await installer(empty).plan(python)).missing, 'uv')
    const archive = binary('https://example.com/a.zip', { sha256: 'a'.repeat(64) })
    assert.deepEqual(await installer(linux).plan(archive), {
      distribution: 'binary',
      version: '1.0.0',
      action: 'https://example.com/a.zip',
      program: './run',
      args: ['acp'],
      env: {},
      sha256: 'a'.repeat(64),
    })
    const elsewhere = { environment: async () => ({ env, platform: 'darwin' as const }), arch: 'arm64' }
    await assert.rejects(installer(elsewhere).plan(archive), { kind: 'no-distribution' })
  })

  for (const [when, options] of [
    ['before the first try', {}],
    ['after a try that failed', { isRetry: true }],
  ] as const)
    it(`finds npm in a directory that only a new login shell knows: installed ${when}`, async () => {
      publish('1.0.0')
      let path = home
      const environment = async ({ fresh } = { fresh: false }) => {
        if (fresh) path = env.PATH!
        return { env: { ...env, PATH: path }, platform: process.platform }
      }
      assert.equal((await installer({ environment }).plan(npx())).missing, 'npm')
      await confirmAndInstall(installer({ environment }), npx(), options)
      assert.equal(installed.agents[0]?.version, '1.0.0')
    })

  for (const [what, change] of [
    ['version', { version: '1.0.1' }],
    ['package', { distribution: { npx: { package: 'other', args: ['--acp'] } } }],
    ['arguments', { distribution: { npx: { package: 'mine', args: ['--acp', '--yolo'] } } }],
    ['environment', { distribution: { npx: { package: 'mine', args: ['--acp'], env: { A: 'b' } } } }],
    ['kind', { distribution: { uvx: { package: 'mine', args: ['--acp'] } } }],
  ] as const)
    it(`installs nothing if the ${what} isn't what the user confirmed`, async () => {
      publish('1.0.0')
      publish('1.0.1')
      const confirmed = await installer().plan(npx())
      const { distribution = { npx: { package: 'mine', args: ['--acp'] } }, ...more } = {
        distribution: undefined,
        ...change,
      }
      const asked = npm.server.requests.length
      await assert.rejects(installer().install(agentOf(distribution, more), confirmed), { kind: 'changed' })
      assert.equal(npm.server.requests.length, asked)
    })

  it("downloads nothing if an archive's URL, checksum, program or environment isn't what the user confirmed", async () => {
    const confirmed = await installer(linux).plan(binary(`${files.origin}/a.zip`))
    const asked = files.requests.length
    for (const [archive, more] of [
      [`${files.origin}/b.zip`, {}],
      [`${files.origin}/a.zip`, { sha256: 'a'.repeat(64) }],
      [`${files.origin}/a.zip`, { cmd: './other' }],
      [`${files.origin}/a.zip`, { env: { A: 'b' } }],
    ] as const)
      await assert.rejects(installer(linux).install(binary(archive, more), confirmed), { kind: 'changed' })
    assert.equal(files.requests.length, asked)
  })

  describe('a package with install scripts', () => {
    const marked = () => existsSync(join(home, 'marked'))
    const mark = 'node -e "fs.writeFileSync(process.env.MARK, \'\')"'
    beforeEach(() => {
      env.MARK = join(home, 'marked')
      publish('1.0.0', {
        scripts: { postinstall: `${mark} && node -e "fs.writeFileSync('made.txt', 'x')"` },
        files: {
          'run.js':
            "#!/usr/bin/env node\nconsole.log(require('fs').readFileSync(__dirname + '/made.txt', 'utf8'))",
        },
      })
    })
    const install = (onScripts?: InstallOptions['onScripts']) =>
      confirmAndInstall(installer(), npx(), onScripts && { onScripts })

    it('is installed without running them if nobody agreed', async () => {
      await install()
      assert.equal(marked(), false)
      assert.throws(() => run(installed.agents[0]!))
    })

    it('shows them first, and runs them if the user agrees', async () => {
      const shown: unknown[] = []
      await install(async scripts => {
        assert.equal(marked(), false)
        shown.push(...scripts)
        return 'run'
      })
      assert.equal(marked(), true)
      assert.equal(run(installed.agents[0]!), 'x')
      assert.deepEqual(
        shown.map(one => ({ ...(one as object), command: undefined })),
        [{ package: 'mine@1.0.0', event: 'postinstall', command: undefined }],
      )
    })

    it('runs exactly the shown scripts, also of a package whose folder has another name', async () => {
      const write = (name: string) => `node -e "fs.writeFileSync(process.env.MARK + '-${name}', '')"`
      npm.publish({ name: 'real', version: '2.0.0', scripts: { install: write('real') }, files: {} })
      publish('1.0.0', { dependencies: { alias: 'npm:real@2.0.0' } })
      const shown: string[] = []
      await install(async scripts => {
        shown.push(...scripts.map(one => one.package))
        return 'run'
      })
      assert.deepEqual(shown, ['real@2.0.0'])
      assert.ok(existsSync(join(home, 'marked-real')))
    })

    it('is installed without an optional package whose script fails, and not without a required one', async () => {
      npm.publish({ name: 'broken', version: '2.0.0', scripts: { install: 'exit 3' }, files: {} })
      const needs = (kind: 'dependencies' | 'optionalDependencies') =>
        publish('1.0.0', { scripts: { postinstall: mark }, [kind]: { broken: '2.0.0' } })
      needs('dependencies')
      await assert.rejects(
        install(async () => 'run'),
        InstallError,
      )
      needs('optionalDependencies')
      await install(async () => 'run')
      assert.equal(marked(), true)
      const [agent] = installed.agents
      assert.equal(run(agent!), '1.0.0 --acp')
      assert.equal(existsSync(join(agent!.directory, 'node_modules/broken')), false)
    })

    it("isn't asked about those of optional packages alone, which don't run", async () => {
      npm.publish({ name: 'extra', version: '2.0.0', scripts: { install: mark }, files: {} })
      publish('1.0.0', { optionalDependencies: { extra: '2.0.0' } })
      await install(async () => assert.fail('asked'))
      assert.equal(marked(), false)
      assert.equal(run(installed.agents[0]!), '1.0.0 --acp')
    })

    it('is installed without them, or not at all, if the user says so', async () => {
      await install(async () => 'skip')
      assert.equal(marked(), false)
      await installed.remove('mine')
      await assert.rejects(
        install(async () => 'cancel'),
        CancelledError,
      )
      assert.equal(marked(), false)
      await nothingLeft()
    })

    it('never runs them unasked because of a setting of npm', async () => {
      await writeFile(join(home, '.npmrc'), 'ignore-scripts=false\npackage-lock=false\n')
      let asked = false
      await install(async () => {
        asked = true
        return 'skip'
      })
      assert.deepEqual([asked, marked()], [true, false])
    })
  })

  it('is installed in its own folder, whatever projects and settings of npm are above it', async () => {
    publish('1.0.0')
    const manifest = JSON.stringify({ private: true, workspaces: ['agents/*/*'] })
    await writeFile(join(home, 'package.json'), manifest)
    await writeFile(join(home, '.npmrc'), `bin-links=false\nglobal=true\nprefix=${join(home, 'global')}\n`)
    await confirmAndInstall(installer(), npx())
    assert.equal(run(installed.agents[0]!), '1.0.0 --acp')
    assert.equal(await readFile(join(home, 'package.json'), 'utf8'), manifest)
    for (const name of ['node_modules', 'global']) assert.equal(existsSync(join(home, name)), false, name)
  })

  it("uses VS Code's own Node if the user's is too old, and reports it if neither is new enough", async () => {
    publish('1.0.0', { engines: { node: '>=99' } })
    await confirmAndInstall(installer({ editorNode: '99.1.0' }), npx())
    assert.equal(installed.agents[0]?.launch.type, 'script')
    assert.equal(run(installed.agents[0]!), '1.0.0 --acp')
    await installed.remove('mine')
    await assert.rejects(confirmAndInstall(installer({ editorNode: '22.0.0' }), npx()), (error: unknown) => {
      assert.ok(error instanceof InstallError)
      assert.equal(error.kind, 'node-too-old')
      assert.match(error.message, />=99/)
      return true
    })
    await nothingLeft()
  })

  it("fails with the last output and leaves nothing behind if the package doesn't exist", async () => {
    const missing = agentOf({ npx: { package: 'nothing-here' } })
    await assert.rejects(confirmAndInstall(installer(), missing), (error: unknown) => {
      assert.ok(error instanceof InstallError)
      assert.equal(error.message, "The npm registry doesn't have the package nothing-here@1.0.0.")
      assert.match(error.output, /404/)
      return true
    })
    await nothingLeft()
    publish('1.0.0')
    await assert.rejects(
      confirmAndInstall(installer(), npx('9.9.9')),
      /doesn't have the package mine@9\.9\.9/,
    )
    env.npm_config_registry = 'http://127.0.0.1:1'
    env.npm_config_fetch_retries = '0'
    await assert.rejects(confirmAndInstall(installer(), npx()), /can't reach its registry/)
    await nothingLeft()
  })

  it('rejects a package without a program, or with a program outside of the package', async () => {
    for (const bin of [
      undefined,
      { other: 'run.js', another: 'b.js' },
      '../../../../../../etc/hostname',
      'missing.js',
    ]) {
      publish('1.0.0', { bin })
      await assert.rejects(confirmAndInstall(installer(), npx()), { kind: 'failed' })
      await nothingLeft()
    }
  })

  it('stops npm and its child processes when canceled', async () => {
    publish('1.0.0')
    npm.gate = new Promise(() => {})
    const cancel = new AbortController()
    const asked = npm.server.requests.length
    const installing = confirmAndInstall(installer(), npx(), { signal: cancel.signal })
    await waitFor('a request of npm', () => npm.server.requests.length > asked)
    cancel.abort()
    await assert.rejects(installing, CancelledError)
    await nothingLeft()
  })

  const zip = (text = '#!/bin/sh\necho run $1\n') =>
    Buffer.from(zipSync({ run: new TextEncoder().encode(text) }))
  const serving = (data: Buffer) => {
    answer = (_request, response) => response.writeHead(200, { 'content-length': data.length }).end(data)
  }

  it('installs an archive and records whether its checksum was known', async () => {
    serving(zip())
    await confirmAndInstall(installer(linux), binary(`${files.origin}/a.zip`))
    const [agent] = installed.agents
    assert.equal(run(agent!), 'run acp')
    assert.equal(agent?.verified, false)
    await installed.remove('mine')
    await confirmAndInstall(installer(linux), binary(`${files.origin}/a.zip`, { sha256: agent!.sha256 }))
    assert.equal(installed.agents[0]?.verified, true)
  })

  it('leaves nothing behind if an archive is wrong, unsafe, truncated or lacks its program', async () => {
    const bad: Array<[Buffer, object]> = [
      [zip(), { sha256: '0'.repeat(64) }],
      [Buffer.from(zipSync({ '../../run': new Uint8Array(3) })), {}],
      [zip().subarray(0, 30), {}],
      [zip(), { cmd: './other' }],
      [zip(), { cmd: '../../../bin/sh' }],
      [Buffer.from(zipSync({ 'run/x': new Uint8Array(3) })), {}],
    ]
    for (const [data, more] of bad) {
      serving(data)
      await assert.rejects(
        confirmAndInstall(installer(linux), binary(`${files.origin}/a.zip`, more)),
        InstallError,
      )
      await nothingLeft()
    }
  })

  it("rejects an archive with the names of Parley's own files", async () => {
    for (const name of ['in-use/1', 'install.json', 'INSTALL.JSON', 'In-Use']) {
      serving(Buffer.from(zipSync({ run: new Uint8Array(3), [name]: new Uint8Array(3) })))
      await assert.rejects(confirmAndInstall(installer(linux), binary(`${files.origin}/a.zip`)), InstallError)
      await nothingLeft()
    }
    serving(Buffer.from(zipSync({ run: new Uint8Array(3), 'lib/install.json': new Uint8Array(3) })))
    await confirmAndInstall(installer(linux), binary(`${files.origin}/a.zip`))
  })

  it('can be canceled while the version of Node is determined', async () => {
    publish('1.0.0', { engines: { node: '>=1' } })
    const bin = join(home, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'npm'), `#!/bin/sh\nPATH='${env.PATH}' exec npm "$@"\n`)
    await writeFile(join(bin, 'node'), `#!/bin/sh\ntouch '${join(home, 'asked')}'\nsleep 600\n`)
    for (const name of ['npm', 'node']) await chmod(join(bin, name), 0o755)
    env.PATH = `${bin}:${env.PATH}`
    const cancel = new AbortController()
    const installing = confirmAndInstall(installer(), npx(), { signal: cancel.signal })
    await waitFor('the search for the version', () => existsSync(join(home, 'asked')))
    cancel.abort()
    await assert.rejects(installing, CancelledError)
    await nothingLeft()
  })

  it('leaves nothing behind when the disk is full', async () => {
    serving(zip())
    const full: typeof fetch = async () => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' })
    }
    const installing = confirmAndInstall(
      installer({ ...linux, fetch: full }),
      binary(`${files.origin}/a.zip`),
    )
    await assert.rejects(installing, /disk is full/)
    await nothingLeft()
  })

  it('leaves nothing behind on a real disk that is full', async function () {
    // a small RAM disk, if the system can create one
    await mkdir(storage)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', storage], { stdio: 'ignore' })
    } catch {
      this.skip()
    }
    try {
      const installing = (agent: RegistryAgent) => confirmAndInstall(installer(linux), agent)
      // shrinks to a tenth when compressed
      const text = Array.from({ length: 300 }, () => randomBytes(500).toString('hex').repeat(10)).join('')
      const archive = binary(`${files.origin}/a.zip`)
      const packed = zip(text)
      assert.ok(packed.length < 600_000)
      serving(packed)
      await assert.rejects(installing(archive), { message: "Mine wasn't installed: the disk is full." })
      await nothingLeft()
      // one response with a size, and one without
      serving(Buffer.alloc(3_000_000))
      await assert.rejects(installing(archive), /There isn't enough disk space: 9 MB required/)
      await nothingLeft()
      answer = (_request, response) => {
        response.write(Buffer.alloc(2_000_000))
        response.end(Buffer.alloc(1_000_000))
      }
      await assert.rejects(installing(archive), { message: "Mine wasn't installed: the disk is full." })
      await nothingLeft()
      publish('1.0.0', { files: { 'run.js': text } })
      await assert.rejects(installing(npx()), {
        message: 'mine@1.0.0 needs more disk space than is available.',
      })
      await nothingLeft()
      // no space, not even for the lock
      await writeFile(join(storage, 'filler'), Buffer.alloc(3_000_000)).catch(() => {})
      await assert.rejects(installing(archive), { message: "Mine wasn't installed: the disk is full." })
      assert.deepEqual(await readdir(storage, { recursive: true }), ['filler'])
    } finally {
      execFileSync('umount', ['--lazy', storage])
    }
  })

  it('updates, and keeps the previous version until the new one has started', async () => {
    publish('1.0.0')
    publish('2.0.0')
    await confirmAndInstall(installer(), npx())
    await installed.started(installed.agents[0]!)
    await confirmAndInstall(installer(), npx('2.0.0'))
    const [agent] = installed.agents
    assert.equal(run(agent!), '2.0.0 --acp')
    assert.equal(agent?.canRollBack, true)
    assert.equal((await readdir(join(storage, 'mine'))).length, 3)
    await installed.started(agent!)
    assert.equal(installed.agents[0]?.canRollBack, false)
    assert.equal((await readdir(join(storage, 'mine'))).length, 2)
  })

  it("restores the previous version if an update doesn't start", async () => {
    publish('1.0.0')
    publish('2.0.0')
    await confirmAndInstall(installer(), npx())
    await installed.started(installed.agents[0]!)
    await confirmAndInstall(installer(), npx('2.0.0'))
    assert.equal(await installed.rollBack(installed.agents[0]!), '1.0.0')
    assert.equal(run(installed.agents[0]!), '1.0.0 --acp')
    assert.equal(await installed.rollBack(installed.agents[0]!), undefined)
    assert.equal((await readdir(join(storage, 'mine'))).length, 2)
  })

  it('keeps a version that a process uses and removes it with the last process', async () => {
    publish('1.0.0')
    await confirmAndInstall(installer(), npx())
    const [agent] = installed.agents
    const done = [installed.use(agent!), installed.use(agent!)]
    await waitFor('a mark of use', async () => (await readdir(agent!.directory)).includes('in-use'))
    await installed.remove('mine')
    assert.deepEqual(installed.agents, [])
    assert.equal(run(agent!), '1.0.0 --acp')
    done[0]!()
    assert.equal(run(agent!), '1.0.0 --acp')
    done[1]!()
    await waitFor('the end of the folder', async () => !(await readdir(storage)).includes('mine'))
  })

  it('removes everything', async () => {
    publish('1.0.0')
    await confirmAndInstall(installer(), npx())
    await installed.remove('mine')
    await nothingLeft()
  })

  it('installs once if two windows install at the same time', async () => {
    publish('1.0.0')
    const other = new InstalledAgents(storage, processWindow(), log)
    const packages = () => npm.server.requests.filter(({ url }) => url?.endsWith('.tgz')).length
    const before = packages()
    await Promise.all([
      confirmAndInstall(installer(), npx()),
      confirmAndInstall(installer({ installed: other }), npx()),
    ])
    await other.read()
    assert.deepEqual(other.agents, installed.agents)
    assert.equal(packages() - before, 1)
    assert.equal((await readdir(join(storage, 'mine'))).length, 2)
  })

  for (const [what, change] of [
    ['package', { distribution: { npx: { package: 'other', args: ['--acp'] } } }],
    ['arguments', { distribution: { npx: { package: 'mine', args: ['--safe'] } } }],
    ['environment', { distribution: { npx: { package: 'mine', args: ['--acp'], env: { A: 'b' } } } }],
  ] as const)
    it(`installs the confirmed version although the same version with another ${what} is installed`, async () => {
      publish('1.0.0')
      npm.publish({ name: 'other', version: '1.0.0', bin: 'run.js', files: { 'run.js': '' } })
      await confirmAndInstall(installer(), npx())
      const before = installed.agents[0]!
      await confirmAndInstall(installer(), npx())
      assert.equal(installed.agents[0]!.directory, before.directory)
      const agent = agentOf(change.distribution)
      const [found] = agent.distributions
      assert.ok(found?.type === 'npx')
      await confirmAndInstall(installer(), agent)
      const [now] = installed.agents
      assert.deepEqual(
        [now?.source, now?.launch.args, now?.launch.env],
        [found.package, found.args, found.env],
      )
    })

  it('installs the same version again if its program is missing', async () => {
    publish('1.0.0')
    await confirmAndInstall(installer(), npx())
    await rm(join(installed.agents[0]!.directory, 'node_modules'), { recursive: true })
    await confirmAndInstall(installer(), npx())
    assert.equal(run(installed.agents[0]!), '1.0.0 --acp')
  })

  it('keeps all files while it is unknown which are in use', async () => {
    publish('1.0.0')
    await confirmAndInstall(installer(), npx())
    const { directory } = installed.agents[0]!
    const current = join(storage, 'mine', 'current.json')
    const text = await readFile(current, 'utf8')
    // as a newer version of Parley writes it, or after a power failure
    for (const other of [text.replace('"format":1', '"format":2'), '']) {
      await writeFile(current, other)
      await installed.cleanUp()
      assert.ok(existsSync(join(directory, 'install.json')))
    }
    await writeFile(current, text)
    await installed.read()
    assert.equal(run(installed.agents[0]!), '1.0.0 --acp')
    await writeFile(current, '')
    await installed.remove('mine')
    await nothingLeft()
  })

  it("keeps the files of an installation whose lock was taken over, as after the computer's sleep", async () => {
    publish('1.0.0')
    let open = () => {}
    npm.gate = new Promise(resolve => {
      open = resolve
    })
    const asked = npm.server.requests.length
    const installing = confirmAndInstall(installer(), npx())
    await waitFor('a request of npm', () => npm.server.requests.length > asked)
    await rm(join(storage, 'mine.lock'))
    const other = new InstalledAgents(storage, processWindow(), log)
    await other.cleanUp()
    open()
    await installing
    assert.equal(run(installed.agents[0]!), '1.0.0 --acp')
    await installed.remove('mine')
    await nothingLeft()
  })

  it('removes what an installation left behind in a killed window', async () => {
    const held = join(storage, 'mine', '1.0.0-half')
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    await mkdir(held, { recursive: true })
    await writeFile(join(held, 'package.json'), '{}')
    await writeFile(`${held}.download`, 'x')
    await writeFile(join(storage, 'mine.lock'), String(child.pid))
    child.kill('SIGKILL')
    await once(child, 'exit')
    await installed.cleanUp()
    await nothingLeft()
  })

  /** Starts a process that installs the agent, like an extension host. */
  const installingHost = async () => {
    const folder = join(home, 'programs')
    await bundlePrograms(folder, {
      host: 'test/unit/agents/registry/install-in-host.ts',
      guard: 'src/common/processes/process-guard-main.ts',
    })
    return spawn(process.execPath, [join(folder, 'host.mjs'), storage, join(folder, 'guard.mjs')], {
      cwd: projectDirectory,
      env: { ...env, [rootVariable]: home },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  }

  it('installs once if two processes install at the same time', async function () {
    if (process.platform === 'win32') this.skip()
    publish('1.0.0')
    let open = () => {}
    npm.gate = new Promise(resolve => {
      open = resolve
    })
    const packages = () => npm.server.requests.filter(({ url }) => url?.endsWith('.tgz')).length
    const [asked, before] = [npm.server.requests.length, packages()]
    const hosts = await Promise.all([installingHost(), installingHost()])
    const ends = hosts.map(host => once(host, 'exit'))
    await waitFor('a request of npm', () => npm.server.requests.length > asked)
    open()
    assert.deepEqual(await Promise.all(ends), [
      [0, null],
      [0, null],
    ])
    assert.equal(packages() - before, 1)
    await installed.read()
    assert.equal(run(installed.agents[0]!), '1.0.0')
    assert.equal((await readdir(join(storage, 'mine'))).length, 2)
  })

  it('leaves no package manager and no files behind if the extension host is killed', async function () {
    if (process.platform === 'win32') this.skip()
    publish('1.0.0')
    npm.gate = new Promise(() => {})
    const asked = npm.server.requests.length
    const host = await installingHost()
    await waitFor('a request of npm', () => npm.server.requests.length > asked)
    const npmIsThere = () => processesStartedIn(home).length > 0
    assert.ok(npmIsThere() || process.platform !== 'linux')
    host.kill('SIGKILL')
    await once(host, 'exit')
    await waitFor('the end of npm', () => !npmIsThere())
    await installed.ready()
    assert.deepEqual(installed.agents, [])
    await waitFor('the end of the files', async () => (await readdir(storage)).length === 0)
  })

  it('can be canceled while it waits for a window that hangs', async () => {
    await mkdir(storage, { recursive: true })
    await writeFile(join(storage, 'mine.lock'), String(process.pid))
    const options: InstallOptions = { signal: AbortSignal.timeout(200) }
    await assert.rejects(confirmAndInstall(installer(), npx(), options), CancelledError)
    await rm(join(storage, 'mine.lock'))
  })

  it('installs a Python package with uv', async () => {
    const bin = join(home, 'bin')
    await mkdir(bin)
    const uv = `#!/bin/sh\nmkdir -p "$UV_TOOL_BIN_DIR"\nprintf '#!/bin/sh\\necho %s "$1"\\n' "$4" > "$UV_TOOL_BIN_DIR/mine"\nchmod +x "$UV_TOOL_BIN_DIR/mine"\n`
    await writeFile(join(bin, 'uv'), uv)
    await chmod(join(bin, 'uv'), 0o755)
    env.PATH = `${bin}:${env.PATH}`
    await confirmAndInstall(installer(), agentOf({ uvx: { package: 'mine[acp]', args: ['acp'] } }))
    assert.equal(run(installed.agents[0]!), 'mine[acp]==1.0.0 acp')
  })

  it("explains why uv can't download, with uv's own message in the output", async () => {
    const bin = join(home, 'bin')
    await mkdir(bin)
    const said = 'error: Failed to fetch: https://pypi.example/simple/mine/\n  Caused by: dns error'
    await writeFile(join(bin, 'uv'), `#!/bin/sh\nprintf '${said}\\n' >&2\nexit 2\n`)
    await chmod(join(bin, 'uv'), 0o755)
    env.PATH = `${bin}:${env.PATH}`
    await assert.rejects(
      confirmAndInstall(installer(), agentOf({ uvx: { package: 'mine' } })),
      (error: unknown) => {
        assert.ok(error instanceof InstallError)
        assert.match(error.message, /^uv can't download the agent: the server pypi\.example wasn't found\./)
        assert.match(error.output, /dns error/)
        return true
      },
    )
    await nothingLeft()
  })
})
