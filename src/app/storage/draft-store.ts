import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { draftItems, draftText } from '../../bridge/conversation-messages.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { type ChipRange, type Draft, EMPTY_DRAFT, validDraft } from '../../common/draft.ts'
import { Emitter } from '../../common/event.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { DRAFTS_POLL_MS, REWRITE_AFTER_MS } from '../../common/limits.ts'
import type { Attachment, StoredPrompt } from '../../conversation/attachment.ts'
import type { Drafts } from '../../sessions/ports.ts'
import type { WindowStates } from './window-states.ts'

/** Maximum number of drafts; the oldest are deleted first. */
const MAX_DRAFTS = 100
/** Less than 100 ms together with the 50 ms that the page waits before it reports a change. */
const SAVE_DELAY_MS = 30
/** After a start, a previous window may still be closing: number of checks for it. */
const MAX_TAKE_OVERS = 40

const storedText = draftText.extend({
  /** the key of its items, which are stored separately because images are large */
  items: z.string().optional(),
})
const storedDraft = storedText.extend({ key: z.string() })
const storedPrompt = storedDraft.extend({ id: z.string() })
const storedState = z.object({
  drafts: z.array(storedDraft).catch([]),
  prompts: z.array(storedPrompt).catch([]),
  /** The height of the composer that the user set, in pixels. */
  height: z.number().positive().optional().catch(undefined),
})

const editedPrompt = z.tuple([z.string(), z.string()])

interface Text {
  text: string
  chips: ChipRange[]
  items?: string
}
interface StoredText extends Text {
  id: string
  key: string
}

/**
 * Stores drafts and unsent prompts by conversation: drafts are written in the background and when the window closes,
 * prompts immediately. A prompt leaves its draft, and returns to it, in a single write. This window takes
 * over what closed windows have left.
 */
export class DraftStore extends Owner implements Drafts {
  readonly #windows: WindowStates
  readonly #items: KeyValueStore
  readonly #drafts = new Map<string, Text>()
  #prompts: StoredText[] = []
  /** ids of prompts of a closed window that no queue has claimed */
  readonly #unclaimed = new Set<string>()
  /** ids of prompts that another window took over from this one */
  readonly #lost = new Set<string>()
  readonly #takeOver = this.register(new Emitter<string>())
  readonly #itemsChange = this.register(new Emitter<string>())
  /** items that what is stored may refer to until it's written again */
  readonly #unused = new Set<string>()
  /** by items that couldn't be written yet: those on disk that they replace */
  readonly #replaced = new Map<string, string>()
  #height: number | undefined
  #timer: NodeJS.Timeout | undefined
  #takeOverTimer: NodeJS.Timeout | undefined

  /** Prompts of the conversation with this key arrived from another window. */
  readonly onDidTakeOver = this.#takeOver.event
  /** The items of the draft or of the unsent prompts of the conversation with this key changed. */
  readonly onDidChangeItems = this.#itemsChange.event

