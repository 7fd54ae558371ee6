import { Owner, toDisposable } from '../../common/disposable.ts'
import { type Draft, type DraftMark, EMPTY_DRAFT, soundDraft } from '../../common/draft.ts'
import type { Attachment, OutgoingPrompt } from '../../conversation/attachment.ts'
import type { Drafts, Keep } from '../../sessions/ports.ts'
import { draftItems, keptDraft } from '../bridge/incoming.ts'

const DRAFTS = 'parley.drafts'
const HEIGHT = 'parley.composerHeight'
const ITEMS = 'parley.draftItems/'
/** Drafts kept; the ones written longest ago go first. */
const DRAFTS_KEPT = 100
const SAVE_DELAY_MS = 100

interface KeptText {
  text: string
  marks: DraftMark[]
  /** Its items are kept beside it. */
  hasItems: boolean
}
interface Kept extends KeptText {
  /** what left the composer and was not taken yet */
  sent: Array<KeptText & { id: string }>
}

const NONE: Readonly<Kept> = { text: '', marks: [], hasItems: false, sent: [] }

/**
 * What people began to write, kept through a reload of the window; written in the background, at the end at once. What
 * they send is written at once: from its draft into what was sent, in one step. The texts are together in one place; the
 * items of a draft, images among them, have a place of their own.
 */
export class KeptDrafts extends Owner implements Drafts {
  readonly #texts: Keep
  readonly #items: Keep
  readonly #drafts: Map<string, Kept>
  /** ids of what was sent, and somebody answers for */
  readonly #claimed = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor({ texts, items }: { texts: Keep; items: Keep }) {
    super()
    this.#texts = texts
    this.#items = items
    this.#drafts = new Map(textsOf(texts.get(DRAFTS)))
    this.register(toDisposable(() => this.#timer && this.#save()))
  }

  /** How tall the person made the composer, in pixels. */
  get height(): number | undefined {
    const height = this.#texts.get(HEIGHT)
    return typeof height === 'number' && height > 0 ? height : undefined
  }
  set height(height: number | undefined) {
    this.#texts.set(HEIGHT, height)
  }

  get(key: string): Draft<Attachment> {
    const kept = this.#drafts.get(key)
    if (!kept) return EMPTY_DRAFT
    const { text, marks } = kept
    return soundDraft({ text, marks, items: kept.hasItems ? this.#itemsOf(key) : [] })
  }

  send(key: string, prompt: OutgoingPrompt): void {
    const { hasItems: had, sent } = this.#drafts.get(key) ?? NONE
    this.#drafts.set(key, { ...NONE, sent })
    this.hold(key, prompt)
    if (had) this.#items.set(ITEMS + key, undefined)
  }

  hold(key: string, { id, draft: { text, marks, items } }: OutgoingPrompt): void {
    const hasItems = items.length > 0
    this.#claimed.add(id)
    if (hasItems) this.#items.set(ITEMS + sentKey(key, id), items)
    this.#putSent(key, [...(this.#drafts.get(key)?.sent ?? []), { id, text, marks, hasItems }])
    this.#save()
  }

  order(key: string, ids: readonly string[]): void {
    const { sent } = this.#drafts.get(key) ?? NONE
    const inOrder = ids.flatMap(id => sent.find(one => one.id === id) ?? [])
    this.#putSent(
      key,
      sent.map(one => (ids.includes(one.id) ? (inOrder.shift() ?? one) : one)),
    )
    this.#save()
  }

  moveSent(from: string, to: string, id: string): void {
    const one = this.#drafts.get(from)?.sent.find(each => each.id === id)
    if (!one) return
    if (one.hasItems) this.#items.set(ITEMS + sentKey(to, id), this.#itemsOf(sentKey(from, id)))
    this.#putSent(to, [...(this.#drafts.get(to)?.sent ?? []), one])
    this.drop(from, id)
    this.#claimed.add(id)
  }

  drop(key: string, id: string): void {
    this.#claimed.delete(id)
    const { sent } = this.#drafts.get(key) ?? NONE
    const one = sent.find(each => each.id === id)
    if (!one) return
    this.#putSent(
      key,
      sent.filter(each => each !== one),
    )
    this.#save()
    if (one.hasItems) this.#items.set(ITEMS + sentKey(key, id), undefined)
  }

  claim(key: string): OutgoingPrompt[] {
    const free = (this.#drafts.get(key)?.sent ?? []).filter(({ id }) => !this.#claimed.has(id))
    return free.map(({ id, text, marks, hasItems }) => {
      this.#claimed.add(id)
      const items = hasItems ? this.#itemsOf(sentKey(key, id)) : []
      return { id, draft: soundDraft({ text, marks, items }) }
    })
  }

  release(id: string): void {
    this.#claimed.delete(id)
  }

  set(key: string, { text, marks, items }: Draft<Attachment>): void {
    this.setItems(key, items)
    this.setText(key, text, marks)
  }

  setText(key: string, text: string, marks: DraftMark[]): void {
    const { hasItems, sent } = this.#drafts.get(key) ?? NONE
    this.#put(key, { text, marks, hasItems, sent })
    if (this.#drafts.size > DRAFTS_KEPT) {
      const [oldest] = this.#drafts.keys()
      if (oldest !== undefined) this.#forget(oldest)
    }
    this.#timer ??= setTimeout(() => this.#save(), SAVE_DELAY_MS)
  }

  setItems(key: string, items: readonly Attachment[]): void {
    const { text, marks, hasItems: had, sent } = this.#drafts.get(key) ?? NONE
    const hasItems = items.length > 0
    if (!had && !hasItems) return
    this.#items.set(ITEMS + key, hasItems ? items : undefined)
    this.#drafts.set(key, { text, marks, hasItems, sent })
    this.setText(key, text, marks)
  }

  /** What was written last comes last. */
  #put(key: string, kept: Kept): void {
    this.#drafts.delete(key)
    if (kept.text !== '' || kept.hasItems || kept.sent.length > 0) this.#drafts.set(key, kept)
  }

  #putSent(key: string, sent: Kept['sent']): void {
    this.#put(key, { ...(this.#drafts.get(key) ?? NONE), sent })
  }

  #forget(key: string): void {
    const { hasItems, sent } = this.#drafts.get(key) ?? NONE
    if (hasItems) this.#items.set(ITEMS + key, undefined)
    for (const one of sent) if (one.hasItems) this.#items.set(ITEMS + sentKey(key, one.id), undefined)
    this.#drafts.delete(key)
  }

  #itemsOf(key: string): Attachment[] {
    const items = draftItems.safeParse(this.#items.get(ITEMS + key))
    return items.success ? items.data : []
  }

  #save(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const kept = [...this.#drafts].map(([key, { sent, ...draft }]) => [
      key,
      sent.length > 0 ? { ...draft, sent } : draft.hasItems ? draft : draft.text,
    ])
    this.#texts.set(DRAFTS, Object.fromEntries(kept))
  }
}

/** A file may hold anything. */
function textsOf(kept: unknown): Array<[key: string, kept: Kept]> {
  const entries = typeof kept === 'object' && kept !== null ? Object.entries(kept) : []
  return entries.flatMap(([key, value]): Array<[string, Kept]> => {
    if (typeof value === 'string') return [[key, { ...NONE, text: value }]]
    const read = keptDraft.safeParse(value)
    return read.success ? [[key, read.data]] : []
  })
}

/** No key of a conversation has a line feed and such an id in it. */
function sentKey(key: string, id: string): string {
  return `${key}\n${id}`
}
