import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { hostname, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { silentLogger } from '../../../../src/common/logger.ts'
import { sharedFolder } from '../../../../src/mcp/terminal/discovery-files.ts'
import { startGeminiIde } from '../../../../src/mcp/terminal/gemini-ide.ts'
import type { TerminalIde } from '../../../../src/mcp/terminal/terminal-editor.ts'
import { FakeTerminalEditor } from '../../../support/fake-terminal-editor.ts'
import { until } from '../../../support/until.ts'

interface Told {
  method: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests check it
  params: any
}

describe('Gemini CLI in a terminal', () => {
  let root: string
  let one: string
  let two: string
  let files: string
  let editor: FakeTerminalEditor
  let ide: TerminalIde
  let secrets: string[]
  const clients: Client[] = []
  const file = (name: string) => join(one, name)

  const start = (folder = () => sharedFolder(root, 'gemini', 'ide')) =>
    startGeminiIde(
      {
        editor,
        version: '1.2.3',
        log: silentLogger,
        secrets: { add: (token: string) => void secrets.push(token) },
      },
      folder,
    )
  const found = () => {
    const [name = ''] = readdirSync(files)
    return { name, content: JSON.parse(readFileSync(join(files, name), 'utf8')) }
  }
  const address = () => `http://127.0.0.1:${ide.variables.GEMINI_CLI_IDE_SERVER_PORT}/mcp`
  const token = () => ide.variables.GEMINI_CLI_IDE_AUTH_TOKEN!

  /** As Gemini CLI connects. */
  const connect = async () => {
    const client = new Client({ name: 'streamable-http-client', version: '1.0.0' })
    const told: Told[] = []
    client.fallbackNotificationHandler = async ({ method, params }) => void told.push({ method, params })
    const headers = { Authorization: `Bearer ${token()}` }
    const transport = new StreamableHTTPClientTransport(new URL(address()), { requestInit: { headers } })
    await client.connect(transport)
    clients.push(client)
    const call = async (name: string, input: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: input })
      const text = (content as Array<{ text?: string }>)[0]?.text
      if (isError) throw new Error(text)
      return text
    }
    const latest = (method: string) => told.findLast(one => one.method === method)?.params
    await until(() => latest('ide/contextUpdate') !== undefined, 'the first context')
    return { client, call, told, latest, transport }
  }

  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-gemini-')))
    files = join(root, 'gemini', 'ide')
    one = join(root, 'one')
    two = join(root, 'two')
    for (const folder of [one, two]) mkdirSync(folder)
    editor = new FakeTerminalEditor(one, two)
    secrets = []
    ide = await start()
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map(client => client.close()))
    ide.dispose()
    rmSync(root, { recursive: true, force: true })
  })

  it('finds the editor by a file and by the environment', async () => {
    const { name, content } = found()
    const port = Number(ide.variables.GEMINI_CLI_IDE_SERVER_PORT)
    assert.equal(name, `gemini-ide-server-${process.ppid}-${port}.json`)
    const { owner: _, ...known } = content
    const workspacePath = [one, two].join(delimiter)
    // with `ideInfo`, Gemini CLI in a session of Parley would connect, too
    assert.deepEqual(known, { port, workspacePath, authToken: token() })
    assert.equal(ide.variables.GEMINI_CLI_IDE_WORKSPACE_PATH, workspacePath)
    assert.deepEqual(secrets, [token()])
    if (process.platform !== 'win32') {
      assert.equal(statSync(files).mode & 0o777, 0o700)
      assert.equal(statSync(join(files, name)).mode & 0o777, 0o600)
    }
    editor.changeFolders(two)
    assert.equal(found().content.workspacePath, two)
    assert.equal(ide.variables.GEMINI_CLI_IDE_WORKSPACE_PATH, two)
    ide.dispose()
    assert.deepEqual(readdirSync(files), [])
  })

  it('finds no file of a window that crashed, also while it wrote the file', async () => {
    const owner = { name: 'parley', pid: 2 ** 30, host: hostname() }
    for (const name of ['gemini-ide-server-1-2.json', `gemini-ide-server-3-4.json.${owner.pid}`])
      writeFileSync(join(files, name), JSON.stringify({ owner }))
    ide.dispose()
    ide = await start()
    assert.deepEqual(readdirSync(files), [
      `gemini-ide-server-${process.ppid}-${ide.variables.GEMINI_CLI_IDE_SERVER_PORT}.json`,
    ])
  })

  it('connects by the environment alone if the folder for the file belongs to someone else', async () => {
    ide.dispose()
    ide = await start(() => {
      throw new Error('belongs to another user')
    })
    const { client } = await connect()
    const { tools } = await client.listTools()
    assert.deepEqual(tools.map(({ name }) => name).sort(), ['closeDiff', 'openDiff'])
  })

  it('is told what is open and selected, by when it was active', async () => {
    const base = { isActive: false, isVisible: true, isDirty: false }
    const paths = Array.from({ length: 15 }, (_, i) => file(`${i}.ts`))
    editor.opened = [...paths, join(root, 'outside.ts')].map(path => ({ ...base, path }))
    const { latest } = await connect()
    const at = { line: 3, column: 5 }
    editor.selected = { path: paths[12]!, start: { line: 1, column: 1 }, end: at, text: 'x'.repeat(20_000) }
    editor.selectionChanged()
    await until(() => latest('ide/contextUpdate').workspaceState.openFiles[0]?.isActive, 'the active file')
    const { openFiles, isTrusted } = latest('ide/contextUpdate').workspaceState
    assert.equal(isTrusted, true)
    assert.equal(openFiles.length, 10)
    const { timestamp, ...active } = openFiles[0]
    assert.ok(timestamp > 1_700_000_000_000)
    assert.deepEqual(active, {
      ...{ path: paths[12], isActive: true, cursor: { line: 3, character: 5 } },
      selectedText: 'x'.repeat(16_384),
    })
    editor.selected = { path: paths[3]!, start: at, end: at, text: '' }
    editor.selectionChanged()
    await until(
      () => latest('ide/contextUpdate').workspaceState.openFiles[0]?.path === paths[3],
      'the other one',
    )
    const [now, before] = latest('ide/contextUpdate').workspaceState.openFiles
    assert.deepEqual([now.selectedText, before.path, before.isActive], [undefined, paths[12], undefined])
    editor.selected = { path: join(root, 'outside.ts'), start: at, end: at, text: 'secret' }
    editor.selectionChanged()
    await until(() => !latest('ide/contextUpdate').workspaceState.openFiles[0]?.isActive, 'no active file')
    assert.doesNotMatch(JSON.stringify(latest('ide/contextUpdate')), /secret|outside/)
  })

  describe('diffs', () => {
    const shown = async (count = 1) => {
      await until(() => editor.openDiffs.length === count, `${count} open diffs`)
      return editor.openDiffs
    }

    it('open at once, and what the user accepts or rejects is told', async () => {
      const { call, latest } = await connect()
      assert.equal(await call('openDiff', { filePath: file('a.ts'), newContent: 'new' }), undefined)
      const [diff] = await shown()
      assert.deepEqual([diff?.path, diff?.text], [file('a.ts'), 'new'])
      diff?.answer('edited')
      await until(() => latest('ide/diffAccepted') !== undefined, 'the acceptance')
      assert.deepEqual(latest('ide/diffAccepted'), { filePath: file('a.ts'), content: 'edited' })
      await call('openDiff', { filePath: file('a.ts'), newContent: 'new' })
      const [second] = await shown()
      second?.answer(undefined)
      await until(() => latest('ide/diffRejected') !== undefined, 'the rejection')
      assert.deepEqual(latest('ide/diffRejected'), { filePath: file('a.ts') })
    })

    it('are closed when the user answers in the terminal, without another answer', async () => {
      const { call, told } = await connect()
      await call('openDiff', { filePath: file('a.ts'), newContent: 'new' })
      await shown()
      const input = { filePath: file('a.ts'), suppressNotification: true }
      assert.equal(await call('closeDiff', input), JSON.stringify({ content: 'new' }))
      assert.equal(await call('closeDiff', input), '{}')
      assert.deepEqual(
        told.filter(({ method }) => method !== 'ide/contextUpdate'),
        [],
      )
    })

    it('of two agents are apart, and end with their agent', async () => {
      const [first, second] = [await connect(), await connect()]
      await first.call('openDiff', { filePath: file('a.ts'), newContent: 'one' })
      await second.call('openDiff', { filePath: file('a.ts'), newContent: 'two' })
      const [diff] = await shown(2)
      diff?.answer('one')
      await until(() => first.latest('ide/diffAccepted') !== undefined, 'the acceptance')
      assert.equal(second.latest('ide/diffAccepted'), undefined)
      await second.transport.terminateSession()
      await until(() => editor.openDiffs.length === 0, 'the diff to be closed')
    })

    it('are limited, and need an absolute path', async () => {
      const { call } = await connect()
      const open = (i: number) => call('openDiff', { filePath: file(`${i}.ts`), newContent: '' })
      const answers = await Promise.allSettled(Array.from({ length: 30 }, (_, i) => open(i)))
      assert.equal(answers.filter(({ status }) => status === 'rejected').length, 14)
      await assert.rejects(call('openDiff', { filePath: 'a.ts', newContent: '' }), /must be absolute/)
    })
  })

  describe('attacked', () => {
    const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const send = (headers: Record<string, string>, { method = 'POST', path = '/mcp', body = LIST } = {}) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          {
            ...{ host: '127.0.0.1', port: ide.variables.GEMINI_CLI_IDE_SERVER_PORT, method, path },
            headers: {
              ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
              ...{ authorization: `Bearer ${token()}`, ...headers },
            },
          },
          response => {
            response.resume()
            response.on('end', () => resolve(response.statusCode ?? 0))
          },
        )
        sent.on('error', reject)
        sent.end(body)
      })

    it('lets nobody in without the right token, name and origin', async () => {
      for (const authorization of [
        '',
        'Bearer',
        'Bearer x',
        `Bearer ${token()}0`,
        token(),
        `Basic ${token()}`,
      ])
        for (const method of ['POST', 'GET', 'DELETE'])
          assert.equal(await send({ authorization }, { method }), 401, `${method} ${authorization}`)
      for (const host of ['evil.example', '127.0.0.1', '127.0.0.1.evil.example:80'])
        assert.equal(await send({ host }), 403, host)
      for (const origin of ['https://evil.example', 'null']) assert.equal(await send({ origin }), 403, origin)
    })

    it('refuses what no session asks for, and bodies that are too large', async () => {
      assert.equal(await send({}), 400)
      assert.equal(await send({ 'mcp-session-id': 'x' }), 404)
      assert.equal(await send({}, { path: '/' }), 404)
      for (const body of ['', 'x', '[]', '{}', `[${'['.repeat(20_000)}`]) {
        const status = await send({}, { body })
        assert.ok(status >= 400 && status < 500, `${status} for ${body.slice(0, 20)}`)
      }
      const large = String(17 * 1024 * 1024)
      const status = await new Promise<number>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token()}`, 'content-length': large }
        const sent = request(address(), { method: 'POST', headers }, ({ statusCode = 0 }) =>
          resolve(statusCode),
        )
        sent.on('error', reject)
        sent.flushHeaders()
      })
      assert.equal(status, 413)
    })

    it('answers 10,000 requests, and forgets agents that only begin', async () => {
      const { call } = await connect()
      const INITIALIZE = JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      })
      let ok = 0
      const work = async () => {
        for (let i = 0; i < 20; i++) if ((await send({}, { body: INITIALIZE })) === 200) ok += 1
      }
      const lists = async () => {
        for (let i = 0; i < 998; i++) if ((await send({ authorization: 'Bearer x' })) === 401) ok += 1
      }
      await Promise.all([work(), ...Array.from({ length: 10 }, lists)])
      assert.equal(ok, 10_000)
      writeFileSync(file('a.ts'), '')
      // forgotten, as the specification says for a session that has ended
      await assert.rejects(call('closeDiff', { filePath: file('a.ts') }))
      const again = await connect()
      assert.equal(await again.call('closeDiff', { filePath: file('a.ts') }), '{}')
    }).timeout(180_000)
  })
})
