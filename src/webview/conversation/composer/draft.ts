import { computed, signal } from '@preact/signals'
import {
  besideText,
  type Draft as DraftContent,
  type DraftMark,
  EMPTY_DRAFT,
  isEmptyDraft,
  soundDraft,
} from '../../../common/draft.ts'
import { messageOf } from '../../../common/errors.ts'
import type { Attachment, SentPrompt, WaitingPrompt } from '../../../views/bridge/conversation.ts'
import { vscodeApi } from '../../host/vscode-api.ts'
import {
  adopted,
  type Composing,
  fromOn,
  givenBack,
  NOTHING,
  type Outgoing,
  send,
  taken,
} from './composing.ts'

export type WrittenDraft = DraftContent<Attachment>

/** A draft is saved at the latest this long after it was changed, in milliseconds: also while somebody types on. */
const delay = 200

/** Keeps drafts beyond the page; the items apart, since they are larger and change less often. */
export interface DraftKeeper {
  saveText(key: string, text: string, marks: DraftMark[]): void
  saveItems(key: string, items: Attachment[]): void
  /** From here on it keeps the prompt, and an empty draft. Rejects with a sentence when the prompt was refused. */
  send(key: string, prompt: SentPrompt): Promise<void>
  /** What becomes of a prompt that an earlier page sent; as with `send`. */
  outcome(id: string): Promise<void>
  /** These prompts, which were sent or waited, stand in the draft again: from here on it keeps them there alone. */
  takeBack(key: string, ids: string[], draft: WrittenDraft): void
}

/**
 * What stands in the composer and what has left it, kept in the host by conversation so that neither a reload nor a crash
 * loses it. A prompt leaves at once when it is sent; one that is refused comes back before what was written meanwhile.
 */
export class Draft {
  readonly #state = signal<Composing<Attachment>>(NOTHING)
  /** As it is to be shown; replaced whole when something else than the editor changes it. */
  readonly content = computed(() => this.#state.value.draft)
  /** prompts that are on their way, in their order */
  readonly outgoing = computed(() => this.#state.value.outgoing)
  /** Told why prompts came back. */
  onRefused: (sentence: string) => void = () => {}
  readonly text = computed(() => this.content.value.text)
  /** what stands beside the text */
  readonly beside = computed(() => besideText(this.content.value))
  readonly isEmpty = computed(() => isEmptyDraft(this.content.value))
  readonly #keeper: DraftKeeper
  /** All items that stood in this draft: what is deleted may be brought back. */
  readonly #known = new Map<string, Attachment>()
  /** empty until the first snapshot */
  #key = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  #savedItems = ''
  /** ids of the prompts that came back */
  readonly #cameBack = new Set<string>()

  constructor(keeper: DraftKeeper) {
    this.#keeper = keeper
    window.addEventListener('pagehide', () => this.flush())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.flush()
    })
  }

  /**
   * A snapshot came: of another conversation, of this one anew, or of the one that has begun meanwhile under the key
   * `before`, to which what stands here goes along. `waiting`: what left its composer and was not taken yet.
   */
  show(key: string, saved: WrittenDraft, waiting: readonly WaitingPrompt[] = [], before?: string): void {
    if (before !== undefined && before === this.#key && key !== before) this.#goAlong(key)
    else if (key !== this.#key) this.#begin(key, saved)
    this.#adopt(waiting)
  }

  #begin(key: string, saved: WrittenDraft): void {
    const first = this.#key === ''
    if (!first) this.flush()
    this.#key = key
    this.#savedItems = idsOf(saved.items)
    keepKey(key)
    this.#state.value = { ...this.#state.peek(), outgoing: [] }
    // what came before it was known which conversation this is: typed, or attached by the command that opened the view
    const early = first ? this.content.peek() : EMPTY_DRAFT
    const wins = early.text !== ''
    const text = wins ? early : saved
    const beside = wins ? besideText(saved) : early.items
    this.#known.clear()
    this.#replace(soundDraft({ text: text.text, marks: text.marks, items: [...text.items, ...beside] }))
    if (!isEmptyDraft(early)) this.#changed()
  }

  #goAlong(key: string): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#keeper.saveItems(this.#key, [])
    this.#keeper.saveText(this.#key, '', [])
    this.#key = key
    this.#savedItems = ''
    keepKey(key)
    this.#changed()
  }

