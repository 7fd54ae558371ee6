import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { ContentBlock } from '../../../acp/model.ts'
import type { Attachment, ReturnedPrompt, StoredPrompt } from '../../../bridge/conversation.ts'
import { chipOf } from '../../../common/block-chip.ts'
import {
  attachedItems,
  type ChipRange,
  type Draft as DraftContent,
  EMPTY_DRAFT,
  isEmptyDraft,
  joinDrafts,
  validDraft,
} from '../../../common/draft.ts'
import { messageOf } from '../../../common/errors.ts'
import { storeState } from '../../host/vscode-api.ts'
import { t } from '../../l10n.ts'

export type WrittenDraft = DraftContent<Attachment>

/**
 * A draft is sent to the host at most this long after a change, even while the user continues typing. Milliseconds. The host
 * writes the draft within 30 ms, so a crash loses the keys of less than 100 ms.
 */
const SAVE_DELAY_MS = 50

/** The host's functions for the composer. */
interface DraftHost {
  /** Saves the draft. Resolves when the host has the draft, so that every later snapshot contains it. */
  saveText(key: string, text: string, chips: ChipRange[]): Promise<void>
  /** Saves the attached items, separately from the text, since items are larger and change less often. */
  saveItems(key: string, items: Attachment[]): void
  /** Passes on a prompt. Resolves when the host has stored it and an empty draft; if it rejects, the page keeps the prompt. */
  enqueue(key: string, prompt: StoredPrompt, joins: boolean): Promise<void>
  /** Tells the host that the returned prompts are now in this draft. Settles as `saveText` does. */
  movedToComposer(key: string, ids: string[], draft: WrittenDraft): Promise<void>
}

/**
 * The content of the composer, stored by the host for each conversation, so that neither a reload nor a crash loses it. Sending passes the
 * prompt to the host; a prompt that can't be sent is returned before the text written meanwhile.
 */
export class Draft {
  readonly #draft = signal<WrittenDraft>(EMPTY_DRAFT)
  readonly #handedOver = signal<readonly StoredPrompt[]>([])
  /** The draft to show; replaced as a whole when something other than the editor changes it. */
  readonly content: ReadonlySignal<WrittenDraft> = this.#draft
  /** prompts passed to the host but not confirmed yet, in order */
  readonly handedOver: ReadonlySignal<readonly StoredPrompt[]> = this.#handedOver
  /** Called with the reason why prompts were returned. */
  onRefused: (sentence: string) => void = () => {}
  readonly text = computed(() => this.content.value.text)
  /** attachments outside of the text */
  readonly beside = computed(() => attachedItems(this.content.value))
  readonly isEmpty = computed(() => isEmptyDraft(this.content.value))
  readonly #host: DraftHost
  /** All items that this draft ever had, since undo may restore deleted ones. */
  readonly #known = new Map<string, Attachment>()
  /** empty until the first snapshot */
  #key = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  #savedItems = ''
  /** ids of the returned prompts that are in the draft */
  readonly #moved = new Set<string>()
  /** by key: drafts that are being sent to the host, so a snapshot may not contain them yet */
  readonly #onTheWay = new Map<string, { draft: WrittenDraft }>()
  /** by key: prompts of conversations that aren't shown, which the host couldn't accept */
  readonly #notTaken = new Map<string, ReturnedPrompt[]>()

