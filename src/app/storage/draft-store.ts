import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { EditedEntry } from '../../bridge/conversation.ts'
import { draftText } from '../../bridge/conversation-messages.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { type ChipRange, type Draft, EMPTY_DRAFT, joinDrafts, validDraft } from '../../common/draft.ts'
import { Emitter } from '../../common/event.ts'
import { DRAFTS_POLL_MS, REWRITE_AFTER_MS } from '../../common/limits.ts'
import { parseJsonAs } from '../../common/parse-json.ts'
import type { Attachment, StoredPrompt } from '../../conversation/attachment.ts'
import type { UnsentText, UnsentTexts } from '../../history/unsent-texts.ts'
import type { Drafts } from '../../sessions/ports.ts'
import type { PromptQueuesStorage } from '../../sessions/prompt-queues.ts'
import { DraftItems } from './draft-items.ts'

/** The maximum number of drafts. The oldest ones are deleted first. */
const MAX_DRAFTS = 100
/** How long a changed draft waits to be stored, in milliseconds. Together with the 50 ms that the page waits, this is less than 100 ms. */
const SAVE_DELAY_MS = 30
/** How many times to check, after a start, whether a previous window that may still be closing has released its drafts. */
const MAX_TAKE_OVERS = 40

const position = z.number().int().min(0).optional()
const editedPrompt = z.object({ hash: z.string().max(64), nth: position, after: position })
/**
 * Identifies an edited prompt, since a replay may give the prompt another entry: a hash of its text, and the number of equal prompts before
 * it. If the beginning of the conversation wasn't known, the number of equal prompts after it.
 */
export type EditedPrompt = z.infer<typeof editedPrompt>
const storedText = draftText.extend({ of: editedPrompt.optional() })

/** A stored draft or prompt. */
interface Text {
  id: string
  text: string
  chips: ChipRange[]
  /** the name under which the text's items are stored */
  items?: string
  /** the prompt that the user edits in place, if known */
  of?: EditedPrompt | undefined
  /** the entry under which the page stored the edit last; not stored */
  from?: EditedEntry | undefined
}
interface Prompt extends Text {
  key: string
}

/**
 * The drafts and unsent prompts of this window, by conversation. Drafts are written in the background and when the window closes, prompts
 * immediately. A prompt leaves its draft, or returns to it, in a single write. This window takes over the drafts and prompts of closed
 * windows.
 */
export class DraftStore extends Owner implements Drafts, PromptQueuesStorage {
  readonly #texts: UnsentTexts
  readonly #drafts = new Map<string, Text>()
  #prompts: Prompt[] = []
  /** ids of prompts of earlier windows for which no queue is responsible yet */
  readonly #unclaimed = new Set<string>()
  /** ids of prompts that another window took over */
  readonly #lost = new Set<string>()
  readonly #items: DraftItems
  /** the stored texts by id */
  #written = new Map<string, Text>()
  readonly #takeOver = this.register(new Emitter<string>())
  readonly #itemsChange = this.register(new Emitter<string>())
  #timer: NodeJS.Timeout | undefined
  #takeOverTimer: NodeJS.Timeout | undefined

  readonly onDidTakeOver = this.#takeOver.event
  /** Fires with a key when the items of the draft or of the unsent prompts of this conversation changed. */
  readonly onDidChangeItems = this.#itemsChange.event

