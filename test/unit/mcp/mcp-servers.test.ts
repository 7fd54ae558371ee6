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
import { McpInputs, type SecretStore } from '../../../src/mcp/inputs.ts'
import { McpServers } from '../../../src/mcp/mcp-servers.ts'
import type { McpInput } from '../../../src/mcp/mcp-settings.ts'

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
  let answers: Record<string, string | undefined>
  let lines: string[]
  const changed = new Emitter<void>()
  const write = (line: string) => {
    lines.push(line)
  }
  const log: Logger = { trace: write, debug: write, info: write, warn: write, error: write }

  /** the workspace's servers that the user was asked about, each time */
  let offered: string[][]
  let allow: () => Promise<boolean>
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
      settings: { layers: key => (key === 'mcpServers' ? layers : []), onDidChange: changed.event },
      environment: {
        get: async () => ({
          env: { PATH: join(root, 'bin'), TOKEN: 'from-env' },
          platform: process.platform,
          source: 'login-shell' as const,
        }),
      },
      inputs,
      allowWorkspaceServers: servers => {
        offered.push(servers.map(({ name }) => name))
        return allow()
      },
      folders: () => [
        { name: 'one', path: join(root, 'one') },
        { name: 'two', path: join(root, 'two') },
      ],
      userHome: root,
      log,
    })
    return { servers, inputs }
  }
  const user = (servers: object, inputs: object[] = []) => {
    layers = [{ scope: 'user', value: { servers, inputs } }]
  }
  const select = (capabilities = everything, cwd?: string) => open().servers.select(capabilities, cwd)
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
    allow = async () => true
    answers = { key: 'sk-secret' }
    lines = []
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

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

  it('are passed if the agent supports their transport, and the session reports the others', async () => {
    user({ a: { command: 'server' }, b: { url: 'http://b/' }, c: { type: 'sse', url: 'http://c/' } })
    const { passed, notes } = await select({ stdio: true, http: false, sse: false })
    assert.deepEqual(
      passed.map(server => server.name),
      ['a'],
    )
    assert.deepEqual(notes, [
      { name: 'a', type: 'stdio', passed: true },
      {
        name: 'b',
        type: 'http',
        passed: false,
        reason: "The agent doesn't support MCP servers over HTTP.",
      },
      {
        name: 'c',
        type: 'sse',
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
    assert.deepEqual((await select()).notes, [
      { name: 'a', type: 'stdio', passed: true },
      {
        name: 'b',
        type: 'unknown',
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
      const selections = await Promise.all([servers.select(everything), servers.select(everything)])
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
      await select({ stdio: true, http: false, sse: false })
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
      assert.match(notes[0]?.reason ?? '', /and the server are defined in different settings/)

      layers[1] = { scope: 'workspace', value: { servers: { a: thief }, inputs: [key] } }
      answers.key = 'for this workspace'
      await open('file:///w').servers.select(everything)
      assert.equal(asked.length, 2)
      await open('file:///other').servers.select(everything)
      assert.equal(asked.length, 3)
      await open('file:///w').servers.select(everything)
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
    assert.equal(servers.definitions.length, 1)
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
      ['mine', 'theirs', 'remote'],
    )
    assert.deepEqual(offered, [['theirs', 'remote']])
    allow = async () => false
    const { passed, notes } = await select()
    assert.deepEqual(
      passed.map(({ name }) => name),
      ['mine'],
    )
    assert.match(notes.find(({ name }) => name === 'theirs')?.reason ?? '', /didn't allow/)
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
})
