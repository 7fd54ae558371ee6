import { type Draft, EMPTY_DRAFT } from '../../../src/common/draft.ts'
import type { Attachment, OutgoingPrompt } from '../../../src/conversation/attachment.ts'
import type { Drafts } from '../../../src/sessions/ports.ts'

/** Drafts in memory. */
export class MemoryDrafts implements Drafts {
  readonly #drafts = new Map<string, Draft<Attachment>>()
  readonly sent: Array<OutgoingPrompt & { key: string; claimed: boolean }> = []

  /** how often what is kept apart was written, and what for */
  readonly writes: string[] = []

  get(key: string): Draft<Attachment> {
    return this.#drafts.get(key) ?? EMPTY_DRAFT
  }
  set(key: string, draft: Draft<Attachment>): void {
    this.#drafts.set(key, draft)
  }
  send(key: string, { id, draft }: OutgoingPrompt): void {
    this.#drafts.delete(key)
    this.hold(key, { id, draft })
  }
  hold(key: string, { id, draft }: OutgoingPrompt): void {
    this.writes.push('hold')
    this.sent.push({ id, draft, key, claimed: true })
  }
  order(key: string, ids: readonly string[]): void {
    this.writes.push('order')
    const inOrder = ids.flatMap(id => this.sent.find(one => one.key === key && one.id === id) ?? [])
    for (const [at, one] of this.sent.entries())
      if (one.key === key && ids.includes(one.id)) this.sent[at] = inOrder.shift() ?? one
  }
  moveSent(from: string, to: string, id: string): void {
    for (const one of this.sent) if (one.key === from && one.id === id) one.key = to
  }
  drop(key: string, id: string): void {
    const at = this.sent.findIndex(one => one.key === key && one.id === id)
    this.writes.push('drop')
    if (at !== -1) this.sent.splice(at, 1)
  }
  claim(key: string): OutgoingPrompt[] {
    const free = this.sent.filter(one => one.key === key && !one.claimed)
    return free.map(one => {
      one.claimed = true
      return { id: one.id, draft: one.draft }
    })
  }
  release(id: string): void {
    for (const one of this.sent) if (one.id === id) one.claimed = false
  }
}