  constructor(texts: UnsentTexts) {
    super()
    this.#texts = this.register(texts)
    this.#items = new DraftItems(texts)
    this.register(toDisposable(() => this.#timer && this.#flush()))
    this.register(toDisposable(() => clearTimeout(this.#takeOverTimer)))
    this.#takeIn(this.#texts.takeOver(), true)
    this.#takeOverLater(MAX_TAKE_OVERS)
  }

  get(key: string): Draft<Attachment> {
    const draft = this.#drafts.get(key)
    return draft ? this.#whole(draft) : EMPTY_DRAFT
  }

  set(key: string, draft: Draft<Attachment>): void {
    this.#put(key, draft)
    this.#writeSoon()
    this.#itemsChange.fire(key)
  }

  /** Returns the keys of the conversations with a draft or unsent prompts. */
  keys(): string[] {
    const drafts = [...this.#drafts.keys()].filter(key => !editOf(key))
    return [...new Set([...drafts, ...this.#prompts.map(({ key }) => key)])]
  }

  /** Returns the prompts of a conversation that the user edits in place, the latest last. */
  edits(key: string): Array<{ entryId: string; draft: Draft<Attachment>; from?: EditedEntry }> {
    return [...this.#drafts].flatMap(([one, text]) => {
      const edit = editOf(one)
      const { from } = text
      return edit?.key === key
        ? [{ entryId: edit.entryId, draft: this.#whole(text), ...(from && { from }) }]
        : []
    })
  }

  /** Returns the entry for which an edit of this prompt is stored. */
  editOf(key: string, of: EditedPrompt): string | undefined {
    for (const [one, text] of this.#drafts) {
      const edit = text.of?.hash === of.hash ? editOf(one) : undefined
      if (edit?.key === key && text.of?.nth === of.nth && text.of?.after === of.after) return edit.entryId
    }
    return undefined
  }

  moveEdits(from: string, to: string): void {
    for (const [at, text] of [...this.#drafts]) {
      const edit = editOf(at)
      if (edit?.key !== from) continue
      this.#drafts.delete(at)
      const moved = editKey(to, edit.entryId)
      if (this.#drafts.has(moved)) this.set(to, joinDrafts(this.get(to), this.#whole(text)))
      else this.#drafts.set(moved, text)
    }
    this.#writeSoon()
  }

  /**
   * Moves the edited prompts of a conversation to their new entries, which `find` returns. Edits without an entry are returned, and removed
   * from the store in the same write in which the caller stores them elsewhere.
   */
  placeEdits(
    key: string,
    find: (entryId: string, of: EditedPrompt | undefined) => string | undefined,
  ): { hasMoved: boolean; gone: StoredPrompt[] } {
    const edits = [...this.#drafts].flatMap(([at, text]) => {
      const edit = editOf(at)
      return edit?.key === key ? [{ at, text, to: editKeyOf(key, find(edit.entryId, text.of)) }] : []
    })
    if (edits.every(({ at, to }) => at === to)) return { hasMoved: false, gone: [] }
    for (const { at } of edits) this.#drafts.delete(at)
    const gone = edits.flatMap(({ text, to }) => {
      if (to === undefined || this.#drafts.has(to)) return [{ id: randomUUID(), draft: this.#whole(text) }]
      this.#drafts.set(to, text)
      return []
    })
    this.#writeSoon()
    return { hasMoved: true, gone }
  }

  /** Returns the unsent prompts of a conversation in order. */
  prompts(key: string): Array<Draft<Attachment>> {
    return this.#prompts.filter(prompt => prompt.key === key).map(prompt => this.#whole(prompt))
  }

  /** Sets the text of a draft. `edit` is the prompt that the user edits in place; `of` is called once to identify the prompt. */
  setText(
    key: string,
    text: string,
    chips: ChipRange[],
    edit?: { of: () => EditedPrompt | undefined; from?: EditedEntry },
  ): void {
    const before = this.#drafts.get(key)
    const of = before?.of ?? edit?.of()
    this.#setDraft(key, { id: randomUUID(), ...before, text, chips, of, from: edit?.from })
    this.#writeSoon()
  }

  setItems(key: string, items: readonly Attachment[]): void {
    const { text, chips } = this.#drafts.get(key) ?? EMPTY_DRAFT
    this.set(key, { text, chips, items: [...items] })
  }

  save(key: string, prompts: readonly StoredPrompt[], draft?: Draft<Attachment>): void {
    this.#findLost()
    const known = new Map(this.#prompts.map(prompt => [prompt.id, prompt]))
    const ids = new Set(prompts.map(({ id }) => id))
    const isHere = (prompt: Prompt) => prompt.key === key && !this.#unclaimed.has(prompt.id)
    const now = prompts
      .filter(({ id }) => !this.#lost.has(id))
      .map(({ id, draft: written }) => ({ ...(known.get(id) ?? this.#textOf(id, written)), key }))
    if (!draft && sameStored(this.#prompts.filter(isHere), now)) return
    this.#prompts = [...this.#prompts.filter(prompt => !isHere(prompt) && !ids.has(prompt.id)), ...now]
    if (draft) this.#setDraft(key, this.#textOf(randomUUID(), draft))
    this.#write()
    const from = now.flatMap(({ id }) => known.get(id)?.key ?? [])
    for (const one of new Set([...from, key])) this.#itemsChange.fire(one)
  }

  holds(id: string): boolean {
    this.#findLost()
    return !this.#lost.has(id)
  }

  claim(key: string): StoredPrompt[] {
    const claimed = this.#prompts.filter(prompt => prompt.key === key && this.#unclaimed.delete(prompt.id))
    return claimed.map(prompt => ({ id: prompt.id, draft: this.#whole(prompt) }))
  }

  handOver(key: string, prompts: readonly StoredPrompt[]): boolean {
    this.#findLost()
    const known = new Map(this.#prompts.map(prompt => [prompt.id, prompt]))
    const handedOver = prompts
      .filter(({ id }) => !this.#lost.has(id))
      .map(({ id, draft }) => ({ ...(known.get(id) ?? this.#textOf(id, draft)), key }))
    return this.#texts.handOver(handedOver.map(unsentPrompt), this.#items.toStore(handedOver))
  }

  arrive(key: string): StoredPrompt[] {
    this.#findLost()
    const arrived = this.#texts.arrive(key).flatMap(text => read(text) ?? [])
    for (const { id } of arrived) this.#lost.delete(id)
    const known = new Set(this.#prompts.map(({ id }) => id))
    this.#prompts.push(...arrived.filter(({ id }) => !known.has(id)).map(prompt => ({ ...prompt, key })))
    if (arrived.length > 0) this.#write()
    return arrived.map(prompt => ({ id: prompt.id, draft: this.#whole(prompt) }))
  }

  forget(key: string): void {
    this.#findLost()
    for (const { id } of this.#prompts.filter(prompt => prompt.key === key)) this.#unclaimed.delete(id)
    this.#prompts = this.#prompts.filter(prompt => prompt.key !== key)
    for (const one of [...this.#drafts.keys()])
      if (one === key || editOf(one)?.key === key) this.#drafts.delete(one)
    this.#texts.forget(key)
    this.#write()
    this.#itemsChange.fire(key)
  }

  #takeOverLater(tries: number): void {
    if (!this.#texts.hasOthers || tries === 0 || this.owned.isDisposed) return
    this.#takeOverTimer = setTimeout(() => {
      this.takeOver()
      this.#takeOverLater(tries - 1)
    }, DRAFTS_POLL_MS)
    this.#takeOverTimer.unref()
  }

  /** Takes over the texts of closed windows. */
  takeOver(): void {
    // texts that this window lost before aren't taken over again
    this.#findLost()
    this.#takeIn(this.#texts.takeOver(), false)
  }

  /**
   * Adds texts of closed windows. `isStart` means that no composer shows anything yet. Later, a draft of another window arrives as an
   * unsent prompt, since composers have their own drafts.
   */
  #takeIn(texts: readonly UnsentText[], isStart: boolean): void {
    if (texts.length === 0) return
    for (const { id } of texts) this.#lost.delete(id)
    const keys = new Set<string>()
    const known = new Set(this.#prompts.map(({ id }) => id))
    const add = (prompt: Prompt) => {
      if (known.has(prompt.id)) return
      known.add(prompt.id)
      this.#prompts.push(prompt)
      this.#unclaimed.add(prompt.id)
      keys.add(prompt.key)
    }
    for (const stored of texts) {
      const text = read(stored)
      if (!text) continue
      const { kind, conversation, entryId } = stored
      const key = entryId === undefined ? conversation : editKey(conversation, entryId)
      const own = this.#drafts.get(key)
      if (kind === 'prompt') add({ ...text, key: conversation })
      else if (own && sameText(own, text)) continue
      else if (isStart && !own) this.#setDraft(key, text)
      else add({ ...text, id: `draft-${text.id}`, key: conversation })
    }
    this.#write()
    for (const key of keys) this.#takeOver.fire(key)
    for (const key of this.keys()) this.#itemsChange.fire(key)
  }

  /** Removes what another window took over because it considered this window closed. This window keeps only what was written since. */
  #findLost(): void {
    if (!this.#texts.takeLoss()) return
    const lost = new Set(this.#prompts.map(({ id }) => id).filter(id => this.#written.has(id)))
    for (const id of lost) {
      this.#lost.add(id)
      this.#unclaimed.delete(id)
    }
    this.#prompts = this.#prompts.filter(({ id }) => !lost.has(id))
    for (const [key, draft] of this.#drafts) {
      const stored = this.#written.get(draft.id)
      if (stored === draft) this.#drafts.delete(key)
      else if (stored) this.#drafts.set(key, { ...draft, id: randomUUID() })
    }
    this.#write()
  }

  #whole({ text, chips, items }: Text): Draft<Attachment> {
    return validDraft({ text, chips, items: this.#items.get(items) })
  }

  #textOf(id: string, { text, chips, items }: Draft<Attachment>): Text {
    return { id, text, chips, ...(items.length > 0 && { items: this.#items.add(items) }) }
  }

  #put(key: string, draft: Draft<Attachment>): void {
    const before = this.#drafts.get(key)
    // attachments are written immediately, and the text soon
    const hasItems = before?.items !== undefined || draft.items.length > 0
    if (hasItems) this.#findLost()
    const { of, from } = before ?? {}
    this.#setDraft(key, { ...this.#textOf(before?.id ?? randomUUID(), draft), of, from })
    if (hasItems) this.#write()
  }

  /** Sets a draft. The draft that was written last is the last one in the map. */
  #setDraft(key: string, draft: Text): void {
    this.#drafts.delete(key)
    if (draft.text !== '' || draft.items !== undefined) this.#drafts.set(key, draft)
    const [oldest] = this.#drafts.keys()
    if (this.#drafts.size > MAX_DRAFTS && oldest !== undefined) this.#drafts.delete(oldest)
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
    const all = [...this.#drafts.values(), ...this.#prompts]
    const texts = [...this.#prompts.map(unsentPrompt), ...[...this.#drafts].map(unsentDraft)]
    if (this.#texts.write(texts, this.#items.toStore(all))) {
      this.#items.stored()
      this.#written = new Map(all.map(text => [text.id, text]))
    } else if (!this.owned.isDisposed) this.#timer = setTimeout(() => this.#flush(), REWRITE_AFTER_MS).unref()
  }
}

/** Returns the key for the draft of a prompt that the user edits in place. No conversation's key starts like this key. */
export function editKey(key: string, entryId: string): string {
  return JSON.stringify([key, entryId])
}

function editKeyOf(key: string, entryId: string | undefined): string | undefined {
  return entryId === undefined ? undefined : editKey(key, entryId)
}

function editOf(key: string): { key: string; entryId: string } | undefined {
  if (!key.startsWith('["')) return undefined
  try {
    const [conversation, entryId, ...others]: unknown[] = JSON.parse(key)
    if (typeof conversation !== 'string' || typeof entryId !== 'string' || others.length > 0) return undefined
    return { key: conversation, entryId }
  } catch {
    return undefined
  }
}

function unsentDraft([key, text]: [string, Text]): UnsentText {
  const edit = editOf(key)
  return edit
    ? { ...unsent(text, text.of), kind: 'draft', conversation: edit.key, entryId: edit.entryId }
    : { ...unsent(text), kind: 'draft', conversation: key }
}

function unsentPrompt({ key, ...text }: Prompt): UnsentText {
  return { ...unsent(text), kind: 'prompt', conversation: key }
}

function unsent(
  { id, text, chips, items }: Text,
  of?: EditedPrompt,
): Pick<UnsentText, 'id' | 'text' | 'items'> {
  return { id, text: JSON.stringify({ text, chips, of }), ...(items !== undefined && { items }) }
}

/** Returns a stored text if it's valid, since the file may be damaged. */
function read({ id, text, items, conversation }: UnsentText): Prompt | undefined {
  const stored = parseJsonAs(storedText, text)
  return stored && { id, key: conversation, ...stored, ...(items !== undefined && { items }) }
}

function sameStored(a: readonly Prompt[], b: readonly Prompt[]): boolean {
  return a.length === b.length && a.every((one, i) => one.id === b[i]?.id && one.key === b[i]?.key)
}

function sameText(a: Text, b: Text): boolean {
  return a.text === b.text && a.items === b.items
}
