import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { type AgentClient, AgentStartError } from '../../src/acp/agent.ts'
import { startAgent } from '../../src/acp/start-agent.ts'
import { startRemote } from '../../src/acp/transport/remote/remote-agent.ts'
import { silentLogger } from '../../src/common/logger.ts'
import { VsCodeWindowState } from '../../src/workbench/window-state.ts'
import { waitFor } from '../host/wait-for.ts'
import { selfSigned } from '../support/certificate.ts'
import { HttpProxy } from '../support/http-proxy.ts'
import { LoopbackServer } from '../support/loopback-server.ts'

describe("VS Code's network settings", () => {
  const set = (name: string, value: unknown) =>
    vscode.workspace.getConfiguration('http').update(name, value, vscode.ConfigurationTarget.Global)

  it('are known when a change of them is reported', async () => {
    const seen: unknown[] = []
    const state = new VsCodeWindowState('parley.parley')
    state.onDidChange(() => seen.push(state.current.network.strictSSL))
    try {
      await set('proxyStrictSSL', false)
      await waitFor('the change', () => seen.includes(false))
    } finally {
      state.dispose()
      await set('proxyStrictSSL', undefined)
    }
  })

  describe('apply the proxy to agents on servers', () => {
    const refusals: Record<string, string> = {
      'busy.example': '502 Bad Gateway',
      'account.example': '407 Proxy Authentication Required\r\nProxy-Authenticate: Digest realm="x"',
      'forbidden.example': '403 Forbidden',
      'portal.example': '302 Found\r\nLocation: http://portal.example/login',
      'odd.example': '204 No Content',
    }
    let proxy: HttpProxy
    let server: LoopbackServer
    before(async () => {
      server = await LoopbackServer.start(
        (_request, response) => void response.end(),
        selfSigned('agent.example'),
      )
      proxy = await HttpProxy.start(
        host => (host === 'agent.example' ? server.port : undefined),
        host => refusals[host] ?? '502 Bad Gateway',
      )
      await set('proxy', proxy.url)
    })
    after(async () => {
      await set('proxy', undefined)
      await proxy.stop()
      await server.stop()
    })

    /** What a card says after a connection to a server that isn't an agent. */
    const failure = async (url: string) => {
      let refused = 0
      const headers = [{ name: 'Authorization', value: 'Bearer secret' }]
      const remote = {
        ...{ url, headers, sharesFiles: false, acceptsAnyCertificate: true },
        onRefused: () => void refused++,
      }
      const starting = startAgent({ command: url, args: [], env: {}, cwd: '/', remote }, {} as AgentClient, {
        clientInfo: { name: 'parley-test', title: 'Test', version: '0' },
        initializeTimeoutMs: 180_000,
        maxFrameBytes: 1 << 20,
        log: silentLogger,
        startRemote,
      })
      const error = await starting.then(
        agent => agent.dispose(),
        (reason: unknown) => reason,
      )
      assert.ok(error instanceof AgentStartError, String(error))
      assert.equal(refused, 0, 'the headers are kept')
      assert.equal(error.failure.kind, 'unreachable')
      assert.doesNotMatch(JSON.stringify(error.failure), /secret/)
      return error.message
    }

    for (const scheme of ['wss', 'https'])
      it(`over ${scheme}, and say what it refuses @floor`, async () => {
        const connect = `the proxy doesn't connect to the server`
        assert.match(
          await failure(`${scheme}://agent.example/acp`),
          scheme === 'wss' ? /didn't open a WebSocket/ : /doesn't respond like an agent/,
        )
        assert.ok(proxy.requests.includes('CONNECT agent.example:443'), proxy.requests.join())
        assert.match(
          await failure(`${scheme}://account.example/acp`),
          /the proxy requires you to sign in \(status 407\)\. Check the proxy settings\./,
        )
        for (const host of ['busy.example', 'forbidden.example', 'portal.example', 'odd.example'])
          assert.match(
            await failure(`${scheme}://${host}/acp`),
            new RegExp(`${connect} ${host}\\. Check the proxy settings\\.`),
          )
        await set('proxy', 'http://127.0.0.1:1')
        try {
          await waitFor('the settings', async () =>
            (await failure(`${scheme}://agent.example/acp`)).includes(
              `${connect} agent.example. Check the proxy`,
            ),
          )
        } finally {
          await set('proxy', proxy.url)
        }
      })
  })
})