  constructor({ windows, items }: { windows: WindowStates; items: KeyValueStore }) {
    super()
    this.#windows = this.register(windows)
    this.#items = items
    this.register(toDisposable(() => this.#timer && this.#flush()))
    this.register(toDisposable(() => clearTimeout(this.#takeOverTimer)))
    this.#windows.takeOver(states => this.#takeIn(states, true))
    this.#takeOverLater(MAX_TAKE_OVERS)
  }

  /** The height of the composer that the user set, in pixels; `undefined` for automatic height. */
  get height(): number | undefined {
    return this.#height
  }
  set height(height: number | undefined) {
    this.#height = height
    this.#writeSoon()
  }

  get(key: string): Draft<Attachment> {
    const stored = this.#drafts.get(key)
    return stored ? this.#whole(stored) : EMPTY_DRAFT
  }

  set(key: string, draft: Draft<Attachment>): void {
    this.#put(key, draft)
    this.#writeSoon()
    this.#itemsChange.fire(key)
  }

  /** The conversations with a draft or unsent prompts. */
  keys(): string[] {
    const drafts = [...this.#drafts.keys()].filter(key => !editOf(key))
    return [...new Set([...drafts, ...this.#prompts.map(({ key }) => key)])]
  }

  /** The prompts of a conversation that the user edits where they are, the latest last. */
  edits(key: string): Array<{ entryId: string; draft: Draft<Attachment> }> {
    return [...this.#drafts].flatMap(([one, text]) => {
      const edit = editOf(one)
      return edit?.key === key ? [{ entryId: edit.entryId, draft: this.#whole(text) }] : []
    })
  }

  /** The unsent prompts of a conversation, in their order. */
  prompts(key: string): Array<Draft<Attachment>> {
    return this.#prompts.filter(prompt => prompt.key === key).map(prompt => this.#whole(prompt))
  }

  setText(key: string, text: string, chips: ChipRange[]): void {
    const items = this.#drafts.get(key)?.items
    this.#keep(key, { text, chips, ...(items !== undefined && { items }) })
    this.#writeSoon()
  }

  setItems(key: string, items: readonly Attachment[]): void {
    const { text, chips } = this.#drafts.get(key) ?? EMPTY_DRAFT
    this.#put(key, { text, chips, items: [...items] })
    this.#writeSoon()
    this.#itemsChange.fire(key)
  }

  save(key: string, prompts: readonly StoredPrompt[], draft?: Draft<Attachment>): void {
    this.#findLost()
    const known = new Map(this.#prompts.map(prompt => [prompt.id, prompt]))
    const ids = new Set(prompts.map(({ id }) => id))
    const isHere = (prompt: StoredText) => prompt.key === key && !this.#unclaimed.has(prompt.id)
    const gone = this.#prompts.filter(prompt => isHere(prompt) && !ids.has(prompt.id))
    const now = prompts
      .filter(({ id }) => !this.#lost.has(id))
      .map(({ id, draft: written }) => {
        const stored = known.get(id)
        return stored ? { ...stored, key } : { id, key, ...this.#stored(written) }
      })
    if (!draft && sameStored(this.#prompts.filter(isHere), now)) return
    this.#prompts = [...this.#prompts.filter(prompt => !isHere(prompt) && !ids.has(prompt.id)), ...now]
    if (draft) {
      this.#forgetItems(this.#drafts.get(key))
      this.#keep(key, this.#stored(draft))
    }
    for (const prompt of gone) this.#forgetItems(prompt)
    this.#write()
    const from = now.flatMap(({ id }) => known.get(id)?.key ?? [])
    for (const one of new Set([...from, key])) this.#itemsChange.fire(one)
  }

  holds(id: string): boolean {
    this.#findLost()
    return !this.#lost.has(id)
  }

  /** Prompts of a conversation that another window left, in their order. The caller is responsible for them from now on. */
  claim(key: string): StoredPrompt[] {
    const claimed = this.#prompts.filter(prompt => prompt.key === key && this.#unclaimed.delete(prompt.id))
    return claimed.map(prompt => ({ id: prompt.id, draft: this.#whole(prompt) }))
  }

  /** The session of the conversation was deleted: nothing that was written for it stays. */
  forget(key: string): void {
    this.#findLost()
    const isGone = (prompt: StoredText) => prompt.key === key
    const drafts = [...this.#drafts.keys()].filter(one => one === key || editOf(one)?.key === key)
    const gone = [...drafts.map(one => this.#drafts.get(one)), ...this.#prompts.filter(isGone)]
    for (const { id } of this.#prompts.filter(isGone)) this.#unclaimed.delete(id)
    for (const one of drafts) this.#drafts.delete(one)
    this.#prompts = this.#prompts.filter(prompt => !isGone(prompt))
    for (const one of gone) this.#forgetItems(one)
    this.#write()
    this.#itemsChange.fire(key)
  }

  #takeOverLater(tries: number): void {
    if (!this.#windows.hasOthers || tries === 0 || this.owned.isDisposed) return
    this.#takeOverTimer = setTimeout(() => {
      this.takeOver()
      this.#takeOverLater(tries - 1)
    }, DRAFTS_POLL_MS)
    this.#takeOverTimer.unref()
  }

  /** Takes over the state of closed windows. */
  takeOver(): void {
    this.#windows.takeOver(states => this.#takeIn(states, false))
  }

  /**
   * `isStart`: no composer shows anything yet. Later, a draft of another window arrives as an unsent prompt, since
   * composers have their own drafts.
   */
  #takeIn(states: readonly unknown[], isStart: boolean): void {
    const keys = new Set<string>()
    const known = new Set(this.#prompts.map(({ id }) => id))
    const add = (prompt: StoredText) => {
      if (known.has(prompt.id)) return
      known.add(prompt.id)
      this.#prompts.push(prompt)
      this.#unclaimed.add(prompt.id)
      keys.add(prompt.key)
    }
    for (const value of states) {
      const { success, data } = storedState.safeParse(value)
      if (!success) continue
      this.#height ??= data.height
      for (const prompt of data.prompts) add(prompt)
      for (const { key, ...draft } of data.drafts) {
        const own = this.#drafts.get(key)
        if (own && sameText(own, draft)) continue
        if (isStart && !own) this.#keep(key, draft)
        else add({ id: `draft-${randomUUID()}`, key: editOf(key)?.key ?? key, ...draft })
      }
    }
    this.#write()
    for (const key of keys) this.#takeOver.fire(key)
    for (const key of this.keys()) this.#itemsChange.fire(key)
  }

  /** Another window considered this one closed and has taken over what was written until then. */
  #findLost(): void {
    if (this.#windows.isOwn) return
    for (const { id } of this.#prompts) this.#lost.add(id)
    this.#prompts = []
    this.#unclaimed.clear()
    this.#drafts.clear()
    this.#write()
  }

  #whole({ text, chips, items }: Text): Draft<Attachment> {
    const read = draftItems.safeParse(items === undefined ? [] : this.#items.get(items))
    return validDraft({ text, chips, items: read.success ? read.data : [] })
  }

  #stored({ text, chips, items }: Draft<Attachment>, before?: Text): Text {
    if (items.length === 0) return { text, chips }
    const name = `items-${randomUUID()}`
    this.#items.set(name, items)
    const earlier = before?.items && this.#onDisk(before.items)
    // they may be too large for a disk that still has space for the text
    if (earlier && this.#items.isUnwritten?.(name)) this.#replaced.set(name, earlier)
    return { text, chips, items: name }
  }

  #onDisk(items: string): string | undefined {
    return this.#items.isUnwritten?.(items) ? this.#replaced.get(items) : items
  }

  #put(key: string, draft: Draft<Attachment>): void {
    const before = this.#drafts.get(key)
    if (before?.items === undefined && draft.items.length === 0) {
      this.#keep(key, { text: draft.text, chips: draft.chips })
      return
    }
    this.#findLost()
    this.#forgetItems(before)
    this.#keep(key, this.#stored(draft, before))
    this.#write()
  }

  /** The last written draft comes last. */
  #keep(key: string, stored: Text): void {
    this.#drafts.delete(key)
    if (stored.text !== '' || stored.items !== undefined) this.#drafts.set(key, stored)
    if (this.#drafts.size <= MAX_DRAFTS) return
    const [oldest] = this.#drafts
    if (!oldest) return
    this.#drafts.delete(oldest[0])
    this.#forgetItems(oldest[1])
  }

  #forgetItems(text: Text | undefined): void {
    if (text?.items !== undefined) this.#unused.add(text.items)
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.#flush(), SAVE_DELAY_MS)
  }

  #flush(): void {
    this.#findLost()
    this.#write()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const onDisk = <T extends Text>(one: T): T => ({ ...one, items: one.items && this.#onDisk(one.items) })
    const drafts = [...this.#drafts].map(([key, draft]) => ({ key, ...onDisk(draft) }))
    const height = this.#height === undefined ? {} : { height: this.#height }
    const isWritten = this.#windows.write({ ...height, drafts, prompts: this.#prompts.map(onDisk) })
    const all = [...this.#drafts.values(), ...this.#prompts]
    if (isWritten && all.every(({ items }) => !items || !this.#items.isUnwritten?.(items))) {
      for (const name of this.#unused) this.#items.set(name, undefined)
      this.#unused.clear()
      this.#replaced.clear()
    } else if (!this.owned.isDisposed) this.#timer = setTimeout(() => this.#flush(), REWRITE_AFTER_MS).unref()
  }
}

/** The key of a prompt's draft while the user edits it where it is. No conversation's key starts as it does. */
export function editKey(key: string, entryId: string): string {
  return JSON.stringify([key, entryId])
}

function editOf(key: string): { key: string; entryId: string } | undefined {
  if (!key.startsWith('["')) return undefined
  try {
    const { success, data } = editedPrompt.safeParse(JSON.parse(key))
    return success ? { key: data[0], entryId: data[1] } : undefined
  } catch {
    return undefined
  }
}

function sameStored(a: readonly StoredText[], b: readonly StoredText[]): boolean {
  return a.length === b.length && a.every((one, i) => one.id === b[i]?.id && one.key === b[i]?.key)
}

function sameText(a: Text, b: Text): boolean {
  return a.text === b.text && a.items === b.items
}
