import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  platformTarget,
  RegistryFormatError,
  readRegistry,
} from '../../../../src/agents/registry/registry-format.ts'

const agent = (more: object = {}) => ({
  id: 'mine',
  name: 'Mine',
  version: '1.2.3',
  description: 'An agent',
  distribution: { npx: { package: 'mine' } },
  ...more,
})
const one = (more: object) => readRegistry({ version: '1.0.0', agents: [agent(more)], extensions: [] })

describe('the registry', () => {
  it('is read entry by entry, and invalid ones are omitted and reported', () => {
    const { agents, problems } = readRegistry({
      agents: [agent(), { id: '../up' }, agent({ id: 'other' }), 7],
    })
    assert.deepEqual(
      agents.map(({ id }) => id),
      ['mine', 'other'],
    )
    assert.equal(problems.length, 2)
    assert.match(problems[0]!, /^agents\[1\]: id/)
  })

  it("is rejected if it isn't a registry", () => {
    for (const json of [null, [], 'x', {}, { agents: {} }])
      assert.throws(() => readRegistry(json), RegistryFormatError)
  })

  it('uses the version of the entry for a package without one', () => {
    const packages = (distribution: object) =>
      one({ distribution }).agents[0]?.distributions.map(found => found.type !== 'binary' && found.package)
    assert.deepEqual(packages({ npx: { package: '@a/b' } }), ['@a/b@1.2.3'])
    assert.deepEqual(packages({ npx: { package: '@a/b@2.0.0' } }), ['@a/b@2.0.0'])
    assert.deepEqual(packages({ uvx: { package: 'tool' } }), ['tool==1.2.3'])
    assert.deepEqual(packages({ uvx: { package: 'tool[acp]==9' } }), ['tool[acp]==9'])
    // a tag or a range isn't a version
    for (const name of ['@a/b@latest', '@a/b@next', '@a/b@1', '@a/b@1.x', '@a/b@1.2'])
      assert.deepEqual(packages({ npx: { package: name } }), ['@a/b@1.2.3'], name)
    assert.deepEqual(packages({ npx: { package: '@a/b@2.0.0-beta.1' } }), ['@a/b@2.0.0-beta.1'])
    assert.deepEqual(packages({ uvx: { package: 'tool@latest' } }), ['tool==1.2.3'])
  })

  it("isn't used if neither the package nor the entry has an exact version", () => {
    for (const [name, version] of [
      ['mine', 'latest'],
      ['mine', '1'],
      ['mine', '1.x'],
      ['mine@next', 'latest'],
      // npm takes what isn't a valid version for a tag
      ['mine', '1.0.0-a_b'],
      ['mine@99999999999999999999.0.0', 'beta'],
    ]) {
      const { agents, problems } = one({ version, distribution: { npx: { package: name } } })
      assert.deepEqual(agents, [], `${name} ${version}`)
      assert.match(problems[0]!, /exact version/)
    }
    for (const version of ['latest', '1.x', '1-x'])
      assert.deepEqual(one({ version, distribution: { uvx: { package: 'mine' } } }).agents, [], version)
    const tagged = one({ distribution: { npx: { package: 'mine@2.0.0-a_b' } } }).agents[0]
    assert.deepEqual(tagged?.distributions, [{ type: 'npx', package: 'mine@1.2.3', args: [], env: {} }])
  })

  it('keeps an entry with an invalid icon, license or other distribution', () => {
    const { agents } = one({
      icon: 'javascript:alert(1)',
      repository: 'nowhere',
      license: 7,
      unknown: true,
      distribution: {
        npx: { package: 'mine' },
        binary: { 'linux-x86_64': { archive: 'ftp://x/y', cmd: 'y' } },
      },
    })
    assert.deepEqual(Object.keys(agents[0]!).sort(), [
      'authors',
      'description',
      'distributions',
      'icon',
      'id',
      'license',
      'name',
      'repository',
      'version',
    ])
    assert.equal(agents[0]!.icon, undefined)
    assert.equal(agents[0]!.distributions.length, 1)
  })

  it('rejects a package that is an option, a URL or a path', () => {
    for (const name of [
      '-g',
      '--registry=x',
      'https://x/y.tgz',
      './x',
      '../x',
      'git+ssh://x',
      'a b',
      'a@file:x',
      'a@../x',
    ])
      assert.deepEqual(one({ distribution: { npx: { package: name } } }).agents, [], name)
    for (const name of ['--index-url=x', 'git+https://x', './x', 'a @ https://x', 'a;b'])
      assert.deepEqual(one({ distribution: { uvx: { package: name } } }).agents, [], name)
  })

  it('rejects an environment that makes programs run other code', () => {
    const withEnv = (name: string) =>
      one({ distribution: { npx: { package: 'mine', env: { [name]: 'x' } } } })
    for (const name of [
      ...[
        'NODE_OPTIONS',
        'node_options',
        'NODE_PATH',
        'LD_PRELOAD',
        'LD_LIBRARY_PATH',
        'LD_AUDIT',
        'PATH',
        'Path',
      ],
      ...[
        'DYLD_INSERT_LIBRARIES',
        'PYTHONPATH',
        'PYTHONSTARTUP',
        'PYTHONHOME',
        'BASH_ENV',
        'ENV',
        'SHELLOPTS',
      ],
      ...[
        'PERL5OPT',
        'RUBYOPT',
        'JAVA_TOOL_OPTIONS',
        '_JAVA_OPTIONS',
        'GIT_SSH_COMMAND',
        'npm_config_registry',
      ],
      ...[
        'HTTPS_PROXY',
        'NODE_TLS_REJECT_UNAUTHORIZED',
        'HOME',
        'DOTNET_STARTUP_HOOKS',
        'ELECTRON_RUN_AS_NODE',
      ],
      ...['TAR_OPTIONS', 'VIMINIT', 'LESS', 'MANPAGER', 'SUDO_ASKPASS', 'RSYNC_RSH', 'MAVEN_OPTS', 'GOFLAGS'],
      ...[
        'NODE_COMPILE_CACHE',
        'VSCODE_GIT_ASKPASS_NODE',
        'PARLEY_X',
        'HOMEPATH',
        'ERL_FLAGS',
        'GTK_MODULES',
      ],
    ]) {
      const { agents, problems } = withEnv(name)
      assert.deepEqual(agents, [], name)
      assert.match(problems[0]!, new RegExp(`env.*${name}`), name)
    }
    for (const name of [
      'AUGMENT_DISABLE_AUTO_UPDATE',
      'FACTORY_DROID_AUTO_UPDATE_ENABLED',
      'NODE_ENV',
      'MY_PATH',
      'RUST_LOG',
    ])
      assert.equal(withEnv(name).agents.length, 1, name)
    // other spellings of a name
    for (const name of ['PATH ', ' PATH', '\uFF30ATH', 'PA\tTH', 'BASH_FUNC_ls%%', 'A=B', '', '1A'])
      assert.deepEqual(withEnv(name).agents, [], name)
  })

  it("rejects an id or version that isn't a valid folder name", () => {
    // next to an agent's folder is its lock file, and some file systems ignore case
    for (const id of ['mine.lock', 'a.lock.b.lock', 'Mine', 'MINE'])
      assert.deepEqual(one({ id }).agents, [], id)
    for (const id of ['..', '.', 'a/b', 'a\\b', 'con', 'NUL', 'com1.x', 'a.', ' a', '', 'a..b', '-a'])
      assert.deepEqual(one({ id }).agents, [], id)
    for (const version of ['..', '1/2', '', ' ', '1.', 'v'.repeat(65)])
      assert.deepEqual(one({ version }).agents, [], version)
  })

  it('rejects a name that could be taken for more than a name', () => {
    for (const name of [
      'Good 1.0?\n\nRuns: nothing',
      'a\tb',
      'a\u202eb',
      'a\u200bb',
      `Good${' '.repeat(80)}x`,
    ])
      assert.deepEqual(one({ name }).agents, [], name)
    for (const name of ['通义灵码', 'Ağent №1', 'نمی\u200cخواهم'])
      assert.equal(one({ name }).agents[0]?.name, name)
  })

  it('accepts archives from encrypted URLs and from this machine', () => {
    const archive = (address: string) =>
      one({ distribution: { binary: { 'linux-x86_64': { archive: address, cmd: './a' } } } }).agents.length
    assert.equal(archive('https://example.com/a.zip'), 1)
    assert.equal(archive('http://127.0.0.1:1/a.zip'), 1)
    assert.equal(archive('https://example.com/a.dmg'), 0)
    assert.equal(archive('http://example.com/a.zip'), 0)
    assert.equal(archive('https://user:pass@example.com/a.zip'), 0)
    assert.equal(archive('file:///a.zip'), 0)
  })

  it('never throws for an entry', () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), agents => {
        const read = readRegistry({ agents })
        assert.equal(read.agents.length + read.problems.length, agents.length)
      }),
    )
  })

  it('names the platform of this machine', () => {
    assert.equal(platformTarget('linux', 'x64'), 'linux-x86_64')
    assert.equal(platformTarget('darwin', 'arm64'), 'darwin-aarch64')
    assert.equal(platformTarget('win32', 'x64'), 'windows-x86_64')
    assert.equal(platformTarget('linux', 'ia32'), undefined)
    assert.equal(platformTarget('freebsd', 'x64'), undefined)
  })
})
