import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { ConversationHead } from '../../src/bridge/conversation.ts'
import { floor } from '../host/vscode-versions.ts'
import { waitFor } from '../host/wait-for.ts'

const extension = vscode.extensions.getExtension('parley.parley')!
const { contributes } = extension.packageJSON
const commands = (contributes.commands as Array<{ command: string }>).map(({ command }) => command)
/** Parley's own `vscode` object, since VS Code gives each extension a separate one. */
const api: typeof vscode = createRequire(join(extension.extensionPath, 'dist', 'extension.cjs'))('vscode')

/** What the extension that runs the suite records from before Parley's activation on; see its `main.cjs`. */
interface Created {
  /** messages to the page in the side bar */
  messages: RpcMessage[]
  toHost?(message: unknown): void
  onMessage: ((message: RpcMessage) => void) | undefined
  onOutput: (() => void) | undefined
}
const { created } = vscode.extensions.getExtension<{ created: Created }>(
  'parley-tests.parley-test-host',
)!.exports

/** Messages that pages get all the time, whatever the user does. */
const ROUTINE = new Set([
  'conversation/patch',
  'conversation/snapshot',
  'conversation/returnPrompts',
  'composer/activeContext',
  'changes/shown',
  'find/results',
  'appearance/tokens',
  'appearance/diff',
  'history/state',
  'manageAgents/state',
  'mcp/state',
  'compare/state',
  'compare/files',
])
/** Commands for which it's enough to show a page, since they do nothing else. */
const SHOWING = new Set([
  'command: parley.conversation.focus',
  'page: view/page',
  'page: conversation/focus',
  'command: workbench.action.focusActiveEditorGroup',
])
const SHOWS = /^parley\.(showConversation|focusConversation|openHistory|refreshHistory)$/

interface RpcMessage {
  id?: number | string | null
  method?: string
  params?: { head?: object; ops?: Array<{ head?: object; cleared?: Array<keyof ConversationHead> }> }
}

/** Records what Parley shows: a message, a picker, a dialog, an editor, a view, or a change in a page. */
class ShownRecorder {
  readonly shown: string[] = []
  readonly errors: string[] = []
  readonly contexts = new Map<string, unknown>()
  /** The state of the page in the side bar, besides its messages. */
  head: Partial<ConversationHead> = {}
  #restore: Array<() => void> = []

  start(): void {
    const note = (text: string) => {
      this.shown.push(text)
    }
    const { window, commands, env } = api
    for (const kind of ['Information', 'Warning', 'Error'] as const)
      this.#replace(window, `show${kind}Message`, () => async (text: string) => {
        note(`message: ${text}`)
        if (kind === 'Error') this.errors.push(text)
      })
    for (const name of ['setStatusBarMessage', 'createStatusBarItem'] as const)
      this.#replace(window, name, run => (...args: unknown[]) => {
        note('status bar')
        return run.apply(window, args)
      })
    // as if the user pressed Escape
    for (const name of ['showQuickPick', 'showInputBox', 'showOpenDialog', 'showSaveDialog'] as const)
      this.#replace(window, name, () => async () => note(name))
    for (const name of ['createQuickPick', 'createInputBox'] as const)
      this.#replace(window, name, create => () => {
        const input = create.call(window)
        const show = input.show.bind(input)
        input.show = () => {
          note(name)
          show()
          input.hide()
        }
        return input
      })
    for (const name of ['showTextDocument', 'createWebviewPanel', 'withProgress', 'createTerminal'] as const)
      this.#replace(window, name, run => (...args: unknown[]) => {
        note(name)
        const made = run.apply(window, args)
        if (name === 'createWebviewPanel') this.#watch(made.webview)
        return made
      })
    this.#replace(commands, 'executeCommand', run => (...args: unknown[]) => {
      const [command, name, value] = args
      if (command === 'setContext') this.contexts.set(String(name), value)
      else note(`command: ${command}`)
      return run.apply(commands, args)
    })
    this.#replace(env, 'openExternal', () => async () => note('openExternal'))
    created.onOutput = () => note('output')
    created.onMessage = message => this.#look(message, true)
    for (const message of created.messages) this.#look(message, true)
  }

  stop(): void {
    created.onOutput = undefined
    created.onMessage = undefined
    for (const restore of this.#restore.splice(0)) restore()
  }

  /** Sends a message to Parley, like the page in the side bar. */
  send(method: string, params: object, id?: string): void {
    created.toHost?.({ jsonrpc: '2.0', method, params, ...(id !== undefined && { id }) })
  }

  // biome-ignore lint/suspicious/noExplicitAny: a stand-in has the overloads of what it replaces
  #replace(owner: any, name: string, make: (original: any) => unknown): void {
    const original = owner[name]
    owner[name] = make(original)
    assert.notEqual(owner[name], original, name)
    this.#restore.push(() => {
      owner[name] = original
    })
  }

  /** Records a message to a page. */
  #look({ method, params }: RpcMessage, isSideBar = false): void {
    if (method === undefined) return
    if (!ROUTINE.has(method)) this.shown.push(`page: ${method}`)
    const before = this.head
    if (!isSideBar) return
    const head: Partial<ConversationHead> = { ...(params?.head ?? before) }
    for (const op of params?.ops ?? []) {
      Object.assign(head, op.head)
      for (const cleared of op.cleared ?? []) delete head[cleared]
    }
    this.head = head
    for (const part of ['key', 'phase', 'cards', 'queue'] as const)
      if (JSON.stringify(head[part]) !== JSON.stringify(before[part]))
        this.shown.push(`page: another ${part}`)
    // a turn that waited for an answer may end without another message that it's running
    const wasAtWork = before.activity === 'running' || before.activity === 'requires_action'
    if (wasAtWork && head.activity === 'idle') this.shown.push('page: the turn ended')
  }

  #watch(webview: vscode.Webview): void {
    const post = webview.postMessage.bind(webview)
    Object.defineProperty(webview, 'postMessage', {
      value: (message: RpcMessage) => {
        this.#look(message)
        return post(message)
      },
    })
  }
}

