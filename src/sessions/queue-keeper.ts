import { randomUUID } from 'node:crypto'
import type { ContentBlock } from '../acp/model.ts'
import { Owner, toDisposable } from '../common/disposable.ts'
import { draftOf } from '../common/draft.ts'
import type { Session } from '../conversation/session.ts'
import type { Drafts } from './ports.ts'
import { attachmentOf } from './prompt-content.ts'

type KeepsQueue = Pick<Drafts, 'hold' | 'order' | 'drop' | 'release'>

/**
 * Keeps the prompts that wait in a session's queue on disk: after a reload or a crash they stand in the composer again.
 * Those of a session that has ended are left to whoever shows its conversation next.
 */
export class QueueKeeper extends Owner {
  readonly #key: string
  readonly #session: Session
  readonly #drafts: KeepsQueue
  /** by the id of each prompt, which is good for this session alone: the one under which it is on disk */
  readonly #held = new Map<string, string>()
  #due = false

  /** `key`: names the conversation. */
  constructor(key: string, session: Session, drafts: KeepsQueue) {
    super()
    this.#key = key
    this.#session = session
    this.#drafts = drafts
    this.register(
      toDisposable(() => {
        for (const id of this.#held.values()) this.#drafts.release(id)
        this.#held.clear()
      }),
    )
    this.register(session.onDidChangeStatus(() => this.#look()))
    this.register(
      session.onDidEnd(() => {
        this.#look()
        queueMicrotask(() => this.dispose())
      }),
    )
  }

  /** A prompt that is sent at once is in the queue for no longer than a call. */
  #look(): void {
    if (this.#due) return
    this.#due = true
    queueMicrotask(() => {
      this.#due = false
      this.#keep()
    })
  }

  /**
   * Takes a prompt from the queue to be written on. It stays on disk under the id that is answered until it is dropped
   * there, as what is nobody's: a crash before the draft that took it is saved leaves it to who comes next.
   */
  takeToEdit(prompt: string): { id: string; content: ContentBlock[] } | undefined {
    this.#keep()
    const id = this.#held.get(prompt)
    if (id === undefined) return undefined
    this.#held.delete(prompt)
    this.#drafts.release(id)
    const content = this.#session.withdraw(prompt)
    return content && { id, content }
  }

  #keep(): void {
    const { queued } = this.#session
    const waits = new Set(queued.map(({ id }) => id))
    for (const [prompt, id] of this.#held) {
      if (waits.has(prompt)) continue
      this.#held.delete(prompt)
      this.#drafts.drop(this.#key, id)
    }
    const asKept = [...this.#held.values()]
    const known = new Map(this.#held)
    this.#held.clear()
    for (const { id: prompt, content } of queued) {
      const id = known.get(prompt) ?? randomUUID()
      this.#held.set(prompt, id)
      if (known.has(prompt)) continue
      asKept.push(id)
      this.#drafts.hold(this.#key, { id, draft: draftOf(content, attachmentOf) })
    }
    // they come back in the order in which they are kept
    const inOrder = [...this.#held.values()]
    if (inOrder.some((id, at) => id !== asKept[at])) this.#drafts.order(this.#key, inOrder)
  }
}
