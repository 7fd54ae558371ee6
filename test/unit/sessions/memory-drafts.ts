import { type Draft, EMPTY_DRAFT } from '../../../src/common/draft.ts'
import type { Attachment, OutgoingPrompt } from '../../../src/conversation/attachment.ts'
import type { Drafts } from '../../../src/sessions/ports.ts'

/** Drafts in memory. */
export class MemoryDrafts implements Drafts {
  readonly #drafts = new Map<string, Draft<Attachment>>()
  readonly sent: Array<OutgoingPrompt & { key: string; claimed: boolean }> = []

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
    this.sent.push({ id, draft, key, claimed: true })
  }
  moveSent(from: string, to: string, id: string): void {
    for (const one of this.sent) if (one.key === from && one.id === id) one.key = to
  }
  drop(key: string, id: string): void {
    const at = this.sent.findIndex(one => one.key === key && one.id === id)
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
