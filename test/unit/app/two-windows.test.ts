import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { LAYERED_SETTINGS } from '../../../src/agents/setting-layers.ts'
import { createWindowServices } from '../../../src/app/app-services.ts'
import { createEditorServices } from '../../../src/app/editor-services.ts'
import { CommandId, ContextKey } from '../../../src/app/ids.ts'
import type { Platform } from '../../../src/app/platform.ts'
import { createProcessScope, type ProcessScope } from '../../../src/app/process-scope.ts'
import type { StatusItem } from '../../../src/app/workbench.ts'
import { DisposableStore } from '../../../src/common/disposable.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { unicodeOnly } from '../../../src/editor/files/text-files.ts'
import { referenceOf } from '../../../src/sessions/open-session.ts'
import { type RequestSummary, requestSummaries } from '../../../src/sessions/request-notifications.ts'
import { projectDirectory } from '../../host/paths.ts'
import { until } from '../../support/until.ts'
import { fixtureAgent } from '../../ui/support/fixture-agent.ts'

/** Anything that nobody asks for in these tests: events never fire, questions stay open. */
function unasked(path = ''): never {
  const call = () => (/(^|\.)(onDid\w*|follow\w*)$/.test(path) ? { dispose() {} } : new Promise(() => {}))
  return new Proxy(call, {
    get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : unasked(`${path}.${name}`)),
  }) as never
}

/** The given members, and others that nobody asks for. */
function some<T>(given: object, path = ''): T {
  return new Proxy(given, {
    get: (target, name) =>
      Reflect.has(target, name) || typeof name === 'symbol' || name === 'then'
        ? Reflect.get(target, name)
        : unasked(`${path}.${name}`),
  }) as T
}

