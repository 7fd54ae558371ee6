import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { AgentClient } from '../../../src/acp/agent.ts'
import type { FileChange, PermissionRequest } from '../../../src/acp/model.ts'
import { deferred } from '../../../src/common/async.ts'
import type { NoticeEntry, PermissionEntry } from '../../../src/conversation/state.ts'
import { until } from '../../support/until.ts'
import { idle, running, tool } from '../conversation/updates.ts'
import { SessionsFixture } from './sessions-fixture.ts'

describe('the requests of an agent in the editor', () => {
  let directory = ''
  let root = ''
  let fixture: SessionsFixture
  let client: AgentClient

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'parley-services-')))
    root = join(directory, 'project')
    mkdirSync(join(root, 'sub'), { recursive: true })
    mkdirSync(join(directory, 'elsewhere'))
    writeFileSync(join(root, 'a.txt'), 'in the project')
    writeFileSync(join(root, 'sub/a.txt'), 'in the folder of the subagent')
    writeFileSync(join(directory, 'elsewhere/a.txt'), 'elsewhere')
    fixture = new SessionsFixture()
    const { plan } = fixture
    assert.ok(plan)
    plan.setup = { ...plan.setup, cwd: root, additionalDirectories: [] }
    client = fixture.clients.of('one', () => fixture.runners.get('one').running?.sessions)
  })
  afterEach(async () => {
    fixture.manager.dispose()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  })

  it("starts a turn's command when it's known what was there before", async () => {
    const { answered } = await start()
    await answered()
    const before = deferred()
    const { changes } = fixture.controller.current!
    changes.beginTurn(1, () => true, undefined, { began: Date.now(), before: before.promise })
    const order: string[] = []
    const creating = client
      .createTerminal({ sessionId: 's1', command: 'true', args: [], env: [] })
      .finally(() => order.push('command'))
    // a process starts and ends meanwhile
    await promisify(execFile)(process.execPath, ['--version'])
    order.push('known')
    before.resolve()
    await creating
    assert.deepEqual(order, ['known', 'command'])
  })

  const start = async () => {
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    return {
      answered: async () => {
        fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
        await starting
      },
      refused: async () => {
        fixture.agent.newSessions[0]?.reject(new Error('no'))
        await starting.catch(() => {})
      },
    }
  }
  const begin = async () => {
    await (await start()).answered()
    const session = fixture.controller.current?.session
    assert.ok(session)
    return session
  }
  const asked = (session: Awaited<ReturnType<typeof begin>>) =>
    session.state.entries.filter((entry): entry is PermissionEntry => entry.kind === 'permission')
  const waiting = (session: Awaited<ReturnType<typeof begin>>) =>
    asked(session).filter(({ outcome }) => !outcome)
  const notices = (session: Awaited<ReturnType<typeof begin>>) =>
    session.state.entries.filter((entry): entry is NoticeEntry => entry.kind === 'notice')

  it('are refused for a notebook with unsaved changes, and the user is told once', async () => {
    const session = await begin()
    const path = join(root, 'a.ipynb')
    writeFileSync(path, '{}')
    fixture.unsavedNotebooks.add(path)
    const unsaved = /unsaved changes of it in the editor/
    await assert.rejects(client.readTextFile({ sessionId: 's1', path }), unsaved)
    await assert.rejects(client.writeTextFile({ sessionId: 's1', path, content: '{"a":1}' }), unsaved)
    assert.equal(readFileSync(path, 'utf8'), '{}')
    assert.deepEqual(
      notices(session).map(({ title, files }) => [title, files]),
      [['a.ipynb has unsaved changes', [path]]],
    )
    fixture.unsavedNotebooks.clear()
    await client.writeTextFile({ sessionId: 's1', path, content: '{"a":1}' })
    assert.equal(readFileSync(path, 'utf8'), '{"a":1}')
  })

  it('are for an agent that has them at other paths, and never for another path of its machine', async () => {
    const pathMappings = [{ localRoot: root, remoteRoot: '/srv/app' }]
    fixture.prepare = agent => Object.assign(agent.capabilities, { pathMappings })
    await begin()
    assert.equal(await client.readTextFile({ sessionId: 's1', path: join(root, 'a.txt') }), 'in the project')
    assert.equal(await client.readTextFile({ sessionId: 's1', path: 'a.txt' }), 'in the project')
    for (const path of [`/elsewhere:${root}/a.txt`, join(root, '../x.txt'), '../x.txt', '/etc/hosts']) {
      const refused = /isn't in a folder that both machines have/
      await assert.rejects(client.readTextFile({ sessionId: 's1', path }), refused, path)
      await assert.rejects(client.writeTextFile({ sessionId: 's1', path, content: '' }), refused, path)
      const asked = { sessionId: 's1', command: 'ls', args: [], env: [], cwd: path }
      await assert.rejects(client.createTerminal(asked), refused, path)
    }
  })

  for (const isRemote of [false, true])
    it(`${isRemote ? "aren't taken for" : 'are'} changes of files here, from ${isRemote ? 'another' : 'this'} machine`, async () => {
      fixture.prepare = agent => Object.assign(agent.capabilities, isRemote && { isRemote, pathMappings: [] })
      const session = await begin()
      const { changes } = fixture.controller.current!
      const path = join(root, 'a.txt')
      const kind = 'edit'
      const writes = {
        sessionId: 's1',
        title: 'Write',
        subject: {
          type: 'tool_call' as const,
          toolCall: { toolCallId: 't', kind, rawInput: { path, content: 'theirs' } },
        },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' as const }],
      } satisfies PermissionRequest
      session.receive(running)
      session.receive(tool('t', { status: 'pending', kind, rawInput: writes.subject.toolCall.rawInput }))
      void client.requestPermission(writes, new AbortController().signal)
      await until(() => waiting(session).length === 1)
      const [call] = session.state.entries.filter(entry => entry.kind === 'tool_call')
      assert.equal(JSON.stringify(call).includes('in the project'), !isRemote)
      session.requests.answerPermission(waiting(session)[0]!.requestId, 'yes')
      const diff: FileChange = { operation: 'modify', path, oldText: 'in the project', newText: 'theirs' }
      // a program of the user, which has nothing to do with it
      writeFileSync(path, 'theirs')
      session.receive(
        tool('t', {
          status: 'completed',
          locations: [{ path }],
          content: [{ type: 'diff', changes: [diff] }],
        }),
      )
      session.receive(idle('end_turn'))
      await changes.refresh()
      assert.deepEqual(
        changes.list().map(one => one.path),
        isRemote ? [] : [path],
      )
    })

  /** Waits until all protected files were read; this one is the last. */
  const snapshot = () => until(() => fixture.looked.has(join(root, '.git/info/attributes')))

  describe('before its session is known', () => {
    it('wait for the response that names the session', async () => {
      const opening = await start()
      const reading = client.readTextFile({ sessionId: 's1', path: 'a.txt' })
      const terminal = client.createTerminal({ sessionId: 's1', command: 'true', args: [], env: [] })
      let settled = false
      void reading.finally(() => {
        settled = true
      })
      await new Promise(resolve => setImmediate(resolve))
      assert.equal(settled, false)
      await opening.answered()
      assert.equal(await reading, 'in the project')
      const { terminalId } = await terminal
      assert.equal((await client.waitForTerminalExit('s1', terminalId)).exitCode, 0)
    })

    it('are rejected if no session follows, and for a session that nobody opens', async () => {
      const opening = await start()
      const reading = assert.rejects(client.readTextFile({ sessionId: 's1', path: 'a.txt' }), /No session/)
      await opening.refused()
      await reading
      await assert.rejects(client.readTextFile({ sessionId: 'x', path: 'a.txt' }), /No session/)
    })

    it('are dropped when the agent cancels them', async () => {
      await start()
      const abort = new AbortController()
      const reading = client.readTextFile({ sessionId: 's1', path: 'a.txt' }, abort.signal)
      abort.abort()
      await assert.rejects(reading)
    })
  })

  describe('for permission to write a file of which they have only the new text', () => {
    const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' as const }]
    const request = (path: string, sessionId = 's1'): PermissionRequest => {
      const rawInput = { file_path: path, content: 'new' }
      const toolCall = { toolCallId: path, kind: 'edit', rawInput }
      return { sessionId, title: 'Write', options, subject: { type: 'tool_call', toolCall } }
    }
    const never = new AbortController().signal

    it('show it as a change of the file, if that is in the folders of the session', async () => {
      const session = await begin()
      writeFileSync(join(root, 'large.txt'), 'x'.repeat(4 * 1024 * 1024 + 1))
      const outside = join(directory, 'elsewhere/a.txt')
      fixture.agent.say('s1', { type: 'subagent', subagent: { sessionId: 'child', cwd: join(root, 'sub') } })
      const paths = ['a.txt', join(root, 'new/b.txt'), outside, 'large.txt', '../elsewhere/a.txt']
      for (const path of paths) void client.requestPermission(request(path), never)
      await until(() => waiting(session).length === paths.length)
      void client.requestPermission({ ...request('a.txt', 'child') }, never)
      await until(() => waiting(session).length === paths.length + 1)
      const changes = session.state.entries.flatMap(entry =>
        entry.kind === 'tool_call'
          ? entry.content.flatMap(part => (part.type === 'diff' ? part.changes : []))
          : [],
      )
      const byPath = (one: FileChange, other: FileChange) => (one.path < other.path ? -1 : 1)
      assert.deepEqual(
        changes.slice(0, -1).sort(byPath),
        [
          { operation: 'modify', path: 'a.txt', oldText: 'in the project', newText: 'new' },
          { operation: 'add', path: join(root, 'new/b.txt'), newText: 'new' },
          { operation: 'add', path: outside, newText: 'new' },
          { operation: 'modify', path: 'large.txt', newText: 'new' },
          { operation: 'add', path: '../elsewhere/a.txt', newText: 'new' },
        ].sort(byPath),
      )
      assert.equal(changes.at(-1)?.oldText, 'in the folder of the subagent')
    })

    it("don't show it if they are withdrawn meanwhile", async () => {
      const session = await begin()
      const abort = new AbortController()
      const asking = client.requestPermission(request('a.txt'), abort.signal)
      abort.abort()
      assert.deepEqual(await asking, { type: 'cancelled' })
      void client.requestPermission(request('sub/a.txt'), never)
      await until(() => waiting(session).length > 0)
      assert.deepEqual(
        asked(session).map(({ toolCallId }) => toolCallId),
        ['sub/a.txt'],
      )
    })
  })

  describe('of a subagent', () => {
    it("use the subagent's folder for files and commands", async () => {
      const session = await begin()
      session.receive({ type: 'subagent', subagent: { sessionId: 'child', cwd: join(root, 'sub') } })
      fixture.agent.say('s1', { type: 'subagent', subagent: { sessionId: 'child', cwd: join(root, 'sub') } })
      assert.equal(
        await client.readTextFile({ sessionId: 'child', path: 'a.txt' }),
        'in the folder of the subagent',
      )
      await client.writeTextFile({ sessionId: 'child', path: 'new.txt', content: 'x' })
      assert.equal(readFileSync(join(root, 'sub/new.txt'), 'utf8'), 'x')
      const { terminalId } = await client.createTerminal({
        sessionId: 'child',
        command: 'pwd',
        args: [],
        env: [],
      })
      await client.waitForTerminalExit('child', terminalId)
      assert.equal((await client.terminalOutput('child', terminalId)).output.trim(), join(root, 'sub'))
      // it asks outside of its own folder, even in a folder of the session
      const outside = client.readTextFile({ sessionId: 'child', path: join(root, 'a.txt') })
      await until(() => waiting(session).length === 1)
      session.requests.answerPermission(waiting(session)[0]?.requestId ?? '', 'refuse')
      await assert.rejects(outside, /outside of the session/)
    })

    it('are where it works for rules, and only in the folders of the session', async () => {
      const session = await begin()
      const sub = join(root, 'sub')
      fixture.agent.say('s1', { type: 'subagent', subagent: { sessionId: 'child', cwd: sub } })
      const { current } = fixture.controller
      const roots = current!.plan.setup
      assert.deepEqual(current!.placeOf('child'), { roots, cwd: sub })
      assert.deepEqual(current!.placeOf(session.sessionId), { roots })
    })

    it("never use a folder that the session doesn't have", async () => {
      const session = await begin()
      fixture.agent.say('s1', {
        type: 'subagent',
        subagent: { sessionId: 'child', cwd: join(directory, 'elsewhere'), additionalDirectories: ['/'] },
      })
      const reading = client.readTextFile({ sessionId: 'child', path: 'a.txt' })
      await until(() => waiting(session).length === 1)
      assert.match(asked(session)[0]?.description ?? '', /elsewhere/)
      session.requests.answerPermission(asked(session)[0]?.requestId ?? '', 'refuse')
      await assert.rejects(reading, /outside of the session/)
    })
  })

  describe('for protected files', () => {
    const PROTECTED = [
      '.vscode/settings.json',
      'x.code-workspace',
      '.git/hooks/pre-commit',
      '.husky/pre-push',
      '.mcp.json',
      '.claude/settings.json',
    ]

    it('ask before each write, never permanently', async () => {
      const session = await begin()
      for (const name of PROTECTED) {
        const writing = client.writeTextFile({ sessionId: 's1', path: name, content: 'evil' })
        await until(() => waiting(session).length === 1)
        const [question] = waiting(session)
        assert.ok(question)
        assert.deepEqual(
          question.options.map(({ kind }) => kind),
          ['allow_once', 'reject_once'],
        )
        session.requests.answerPermission(question.requestId, name === '.mcp.json' ? 'once' : 'refuse')
        if (name === '.mcp.json') await writing
        else await assert.rejects(writing, /what programs run/)
      }
      assert.equal(readFileSync(join(root, '.mcp.json'), 'utf8'), 'evil')
      await client.writeTextFile({ sessionId: 's1', path: 'b.txt', content: 'fine' })
      assert.equal(waiting(session).length, 0)
    })

    it("don't ask again for a change that the user has just allowed, but for any other", async () => {
      const session = await begin()
      mkdirSync(join(root, '.vscode'))
      writeFileSync(join(root, '.vscode/settings.json'), '{\n  "a": 1\n}\n')
      void session.prompt([{ type: 'text', text: 'go' }])
      const change = {
        operation: 'modify' as const,
        path: join(root, '.vscode/settings.json'),
        oldText: '"a": 1',
        newText: '"a": 2',
      }
      const outcome = client.requestPermission(
        {
          sessionId: 's1',
          title: 'Edit',
          subject: {
            type: 'tool_call',
            toolCall: { toolCallId: 't', kind: 'edit', content: [{ type: 'diff', changes: [change] }] },
          },
          options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
        },
        new AbortController().signal,
      )
      await until(() => waiting(session).length === 1)
      session.requests.answerPermission(waiting(session)[0]?.requestId ?? '', 'yes')
      await outcome
      const write = (content: string) =>
        client.writeTextFile({ sessionId: 's1', path: '.vscode/settings.json', content })
      const other = write('{\n  "a": 2,\n  "b": "evil"\n}\n')
      await until(() => waiting(session).length === 1)
      session.requests.answerPermission(waiting(session)[0]?.requestId ?? '', 'refuse')
      await assert.rejects(other)
      await write('{\n  "a": 2\n}\n')
      assert.match(readFileSync(join(root, '.vscode/settings.json'), 'utf8'), /"a": 2/)
      // the permission was valid for only one write
      const again = write('{\n  "a": 1\n}\n')
      await until(() => waiting(session).length === 1)
      session.requests.answerPermission(waiting(session)[0]?.requestId ?? '', 'refuse')
      await assert.rejects(again)
    })

    it('report immediately what the agent writes by itself, and can revert it', async () => {
      mkdirSync(join(root, '.git/hooks'), { recursive: true })
      const config = '[core]\n\tbare = false\n[branch "main"]\n\tremote = origin\n'
      writeFileSync(join(root, '.git/config'), config)
      writeFileSync(join(root, '.mcp.json'), '{}')
      const session = await begin()
      void session.prompt([{ type: 'text', text: 'go' }])
      await snapshot()
      writeFileSync(join(root, '.git/hooks/pre-commit'), 'evil')
      fixture.changedOnDisk(join(root, '.git/hooks/pre-commit'))
      await until(() => notices(session).length === 1)
      const [first] = notices(session)
      assert.equal(first?.severity, 'warning')
      assert.deepEqual(first?.files, [join(root, '.git/hooks/pre-commit')])
      const open = fixture.controller.current
      assert.ok(open)
      const { changes } = open
      assert.deepEqual(
        changes.list().map(({ path }) => path),
        [join(root, '.git/hooks/pre-commit')],
      )
      const { unchanged } = await changes.undo({ paths: [join(root, '.git/hooks/pre-commit')] })
      assert.deepEqual(unchanged, [])
      assert.equal(existsSync(join(root, '.git/hooks/pre-commit')), false)
      // what no watcher reported is found at the end of the turn; changes by a push aren't reported
      writeFileSync(join(root, '.git/config'), `${config}[branch "b"]\n\tmerge = refs/heads/b\n`)
      writeFileSync(join(root, '.mcp.json'), '{"evil": 1}')
      fixture.saved.fire(join(root, 'a.txt'))
      const [call] = fixture.agent.prompts
      assert.ok(call)
      fixture.agent.endTurn(call)
      await until(() => notices(session).length === 2)
      assert.deepEqual(notices(session)[1]?.files, [join(root, '.mcp.json')])
    })

    it("report a half-written file, and don't attribute its content to the user", async () => {
      for (const [name, caught] of [
        ['.mcp.json', ''],
        ['x.code-workspace', '{ "evil": '],
      ] as const) {
        writeFileSync(join(root, name), '{ "mine": 1 }')
        const { promise, resolve } = deferred<string[]>()
        fixture.files.protectedFiles.hookFolders = () => promise
        const session = fixture.controller.current?.session ?? (await begin())
        const turns = fixture.agent.prompts.length
        void session.prompt([{ type: 'text', text: 'go' }])
        await until(() => fixture.agent.prompts.length > turns)
        const told = notices(session).length
        // the turn has begun, and takes its snapshot now
        writeFileSync(join(root, name), caught)
        fixture.looked.clear()
        resolve([])
        await snapshot()
        writeFileSync(join(root, name), '{ "evil": 1 }')
        fixture.agent.endTurn(fixture.agent.prompts[turns]!)
        await until(() => notices(session).length > told)
        assert.deepEqual(notices(session).at(-1)?.files, [join(root, name)])
        assert.deepEqual(fixture.controller.current?.changes.list(), [])
      }
    })

    it("don't report what the user saved or allowed", async () => {
      writeFileSync(join(root, '.mcp.json'), '{}')
      mkdirSync(join(root, '.vscode'))
      writeFileSync(join(root, '.vscode/settings.json'), '{}')
      const session = await begin()
      void session.prompt([{ type: 'text', text: 'go' }])
      await snapshot()
      writeFileSync(join(root, '.vscode/settings.json'), '{ "mine": 1 }')
      fixture.saved.fire(join(root, '.vscode/settings.json'))
      const writing = client.writeTextFile({ sessionId: 's1', path: '.mcp.json', content: 'allowed' })
      await until(() => waiting(session).length === 1)
      session.requests.answerPermission(waiting(session)[0]?.requestId ?? '', 'once')
      await writing
      writeFileSync(join(root, 'x.code-workspace'), 'evil')
      const [call] = fixture.agent.prompts
      assert.ok(call)
      fixture.agent.endTurn(call)
      await until(() => notices(session).length === 1)
      assert.deepEqual(notices(session)[0]?.files, [join(root, 'x.code-workspace')])
    })
  })

  it('ask if a rule allows the command but its environment has changed', async () => {
    const session = await begin()
    void session.prompt([{ type: 'text', text: 'go' }])
    session.requests.answerByRule = async () => ({
      optionId: 'yes',
      rule: { action: 'allow', scope: 'user', text: 'echo *' },
    })
    await client.requestPermission(
      {
        sessionId: 's1',
        title: 'Run',
        subject: {
          type: 'tool_call',
          toolCall: { toolCallId: 't', kind: 'execute', rawInput: { command: 'echo hi' } },
        },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      },
      new AbortController().signal,
    )
    const run = (env: Array<{ name: string; value: string }>) =>
      client.createTerminal({ sessionId: 's1', command: 'echo hi', args: [], env })
    const plain = await run([{ name: 'NO_COLOR', value: '1' }])
    await client.waitForTerminalExit('s1', plain.terminalId)
    const changed = run([{ name: 'BASH_ENV', value: './evil' }])
    await until(() => waiting(session).length === 1)
    assert.match(waiting(session)[0]?.description ?? '', /BASH_ENV=\.\/evil/)
    session.requests.answerPermission(waiting(session)[0]?.requestId ?? '', 'refuse')
    await assert.rejects(changed, /environment/)
    const other = await client.createTerminal({
      sessionId: 's1',
      command: 'echo other',
      args: [],
      env: [{ name: 'BASH_ENV', value: './mine' }],
    })
    await client.waitForTerminalExit('s1', other.terminalId)
    assert.equal(session.state.terminals.get(other.terminalId)?.command, 'BASH_ENV=./mine echo other')
  })
})
