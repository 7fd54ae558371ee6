import * as l10n from '@vscode/l10n'
import { Owner } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { StoredPrompt } from '../conversation/attachment.ts'
import type { Prepare } from '../conversation/prompts/prompt.ts'
import { PromptQueue, type PromptStorage } from '../conversation/prompts/prompt-queue.ts'

/** Stores the prompts of all conversations of the window. */
export interface PromptQueuesStorage extends PromptStorage {
  /** Prompts of a conversation that another window left, in their order. The caller is responsible for them from now on. */
  claim(key: string): StoredPrompt[]
  /** Prompts of the conversation with this key arrived from another window. */
  readonly onDidTakeOver: Event<string>
}

/** Prompts that are sent although their window is gone, since the turn before them goes on. */
export interface ContinuingPrompts {
  /** Whether those of the conversation with this key are. Without a promise: no. */
  continues(key: string): Promise<boolean> | undefined
  /** Creates the content of one. */
  prepare(queue: PromptQueue, draft: StoredPrompt['draft']): Prepare
}

/** The prompt queues of this window, by the key of their conversation. */
export class PromptQueues extends Owner {
  readonly #storage: PromptQueuesStorage
  readonly #continuing: ContinuingPrompts | undefined
  readonly #queues = new Map<string, PromptQueue>()
  readonly #change = this.register(new Emitter<PromptQueue>())

  /** A queue changed. */
  readonly onDidChange = this.#change.event

  constructor(storage: PromptQueuesStorage, continuing?: ContinuingPrompts) {
    super()
    this.#storage = storage
    this.#continuing = continuing
    this.register(
      storage.onDidTakeOver(key => {
        const queue = this.#queues.get(key)
        if (queue) this.#claim(queue)
      }),
    )
  }

  /** The queue of a conversation, including prompts that another window left. */
  of(key: string): PromptQueue {
    let queue = this.#queues.get(key)
    if (!queue) {
      const created = new PromptQueue(key, this.#storage)
      queue = created
      this.#queues.set(key, created)
      this.#claim(created)
      created.onDidChange(() => this.#change.fire(created))
    }
    return queue
  }

  /** A conversation's key changed when its session started: moves its prompts. */
  rename(from: string, to: string): void {
    const queue = this.#queues.get(from)
    if (!queue || from === to) return
    const before = this.of(to)
    this.#queues.delete(from)
    this.#queues.set(to, queue)
    const left = before.returned.map(({ id, draft }) => ({ id, draft }))
    queue.rename(to)
    queue.addReturned(left)
  }

  #claim(queue: PromptQueue): void {
    const continues = this.#continuing?.continues(queue.key)
    if (!continues) {
      this.#return(queue)
      return
    }
    void continues.then(yes => {
      if (!yes || !this.#continuing) {
        this.#return(queue)
        return
      }
      for (const { id, draft } of this.#storage.claim(queue.key))
        queue.enqueue({ id, draft }, this.#continuing.prepare(queue, draft))
    })
  }

  #return(queue: PromptQueue): void {
    queue.addReturned(this.#storage.claim(queue.key), l10n.t('The window closed before the prompt was sent.'))
  }
}