/** Buttons in title bars run commands with other names, which are tested anyway. */
const isButton = (command: string) => /^parley\.(sideBar|tab)\./.test(command)

/** Toggles a view's content. The only visible result is the context key, which changes the button. */
const TOGGLES: Record<string, string> = { 'parley.followAgent': 'parley.followingAgent' }

/** Text that no message may contain: internals of the program, or VS Code's own errors about commands. */
const INSIDE = /\bat \S+ \(|\bError:|undefined|\[object|is not a function|Cannot read|not found/

const recorder = new ShownRecorder()

describe('every command shows something other than an error', () => {
  // each test runs nearly a hundred commands
  /** Restores the state of the test, whatever the previous command did. */
  type Prepare = () => Promise<void>

  before(function () {
    // Parley is an ES module, which gets a different API object than `require` returns
    if (vscode.version === floor.version) this.skip()
    recorder.start()
  })
  after(async () => {
    recorder.stop()
    await closeEditors()
    await vscode.commands.executeCommand('workbench.action.closePanel')
    await vscode.commands.executeCommand('workbench.view.explorer')
  })

  async function runAll(prepare: Prepare): Promise<void> {
    const wrong: string[] = []
    for (const command of commands) {
      if (isButton(command)) continue
      await closeEditors()
      await prepare()
      const { shown, errors, contexts } = recorder
      shown.length = 0
      errors.length = 0
      const toggle = TOGGLES[command]
      const before = toggle && contexts.get(toggle)
      await vscode.commands.executeCommand(command)
      const feedback = () =>
        // Restricted Mode always shows the card that says why nothing starts
        shown.some(one => !SHOWING.has(one) || SHOWS.test(command) || isUntrusted(recorder.head)) ||
        (toggle && contexts.get(toggle) !== before)
      await waitFor('feedback', feedback, { interval: 20 }).catch(() => {
        wrong.push(`${command}: silent`)
      })
      if (toggle) await vscode.commands.executeCommand(command)
      wrong.push(...errors.map(text => `${command}: error: ${text}`))
      const said = shown.filter(text => text.startsWith('message: ') && INSIDE.test(text))
      wrong.push(...said.map(text => `${command}: ${text}`))
    }
    assert.deepEqual(wrong, [])
  }

  /** Closes all editors, without a question about unsaved documents. */
  async function closeEditors(): Promise<void> {
    while (vscode.window.activeTextEditor?.document.isUntitled)
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor')
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
  }

  const until = (what: string, holds: (head: Partial<ConversationHead>) => boolean) =>
    waitFor(what, () => holds(recorder.head), { interval: 20 })
  const isEmpty = ({ phase, progress }: Partial<ConversationHead>) => phase === 'empty' && !progress
  const isUntrusted = ({ cards = [] }: Partial<ConversationHead>) =>
    cards.some(({ id }) => id === 'untrusted')
  const isUnused = ({ phase, title }: Partial<ConversationHead>) => phase === 'ready' && !title

  /** Waits for the new session, since another unused session would look the same. */
  async function begin(): Promise<void> {
    if (isUnused(recorder.head)) return
    await vscode.commands.executeCommand('parley.newSessionWithAgent', 'demo')
    await until('a session', isUnused)
  }

  let prompts = 0
  function send(text: string): void {
    const id = `sent-${++prompts}`
    recorder.send(
      'conversation/enqueue',
      { key: recorder.head.key, id, draft: { text, chips: [], items: [] } },
      id,
    )
  }

  it('without a session', async () => {
    await vscode.commands.executeCommand('parley.showConversation')
    await runAll(async () => {
      if (isEmpty(recorder.head)) return
      // shows the list of agents, since none is configured
      await vscode.commands.executeCommand('parley.newSession')
      await until('no session', isEmpty)
    })
  })

  it('in a session without a prompt', async () => {
    await runAll(async () => {
      await begin()
    })
  })

  it('while a turn is running', async () => {
    const runs = ({ phase, activity }: Partial<ConversationHead>) =>
      phase === 'ready' && activity === 'running'
    await runAll(async () => {
      if (runs(recorder.head)) return
      await begin()
      send('/slow 3000')
      await until('a turn', runs)
    })
    await vscode.commands.executeCommand('parley.cancelTurn')
  })

  it('while a permission request is pending', async () => {
    const asks = ({ phase, pendingRequests = [] }: Partial<ConversationHead>) =>
      phase === 'ready' && pendingRequests.length > 0
    await runAll(async () => {
      if (asks(recorder.head)) return
      await begin()
      send('/edit planets.js')
      await until('a request', asks)
    })
    await vscode.commands.executeCommand('parley.cancelTurn')
  })

  it('in Restricted Mode', async () => {
    const { workspace } = api
    const trusted = Object.getOwnPropertyDescriptor(workspace, 'isTrusted')!
    // pretends that VS Code reports it, since this window opens only trusted folders
    Object.defineProperty(workspace, 'isTrusted', { ...trusted, get: () => false })
    try {
      await vscode.commands.executeCommand('parley.newSession')
      await until('the card of Restricted Mode', isUntrusted)
      await runAll(async () => {})
    } finally {
      Object.defineProperty(workspace, 'isTrusted', trusted)
    }
  })
})
