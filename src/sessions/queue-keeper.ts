import { randomUUID } from 'node:crypto'
import { Owner, toDisposable } from '../common/disposable.ts'
import { draftOf } from '../common/draft.ts'
import type { Session } from '../conversation/session.ts'
import type { Drafts } from './ports.ts'
import { attachmentOf } from './prompt-content.ts'

/**
 * Keeps the prompts that wait in a session's queue on disk: after a reload or a crash they stand in the composer again.
 * Those of a session that has ended are left to whoever shows its conversation next.
 */
export class QueueKeeper extends Owner {
  readonly #key: string
  readonly #session: Session
  readonly #drafts: Pick<Drafts, 'hold' | 'drop' | 'release'>
  /** by the id of each prompt, which is good for this session alone: the one under which it is on disk */
  readonly #held = new Map<string, string>()
  #due = false

  /** `key`: names the conversation. */
  constructor(key: string, session: Session, drafts: Pick<Drafts, 'hold' | 'drop' | 'release'>) {
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

  #keep(): void {
    const { queued } = this.#session
    const stayed = [...this.#held.keys()].filter(prompt => queued.some(({ id }) => id === prompt))
    // what is kept is kept in the order in which it came
    const inOrder = stayed.every((prompt, index) => queued[index]?.id === prompt)
    for (const [prompt, id] of this.#held) {
      if (inOrder && stayed.includes(prompt)) continue
      this.#held.delete(prompt)
      this.#drafts.drop(this.#key, id)
    }
    for (const { id: prompt, content } of queued) {
      if (this.#held.has(prompt)) continue
      const id = randomUUID()
      this.#held.set(prompt, id)
      this.#drafts.hold(this.#key, { id, draft: draftOf(content, attachmentOf) })
    }
  }
}
