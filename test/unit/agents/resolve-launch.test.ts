// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { AgentDefinition } from '../../../src/agents/definition.ts'
import type { LaunchEnvironment } from '../../../src/agents/launch-environment.ts'
import { demoAgent } from '../../../src/agents/presets.ts'
import { type LaunchContext, resolveLaunch } from '../../../src/agents/resolve-launch.ts'
import { findCommand, searchedDirectories } from '../../../src/common/processes/spawn-process.ts'

const { platform } = process

describe('resolveLaunch', () => {
  let root: string
  let context: LaunchContext
  const program = (name: string, mode = 0o755) => {
    const path = join(root, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, '#!/bin/sh\n')
    chmodSync(path, mode)
    return path
  }
  const agent = (more: Partial<AgentDefinition>): AgentDefinition => ({
    id: 'mine',
    name: 'Mine',
    command: 'agent',
    args: [],
    env: {},
    source: 'settings',
    ...more,
  })
  const launch = async (definition: AgentDefinition, more: Partial<LaunchContext> = {}) => {
    const resolution = await resolveLaunch(definition, { ...context, ...more })
    assert.ok('ok' in resolution, JSON.stringify(resolution))
    return { ...resolution.ok, notes: resolution.notes }
  }
  const failure = async (definition: AgentDefinition, more: Partial<LaunchContext> = {}) => {
    const resolution = await resolveLaunch(definition, { ...context, ...more })
    assert.ok('failure' in resolution, JSON.stringify(resolution))
    return resolution
  }
  const withPath = (...directories: string[]): LaunchEnvironment => ({
    env: { PATH: directories.join(delimiter), TOKEN: 'secret' },
    platform,
    source: 'login-shell',
  })

  before(function () {
    // the programs in these tests need an executable mode
    if (platform === 'win32') this.skip()
  })
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-launch-')))
    for (const directory of ['one', 'two', 'bin']) mkdirSync(join(root, directory))
    context = {
      environment: withPath(join(root, 'empty'), join(root, 'bin')),
      folders: [
        { name: 'one', path: join(root, 'one') },
        { name: 'two', path: join(root, 'two') },
      ],
      userHome: root,
    }
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('returns the path of the command, the first folder, and the environment', async () => {
    const path = program('bin/agent')
    assert.deepEqual(await launch(agent({ args: ['--acp'], env: { MORE: '1' } })), {
      command: path,
      args: ['--acp'],
      env: { ...context.environment.env, MORE: '1' },
      cwd: join(root, 'one'),
      notes: [],
    })
  })

  it('uses the home directory if no folder is open', async () => {
    program('bin/agent')
    assert.equal((await launch(agent({}), { folders: [] })).cwd, root)
  })

  it('replaces variables in command, args, env and cwd', async () => {
    const path = program('two/tools/agent')
    const definition = agent({
      command: '${workspaceFolder:two}/tools/agent',
      args: ['--root=${workspaceFolder}', '${userHome}'],
      env: { KEY: '${env:TOKEN}' },
      cwd: '${workspaceFolder:two}',
    })
    const { command, args, env, cwd } = await launch(definition)
    assert.deepEqual(
      { command, args, cwd },
      { command: path, args: [`--root=${join(root, 'one')}`, root], cwd: join(root, 'two') },
    )
    assert.equal(env.KEY, 'secret')
  })

  it('expands ~ in command and cwd', async () => {
    const path = program('bin/agent')
    const { command, cwd } = await launch(agent({ command: '~/bin/agent', cwd: '~' }))
    assert.deepEqual({ command, cwd }, { command: path, cwd: root })
  })

  it('resolves a relative command against its cwd, and a relative cwd against the first folder', async () => {
    const path = program('one/sub/agent')
    const { command, cwd } = await launch(agent({ command: './agent', cwd: 'sub' }))
    assert.deepEqual({ command, cwd }, { command: path, cwd: join(root, 'one/sub') })
  })

  it("searches the agent's own PATH if it sets one", async () => {
    const path = program('two/agent')
    const definition = agent({ env: { PATH: `\${workspaceFolder:two}${delimiter}\${env:PATH}` } })
    const { command, env } = await launch(definition)
    assert.equal(command, path)
    assert.ok(env.PATH?.endsWith(context.environment.env.PATH ?? '?'))
  })

  it('reports a missing command with the searched directories', async () => {
    const { failure: missing, message } = await failure(agent({ command: 'no-such-agent' }))
    assert.deepEqual(missing, {
      kind: 'command-missing',
      command: 'no-such-agent',
      searched: [join(root, 'empty'), join(root, 'bin')],
    })
    assert.equal(message, 'The program "no-such-agent" wasn\'t found in the 2 directories of the PATH.')
  })

  it("reports a file that isn't executable, and a directory", async () => {
    const path = program('bin/agent', 0o644)
    const { failure: missing, message } = await failure(agent({ command: path }))
    assert.deepEqual(missing, { kind: 'command-missing', command: path, searched: [join(root, 'bin')] })
    assert.equal(message, `No program was found at ${path}.`)
    assert.equal((await failure(agent({}))).failure.kind, 'command-missing')
    mkdirSync(join(root, 'bin/dir'))
    assert.equal((await failure(agent({ command: 'dir' }))).failure.kind, 'command-missing')
  })

  it('reports an empty PATH', async () => {
    const { message } = await failure(agent({}), { environment: withPath() })
    assert.equal(message, 'The program "agent" wasn\'t found: the PATH is empty.')
  })

  it('never uses a program from a relative directory on the PATH', async () => {
    program('one/agent')
    const environment = withPath('.', 'one', '', join(root, 'bin'))
    assert.equal((await failure(agent({}), { environment })).failure.kind, 'command-missing')
    assert.deepEqual(searchedDirectories(environment.env, platform), [join(root, 'bin')])
  })

  it('reports which variable of which setting is invalid', async () => {
    program('bin/agent')
    const definition = agent({ args: ['ok', '${workspaceFolder:three}'], cwd: '${nope}' })
    const { failure: wrong, message } = await failure(definition)
    assert.equal(wrong.kind, 'spawn')
    assert.equal(
      message,
      'parley.agents › mine › args[1]: ${workspaceFolder:three}: unknown workspace folder (available: "one", "two"). ' +
        'parley.agents › mine › cwd: ${nope}: unknown variable.',
    )
  })

  it("continues without an environment variable that isn't set, and reports it", async () => {
    program('bin/agent')
    const { args, notes } = await launch(agent({ args: ['[${env:NOPE}]'] }))
    assert.deepEqual(args, ['[]'])
    assert.deepEqual(notes, [
      "parley.agents › mine › args[0]: ${env:NOPE}: the environment variable NOPE isn't set and is replaced with an empty string.",
    ])
  })

  it('reports a command that is empty after its variables are replaced', async () => {
    assert.match(
      (await failure(agent({ command: '${env:NOPE}' }))).message,
      /command: the value is empty after/,
    )
  })

  it("reports a cwd that doesn't exist or is a file", async () => {
    const path = program('bin/agent')
    for (const cwd of [join(root, 'nowhere'), path]) {
      const { failure: wrong, message } = await failure(agent({ cwd }))
      assert.equal(wrong.kind, 'spawn')
      assert.equal(message, `The working directory for "Mine" doesn't exist: ${cwd}`)
    }
  })

  it('replaces variables in what the settings change of an agent that was found or installed', async () => {
    const change = { command: process.execPath, env: { HOME_OF: '${userHome}' }, cwd: '${userHome}' }
    for (const source of ['preset', 'installed'] as const) {
      const { env, cwd } = await launch(agent({ ...change, source }))
      assert.equal(env.HOME_OF, root)
      assert.equal(cwd, root)
    }
    const { args } = await launch(agent({ ...change, args: ['--in=${userHome}'], source: 'preset' }))
    assert.deepEqual(args, [`--in=${root}`])
  })

  it('returns the demo agent unchanged, whatever its path', async () => {
    const demo = demoAgent(join(root, '${userHome}', 'demo.mjs'))
    const { command, args, env } = await launch(demo)
    assert.equal(command, process.execPath)
    assert.deepEqual(args, [join(root, '${userHome}', 'demo.mjs')])
    assert.equal(env.ELECTRON_RUN_AS_NODE, '1')
  })

  it('uses the first of several programs with the same name', async () => {
    program('bin/agent')
    const first = program('two/agent')
    const { env } = withPath(join(root, 'two'), join(root, 'bin'))
    assert.deepEqual(await findCommand('agent', { env, cwd: root, platform }), { path: first })
  })
})