  /** The editor's text as it is now. A mark of an item that was never here is left out. */
  write(text: string, marks: readonly DraftMark[]): void {
    const now = this.content.peek()
    if (text === now.text && sameMarks(marks, now.marks)) return
    const marked = marks.flatMap(({ id }) => this.#known.get(id) ?? [])
    this.#set(soundDraft({ text, marks: [...marks], items: [...besideText(now), ...marked] }))
    this.#changed()
  }

  /** An item that comes to stand in the text: its mark follows with `write`. */
  introduce(item: Attachment): void {
    this.#known.set(item.id, item)
  }

  item(id: string): Attachment | undefined {
    return this.#known.get(id)
  }

  /** Puts something else there. */
  put(draft: WrittenDraft): void {
    this.#replace(soundDraft(draft))
    this.#changed()
  }

  attach(item: Attachment): void {
    this.introduce(item)
    const { text, marks, items } = this.content.peek()
    this.#set({ text, marks, items: [...items.filter(one => one.id !== item.id), item] })
    this.#changed()
  }

  detach(id: string): void {
    const { text, marks, items } = this.content.peek()
    this.#set({ text, marks, items: items.filter(one => one.id !== id) })
    this.#changed()
  }

  /** What stands here is on its way from now on, and nothing stands here any more. Does nothing where nothing stands. */
  send(): void {
    const before = this.#state.peek()
    const id = crypto.randomUUID()
    const state = send(before, id)
    if (state === before) return
    const after = before.outgoing.at(-1)?.id
    const outcome = this.#keeper.send(this.#key, {
      id,
      draft: before.draft,
      ...(after !== undefined && { after }),
    })
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#savedItems = idsOf([])
    this.#state.value = state
    void this.#follow(id, outcome)
  }

  #adopt(waiting: readonly WaitingPrompt[]): void {
    const known = new Set(this.#state.peek().outgoing.map(one => one.id))
    const found = waiting.filter(({ id }) => !known.has(id) && !this.#cameBack.has(id))
    this.#state.value = adopted(this.#state.peek(), found)
    const refused = found.filter(one => one.refused !== undefined)
    this.#giveBack(refused.map(one => one.id))
    if (refused[0]?.refused) this.onRefused(refused[0].refused)
    for (const { id, refused } of found)
      if (refused === undefined) void this.#follow(id, this.#keeper.outcome(id))
  }

  /**
   * A prompt that waited in the queue of this conversation is to be written on: it stands before what stands here. The
   * host has it under its id until then, and gives it back itself where another conversation came onto the page.
   */
  takeBack(key: string, prompt: Outgoing<Attachment>): void {
    if (key !== this.#key || this.#cameBack.has(prompt.id)) return
    this.#state.value = adopted(this.#state.peek(), [prompt])
    this.#giveBack([prompt.id])
  }

  async #follow(id: string, outcome: Promise<void>): Promise<void> {
    try {
      await outcome
      this.#state.value = taken(this.#state.peek(), id)
    } catch (error) {
      // those behind it are refused as well; another conversation's come back there
      if (this.#giveBack(fromOn(this.#state.peek(), id))) this.onRefused(messageOf(error))
    }
  }

  #giveBack(ids: readonly string[]): boolean {
    if (ids.length === 0) return false
    const state = givenBack(this.#state.peek(), ids)
    for (const item of state.draft.items) this.#known.set(item.id, item)
    for (const id of ids) this.#cameBack.add(id)
    this.#state.value = state
    // in one: what is kept twice for a moment could come back twice
    this.#keeper.takeBack(this.#key, [...ids], state.draft)
    this.#savedItems = idsOf(state.draft.items)
    return true
  }

  /** Saves now what waits to be saved. */
  flush(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { text, marks, items } = this.content.peek()
    const ids = idsOf(items)
    if (ids !== this.#savedItems) this.#keeper.saveItems(this.#key, items)
    this.#savedItems = ids
    this.#keeper.saveText(this.#key, text, marks)
  }

  #replace(draft: WrittenDraft): void {
    for (const item of draft.items) this.#known.set(item.id, item)
    this.#set(draft)
  }

  #set(draft: WrittenDraft): void {
    this.#state.value = { ...this.#state.peek(), draft }
  }

  #changed(): void {
    if (this.#key !== '') this.#timer ??= setTimeout(() => this.flush(), delay)
  }
}

function idsOf(items: readonly Attachment[]): string {
  return JSON.stringify(items.map(item => item.id))
}

export function sameMarks(a: readonly DraftMark[], b: readonly DraftMark[]): boolean {
  return (
    a.length === b.length &&
    a.every((mark, i) => mark.from === b[i]!.from && mark.to === b[i]!.to && mark.id === b[i]!.id)
  )
}

/** A tab is brought back by the key of its conversation. What else the page keeps stays. */
function keepKey(key: string): void {
  const state = vscodeApi().getState()
  vscodeApi().setState({ ...(typeof state === 'object' ? state : {}), key })
}
