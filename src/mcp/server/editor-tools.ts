import * as l10n from '@vscode/l10n'
import type { McpServer, Roots as SessionRoots } from '../../acp/model.ts'
import type { SettingLayer } from '../../agents/setting-layers.ts'
import { deferred, raceAbort } from '../../common/async.ts'
import { type Disposable, Owner, toDisposable } from '../../common/disposable.ts'
import { EDITOR_TOOL_NAMES, type EditorToolName } from '../../common/editor-tool-names.ts'
import { CancelledError, messageOf } from '../../common/errors.ts'
import { Emitter, type Event } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { readSettingValue, SETTINGS } from '../../common/settings.ts'
import type { McpServerNote } from '../server-note.ts'
import type { McpSwitches } from '../switches.ts'
import type { EditorFeatures } from './editor-features.ts'
import type { RootGuard } from './roots.ts'
import type { ToolConversation } from './tool.ts'
import type { Endpoint, ToolServer } from './tool-server.ts'

export interface EditorToolsOptions {
  /** Loaded with the first session that gets the tools. */
  features: () => Promise<EditorFeatures>
  /** `parley.editorTools`; see {@link allowedTools} */
  names: () => readonly string[]
  /** Where it's stored that the user has turned the tools off for a session. */
  switches: Pick<McpSwitches, 'isOffIn' | 'set'>
  onDidChangeNames: (listener: () => void) => Disposable
  guard: (roots: SessionRoots) => RootGuard
  /** A program that connects an agent without HTTP to the server. */
  bridge: (server: Exclude<McpServer, { type: 'stdio' }>) => Promise<McpServer>
  version: string
  secrets: Pick<SecretRegistry, 'add'>
  log: Logger
}

/** What the user's settings allow. A workspace, which may be anyone's, can only take tools away. */
export function allowedTools(layers: readonly SettingLayer[]): readonly string[] {
  let names: readonly string[] = SETTINGS.editorTools.default
  for (const { scope, value } of layers) {
    const own = readSettingValue('editorTools', value)
    const isOfUser = scope === 'default' || scope === 'user'
    names = isOfUser ? own : names.filter(name => own.includes(name))
  }
  return names
}

/** The editor's tools among the servers that are switched off. */
const SWITCH = 'parley.editorTools'

/** The editor's tools for one session, from the plan until the session ends. */
export interface SessionTools extends Disposable {
  /** To send to the agent. */
  readonly server: McpServer
  /** The session with this key is open: tools may ask in it and change files from now on. */
  begin(conversation: ToolConversation, session: string): void
  /** The user turns the tools off and on for this session. */
  readonly isOn: boolean
  turn(isOn: boolean): void
  readonly onDidChange: Event<void>
}

export interface OfferedTools {
  tools?: SessionTools
  note?: McpServerNote
}

/**
 * Offers the editor's own MCP server to sessions. Nothing of it is loaded, and nothing listens, before the first session of an
 * agent that takes it and after the last one.
 */
export class EditorTools extends Owner {
  readonly #options: EditorToolsOptions
  readonly #open = new Set<OpenTools>()
  #starting = 0
  #server: Promise<ToolServer> | undefined