  constructor(host: DraftHost) {
    this.#host = host
    window.addEventListener('pagehide', () => this.flush())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.flush()
    })
  }

  /**
   * Shows the draft of a snapshot: of another conversation, of the same one, or of a conversation that just got its session and had the key
   * `before`, which keeps the current draft. `returned`: prompts that return to the draft.
   */
  show(key: string, saved: WrittenDraft, returned: readonly ReturnedPrompt[] = [], before?: string): void {
    if (before !== undefined && before === this.#key && key !== before) this.#goAlong(key, saved)
    else if (key !== this.#key) this.#begin(key, saved)
    this.returned(key, returned)
  }

  /** Puts returned prompts of this conversation before the current text, each only once. */
  returned(key: string, prompts: readonly ReturnedPrompt[]): void {
    if (key !== this.#key || prompts.length === 0) return
    const isNew = prompts.some(({ id, isRefused }) => isRefused && !this.#moved.has(id))
    const onTheWay = isNew ? this.handedOver.peek() : []
    const behind = onTheWay.filter(({ id }) => !prompts.some(one => one.id === id))
    this.#moveToComposer([...prompts, ...behind])
  }

  #moveToComposer(prompts: readonly ReturnedPrompt[]): void {
    const fresh = prompts.filter(({ id }) => !this.#moved.has(id))
    if (fresh.length > 0) {
      for (const { id } of fresh) this.#moved.add(id)
      this.#release(fresh)
      this.#replace(joinDrafts(...fresh.map(({ draft }) => draft), this.content.peek()))
      const reason = fresh.find(one => one.reason !== undefined)?.reason
      if (reason !== undefined) this.onRefused(reason)
    }
    // in one write with the draft, because a prompt stored twice could be returned twice
    const draft = this.content.peek()
    const ids = prompts.map(({ id }) => id)
    this.#follow(this.#key, draft, this.#host.movedToComposer(this.#key, ids, draft))
    this.#savedItems = idsOf(draft.items)
  }

  #begin(key: string, received: WrittenDraft): void {
    const first = this.#key === ''
    if (!first) this.flush()
    this.#key = key
    // the user left this conversation a moment ago, so the local draft is newer than the snapshot
    const saved = this.#onTheWay.get(key)?.draft ?? received
    this.#savedItems = idsOf(saved.items)
    // a tab is restored by the key of its conversation
    storeState({ key })
    this.#handedOver.value = []
    // content from before the conversation was known: typed, or attached by the command that opened the view
    const early = first ? this.content.peek() : EMPTY_DRAFT
    const wins = early.text !== ''
    const text = wins ? early : saved
    const beside = wins ? attachedItems(saved) : early.items
    this.#known.clear()
    this.#replace(validDraft({ text: text.text, chips: text.chips, items: [...text.items, ...beside] }))
    // the host waits for a draft with the comments that were written before this page knew the conversation
    const hasComments = saved.items.some(({ content }) => content.type === 'comment')
    if (hasComments) this.#savedItems = ''
    if (hasComments || !isEmptyDraft(early)) this.#changed()
    const notTaken = this.#notTaken.get(key)
    this.#notTaken.delete(key)
    if (notTaken) this.#moveToComposer(notTaken)
  }

  /** Moves the draft to a new key. `saved`: the draft under the new key, to which comments may have been added meanwhile. */
  #goAlong(key: string, saved: WrittenDraft): void {
    const before = this.#key
    this.#key = key
    this.#savedItems = ''
    storeState({ key })
    const { text, chips, items } = this.content.peek()
    const comments = saved.items.filter(
      item => item.content.type === 'comment' && !items.some(({ id }) => id === item.id),
    )
    if (comments.length > 0) this.#replace({ text, chips, items: [...items, ...comments] })
    // save under the new key first, so that the draft is always stored under at least one key
    this.#changed()
    this.flush()
    this.#host.saveItems(before, [])
    this.#follow(before, EMPTY_DRAFT, this.#host.saveText(before, '', []))
  }

  /** Updates the draft to the editor's current text. Drops chips of unknown items. */
  write(text: string, chips: readonly ChipRange[]): void {
    const now = this.content.peek()
    if (text === now.text && sameChips(chips, now.chips)) return
    const inText = chips.flatMap(({ id }) => this.#known.get(id) ?? [])
    this.#set(validDraft({ text, chips: [...chips], items: [...attachedItems(now), ...inText] }))
    this.#changed()
  }

  /** Adds an item to the text; its chip follows with `write`. */
  introduce(item: Attachment): void {
    this.#known.set(item.id, item)
  }

  item(id: string): Attachment | undefined {
    return this.#known.get(id)
  }

  /** Replaces the draft. */
  put(draft: WrittenDraft): void {
    this.#replace(validDraft(draft))
    this.#changed()
  }

  attach(item: Attachment): void {
    this.introduce(item)
    const { text, chips, items } = this.content.peek()
    this.#set({ text, chips, items: [...items.filter(one => one.id !== item.id), item] })
    this.#changed()
  }

  detach(id: string): void {
    const { text, chips, items } = this.content.peek()
    this.#set({ text, chips, items: items.filter(one => one.id !== id) })
    this.#changed()
  }

  /** Updates a comment on lines that was written, changed or, without `item`, deleted in the editor. */
  putComment(key: string, id: string, item: Attachment | undefined): void {
    if (key !== this.#key) return
    if (!item) {
      this.detach(id)
      return
    }
    const wasHere = this.#known.has(id)
    this.introduce(item)
    const { text, chips, items } = this.content.peek()
    const isKnown = items.some(one => one.id === id)
    // the item was sent or removed here before the host's change arrived
    if (wasHere && !isKnown) return
    // the host waits for a draft with the item, even if the draft is unchanged
    this.#savedItems = ''
    this.#set({
      text,
      chips,
      items: isKnown ? items.map(one => (one.id === id ? item : one)) : [...items, item],
    })
    this.#changed()
  }

  /** Passes the draft to the host, which sends it. `joins`: into the running turn. Does nothing if the draft is empty. */
  send(joins = false): void {
    const draft = this.content.peek()
    if (isEmptyDraft(draft)) return
    const prompt = { id: crypto.randomUUID(), draft }
    const key = this.#key
    this.#handedOver.value = [...this.#handedOver.peek(), prompt]
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#savedItems = idsOf([])
    this.#set(EMPTY_DRAFT)
    const taken = this.#host.enqueue(key, prompt, joins)
    this.#follow(key, EMPTY_DRAFT, taken)
    taken.then(
      () => this.#release([prompt]),
      (error: unknown) => {
        const notTaken = [{ ...prompt, reason: messageOf(error) }]
        if (key === this.#key) this.#moveToComposer(notTaken)
        else this.#notTaken.set(key, [...(this.#notTaken.get(key) ?? []), ...notTaken])
      },
    )
  }

  /** Remembers a draft until the host has received it. A draft that the host couldn't receive counts as newer than the host's. */
  #follow(key: string, draft: WrittenDraft, received: Promise<void>): void {
    const mine = { draft }
    this.#onTheWay.set(key, mine)
    received.then(
      () => {
        if (this.#onTheWay.get(key) === mine) this.#onTheWay.delete(key)
      },
      () => {},
    )
  }

  /** Empties the composer after several agents got this draft, unless the draft has changed since. */
  sentElsewhere({ key, text, ids }: { key: string; text: string; ids: string }): void {
    const now = this.content.peek()
    if (key === this.#key && now.text === text && String(now.items.map(({ id }) => id)) === ids)
      this.put(EMPTY_DRAFT)
  }

  #release(prompts: readonly StoredPrompt[]): void {
    const pending = this.#handedOver.peek().filter(one => !prompts.some(({ id }) => id === one.id))
    if (pending.length !== this.#handedOver.peek().length) this.#handedOver.value = pending
  }

  /** Saves pending changes now. */
  flush(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const draft = this.content.peek()
    const { text, chips, items } = draft
    const ids = idsOf(items)
    if (ids !== this.#savedItems) this.#host.saveItems(this.#key, items)
    this.#savedItems = ids
    this.#follow(this.#key, draft, this.#host.saveText(this.#key, text, chips))
  }

  #replace(draft: WrittenDraft): void {
    for (const item of draft.items) this.#known.set(item.id, item)
    this.#set(draft)
  }

  #set(draft: WrittenDraft): void {
    this.#draft.value = draft
  }

  #changed(): void {
    if (this.#key !== '') this.#timer ??= setTimeout(() => this.flush(), SAVE_DELAY_MS)
  }
}

function idsOf(items: readonly Attachment[]): string {
  // only comments change while they're in the draft
  return JSON.stringify(items.map(item => (item.content.type === 'comment' ? item : item.id)))
}

export function sameChips(a: readonly ChipRange[], b: readonly ChipRange[]): boolean {
  return (
    a.length === b.length &&
    a.every((chip, i) => chip.from === b[i]!.from && chip.to === b[i]!.to && chip.id === b[i]!.id)
  )
}

/** Returns an attachment with the content of a prompt's block, to edit the prompt again. */
export function itemFromBlock(content: ContentBlock): Attachment {
  const chip = chipOf(content)
  const named = 'uri' in content && content.uri !== undefined
  const label = named ? chip.label : content.type === 'image' ? t('Image') : chip.label
  return { id: crypto.randomUUID(), ...chip, label, content }
}
