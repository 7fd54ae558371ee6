import assert from 'node:assert/strict'
import { networkProblem, networkProblemOfOutput, statusProblem } from '../../../src/common/network-problem.ts'
import { selfSigned } from '../../support/certificate.ts'
import { LoopbackServer } from '../../support/loopback-server.ts'

const address = 'https://user:secret@registry.example/list.json?signature=secret'

/** Like an error of Node's `fetch`. */
const failed = (code: string, message = `raw ${code}`) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) })
/** Like an error when VS Code uses Chromium's network. */
const failedInChromium = (name: string) => new TypeError('fetch failed', { cause: new Error(`net::${name}`) })

describe('a network problem', () => {
  const cases: Array<[string, Error, RegExp, RegExp]> = [
    ['no network', failed('ENETUNREACH'), /no network connection$/, /network connection and the proxy/],
    ['no network, in Chromium', failedInChromium('ERR_INTERNET_DISCONNECTED'), /no network connection$/, /./],
    ['an unknown name', failed('ENOTFOUND'), /^the server registry\.example wasn't found$/, /proxy/],
    ['a name that nobody looks up', failed('EAI_AGAIN'), /registry\.example wasn't found$/, /proxy/],
    ['an unknown name, in Chromium', failedInChromium('ERR_NAME_NOT_RESOLVED'), /wasn't found$/, /proxy/],
    ['a refusal', failed('ECONNREFUSED'), /registry\.example refused the connection$/, /proxy/],
    ['an interruption', failed('UND_ERR_SOCKET'), /connection was interrupted$/, /proxy/],
    ['a connection without an answer', failed('UND_ERR_CONNECT_TIMEOUT'), /respond in time$/, /proxy/],
    ['the time limit', new DOMException('aborted', 'TimeoutError'), /respond in time$/, /proxy/],
    [
      'a proxy that is away',
      failedInChromium('ERR_PROXY_CONNECTION_FAILED'),
      /^the proxy /,
      /^Check the proxy/,
    ],
    [
      'a proxy that refuses',
      failed('UND_ERR_ABORTED', 'Proxy response (502) !== 200 when HTTP Tunneling'),
      /^the proxy doesn't connect/,
      /^Check the proxy settings\.$/,
    ],
    [
      'a proxy with a password',
      failed('UND_ERR_ABORTED', 'Proxy response (407) !== 200 when HTTP Tunneling'),
      /^the proxy requires you to sign in/,
      /^Check the proxy settings\.$/,
    ],
    [
      'a proxy that is away, for requests without fetch',
      new Error('Failed to establish a socket connection to proxies: PROXY proxy.example:8080'),
      /^the proxy doesn't connect/,
      /^Check the proxy settings\.$/,
    ],
    [
      'an unknown certificate',
      failed('SELF_SIGNED_CERT_IN_CHAIN'),
      /certificate isn't trusted$/,
      /certificate store/,
    ],
    ['an old certificate', failed('CERT_HAS_EXPIRED'), /certificate has expired/, /date and time/],
    ["another's certificate", failed('ERR_TLS_CERT_ALTNAME_INVALID'), /for a different server$/, /proxy/],
    ['anything else', failed('ESTRANGE'), /^the server registry\.example couldn't be reached$/, /proxy/],
  ]
  for (const [what, error, reason, advice] of cases)
    it(`has a message, and its code is only logged: ${what}`, () => {
      const problem = networkProblem(error, address)
      assert.match(problem.reason, reason)
      assert.match(problem.advice, advice)
      const shown = `${problem.reason} ${problem.advice}`
      assert.doesNotMatch(shown, /raw|fetch|net::|E[A-Z_]{4,}|[Ss]ecret/)
      const { cause = error } = error as { cause?: Error }
      const logged = problem.detail
      assert.ok(logged.includes((cause as Error).message), logged)
      assert.doesNotMatch(logged, /secret/)
    })

  it("of VS Code's proxy support doesn't tell the user's password", () => {
    const message = 'Failed to establish a socket connection to proxies: PROXY me:pass@word@proxy.example:1'
    const { detail } = networkProblem(new Error(message), address)
    assert.match(detail, /to proxies: PROXY proxy\.example:1 /)
  })

  it('is recognized for a real server that refuses, hangs up, or has a self-signed certificate', async () => {
    const told = async (url: string) =>
      networkProblem(await fetch(url).then(String, (error: unknown) => error), url).reason
    const rude = await LoopbackServer.start((_request, response) => response.destroy())
    try {
      assert.match(await told(rude.origin), /interrupted/)
    } finally {
      await rude.stop()
    }
    // a new server, so that there is no earlier connection to it
    const gone = await LoopbackServer.start(() => {})
    const { origin } = gone
    await gone.stop()
    assert.match(await told(origin), /^the server 127\.0\.0\.1:\d+ refused the connection$/)
    const unknown = await LoopbackServer.start(
      (_request, response) => response.end(),
      selfSigned('127.0.0.1'),
    )
    try {
      assert.match(await told(unknown.origin), /certificate isn't trusted/)
    } finally {
      await unknown.stop()
    }
  })

  it('is recognized for a response by its status', () => {
    const reasons: Array<[number, RegExp]> = [
      [401, /denied access/],
      [403, /denied access/],
      [404, /doesn't have the file/],
      [407, /proxy requires you to sign in/],
      [429, /too many requests/],
      [503, /has a problem/],
      [418, /responded with/],
    ]
    for (const [status, reason] of reasons) {
      assert.match(statusProblem(status, address).reason, reason)
      assert.match(statusProblem(status, address).reason, new RegExp(`status ${status}`))
    }
  })

  it('is only searched for in the output of package managers', () => {
    const npm = 'npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error request to https://npm.example/x failed'
    assert.match(networkProblemOfOutput(npm)?.reason ?? '', /certificate isn't trusted/)
    const uv =
      'error: Failed to fetch: `https://pypi.example/simple/mine/`\n  Caused by: dns error: failed to lookup'
    assert.equal(networkProblemOfOutput(uv)?.reason, "the server pypi.example wasn't found")
    assert.equal(networkProblemOfOutput('npm error code E404\nsee https://npm.example/'), undefined)
    assert.equal(networkProblemOfOutput('error: No solution found for https://pypi.example/'), undefined)
  })
})
