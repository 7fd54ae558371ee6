import * as l10n from '@vscode/l10n'
import type { ContentBlock } from '../acp/model.ts'
import { Owner } from '../common/disposable.ts'
import type { Draft } from '../common/draft.ts'
import { Emitter, type Event } from '../common/event.ts'
import { type Attachment, promptOf, type StoredPrompt } from '../conversation/attachment.ts'
import { isEmptyPrompt } from '../conversation/blocks.ts'
import { PromptQueue, type PromptStorage } from '../conversation/prompts/prompt-queue.ts'
import { isCommand, rewindNote } from '../conversation/rewinds.ts'
import { type ContextSources, promptContent } from '../editor/mentions/prompt-content.ts'
import type { OpenSession } from './open-session.ts'
import type { OpenSessions } from './open-sessions.ts'

/** Stores the prompts of all conversations of the window. */
export interface PromptQueuesStorage extends PromptStorage {
  /** Returns the prompts of a conversation that another window left, in their order. The caller becomes responsible for the prompts. */
  claim(key: string): StoredPrompt[]
  /** Passes prompts to the window that continues their session. Returns whether the prompts were stored. */
  handOver(key: string, prompts: readonly StoredPrompt[]): boolean
  /** Returns the prompts that another window handed over together with a conversation's session, in their order. */
  arrive(key: string): StoredPrompt[]
  /** Deletes the prompts and drafts of a conversation whose session was deleted. */
  forget(key: string): void
  /** Fires with a conversation's key when prompts of this conversation arrived from another window. */
  readonly onDidTakeOver: Event<string>
}

/** Determines which prompts of a closed window are still sent, because the turn before them continues. */
export interface ContinuingPrompts {
  /** Whether the prompts of the conversation with this key are still sent. `undefined` means no. */
  continues(key: string): Promise<boolean> | undefined
  /** Returns the open session that has this queue. */
  sessionOf(queue: PromptQueue): OpenSession | undefined
}

interface PromptQueuesOptions {
  storage: PromptQueuesStorage
  /** The sessions that are open, also in other windows: an open session has its own queue. */
  openSessions?: Pick<OpenSessions, 'withKey'>
  /** The sources of a prompt's references. */
  sources: ContextSources
  continuing?: ContinuingPrompts | undefined
}

/** The prompt queues of this window, by the key of their conversation, and the content of their prompts. */
export class PromptQueues extends Owner {
  readonly #storage: PromptQueuesStorage
  readonly #sources: ContextSources
  readonly #openSessions: PromptQueuesOptions['openSessions']
  readonly #continuing: ContinuingPrompts | undefined
  readonly #followed = new WeakSet<PromptQueue>()
  readonly #queues = new Map<string, PromptQueue>()
  readonly #change = this.register(new Emitter<PromptQueue>())

  /** Fires when a queue changed. */
  readonly onDidChange = this.#change.event

  constructor({ storage, sources, openSessions, continuing }: PromptQueuesOptions) {
    super()
    this.#storage = storage
    this.#sources = sources
    this.#openSessions = openSessions
    this.#continuing = continuing
    this.register(
      storage.onDidTakeOver(key => {
        const queue = this.#queues.get(key)
        if (queue) this.#claim(queue)
      }),
    )
  }

  /** Returns the queue of a conversation, with prompts that another window left. If its session is open, returns the session's queue. */
  of(key: string): PromptQueue {
    const shared = this.#openSessions?.withKey(key)?.session.turns.queue
    if (shared) {
      this.#follow(shared)
      return shared
    }
    let queue = this.#queues.get(key)
    if (!queue) {
      const created = new PromptQueue(key, this.#storage)
      queue = created
      this.#queues.set(key, created)
      this.#claim(created)
      this.#follow(created)
    }
    return queue
  }

  /**
   * Resolves to the content of a prompt for a session: the user's text, and a note about prompts that were set aside. Rejects with a
   * sentence if the content is empty or the agent doesn't support it.
   */
  async contentOf(
    draft: Draft<Attachment>,
    { agentName, session, plan }: OpenSession,
  ): Promise<ContentBlock[]> {
    const target = { agentName, can: session.agent.capabilities, roots: plan.setup }
    const content = await promptContent(promptOf(draft), target, this.#sources)
    if (isEmptyPrompt(content)) throw new Error(l10n.t('The prompt is empty.'))
    const note = isCommand(content) ? undefined : rewindNote(session.state)
    return note ? [...content, note] : content
  }

  /** Resolves to the queue of a conversation once the queue contains the prompts that another window left. */
  async claimed(key: string): Promise<PromptQueue> {
    const queue = this.of(key)
    await this.#continuing?.continues(key)
    return queue
  }

  /** Moves the prompts of a conversation whose key changed when its session started. */
  rename(from: string, to: string): void {
    const queue = this.#queues.get(from)
    if (!queue || from === to) return
    const before = this.of(to)
    this.#queues.delete(from)
    this.#queues.set(to, queue)
    const returned = before.returned.map(({ id, draft }) => ({ id, draft }))
    queue.rename(to)
    queue.addReturned(returned)
  }

  /** Passes the conversation's prompts to the window in which the conversation's session continues. */
  handOver(key: string): void {
    this.#queues.get(key)?.handOver(prompts => this.#storage.handOver(key, prompts))
  }

  /** Adds the prompts that the previous window had queued for a session that this window has taken over. */
  arrive(key: string): void {
    const queue = this.of(key)
    this.#decide(key, isSent => this.#put(queue, this.#storage.arrive(key), isSent))
  }

  /** Deletes the queue, unsent prompts and drafts of a conversation whose session was deleted. */
  forget(key: string): void {
    this.#queues.delete(key)
    this.#storage.forget(key)
  }

  #follow(queue: PromptQueue): void {
    if (this.#followed.has(queue)) return
    this.#followed.add(queue)
    this.register(queue.onDidChange(() => this.#change.fire(queue)))
  }

  #claim(queue: PromptQueue): void {
    this.#decide(queue.key, isSent => {
      const reason = l10n.t('The window closed before the prompt was sent.')
      this.#put(queue, this.#storage.claim(queue.key), isSent, reason)
    })
  }

  /** Calls `then` with whether prompts that another window left are sent; synchronously if the answer is already known. */
  #decide(key: string, then: (isSent: boolean) => void): void {
    const continues = this.#continuing?.continues(key)
    if (continues) void continues.then(then)
    else then(false)
  }

  #put(queue: PromptQueue, prompts: readonly StoredPrompt[], isSent: boolean, reason?: string): void {
    const continuing = this.#continuing
    if (isSent && continuing)
      for (const [at, { id, draft }] of prompts.entries()) {
        const prepare = async () => {
          const open = continuing.sessionOf(queue)
          if (!open) throw notOpened()
          return this.contentOf(draft, open)
        }
        // insert before prompts that were written here while the session was being transferred
        queue.enqueue({ id, draft }, prepare, { at })
      }
    else queue.addReturned(prompts, reason)
  }
}

/** Returns the reason why a prompt returns to the composer, where the user may read the reason much later. */
export function notOpened(): Error {
  return new Error(l10n.t("The session wasn't opened, so nothing was sent. Try again."))
}
