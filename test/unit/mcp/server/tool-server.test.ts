import assert from 'node:assert/strict'
import { type RequestOptions, request } from 'node:http'
import { Socket } from 'node:net'
import type { Client } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import type { EditorToolName } from '../../../../src/common/editor-tool-names.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { type Endpoint, ToolServer } from '../../../../src/mcp/server/tool-server.ts'
import { FakeEditorFeatures } from '../../../support/fake-editor-features.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { connect, dataOf, FakeToolConversation, type ToolRig, toolRig } from '../../../support/tool-rig.ts'
import { toolWorkspace } from '../../../support/tool-workspace.ts'
import { until } from '../../../support/until.ts'

interface Answer {
  status: number
  headers: Record<string, unknown>
  body: string
}

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

/** Sends a request as it is: the official client sends none of the wrong ones. */
function send(url: string, options: RequestOptions, body: string | undefined = LIST): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', ...options }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function headersFor({ token }: Pick<Endpoint, 'token'>, more: Record<string, string> = {}) {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    ...more,
  }
}

describe("the editor's MCP server", () => {
  let one: ReturnType<typeof toolWorkspace>
  let two: ReturnType<typeof toolWorkspace>
  let rig: ToolRig
  let other: ToolRig
  let features: FakeEditorFeatures

  beforeEach(async () => {
    one = toolWorkspace()
    two = toolWorkspace()
    features = new FakeEditorFeatures(one.folder)
    rig = await toolRig({ features, folder: one.folder })
    other = await toolRig({
      features: new FakeEditorFeatures(two.folder),
      folder: two.folder,
      server: rig.server,
      conversation: new FakeToolConversation(),
    })
  })
  afterEach(async () => {
    await other.close()
    await rig.close()
    one.remove()
    two.remove()
  })

  it('answers its own address and token, on the loopback address alone', async () => {
    const { url } = rig.endpoint
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{24}$/)
    const answer = await send(url, { headers: headersFor(rig.endpoint) })
    assert.equal(answer.status, 200)
    assert.match(answer.body, /diagnostics/)
    assert.doesNotMatch(answer.body + JSON.stringify(answer.headers), new RegExp(rig.endpoint.token))
  })

  it("answers only 401 to a missing token, a wrong one, or another session's", async () => {
    const { url, token } = rig.endpoint
    const wrong = [
      undefined,
      'Bearer',
      'Bearer ',
      `Bearer ${other.endpoint.token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
      token,
      `Bearer ${'x'.repeat(5000)}`,
    ]
    for (const authorization of wrong) {
      for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS', 'PUT']) {
        const { authorization: _, ...headers } = headersFor(rig.endpoint)
        const answer = await send(url, {
          method,
          headers: { ...headers, ...(authorization && { authorization }) },
        })
        assert.equal(answer.status, 401, `${method} ${authorization}`)
        assert.equal(answer.body, '')
      }
    }
    // an address that doesn't exist looks the same
    for (const path of ['/', '/mcp', '/../', `${new URL(url).pathname}x`]) {
      const answer = await send(new URL(path, url).href, { headers: headersFor(rig.endpoint) })
      assert.equal(answer.status, 401, path)
      assert.equal(answer.body, '')
    }
  })

  it('refuses other names of the host and web pages (DNS rebinding)', async () => {
    const { url } = rig.endpoint
    const { port } = new URL(url)
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      '127.0.0.1:1',
      `127.0.0.1.evil.example:${port}`,
    ])
      assert.equal((await send(url, { headers: headersFor(rig.endpoint, { host }) })).status, 403, host)
    for (const origin of [
      'https://evil.example',
      'null',
      'file://',
      `http://127.0.0.1.evil.example:${port}`,
      'http://localhost.evil.example',
    ])
      assert.equal((await send(url, { headers: headersFor(rig.endpoint, { origin }) })).status, 403, origin)
    for (const origin of [`http://127.0.0.1:${port}`, 'http://localhost:3000'])
      assert.equal((await send(url, { headers: headersFor(rig.endpoint, { origin }) })).status, 200, origin)
    assert.equal(
      (await send(url, { headers: headersFor(rig.endpoint, { host: `localhost:${port}` }) })).status,
      200,
    )
  })

  it('reads no large bodies, announced or not, with a token or without', async () => {
    const { url } = rig.endpoint
    const large = 100 * 1024 * 1024
    for (const headers of [
      headersFor(rig.endpoint, { 'content-length': String(large) }),
      { 'content-type': 'application/json', 'content-length': String(large) },
    ]) {
      const status = await new Promise<number>((resolve, reject) => {
        const sent = request(url, { method: 'POST', headers }, response => resolve(response.statusCode ?? 0))
        sent.on('error', reject)
        sent.flushHeaders()
      })
      assert.equal(status, 'authorization' in headers ? 413 : 401)
    }
    // in chunks, whose total isn't announced: the server stops reading
    const { written, status } = await new Promise<{ written: number; status: number }>(resolve => {
      let written = 0
      let status = 0
      const sent = request(url, { method: 'POST', headers: headersFor(rig.endpoint) }, response => {
        status = response.statusCode ?? 0
        response.resume()
        response.on('close', () => resolve({ written, status }))
      })
      sent.on('error', () => resolve({ written, status }))
      const chunk = Buffer.alloc(64 * 1024, 0x20)
      const push = () => {
        if (status !== 0 || sent.destroyed || written >= large) return sent.end()
        written += chunk.length
        sent.write(chunk, push)
      }
      push()
    })
    assert.ok(status === 413 || status === 0, String(status))
    assert.ok(written < large, `${written} bytes were accepted`)
    assert.match(await rig.call('hover', { name: 'report' }), /report/)
  })

  it('answers broken requests without harm', async () => {
    const { url } = rig.endpoint
    for (const body of [
      '',
      'x',
      '{',
      '[]',
      '{}',
      '[1,2]',
      '"x"',
      'null',
      `[${'['.repeat(20_000)}`,
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":5}',
    ]) {
      const { status } = await send(url, { headers: headersFor(rig.endpoint) }, body)
      assert.ok(status >= 200 && status < 500, `${status} for ${body.slice(0, 50)}`)
    }
    const socket = new Socket()
    socket.connect(Number(new URL(url).port), '127.0.0.1', () => socket.write('\0\0 not HTTP\r\n\r\n'))
    await new Promise(resolve => socket.once('close', resolve))
    assert.match(await rig.call('hover', { name: 'report' }), /report/)
  })

  it('survives 10,000 requests, and goes on to answer', async function () {
    this.timeout(120_000)
    const { url } = rig.endpoint
    const { Agent } = await import('node:http')
    const agent = new Agent({ keepAlive: true, maxSockets: 50 })
    const statuses = new Map<number, number>()
    let left = 10_000
    const worker = async () => {
      while (left > 0) {
        left -= 1
        const isRight = left % 10 === 0
        const headers = isRight ? headersFor(rig.endpoint) : headersFor({ token: 'wrong' })
        const answer = await send(url, { headers, agent }).catch(() => ({ status: 0 }))
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: 50 }, worker))
    agent.destroy()
    assert.ok((statuses.get(200) ?? 0) > 0)
    assert.deepEqual(
      [...statuses.keys()].filter(status => ![0, 200, 401, 503].includes(status)),
      [],
    )
    assert.match(await rig.call('hover', { name: 'report' }), /report/)
  })

  it('limits the calls in progress of a session, and not those of others', async () => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    rig.conversation.meanwhile = () => held
    const calls = Array.from({ length: 20 }, () =>
      rig.client.callTool({ name: 'rename_symbol', arguments: { name: 'report', new_name: 'other' } }),
    )
    await until(() => rig.conversation.asked.length === 16, 'the calls to ask')
    assert.match(await rig.fails('hover', { name: 'report' }), /Too many calls/)
    assert.match(await other.call('hover', { name: 'report' }), /report/)
    release()
    const answers = await Promise.all(calls)
    assert.equal(answers.filter(({ content }) => /Too many calls/.test(JSON.stringify(content))).length, 4)
  })

  /** Language servers that never answer, for all 16 calls that a session may have. */
  const hangingCalls = async (own: ToolRig) => {
    let asked = 0
    features.symbols = () => {
      asked += 1
      return new Promise(() => {})
    }
    const controllers = Array.from({ length: 16 }, () => new AbortController())
    const calls = controllers.map(({ signal }) =>
      own.client
        .callTool({ name: 'symbols', arguments: { query: 'x' } }, { signal })
        .catch((error: Error) => error),
    )
    await until(() => asked === 16, 'the calls to reach the language')
    assert.match(await own.fails('open_editors'), /Too many calls/)
    return { calls, cancel: () => controllers.map(one => one.abort()) }
  }

  it('forgets calls that the agent has canceled, also if a language never answers them', async () => {
    const own = await toolRig({ features, folder: one.folder, server: rig.server, era: 'modern' })
    const { calls, cancel } = await hangingCalls(own)
    cancel()
    await Promise.all(calls)
    await until(
      async () => !/Too many/.test(JSON.stringify(await own.client.callTool({ name: 'open_editors' }))),
      'the calls to end',
    )
    await own.close()
  })

  it('cancels no call of another client whose request has the same id', async () => {
    const [first, second] = [await connect(rig.endpoint), await connect(rig.endpoint)]
    const cancel = (client: Client) =>
      client.notification({ method: 'notifications/cancelled', params: { requestId: 1 } })
    rig.conversation.meanwhile = () => new Promise(() => {})
    rig.conversation.signal = undefined
    await first.callTool({ name: 'open_editors' })
    const calling = second.callTool({
      name: 'rename_symbol',
      arguments: { name: 'report', new_name: 'x' },
    })
    await until(() => rig.conversation.signal !== undefined, 'the question')
    await cancel(first)
    await first.callTool({ name: 'open_editors' })
    assert.equal(rig.conversation.signal!.aborted, false)
    await cancel(second)
    await until(() => rig.conversation.signal!.aborted, 'the end of the call')
    assert.ok((await calling).isError)
    rig.conversation.meanwhile = undefined
    await Promise.all([first.close(), second.close()])
  })

  it('gives up on a language that never answers', async () => {
    const server = await ToolServer.listen('1', silentLogger, 50)
    const own = await toolRig({ features, folder: one.folder, server })
    features.symbols = () => new Promise(() => {})
    assert.match(await own.fails('symbols', { query: 'x' }), /didn't answer in time/)
    await own.close()
    server.close()
  })

  it('stops the calls of tools that are turned off', async () => {
    let names: EditorToolName[] = ['symbols', 'open_editors']
    const own = await toolRig({ features, folder: one.folder, server: rig.server, names: () => names })
    const { calls } = await hangingCalls(own)
    names = ['open_editors']
    own.endpoint.toolsChanged()
    for (const answer of await Promise.all(calls)) assert.match(JSON.stringify(answer), /turned it off/)
    await own.call('open_editors')
    await own.close()
  })

  it('ends with the session: calls are aborted, and the address answers nothing anymore', async () => {
    const aborted: boolean[] = []
    rig.conversation.permitted = (_permission, signal) =>
      new Promise((_resolve, reject) => {
        rig.conversation.asked.push(_permission)
        signal.addEventListener('abort', () => {
          aborted.push(true)
          reject(new Error('aborted'))
        })
      })
    const call = rig.client
      .callTool({ name: 'rename_symbol', arguments: { name: 'report', new_name: 'x' } })
      .catch(() => {})
    await until(() => rig.conversation.asked.length === 1, 'the call to ask')
    rig.endpoint.close()
    await until(() => aborted.length === 1, 'the call to be aborted')
    await call
    assert.equal((await send(rig.endpoint.url, { headers: headersFor(rig.endpoint) })).status, 401)
    assert.match(await other.call('hover', { name: 'report' }), /report/)
    const { url } = other.endpoint
    rig.server.close()
    await assert.rejects(send(url, { headers: headersFor(other.endpoint) }), /ECONNREFUSED|ECONNRESET/)
  })

  it('tells a client of the newer protocol that the tools have changed', async () => {
    let names: EditorToolName[] = ['hover']
    const server = await ToolServer.listen('1', silentLogger)
    const own = await toolRig({ features, folder: one.folder, server, era: 'modern', names: () => names })
    assert.equal((await own.client.listTools()).tools.length, 1)
    names = ['hover', 'symbols']
    own.endpoint.toolsChanged()
    const again = await connect(own.endpoint, 'modern')
    assert.equal((await again.listTools()).tools.length, 2)
    await again.close()
    await own.close()
    server.close()
  })

  it('never mixes up two conversations, however their calls interleave', async function () {
    this.timeout(60_000)
    const rigs = [rig, other]
    const folders = [one.folder, two.folder]
    const call = fc.record({
      which: fc.nat(1),
      what: fc.constantFrom('symbols', 'unsaved', 'terminal', 'ask', 'foreign', 'absolute'),
      wait: fc.nat(3),
    })
    const terminals = new Set<number>()
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 20 }), async calls => {
        await Promise.all(
          calls.map(async ({ which, what, wait }) => {
            const mine = rigs[which]!
            const [own, foreign] = [folders[which]!, folders[1 - which]!]
            for (let i = 0; i < wait; i++) await Promise.resolve()
            if (what === 'symbols') {
              const found = dataOf(await mine.call('symbols', { query: 'report' }))
              assert.deepEqual(found, ['main.ts:5:17: function report'])
            } else if (what === 'foreign') {
              const answer = await mine.fails('document_symbols', { file: `${foreign}/main.ts` })
              assert.ok(answer.includes(own) && !/report/.test(answer))
            } else if (what === 'absolute') {
              assert.match(await mine.call('document_symbols', { file: `${own}/main.ts` }), /report/)
            } else if (what === 'ask') {
              const question = `${which} ${Math.random()}`
              mine.conversation.answer = { action: 'accept', content: { answer: `answer ${which}` } }
              assert.match(await mine.call('ask_user', { question }), new RegExp(`answer ${which}$`))
              assert.ok(mine.conversation.questions.some(({ message }) => message === question))
              assert.ok(!rigs[1 - which]!.conversation.questions.some(({ message }) => message === question))
            } else if (what === 'terminal') {
              terminals.add(which)
              await mine.call('terminal_output')
            } else await mine.call('unsaved_text')
          }),
        )
        // what one conversation allowed, the other is asked about by itself
        for (const [i, { conversation }] of rigs.entries())
          assert.equal(conversation.asked.length > 0, terminals.has(i))
      }),
      { numRuns: scaledRuns(40) },
    )
  })
})
