import * as l10n from '@vscode/l10n'
import type { Handlers } from '../../bridge/contract.ts'
import type { ConversationHead } from '../../bridge/conversation.ts'
import { nearestPrompt } from '../../bridge/conversation.ts'
import { type ConversationHostMessages, conversationMessages } from '../../bridge/conversation-messages.ts'
import { type DisposableStore, toDisposable } from '../../common/disposable.ts'
import type { ReducingState } from '../../conversation/reducer/reducing-state.ts'
import { Session } from '../../conversation/session.ts'
import { ABSENT, AbsentAgent } from '../../sessions/runners/absent-agent.ts'
import { FindSearch } from '../conversation/find-search.ts'
import { PatchPump } from '../conversation/patch-pump.ts'
import { REPLAY_VIEW_TYPE } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'

/**
 * Messages for actions of the user that a recording doesn't support. Other messages of the page, for example about the focus or a draft,
 * are ignored.
 */
const ACTIONS =
  /^(?:conversation\/(?:link|file|diff|insertCode|openText|applyCode|openBlob|card|command)|changes\/|actions\/)/

/**
 * A recording as a read-only conversation. Of the messages of its page, only those that read the conversation are handled. Other parts of
 * Parley can't find its session, so nothing in the recording can be sent, approved, opened, run or written.
 */
export class ReplayTab extends WebviewTab<ConversationHostMessages> {
  readonly #options: WebviewTabOptions
  #session: Session | undefined
  #title = ''
  #shows = 0
  #pump: PatchPump | undefined
  #find: FindSearch | undefined

  constructor(options: WebviewTabOptions) {
    super(options, { viewType: REPLAY_VIEW_TYPE, page: 'conversation', retain: true })
    this.#options = options
  }

  /** Shows a recorded conversation instead of the previous one. */
  show(state: ReducingState, agentName: string, title: string): void {
    const setup = { cwd: '', additionalDirectories: [], mcpServers: [] }
    const agent = new AbsentAgent(agentName, undefined)
    const session = new Session({ agent, sessionId: 'recording', setup, phase: 'ready', state })
    session.agentEnded(ABSENT)
    this.#find?.stop()
    this.#session?.dispose()
    this.#session = session
    this.#title = title
    this.#shows++
    this.open()
    this.title = title
    this.#pump?.reset()
  }

  protected connect(connection: WebviewConnection<ConversationHostMessages>, own: DisposableStore): void {
    const session = () => this.#session
    const pump = own.add(
      new PatchPump({
        session,
        end: () => undefined,
        head: () => this.#head(),
        running: () => undefined,
        draft: () => ({ text: '', chips: [], items: [] }),
        composerHeight: () => undefined,
        returned: () => [],
        sendSnapshot: snapshot => connection.trySend('conversation/snapshot', snapshot),
        sendPatch: patch => connection.trySend('conversation/patch', patch),
        sendReturned: () => {},
      }),
    )
    const find = own.add(
      new FindSearch(
        () => this.#session?.state,
        result => connection.send('find/results', result),
      ),
    )
    this.#pump = pump
    this.#find = find
    const entries = (key: string) => (key === this.#key && this.#session?.state.entries) || []
    connection.handle(conversationMessages, {
      ...this.#refusals(),
      'conversation/ready': ({ isShown }) => {
        if (!isShown) pump.begin()
      },
      'conversation/entries': ({ key, from, to }) => pump.entriesFetched(entries(key).slice(from, to)),
      'conversation/terminals': ({ ids }) => pump.watchTerminals(ids),
      'conversation/toolCalls': ({ ids }) => pump.showToolCalls(ids),
      'conversation/findPrompt': ({ key, from, direction }) =>
        nearestPrompt(entries(key), from, direction) ?? null,
      'find/start': ({ id, query }) => find.start(id, query),
      'find/stop': () => find.stop(),
      'conversation/copy': ({ text }) => this.#options.workbench.copy(text),
    })
    pump.begin()
    own.add(
      toDisposable(() => {
        this.#pump = undefined
        this.#find = undefined
        this.#session?.dispose()
        this.#session = undefined
      }),
    )
  }

  protected shown(): void {
    this.#pump?.setVisible(this.isVisible)
  }

  get #key(): string {
    return `recording ${this.#shows}`
  }

  /** Returns handlers that refuse all messages, and that show the reason if the user tries an action. */
  #refusals(): Handlers<typeof conversationMessages> {
    const reason = l10n.t("This is a recording. It can't be continued, and nothing can be opened from it.")
    const { dialogs } = this.#options.workbench
    const handlers = Object.entries(conversationMessages).map(([name, message]) => [
      name,
      () => {
        if ('answer' in message) throw new Error(reason)
        if (ACTIONS.test(name)) dialogs.showStatus(reason)
      },
    ])
    return Object.fromEntries(handlers) as Handlers<typeof conversationMessages>
  }

  #head(): ConversationHead {
    const state = this.#session?.state
    return {
      ...{ phase: 'ended', key: this.#key, title: this.#title, activity: 'idle', recording: true },
      ...{ pendingRequests: [], rewinds: [], queue: [], queuePaused: false, mcpServers: [] },
      plans: state ? [...state.plans] : [],
      ...{ configOptions: [], pendingOptions: [], rememberedOptions: {}, defaultOptions: {}, commands: [] },
      ...(state?.usage && { usage: state.usage }),
      prompt: { image: false, audio: false, embeddedContext: false },
      ...{ cards: [], agents: [] },
    }
  }
}
