import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { McpServer } from '../../../src/acp/model.ts'
import { deferred } from '../../../src/common/async.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { bridgedServer } from '../../../src/mcp/bridge/bridged-server.ts'
import { checkServer } from '../../../src/mcp/check-server.ts'
import { McpSignIns } from '../../../src/mcp/sign-in/mcp-sign-ins.ts'
import { refreshWithOAuth } from '../../../src/mcp/sign-in/oauth.ts'
import { RedirectListener } from '../../../src/mcp/sign-in/redirect-listener.ts'
import { parseSignIn } from '../../../src/mcp/sign-in/stored-sign-in.ts'
import { BuiltBridge, StdioAgent } from '../../support/mcp/bridge-program.ts'
import { HttpProbe } from '../../support/mcp/http-server.ts'
import { OAuthServer } from '../../support/mcp/oauth-server.ts'

type Remote = Exclude<McpServer, { type: 'stdio' }>

const urlsOf = (...servers: Remote[]) => servers.map(({ url }) => url)

describe('signing in to an MCP server', () => {
  let oauth: OAuthServer
  let probe: HttpProbe
  let server: Remote
  let signIns: McpSignIns
  let kept: Map<string, string>
  let secrets: SecretRegistry
  let asked: string[]
  let answer: boolean
  /** the client that the user enters, and what was told about it */
  let client: { client_id: string; client_secret?: string } | undefined
  let clientQuestions: unknown[]
  let opened: string[]
  /** What the user's browser does. */
  let browse: (url: string) => unknown

  const open = (request: typeof fetch = fetch) =>
    new McpSignIns({
      secretStore: {
        get: async key => kept.get(key),
        store: async (key, value) => void kept.set(key, value),
        delete: async key => void kept.delete(key),
      },
      secrets,
      confirm: async (name, host) => {
        asked.push(`${name} ${host}`)
        return answer
      },
      askClient: async (name, redirectUrl, known) => {
        clientQuestions.push([name, known])
        if (client) oauth.clients.set('mine', [redirectUrl])
        return client
      },
      openExternal: async url => {
        opened.push(url)
        void browse(url)
      },
      externalUrl: async url => url,
      fetch: request,
      log: silentLogger,
    })

  beforeEach(async () => {
    oauth = await OAuthServer.start()
    probe = await HttpProbe.start({ before: (request, response) => oauth.protect(request, response) })
    server = { type: 'http', name: 'docs', url: probe.url, headers: [] }
    kept = new Map()
    secrets = new SecretRegistry()
    asked = []
    answer = true
    client = undefined
    clientQuestions = []
    opened = []
    browse = fetch
    signIns = open()
  })
  afterEach(async () => {
    signIns.dispose()
    await probe.stop()
    await oauth.stop()
  })

  it('asks the user, opens the browser and stores what the server gives', async () => {
    assert.equal(await signIns.isSignedIn(server.url), false)
    await signIns.signIn(server)
    assert.deepEqual(asked, [`docs ${new URL(oauth.origin).host}`])
    assert.equal(opened.length, 1)
    const token = await signIns.token(server.url)
    assert.ok(token && oauth.tokens.has(token))
    assert.equal(await open().token(server.url), token)
    assert.deepEqual(await open().urls(), [server.url])
    assert.equal(await signIns.token(`${server.url}/other`), undefined)
    assert.equal(secrets.redact(`got ${token}`), 'got •••')
    const options = { environment: { env: {}, platform: process.platform }, cwd: '/', version: '1' }
    const check = await checkServer(server, { ...options, token: () => signIns.token(server.url) })
    assert.ok('server' in check)
  })

  it('opens nothing if the user does not want to', async () => {
    answer = false
    await assert.rejects(signIns.signIn(server), { name: 'CancelledError' })
    assert.deepEqual([opened, kept.size], [[], 0])
  })

  describe('at addresses that the server names', () => {
    /** a server on the internet, whose answers are `answers`, by address */
    const origin = 'https://93.184.215.14'
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
    let answers: Record<string, () => Response>
    let requested: string[]
    const attempt = async (challenge = metadata) => {
      requested = []
      const authenticate = `Bearer resource_metadata="${challenge}"`
      const remote = open(async address => {
        requested.push(String(address))
        const answer = answers[String(address)]
        if (answer) return answer()
        return String(address) === `${origin}/mcp`
          ? new Response('', { status: 401, headers: { 'www-authenticate': authenticate } })
          : new Response('', { status: 404 })
      })
      try {
        await assert.rejects(
          remote.signIn({ type: 'http', name: 'docs', url: `${origin}/mcp` }),
          /names an address for its sign-in that isn't allowed|redirects to an address that isn't allowed/,
        )
      } finally {
        remote.dispose()
      }
      assert.deepEqual(
        requested.filter(address => new URL(address).origin !== origin),
        [],
        'nothing else is asked',
      )
      assert.deepEqual(opened, [])
    }
    const resource = (server: string) => () =>
      Response.json({ resource: `${origin}/mcp`, authorization_servers: [server] })
    const authorization = (more: object) => () =>
      Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...more,
      })
    const LOCAL = [
      'https://169.254.169.254',
      'http://93.184.215.15',
      'http://127.0.0.1:1',
      'https://10.0.0.1',
    ]
    beforeEach(() => {
      answers = { [metadata]: resource(origin) }
    })

    for (const other of LOCAL) {
      it(`asks nothing of ${other}`, async () => {
        await attempt(`${other}/metadata`)
        answers = { [metadata]: resource(other) }
        await attempt()
        const known = `${origin}/.well-known/oauth-authorization-server`
        answers = {
          [metadata]: resource(origin),
          [known]: authorization({ registration_endpoint: `${other}/register` }),
        }
        await attempt()
        answers = { [metadata]: () => new Response('', { status: 302, headers: { location: `${other}/x` } }) }
        await attempt()
      })
    }
  })

  it('says that the sign-in was declined, or is not possible', async () => {
    oauth.decision = 'deny'
    await assert.rejects(signIns.signIn(server), /^Error: The sign-in was declined\.$/)
    const free = await HttpProbe.start()
    await assert.rejects(signIns.signIn({ ...server, url: free.url }), /doesn't ask you to sign in/)
    await free.stop()
    assert.equal(kept.size, 0)
  })

  it('asks for a client if the server registers none, and keeps it with the sign-in', async () => {
    oauth.registers = false
    await assert.rejects(signIns.signIn(server), { name: 'CancelledError' })
    assert.equal(kept.size, 0)
    client = { client_id: 'mine', client_secret: 'well-kept-secret' }
    await signIns.signIn(server)
    const token = await signIns.token(server.url)
    assert.ok(token && oauth.tokens.has(token))
    assert.doesNotMatch(secrets.redact('well-kept-secret'), /kept/)
    const renewed = await signIns.token(server.url, token)
    assert.ok(renewed && renewed !== token && oauth.tokens.has(renewed))
    await signIns.signIn(server)
    assert.deepEqual(clientQuestions, [
      ['docs', undefined],
      ['docs', undefined],
      ['docs', 'mine'],
    ])
  })

  it('ends when the user cancels', async () => {
    const abort = new AbortController()
    browse = () => abort.abort()
    await assert.rejects(signIns.signIn(server, abort.signal), { name: 'CancelledError' })
  })

  it('ignores a browser that some other page has sent', async () => {
    const statuses: number[] = []
    browse = async url => {
      const redirect = new URL(url).searchParams.get('redirect_uri') ?? ''
      for (const forged of [
        `${redirect}?code=forged`,
        `${redirect}?code=forged&state=guess`,
        new URL('/', redirect),
      ])
        statuses.push((await fetch(forged)).status)
      statuses.push((await fetch(url)).status)
    }
    await signIns.signIn(server)
    assert.deepEqual(statuses.slice(0, 3), [400, 400, 400])
    assert.ok(await signIns.token(server.url))
  })

  it('does not accept a code of another authorization server', async () => {
    browse = async url => {
      const asked = new URL(url).searchParams
      const back = new URL(asked.get('redirect_uri') ?? '')
      back.search = String(
        new URLSearchParams({ code: 'c', state: asked.get('state') ?? '', iss: 'https://evil.test' }),
      )
      await fetch(back)
    }
    await assert.rejects(signIns.signIn(server), { name: 'IssuerMismatchError' })
    assert.deepEqual(oauth.grants, [])
  })

  it('renews a token once, however many ask for it', async () => {
    oauth.lifetime = 1
    await signIns.signIn(server)
    oauth.lifetime = 3600
    const tokens = await Promise.all([signIns.token(server.url), signIns.token(server.url)])
    assert.equal(tokens[0], tokens[1])
    assert.ok(oauth.tokens.has(tokens[0] ?? ''))
    assert.deepEqual(oauth.grants, ['authorization_code', 'refresh_token'])
  })

  it('has to be renewed by the user once it was withdrawn, but not because the server has a problem', async () => {
    await signIns.signIn(server)
    const token = await signIns.token(server.url)
    await probe.stop()
    await oauth.stop()
    assert.equal(await signIns.token(server.url, token), undefined)
    assert.equal(await signIns.isSignedIn(server.url), true)
    assert.equal(await signIns.needsSignIn(server.url), false)
    assert.equal(await signIns.token(server.url), token)
    oauth = await OAuthServer.start()
    probe = await HttpProbe.start({ before: (request, response) => oauth.protect(request, response) })
    server = { ...server, url: probe.url }
    await signIns.signIn(server)
    oauth.revoke()
    const changed: string[] = []
    signIns.onDidChange(url => changed.push(url))
    assert.equal(await signIns.token(server.url, await signIns.token(server.url)), undefined)
    assert.equal(await signIns.needsSignIn(server.url), true)
    assert.deepEqual(changed, [server.url])
    assert.ok((await signIns.urls()).includes(server.url))
    // the server isn't asked again
    const asked = oauth.grants.length
    assert.equal(await signIns.token(server.url, await signIns.token(server.url)), undefined)
    assert.equal(oauth.grants.length, asked)
    await signIns.signIn(server)
    assert.equal(await signIns.needsSignIn(server.url), false)
    assert.ok(oauth.tokens.has((await signIns.token(server.url)) ?? ''))
  })

  it('stays although the server refuses it once and gave nothing to renew it', async () => {
    await signIns.signIn(server)
    const key = `parley.mcpSignIn/${server.url}`
    const stored = JSON.parse(kept.get(key) ?? '') as { tokens: { refresh_token?: string } }
    delete stored.tokens.refresh_token
    kept.set(key, JSON.stringify(stored))
    const token = await signIns.token(server.url)
    assert.equal(await signIns.token(server.url, token), undefined)
    assert.equal(await signIns.needsSignIn(server.url), true)
    assert.equal(await open().token(server.url), token)
    await signIns.signOut(server.url)
    assert.deepEqual([...kept], [])
  })

  it('uses the tokens of another window that renewed them at the same time', async () => {
    oauth.lifetime = 1
    await signIns.signIn(server)
    oauth.lifetime = 3600
    // each window has a queue of its own; the server accepts the refresh token of one
    const tokens = await Promise.all([signIns.token(server.url), open().token(server.url)])
    assert.equal(tokens[0], tokens[1])
    assert.ok(oauth.tokens.has(tokens[0] ?? ''))
    assert.equal(await signIns.needsSignIn(server.url), false)
    assert.equal(await signIns.token(server.url), tokens[0])
  })

  it('is not renewed forever by a server that does not answer', async () => {
    oauth.lifetime = 1
    await signIns.signIn(server)
    const stored = parseSignIn(kept.get(`parley.mcpSignIn/${server.url}`))
    assert.ok(stored)
    const abort = new AbortController()
    const reached = deferred()
    const renewing = refreshWithOAuth(
      server.url,
      stored,
      () => {
        reached.resolve()
        return new Promise(() => {})
      },
      abort.signal,
    )
    await reached.promise
    abort.abort()
    await assert.rejects(renewing, /didn't renew the sign-in/)
  })

  it('of several servers at once is in the list, and comes back if another window drops it', async () => {
    const others = await Promise.all(
      [1, 2, 3].map(() =>
        HttpProbe.start({ before: (request, response) => oauth.protect(request, response) }),
      ),
    )
    const all = [server, ...others.map(({ url }) => ({ ...server, url }))]
    await Promise.all(all.map(one => signIns.signIn(one)))
    assert.deepEqual(new Set(await signIns.urls()), new Set(urlsOf(...all)))
    await Promise.all(all.slice(2).map(({ url }) => signIns.signOut(url)))
    assert.deepEqual(new Set(await signIns.urls()), new Set(urlsOf(...all.slice(0, 2))))
    kept.delete('parley.mcpSignIns')
    assert.equal(await signIns.isSignedIn(server.url), true)
    assert.deepEqual(await signIns.urls(), [server.url])
    await Promise.all(others.map(one => one.stop()))
  })

  it('survives a request that names no address', async () => {
    const listener = await RedirectListener.start('state')
    const { hostname, port } = new URL(listener.url)
    const socket = connect(Number(port), hostname)
    socket.end('GET // HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    assert.match(await text(socket), /^HTTP\/1\.1 400 /)
    listener.dispose()
  })

  it('is forgotten when the user signs out', async () => {
    await signIns.signIn(server)
    const changed: string[] = []
    signIns.onDidChange(url => changed.push(url))
    await signIns.signOut(server.url)
    assert.equal(await signIns.token(server.url), undefined)
    assert.deepEqual(await signIns.urls(), [])
    assert.deepEqual([changed, kept.size], [[server.url], 0])
  })

  describe('for an agent', () => {
    const bridge = new BuiltBridge()
    const agents: StdioAgent[] = []
    const connected = async () => {
      const source = await signIns.tokensFor(server.url)
      const environment = { env: {}, platform: process.platform }
      const agent = new StdioAgent(bridgedServer(server, bridge, environment, { tokens: source }))
      agents.push(agent)
      await agent.connect()
      return agent
    }

    before(() => bridge.build())
    afterEach(async () => {
      await Promise.all(agents.splice(0).map(agent => agent.client.close()))
    })
    after(() => bridge.remove())

    it('reaches the bridge, which renews it, and is in no environment and no log', async () => {
      await signIns.signIn(server)
      const first = await signIns.token(server.url)
      const agent = await connected()
      assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
      oauth.expire()
      assert.deepEqual(
        await Promise.all(['ab', 'cd', 'ef'].map(text => agent.call('reverse_text', { text }))),
        ['ba', 'dc', 'fe'],
      )
      assert.deepEqual(oauth.grants, ['authorization_code', 'refresh_token'])
      const passed = JSON.stringify(
        bridgedServer(
          server,
          bridge,
          { env: {}, platform: 'linux' },
          { tokens: await signIns.tokensFor(server.url) },
        ),
      )
      assert.ok(first && !passed.includes(first) && !agent.stderr.includes(first))
      assert.ok(!agent.stderr.includes('Bearer'))
    })

    it('works until it expires, also after the window is closed', async () => {
      await signIns.signIn(server)
      const agent = await connected()
      signIns.dispose()
      assert.equal(await agent.call('reverse_text', { text: 'abc' }), 'cba')
      oauth.expire()
      await assert.rejects(agent.call('reverse_text', { text: 'abc' }), /requires you to sign in/)
    })

    it('is not given to a program without the secret, or with that of another server', async () => {
      await signIns.signIn(server)
      const [mine, other] = [
        await signIns.tokensFor(server.url),
        await signIns.tokensFor('http://127.0.0.1:1/mcp'),
      ]
      const environment = { env: {}, platform: process.platform }
      const foreign = new StdioAgent(
        bridgedServer(server, bridge, environment, { tokens: { ...mine, secret: other.secret } }),
      )
      agents.push(foreign)
      await assert.rejects(foreign.connect(), /requires you to sign in/)
    })
  })
})