describe('two windows of one process', () => {
  const own = new DisposableStore()
  let root: string

  before(function () {
    if (!process.getBuiltinModule('node:sqlite')) this.skip()
    root = realpathSync(mkdtempSync(join(tmpdir(), 'two-windows-')))
  })

  after(async () => {
    if (root === undefined) return
    own.dispose()
    for (const { guard } of started) await guard.closed
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })

  const started: ProcessScope[] = []
  let shared: ProcessScope | undefined

  /** Opens a window with an agent of its own, or with those of the user. */
  function open(name: string, agents?: Record<string, object>) {
    const folder = join(root, name)
    mkdirSync(folder, { recursive: true })
    const asked: string[] = []
    const notified: string[] = []
    const notices = { areAllowed: true, over: [] as AbortSignal[] }
    const executed: string[] = []
    const previewed: string[] = []
    const warned: string[] = []
    const told = { status: undefined as StatusItem | undefined, context: new Map<string, unknown>() }
    const settingValues: Record<string, unknown> = {
      ...{ keepAgentsRunning: 'off', agentRegistry: '', projectEnvironment: false },
    }
    const set = (name: string, value: unknown) => {
      settingValues[name] = value
    }
    const store = () => {
      const values = new Map<string, unknown>()
      return {
        get: <T>(key: string) => values.get(key) as T | undefined,
        set: (key: string, value: unknown) => void values.set(key, value),
      }
    }
    const workbench = some<Platform['workbench']>({
      isTrusted: true,
      language: 'en',
      folders: [{ name, path: folder }],
      roots: [{ name, scheme: 'file', path: folder }],
      settingValues,
      settingLayers: {
        ...Object.fromEntries(LAYERED_SETTINGS.map(setting => [setting, []])),
        editorTools: [{ scope: 'user', value: [] }],
        agents: [
          {
            scope: 'workspace',
            value: agents ?? { [`agent-${name}`]: fixtureAgent({ directory: root }, name) },
          },
        ],
      },
      network: {},
      hiddenFiles: [],
      linkStart: 'vscode://parley.parley',
      activeFile: async () => undefined,
      showStatusItem(item: StatusItem | undefined) {
        told.status = item
      },
      setContext: async (key: string, value: unknown) => void told.context.set(key, value),
      execute: async (command: string) => void executed.push(command),
      editors: some({ previewMarkdown: async (path: string) => void previewed.push(path) }, 'editors'),
      dialogs: some(
        {
          confirm: async (text: string, _options: object, ...buttons: string[]) => {
            asked.push(text)
            return buttons[0]
          },
          warn: async (text: string) => void warned.push(text),
          notify: async (text: string, choices: readonly string[], over: AbortSignal) => {
            notified.push(text)
            notices.over.push(over)
            if (!notices.areAllowed) return undefined
            return choices.findIndex(choice => /^allow/i.test(choice))
          },
        },
        'dialogs',
      ),
    })
    const global = join(root, 'global')
    const platform = some<Platform>({
      workbench,
      storage: {
        workspace: store(),
        global: store(),
        workspaceFolder: join(global, name),
        globalFolder: global,
      },
      ...{ version: '1.0.0', editor: 'Editor', issues: undefined, log: silentLogger },
      fileInExtension: (...names: string[]) => join(projectDirectory, ...names),
      logs: { write() {}, show() {}, showOwn() {} },
      secrets: new SecretRegistry(),
      secretStore: { get: async () => undefined, store: async () => {}, delete: async () => {} },
      workspaceIdentity: `file://${folder}`,
      settingsFolders: [],
      mcpLocations: { workspaceFile: undefined, userFolder: join(root, 'user'), workspaceIdentity: '' },
      encodings: unicodeOnly,
      documents: unasked('documents'),
      followFiles: () => ({ dispose() {} }),
    })
    if (!shared) {
      shared = createProcessScope({ ...platform, globalFolder: global }, own.add(new DisposableStore()))
      started.push(shared)
    }
    const window = own.add(new DisposableStore())
    const app = createWindowServices(platform, shared, window)
    const editor = createEditorServices(platform, app, window)
    const close = () => own.release(window)
    return { app, editor, folder, asked, notified, notices, executed, previewed, warned, told, set, close }
  }

  it('get the commands, questions and notifications of their own conversations', async () => {
    const one = open('one')
    const two = open('two')
    const run = (window: typeof one, command: keyof typeof one.editor.commands, ...args: unknown[]) =>
      window.editor.commands[command](...args)
    await run(two, CommandId.showHelp)
    assert.deepEqual([one.previewed.length, two.previewed.length], [0, 1])

    await run(two, CommandId.newSessionWithAgent, 'agent-two')
    const { controller } = two.app.surfaces.active
    await until(() => controller.phase === 'ready', 'a session')
    assert.deepEqual([one.asked.length, two.asked.length], [0, 1])
    assert.match(two.asked[0]!, /^Start two /)
    assert.equal(one.app.surfaces.active.controller.current, undefined)
    assert.equal(controller.current?.plan.setup.cwd, two.folder)

    await two.editor.prompt.send([], '[[permission]]')
    await until(() => two.notified.length === 1, 'the notification')
    await assert.rejects(run(one, CommandId.cancelTurn), /No turn is running/)
    await until(() => controller.current?.session.state.activity === 'idle', 'the end of the turn')
    assert.match(JSON.stringify(controller.current?.session.state.entries), /It was allowed/)
    assert.deepEqual([one.notified, one.asked], [[], []])
    for (const window of [one, two]) window.close()
    assert.equal(shared!.openSessions.list().length, 0)
  })

  it('show the same session, where both prompt and the first answer wins', async () => {
    const agents = { agent: fixtureAgent({ directory: root }, 'shared') }
    const [first, second] = [open('first', agents), open('second', agents)]
    const [mine, other] = [first.app.surfaces.active.controller, second.app.surfaces.active.controller]
    for (const { notices } of [first, second]) notices.areAllowed = false
    await first.editor.commands[CommandId.newSessionWithAgent]('agent')
    await until(() => mine.phase === 'ready', 'a session')
    const session = mine.current!
    await other.opener.reopen('restore', referenceOf(session))
    assert.equal(other.current, session)
    assert.deepEqual([first.app.manager.list().length, second.app.manager.list().length], [1, 0])

    first.app.drafts.set(session.key, { text: 'of the first window', chips: [], items: [] })
    assert.equal(second.app.drafts.get(session.key).text, '')

    await second.editor.prompt.send([], '[[permission]]')
    await until(() => first.notified.length === 1, 'the notification')
    assert.deepEqual(second.notified, [], 'only the window that opened the session notifies of it')
    for (const { app, told } of [first, second]) {
      assert.match(told.status?.label ?? '', /^shared: .*answer/)
      assert.deepEqual(
        [app.indicators.count('waiting'), told.context.get(ContextKey.questionWaits)],
        [1, true],
      )
      await until(() => app.windows.refresh() && app.windows.others().length === 0, 'none elsewhere')
      assert.equal((await app.windows.own()).length, 1)
    }
    await first.editor.prompt.send([], 'from the first window')
    await second.editor.prompt.send([], 'from the second window')
    for (const { prompts } of [mine, other])
      assert.deepEqual(
        prompts.queue.prompts.map(({ draft }) => draft.text),
        ['from the first window', 'from the second window'],
      )
    const [{ requestId, options }] = requestSummaries(session.session) as [RequestSummary]
    const answer = (controller: typeof mine, kind: string) =>
      controller.current!.session.requests.answerPermission(
        requestId,
        options.find(option => option.kind === kind)!.optionId,
      )
    assert.equal(answer(other, 'allow_once'), true)
    assert.equal(answer(mine, 'reject_once'), false)
    assert.equal(first.notices.over[0]?.aborted, true)
    const said = () => JSON.stringify(session.session.state.entries)
    await until(() => /from the first window.*from the second window/.test(said()), 'both prompts')
    await until(() => session.session.state.activity === 'idle', 'the end of the turns')
    assert.match(said(), /It was allowed/)

    // what a window shows now needs no notification in another one
    const visibility = new Emitter<void>()
    const seen = shared!.openSessions.addWindow({
      isVisible: () => true,
      onDidChangeVisibility: visibility.event,
    })
    await first.editor.prompt.send([], '[[permission]]')
    await until(() => session.session.state.activity === 'requires_action', 'the question')
    assert.equal(first.notified.length, 1)
    assert.equal(first.app.indicators.count('waiting'), 1)
    other.leave()
    assert.equal(second.app.indicators.count('waiting'), 0, 'it no longer shows the session')
    assert.equal(second.told.context.get(ContextKey.questionWaits), false)
    other.show(session)
    assert.equal(second.app.indicators.count('waiting'), 1)
    await second.editor.commands[CommandId.cancelTurn]()
    await until(() => session.session.state.activity === 'idle', 'the end of the turn')
    assert.equal(first.app.indicators.count('done'), 0)
    seen.dispose()

    second.close()
    assert.deepEqual([mine.phase, shared!.openSessions.list().length], ['ready', 1])
    const third = open('third', agents)
    const { controller } = third.app.surfaces.active
    await controller.opener.reopen('restore', referenceOf(session))
    first.close()
    await until(() => controller.phase === 'ended', 'the end of the session')
    assert.equal(shared!.openSessions.list().length, 0)
    await controller.opener.reopen('resume', referenceOf(session))
    assert.deepEqual([controller.phase, third.app.manager.list().length], ['ready', 1])
  })

  it('keep their own drafts and prompts, of which none gets lost with a window or with the process', async () => {
    const unsent = (text: string) => ({ text, chips: [], items: [] })
    const write = ({ app }: ReturnType<typeof open>, text: string) => {
      app.drafts.save('conversation', [{ id: `prompt ${text}`, draft: unsent(`prompt ${text}`) }])
      app.drafts.set('conversation', unsent(`draft ${text}`))
    }
    const kept = ({ app: { drafts } }: ReturnType<typeof open>) =>
      [drafts.get('conversation'), ...drafts.prompts('conversation')].map(({ text }) => text)
    const [left, right] = [open('left'), open('right')]
    write(left, 'on the left')
    write(right, 'on the right')
    const database = new (process.getBuiltinModule('node:sqlite').DatabaseSync)(
      join(root, 'global', 'conversations.db'),
    )
    const stored = (...texts: string[]) =>
      until(() => {
        const rows = database.prepare("SELECT text FROM unsent WHERE conversation = 'conversation'").all()
        const all = rows.map(({ text }) => JSON.parse(String(text)).text as string)
        return isDeepStrictEqual(
          new Set(all),
          new Set(texts.flatMap(text => [`draft ${text}`, `prompt ${text}`])),
        )
      }, texts.join())
    try {
      await stored('on the left', 'on the right')
      left.close()
      write(right, 'still on the right')
      await stored('on the left', 'still on the right')
      const again = open('left')
      assert.deepEqual(kept(again), ['draft on the left', 'prompt on the left'])

      const { pid } = spawnSync(process.execPath, ['-e', ''])
      database.prepare('UPDATE windows SET pid = ?').run(pid)
      shared = undefined
      assert.deepEqual(kept(open('left')), ['draft on the left', 'prompt on the left'])
      assert.deepEqual(kept(open('right')), ['draft still on the right', 'prompt still on the right'])
    } finally {
      database.close()
    }
  })

  it('take the settings of the process from one that is open, and tell the user there', async () => {
    shared = undefined
    const [old, now] = [open('old'), open('now')]
    const { processWindows } = shared!
    now.set('history.maximumSize', 7)
    assert.equal(processWindows.setting('history.maximumSize'), 7)
    void processWindows.warn('to the user')
    assert.deepEqual([old.warned, now.warned], [[], ['to the user']])
    now.close()
    old.set('history.maximumSize', 9)
    assert.equal(processWindows.setting('history.maximumSize'), 9)
    void processWindows.warn('again')
    assert.deepEqual([old.warned, now.warned], [['again'], ['to the user']])
    old.close()
    assert.equal(processWindows.setting('history.maximumSize'), 9, 'what is left to do needs the settings')
  })

  it('know what the other one works on, and show it there', async () => {
    const agents = { agent: fixtureAgent({ directory: root }, 'shared') }
    const [near, far] = [open('near', agents), open('far', agents)]
    await until(() => near.app.windows.used().includes(far.folder), 'the folder of the other window')
    await far.editor.commands[CommandId.newSessionWithAgent]('agent')
    const { controller } = far.app.surfaces.active
    await until(() => controller.phase === 'ready', 'a session')
    await far.editor.prompt.send([], '[[permission]]')
    const { session } = controller.current!
    await until(() => session.state.activity === 'idle', 'the end of the turn')
    await until(() => near.app.windows.others().length === 1, 'the session of the other window')
    assert.equal(near.app.windows.find('agent', session.sessionId)?.agentName, 'shared')
    assert.equal(far.app.windows.find('agent', session.sessionId), undefined)
    await near.app.surfaces.active.controller.opener.reopen('restore', referenceOf(controller.current!))
    assert.equal(near.app.windows.find('agent', session.sessionId), undefined, 'it is shown here, too')
    far.close()
    await until(() => near.app.windows.others().length === 0, 'the end of the other window')
  })
})
