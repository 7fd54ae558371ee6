import type { RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import { draftOf } from '../../../common/draft.ts'
import { startsTurn } from '../../../conversation/user-prompts.ts'
import { type App, editKey, editPrompt, useApp } from '../context.ts'
import { type Draft, itemFromBlock, type WrittenDraft } from './draft.ts'
import type { TextInputHandle } from './text-input.tsx'

interface Walk {
  history: PromptHistory<WrittenDraft>
  /** key of the conversation */
  key: string
  /** index of the entry before which prompts weren't fetched yet */
  from: number
  fetching: boolean
  /** whether the change of the composer's text comes from the history, not from the user */
  showing: boolean
}

/** Lets the arrow keys show earlier prompts; prompts of a long conversation are fetched from the host as needed. */
export function usePromptHistory(draft: Draft, input: RefObject<TextInputHandle | null>) {
  const { store, host } = useApp()
  const ref = useRef<Walk | undefined>(undefined)
  ref.current ??= {
    history: new PromptHistory<WrittenDraft>(one => one.text),
    key: '',
    from: 0,
    fetching: false,
    showing: false,
  }
  const walk = ref.current
  const { history } = walk
  const show = (prompt: WrittenDraft) => {
    walk.showing = true
    draft.put(prompt)
    input.current?.setText(prompt)
    walk.showing = false
  }

  const fetch = async () => {
    const { key } = walk
    walk.fetching = true
    try {
      const { prompts, from } = await host.request('composer/prompts', { before: walk.from })
      if (!history.isWalking || walk.key !== key || store.key !== key) return
      walk.from = from
      history.prepend(prompts.map(blocks => draftOf(blocks, itemFromBlock)))
      const prompt = history.older([], draft.content.peek())
      if (prompt) show(prompt)
    } catch {
      // the host is gone or busy: retry with the next key
    } finally {
      walk.fetching = false
    }
  }

  return {
    /** The text was edited or sent: leaves the history. */
    stop: () => walk.showing || history.stop(),
    isWalking: () => history.isWalking,
    /** Handles an arrow key; returns false if it isn't for the history. */
    onArrow(key: 'ArrowUp' | 'ArrowDown', atStart: boolean): boolean {
      if (store.key !== walk.key) history.stop()
      const walking = history.isWalking
      if (key === 'ArrowDown') {
        const prompt = walking ? history.newer() : undefined
        if (prompt) show(prompt)
        return prompt !== undefined
      }
      if (!walking && !atStart) return false
      if (walk.fetching) return true
      let prompts: WrittenDraft[] = []
      if (!walking) {
        const last = store.lastPrompts()
        prompts = last.prompts.map(blocks => draftOf(blocks, itemFromBlock))
        walk.key = store.key
        walk.from = last.from
      }
      const prompt = history.older(prompts, draft.content.peek())
      if (prompt) show(prompt)
      else if (walk.from > 0) void fetch()
      else return false
      return true
    },
  }
}

/**
 * Opens the editor of the last prompt in the conversation; returns false if the prompt can't be resent now. Another ↑ closes the editor,
 * so that the key shows the history.
 */
export function editLast(app: App): boolean {
  const { store, editing } = app
  if (editing.peek() !== '') {
    // the editor may not have the focus yet
    if (editing.peek() === app.recalled) editing.value = ''
    return false
  }
  const head = store.head.peek()
  if (head?.phase !== 'ready' || head.activity !== 'idle' || head.queue.length > 0) return false
  const { slots } = store.rows
  for (let i = slots.length - 1; slots[i]; i--) {
    const entry = slots[i]!.entry.peek()
    if (!startsTurn(entry)) continue
    if (entry.within !== undefined) return false
    app.recalled = editKey(store, entry.id)
    editPrompt(app, entry.id)
    return true
  }
  return false
}

/** Navigates earlier prompts with the arrow keys; the current text is restored at the end. */
export class PromptHistory<Prompt = string> {
  readonly #textOf: (prompt: Prompt) => string
  #list: readonly Prompt[] = []
  /** position in the list; the list's length represents the current text */
  #at: number | undefined
  #own: Prompt | undefined

  constructor(textOf: (prompt: Prompt) => string = String) {
    this.#textOf = textOf
  }

  /** Moves to the next older prompt and returns it, if any. `list`: oldest first; `now`: the composer's content. */
  older(list: readonly Prompt[], now: Prompt): Prompt | undefined {
    if (this.#at === undefined) {
      this.#list = this.#withoutRepeats(list)
      this.#own = now
      this.#at = this.#list.length
    }
    if (this.#at === 0) return undefined
    this.#at--
    return this.#list[this.#at]
  }

  /** Adds prompts before the oldest known one; the position stays the same. */
  prepend(list: readonly Prompt[]): void {
    if (this.#at === undefined) return
    const all = this.#withoutRepeats([...list, ...this.#list])
    this.#at += all.length - this.#list.length
    this.#list = all
  }

  /** Moves to the next newer prompt and returns it; after the newest, the text that the user was writing. */
  newer(): Prompt | undefined {
    if (this.#at === undefined) return undefined
    this.#at++
    if (this.#at < this.#list.length) return this.#list[this.#at]
    this.#at = undefined
    return this.#own
  }

  get isWalking(): boolean {
    return this.#at !== undefined
  }

  /** The text was edited or sent: leaves the history. */
  stop(): void {
    this.#at = undefined
  }

  /** Returns the prompts without consecutive duplicates. */
  #withoutRepeats(list: readonly Prompt[]): Prompt[] {
    return list.filter((one, i) => i === 0 || this.#textOf(one) !== this.#textOf(list[i - 1]!))
  }
}