  constructor(options: EditorToolsOptions) {
    super()
    this.#options = options
    this.register(
      options.onDidChangeNames(() => {
        for (const tools of this.#open) tools.changed()
      }),
    )
    this.register(
      toDisposable(() => {
        for (const tools of [...this.#open]) tools.dispose()
      }),
    )
  }

  /** The tools that the settings turn on, in the order of the list. */
  get #names(): EditorToolName[] {
    const wanted = new Set(this.#options.names())
    return EDITOR_TOOL_NAMES.filter(name => wanted.has(name))
  }

  /**
   * The tools for a session with these folders. `taken`: names of the session's other MCP servers. `session`: its key, or
   * that of the one it's forked from; absent for a new one. Never rejects.
   */
  async offer(
    roots: SessionRoots,
    capabilities: { http: boolean; stdio: boolean },
    taken: readonly string[],
    session?: string,
  ): Promise<OfferedTools> {
    const isBridged = !capabilities.http
    if (isBridged && !capabilities.stdio) return {}
    if (this.#names.length === 0 || this.owned.isDisposed) return {}
    const name = taken.includes('vscode') ? 'vscode-editor' : 'vscode'
    const base = { name, type: 'http', source: 'parley.editorTools' }
    this.#starting += 1
    try {
      const tools = await this.#start(name, roots, isBridged, session)
      return { tools, note: { ...base, passed: true, ...(isBridged && { isBridged }) } }
    } catch (error) {
      this.#options.log.error(`The editor's MCP server couldn't be started: ${messageOf(error)}`)
      const reason = l10n.t("Couldn't start the editor tools: {0}", messageOf(error))
      return { note: { ...base, passed: false, reason } }
    } finally {
      this.#starting -= 1
      this.#closeUnused()
    }
  }

  /** What is said about the tools of a session that an earlier window began, whose server ended with that window. */
  ended({ http, stdio }: { http: boolean; stdio: boolean }): McpServerNote | undefined {
    if (this.#names.length === 0 || !(http || stdio)) return undefined
    const reason = l10n.t(
      "The agent's connection to the editor ended with the window. Restart the agent to connect it again.",
    )
    return { name: 'vscode', type: 'http', source: 'parley.editorTools', passed: false, reason }
  }

  async #start(
    name: string,
    roots: SessionRoots,
    isBridged: boolean,
    session: string | undefined,
  ): Promise<SessionTools> {
    const { features, guard, bridge, secrets, switches, log } = this.#options
    const [server, { Roots }, loaded] = await Promise.all([
      this.#listening(),
      import('./roots.ts'),
      features(),
    ])
    if (this.owned.isDisposed) throw new CancelledError()
    const isOn = session === undefined || !switches.isOffIn(session, SWITCH)
    const tools = new OpenTools({
      isOn,
      store: (key, on) => switches.set({ server: SWITCH, session: key }, on),
      closed: () => {
        this.#open.delete(tools)
        this.#closeUnused()
      },
    })
    const endpoint = server.add({
      features: loaded,
      roots: new Roots(guard(roots)),
      conversation: () => tools.conversation(),
      tools: () => (tools.isOn ? this.#names : []),
    })
    // it's in the message that starts the session, and agents may repeat it
    secrets.add(endpoint.token)
    this.#open.add(tools)
    const headers = [{ name: 'Authorization', value: `Bearer ${endpoint.token}` }]
    const own = { type: 'http' as const, name, url: endpoint.url, headers }
    try {
      tools.started(endpoint, isBridged ? await bridge(own) : own)
    } catch (error) {
      endpoint.close()
      tools.dispose()
      throw error
    }
    log.debug(`The editor's MCP server has an address for a session in ${roots.cwd}.`)
    return tools
  }

  #listening(): Promise<ToolServer> {
    const { version, log } = this.#options
    if (!this.#server) {
      const listening = import('./tool-server.ts').then(({ ToolServer }) => ToolServer.listen(version, log))
      this.#server = listening
      listening.catch(() => {
        if (this.#server === listening) this.#server = undefined
      })
    }
    return this.#server
  }

  #closeUnused(): void {
    const listening = this.#server
    if (!listening || this.#open.size > 0 || this.#starting > 0) return
    this.#server = undefined
    void listening.then(
      server => server.close(),
      () => {},
    )
  }
}

/** How long a tool that asks the user waits for the session, whose agent may call it before it has answered `session/new`. */
const SESSION_MS = 30_000

interface OpenToolsOptions {
  isOn: boolean
  /** Stores for the session with this key whether they're on. */
  store: (session: string, isOn: boolean) => void
  closed: () => void
}

class OpenTools implements SessionTools {
  readonly #options: OpenToolsOptions
  readonly #conversation = deferred<ToolConversation>()
  readonly #over = new AbortController()
  readonly #change = new Emitter<void>()
  readonly onDidChange = this.#change.event
  #endpoint: Endpoint | undefined
  #server: McpServer | undefined
  #isOn: boolean
  #session: string | undefined

  constructor(options: OpenToolsOptions) {
    this.#options = options
    this.#isOn = options.isOn
  }

  started(endpoint: Endpoint, server: McpServer): void {
    this.#endpoint = endpoint
    this.#server = server
  }

  get server(): McpServer {
    return this.#server!
  }

  begin(conversation: ToolConversation, session: string): void {
    this.#session = session
    // also of a fork, whose key is new
    if (!this.#isOn) this.#options.store(session, false)
    this.#conversation.resolve(conversation)
  }

  conversation(): Promise<ToolConversation> {
    const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(SESSION_MS)])
    return raceAbort(this.#conversation.promise, signal)
  }

  get isOn(): boolean {
    return this.#isOn
  }

  turn(isOn: boolean): void {
    if (this.#isOn === isOn) return
    this.#isOn = isOn
    if (this.#session !== undefined) this.#options.store(this.#session, isOn)
    this.changed()
    this.#change.fire()
  }

  changed(): void {
    this.#endpoint?.toolsChanged()
  }

  dispose(): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.#endpoint?.close()
    this.#change.dispose()
    this.#options.closed()
  }
}
