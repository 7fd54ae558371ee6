import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toDisposable } from '../../../../src/common/disposable.ts'
import { Emitter } from '../../../../src/common/event.ts'
import type { Logger } from '../../../../src/common/logger.ts'
import { startClaudeIde } from '../../../../src/mcp/terminal/claude-ide.ts'
import { pathOfUri } from '../../../../src/mcp/terminal/claude-tools.ts'
import type { TerminalIde, TerminalIdeOptions } from '../../../../src/mcp/terminal/terminal-editor.ts'
import { ClaudeClient, type ClaudeLock, claudeLocks } from '../../../support/claude-client.ts'
import { FakeTerminalEditor } from '../../../support/fake-terminal-editor.ts'
import { until } from '../../../support/until.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

describe('Claude Code in a terminal', () => {
  let root: string
  let one: string
  let two: string
  let locks: string
  let editor: FakeTerminalEditor
  let ide: TerminalIde
  let logged: string[]
  let secrets: string[]
  const clients: ClaudeClient[] = []
  const file = (name: string) => join(one, name)

  const start = async (own = editor, accounts?: TerminalIdeOptions['accounts']) => {
    const log = Object.fromEntries(
      ['trace', 'debug', 'info', 'warn', 'error'].map(level => [level, (text: string) => logged.push(text)]),
    ) as unknown as Logger
    const options = {
      editor: own,
      version: '1.2.3',
      log,
      secrets: { add: (token: string) => void secrets.push(token) },
      ...(accounts && { accounts }),
    }
    return startClaudeIde(options, locks)
  }
  const lock = (): ClaudeLock =>
    claudeLocks(locks).find(({ port }) => String(port) === ide.variables.CLAUDE_CODE_SSE_PORT)!
  const connect = async (to = lock()) => {
    const client = await ClaudeClient.connect(to)
    clients.push(client)
    return client
  }

  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-claude-')))
    locks = join(root, 'claude', 'ide')
    one = join(root, 'one')
    two = join(root, 'two')
    for (const folder of [one, two]) mkdirSync(folder)
    editor = new FakeTerminalEditor(one, two)
    logged = []
    secrets = []
    ide = await start()
  })
  afterEach(async () => {
    await Promise.all(clients.splice(0).map(client => client.close()))
    ide.dispose()
    rmSync(root, { recursive: true, force: true })
  })

  it('finds the editor by a lock file, which says which folders are open and is removed at the end', async () => {
    const { port, authToken, ...content } = lock()
    const { owner: _, ...known } = content as typeof content & { owner: unknown }
    assert.deepEqual(known, {
      ...{ pid: process.ppid, workspaceFolders: [one, two], ideName: 'VS Code', transport: 'ws' },
    })
    assert.deepEqual(ide.variables, { CLAUDE_CODE_SSE_PORT: String(port), ENABLE_IDE_INTEGRATION: 'true' })
    assert.deepEqual(secrets, [authToken])
    if (process.platform !== 'win32') {
      assert.equal(statSync(locks).mode & 0o777, 0o700)
      assert.equal(statSync(join(locks, `${port}.lock`)).mode & 0o777, 0o600)
    }
    editor.changeFolders(two)
    assert.deepEqual(lock().workspaceFolders, [two])
    editor.realPaths = ['/real/two']
    editor.changeFolders(two)
    assert.deepEqual(lock().workspaceFolders, [two, '/real/two'])
    ide.dispose()
    assert.deepEqual(readdirSync(locks), [])
  })

  it('finds the editor in the folders of accounts, too, as long as they are there', async () => {
    const change = new Emitter<void>()
    const folders = ['work', 'home'].map(name => join(root, name))
    const [work = '', home = ''] = folders
    for (const folder of folders) mkdirSync(folder)
    let accounts = [work, join(root, 'missing'), dirname(locks)]
    ide.dispose()
    ide = await start(editor, { folders: () => accounts, onDidChange: change.event })
    const { port, authToken } = lock()
    const found = (folder: string) => claudeLocks(join(folder, 'ide')).map(one => [one.port, one.authToken])
    assert.deepEqual(found(work), [[port, authToken]])
    if (process.platform !== 'win32') assert.equal(statSync(join(work, 'ide')).mode & 0o777, 0o700)
    assert.equal(existsSync(join(root, 'missing')), false)
    assert.deepEqual(
      logged.filter(text => /warn|exist/i.test(text)),
      [],
    )

    editor.changeFolders(two)
    assert.deepEqual(claudeLocks(join(work, 'ide'))[0]?.workspaceFolders, [two])
    accounts = [home]
    change.fire()
    assert.deepEqual(readdirSync(join(work, 'ide')), [])
    assert.deepEqual(found(home), [[port, authToken]])
    ide.dispose()
    assert.deepEqual(readdirSync(join(home, 'ide')), [])
  })

  it('finds no file of a window that crashed, also while it wrote the file', async () => {
    const owner = { name: 'parley', pid: 2 ** 30, host: hostname() }
    for (const name of ['1.lock', `2.lock.${owner.pid}`])
      writeFileSync(join(locks, name), JSON.stringify({ owner }))
    for (const [name, content] of [
      ['3.lock.old', { owner }],
      ['4.lock.7', { owner: { ...owner, name: 'other' } }],
    ] as const)
      writeFileSync(join(locks, name), JSON.stringify(content))
    ide.dispose()
    ide = await start()
    const { port } = lock()
    assert.deepEqual(readdirSync(locks).sort(), ['3.lock.old', '4.lock.7', `${port}.lock`].sort())
  })

  it('is not waited for after a failed start', async () => {
    const own = new FakeTerminalEditor(one)
    let listeners = 0
    const listen = () => {
      listeners += 1
      return toDisposable(() => {
        listeners -= 1
      })
    }
    Object.assign(own, { onDidChangeFolders: listen, onDidChangeSelection: listen })
    const { paths } = own
    own.paths = () => {
      throw new Error('no folders')
    }
    await assert.rejects(start(own), /no folders/)
    assert.equal(listeners, 0)
    own.paths = paths
    const second = await start(own)
    assert.equal(listeners, 2)
    second.dispose()
    assert.equal(listeners, 0)
  })

  it('of several windows is connected to the one that it names', async () => {
    const other = new FakeTerminalEditor(two)
    const second = await start(other)
    try {
      assert.equal(claudeLocks(locks).length, 2)
      const [own, theirs] = [
        await connect(),
        await connect(claudeLocks(locks).find(({ port }) => port !== lock().port)),
      ]
      assert.equal((await own.read('getWorkspaceFolders')).rootPath, one)
      assert.equal((await theirs.read('getWorkspaceFolders')).rootPath, two)
    } finally {
      second.dispose()
    }
  })

  it('speaks MCP over a WebSocket, and finds the tools that it expects', async () => {
    const client = await connect()
    assert.equal(client.protocol, 'mcp')
    const { tools } = (await client.request('tools/list', {})) as { tools: Array<{ name: string }> }
    assert.deepEqual(tools.map(({ name }) => name).sort(), [
      ...['checkDocumentDirty', 'closeAllDiffTabs', 'close_tab', 'getCurrentSelection', 'getDiagnostics'],
      ...[
        'getLatestSelection',
        'getOpenEditors',
        'getWorkspaceFolders',
        'openDiff',
        'openFile',
        'saveDocument',
      ],
    ])
    await assert.rejects(client.call('executeCode', { code: '1' }), /no such tool/)
    await assert.rejects(client.call('openDiff', { old_file_path: 1 }), /arguments are wrong/)
  })

  describe('diffs', () => {
    const propose = (client: ClaudeClient, text = 'new', tab = 'tab', id?: number) =>
      client.call(
        'openDiff',
        { old_file_path: file('a.ts'), new_file_path: file('a.ts'), new_file_contents: text, tab_name: tab },
        id,
      )
    const shown = async (count = 1) => {
      await until(() => editor.openDiffs.length === count, `${count} open diffs`)
      return editor.openDiffs
    }

    it('are answered with what the user accepts, also after edits', async () => {
      const client = await connect()
      const answer = propose(client)
      const [diff] = await shown()
      assert.deepEqual(
        [diff?.path, diff?.oldPath, diff?.text, diff?.title],
        [file('a.ts'), file('a.ts'), 'new', 'tab'],
      )
      diff?.answer('edited by the user')
      assert.deepEqual(await answer, ['FILE_SAVED', 'edited by the user'])
      assert.deepEqual(await client.call('close_tab', { tab_name: 'tab' }), ['TAB_CLOSED'])
    })

    it('are rejected if the user says so or closes the tab; TAB_CLOSED would mean that it is written', async () => {
      const answer = propose(await connect())
      const [diff] = await shown()
      diff?.answer(undefined)
      assert.deepEqual(await answer, ['DIFF_REJECTED', 'tab'])
    })

    it('are closed when the user answers in the terminal', async () => {
      const client = await connect()
      const answer = propose(client)
      await shown()
      assert.deepEqual(await client.call('close_tab', { tab_name: 'tab' }), ['TAB_CLOSED'])
      assert.deepEqual(await answer, ['DIFF_REJECTED', 'tab'])
      assert.deepEqual(editor.openDiffs, [])
    })

    it('are closed when the call is canceled or the agent ends', async () => {
      const client = await connect()
      void propose(client, 'x', 'one', 77).catch(() => {})
      await shown()
      client.notify('notifications/cancelled', { requestId: 77 })
      await until(() => editor.openDiffs.length === 0, 'the diff of the canceled call to be closed')
      const ended = assert.rejects(propose(client, 'x', 'two'), /closed/)
      await shown()
      await client.close()
      await until(() => editor.openDiffs.length === 0, 'the diff of the ended agent to be closed')
      await ended
    })

    it('of two agents are apart, also under the same name', async () => {
      const [first, second] = [await connect(), await connect()]
      const answers = [propose(first, 'one')]
      await shown()
      answers.push(propose(second, 'two'))
      await shown(2)
      assert.deepEqual(await second.call('closeAllDiffTabs'), ['CLOSED_1_DIFF_TABS'])
      assert.deepEqual(await answers[1], ['DIFF_REJECTED', 'tab'])
      const [left] = await shown()
      assert.equal(left?.text, 'one')
      left?.answer('one')
      assert.deepEqual(await answers[0], ['FILE_SAVED', 'one'])
    })

    it('replace one with the same name', async () => {
      const client = await connect()
      const before = propose(client, 'one')
      await shown()
      const after = propose(client, 'two')
      assert.deepEqual(await before, ['DIFF_REJECTED', 'tab'])
      await until(() => editor.openDiffs[0]?.text === 'two', 'the second diff')
      editor.openDiffs[0]?.answer('two')
      assert.deepEqual(await after, ['FILE_SAVED', 'two'])
    })

    it('are shown for files outside of the folders, too, since nothing is read or written', async () => {
      const path = join(root, 'outside.txt')
      const client = await connect()
      const input = { old_file_path: path, new_file_path: path, new_file_contents: 'x', tab_name: 't' }
      const answer = client.call('openDiff', input)
      const [diff] = await shown()
      diff?.answer('x')
      assert.deepEqual(await answer, ['FILE_SAVED', 'x'])
      await assert.rejects(
        client.call('openDiff', { ...input, new_file_path: 'relative' }),
        /must be absolute/,
      )
    })

    it('are limited', async () => {
      const client = await connect()
      const answers = Array.from({ length: 200 }, (_, i) => propose(client, 'x', `tab ${i}`).catch(String))
      const failed = (await Promise.all(answers.slice(16))).filter(answer => /Too many/.test(String(answer)))
      assert.equal(failed.length, 184)
      assert.equal(editor.openDiffs.length, 16)
      assert.deepEqual(await client.call('closeAllDiffTabs'), ['CLOSED_16_DIFF_TABS'])
    })
  })

  describe('what it sees', () => {
    const select = (path: string, text = 'some text') => {
      editor.selected = { path, start: { line: 3, column: 5 }, end: { line: 4, column: 1 }, text }
      editor.selectionChanged()
    }
    const told = async (client: ClaudeClient, count: number) => {
      await until(() => client.notifications.length >= count, `${count} notifications`)
      const { method, params } = client.notifications.at(-1)!
      assert.equal(method, 'selection_changed')
      return params
    }
    const selected = () => ({
      text: 'some text',
      filePath: file('a.ts'),
      fileUrl: pathToFileURL(file('a.ts')).href,
      selection: { start: { line: 2, character: 4 }, end: { line: 3, character: 0 }, isEmpty: false },
    })

    it('is the selection, from the start and after each change', async () => {
      select(file('a.ts'))
      const client = await connect()
      assert.deepEqual(await told(client, 1), selected())
      for (let i = 0; i < 20; i++) select(file('a.ts'), `${i}`)
      assert.equal((await told(client, 2))?.text, '19')
      assert.equal(client.notifications.length, 2)
      assert.equal((await client.read('getCurrentSelection')).text, '19')
    })

    it('is not what is selected outside of the folders, which also hides the selection before', async () => {
      const client = await connect()
      select(file('a.ts'))
      await told(client, 1)
      writeFileSync(join(root, 'secret.txt'), 'x')
      symlinkSync(join(root, 'secret.txt'), file('link.txt'))
      let count = 1
      for (const path of [join(root, 'secret.txt'), file('link.txt'), file('../secret.txt')]) {
        select(path, 'secret')
        count += 1
        const params = await told(client, count)
        assert.deepEqual([params?.text, params?.filePath], ['', undefined])
        assert.deepEqual(await client.read('getCurrentSelection'), {
          ...{ success: false, message: 'No active editor found' },
        })
        assert.equal((await client.read('getLatestSelection')).success, false)
      }
    })

    it('is the latest selection if no editor is active', async () => {
      const client = await connect()
      select(file('a.ts'))
      await told(client, 1)
      editor.selected = undefined
      editor.selectionChanged()
      assert.equal((await client.read('getCurrentSelection')).success, false)
      assert.deepEqual(await client.read('getLatestSelection'), { success: true, ...selected() })
    })

    it('are problems of files in the folders, under the URI that it asked for', async () => {
      const span = { start: { line: 1, column: 2 }, end: { line: 1, column: 4 } }
      const problem = { ...span, severity: 'information' as const, message: 'bad', source: 'ts', code: '7' }
      const names = [file('a b.ts'), join(two, '100%.ts'), join(root, 'outside.ts')]
      editor.problems = async path => {
        const problems = [problem, { ...problem, severity: 'error' as const }]
        return names
          .filter(name => path === undefined || name === path)
          .map(name => ({ path: name, problems }))
      }
      const client = await connect()
      const all = await client.read('getDiagnostics')
      assert.deepEqual(
        all.map(({ uri }: { uri: string }) => uri),
        [`file://${file('a b.ts')}`, `file://${join(two, '100%.ts')}`],
      )
      assert.deepEqual(all[0].diagnostics[0], {
        ...{ message: 'bad', severity: 'Info', source: 'ts', code: '7' },
        range: { start: { line: 0, character: 1 }, end: { line: 0, character: 3 } },
      })
      for (const uri of [`file://${file('a b.ts')}`, pathToFileURL(file('a b.ts')).href]) {
        const [found] = await client.read('getDiagnostics', { uri })
        assert.deepEqual([found.uri, found.diagnostics.length], [uri, 2])
      }
      const uri = `file://${file('clean.ts')}`
      assert.deepEqual(await client.read('getDiagnostics', { uri }), [{ uri, diagnostics: [] }])
      for (const outside of [join(root, 'outside.ts'), file('../outside.ts'), '/etc/passwd'])
        await assert.rejects(
          client.call('getDiagnostics', { uri: `file://${outside}` }),
          /outside of the folders/,
        )
    })

    it('are open editors and unsaved changes', async () => {
      const base = { isVisible: true, isDirty: true }
      editor.opened = [
        { ...base, path: file('a.ts'), isActive: true },
        { ...base, path: join(root, 'outside.ts'), isActive: false },
      ]
      let saved = 0
      const document = {
        languageId: 'typescript',
        lineCount: 3,
        isDirty: true,
        save: async () => ++saved > 0,
      }
      editor.documents.set(file('a.ts'), document)
      const client = await connect()
      assert.deepEqual((await client.read('getOpenEditors')).tabs, [
        {
          ...{ uri: pathToFileURL(file('a.ts')).href, fileName: file('a.ts'), label: 'a.ts' },
          ...{ isActive: true, isDirty: true, languageId: 'typescript' },
        },
      ])
      const dirty = await client.read('checkDocumentDirty', { filePath: file('a.ts') })
      assert.deepEqual([dirty.success, dirty.isDirty], [true, true])
      assert.equal((await client.read('saveDocument', { filePath: file('a.ts') })).saved, true)
      assert.equal(saved, 1)
      assert.equal((await client.read('saveDocument', { filePath: file('b.ts') })).success, false)
      for (const name of ['checkDocumentDirty', 'saveDocument', 'openFile'])
        await assert.rejects(
          client.call(name, { filePath: join(root, 'outside.ts') }),
          /outside of the folders/,
        )
    })

    it('can be shown to the user, at a text', async () => {
      writeFileSync(file('a.ts'), 'const a = 1\nconst b = 2\n')
      const client = await connect()
      await client.call('openFile', {
        filePath: file('a.ts'),
        startText: 'b = 2',
        endText: '2',
        preview: true,
      })
      assert.deepEqual(editor.shown, [{ path: file('a.ts'), at: { line: 2, column: 7 } }])
      const found = await client.read('openFile', { filePath: file('a.ts'), makeFrontmost: false })
      assert.deepEqual([found.success, found.filePath, editor.shown.length], [true, file('a.ts'), 1])
    })
  })

  it('understands URIs, and paths that Claude Code takes for them', () => {
    writeFileSync(file('100%25.ts'), '')
    for (const [uri, path] of [
      ['file:///a/b c.ts', '/a/b c.ts'],
      ['file:///a/b%20c.ts', '/a/b c.ts'],
      ['file:///a/100%.ts', '/a/100%.ts'],
      [`file://${file('100%25.ts')}`, file('100%25.ts')],
      ['file:///c%3A/x.ts', 'c:/x.ts'],
      ['file://C:/x.ts', 'C:/x.ts'],
      ['/plain/x.ts', '/plain/x.ts'],
    ] as const)
      assert.equal(pathOfUri(uri), path, uri)
  })

  describe('attacked', () => {
    /** The status of a request for a WebSocket. */
    const upgrade = (headers: Record<string, string>, method = 'GET') =>
      new Promise<number>((resolve, reject) => {
        const sent = request({
          ...{ host: '127.0.0.1', port: lock().port, method, path: '/' },
          headers: {
            ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
            ...{ 'sec-websocket-key': KEY, 'x-claude-code-ide-authorization': lock().authToken, ...headers },
          },
        })
        const done = (response: IncomingMessage) => {
          response.destroy()
          resolve(response.statusCode ?? 0)
        }
        sent.on('upgrade', (response, socket) => {
          socket.destroy()
          done(response)
        })
        sent.on('response', done)
        sent.on('error', reject)
        sent.end()
      })

    it('lets nobody in without the right token', async () => {
      const { authToken } = lock()
      assert.equal(await upgrade({}), 101)
      for (const token of [
        '',
        'x',
        `${authToken}0`,
        authToken.slice(1),
        authToken.toUpperCase(),
        'x'.repeat(5000),
      ])
        assert.equal(await upgrade({ 'x-claude-code-ide-authorization': token }), 401, token)
    })

    it('refuses other names of the host and web pages', async () => {
      const { port } = lock()
      assert.equal(await upgrade({ host: `localhost:${port}` }), 101)
      for (const host of [
        'evil.example',
        `evil.example:${port}`,
        '127.0.0.1',
        `127.0.0.1.evil.example:${port}`,
      ])
        assert.equal(await upgrade({ host }), 403, host)
      for (const origin of ['https://evil.example', 'null', `http://127.0.0.1.evil.example:${port}`])
        assert.equal(await upgrade({ origin }), 403, origin)
    })

    it('refuses what is no WebSocket', async () => {
      for (const headers of [
        { upgrade: 'h2c' },
        { 'sec-websocket-version': '8' },
        { 'sec-websocket-key': 'short' },
      ] as Array<Record<string, string>>)
        assert.equal(await upgrade(headers), 400, JSON.stringify(headers))
      assert.equal(await upgrade({}, 'POST'), 400)
      const plain = await fetch(`http://127.0.0.1:${lock().port}/`, { method: 'POST', body: '{}' })
      assert.equal(plain.status, 403)
    })

    it('closes the connection after anything that is no message, and serves the others', async () => {
      const other = await connect()
      for (const text of [
        '',
        'x',
        '{}',
        '[]',
        'null',
        '{"jsonrpc":"1.0","id":1,"method":"x"}',
        '['.repeat(100_000),
      ]) {
        const client = await connect()
        client.sendText(text)
        assert.equal(await client.closed, 1007, text.slice(0, 50))
      }
      const client = await connect()
      client.sendText(`"${'x'.repeat(17 * 1024 * 1024)}"`)
      assert.equal(await client.closed, 1009)
      assert.equal((await other.read('getWorkspaceFolders')).success, true)
    })

    it('answers 10,000 requests', async () => {
      const client = await connect()
      const answers = Array.from({ length: 10_000 }, (_, i) =>
        i % 2 === 0 ? client.read('getWorkspaceFolders') : client.call('close_tab', { tab_name: `${i}` }),
      )
      assert.equal((await Promise.all(answers)).length, 10_000)
    })

    it('logs no token', async () => {
      const client = await connect()
      client.sendText(JSON.stringify({ token: lock().authToken }))
      await client.closed
      assert.ok(logged.length > 0)
      assert.ok(!logged.join('\n').includes(lock().authToken))
    })
  })
})
