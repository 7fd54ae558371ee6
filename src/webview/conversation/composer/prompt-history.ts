import { useRef } from 'preact/hooks'
import { draftOf } from '../../../common/draft.ts'
import { useApp } from '../context.ts'
import { type Draft, itemOf, type WrittenDraft } from './draft.ts'

interface Walk {
  history: PromptHistory<WrittenDraft>
  /** the conversation that is walked through */
  key: string
  /** index of the entry before which prompts were not had yet */
  from: number
  fetching: boolean
}

/** Earlier prompts by the arrow keys; those of a long conversation come from the host as one gets there. */
export function usePromptHistory(draft: Draft, show: (prompt: WrittenDraft) => void) {
  const { store, host } = useApp()
  const ref = useRef<Walk | undefined>(undefined)
  ref.current ??= {
    history: new PromptHistory<WrittenDraft>(one => one.text),
    key: '',
    from: 0,
    fetching: false,
  }
  const walk = ref.current
  const { history } = walk

  const fetch = async () => {
    const { key } = walk
    walk.fetching = true
    try {
      const { prompts, from } = await host.request('composer/prompts', { before: walk.from })
      if (!history.isWalking || walk.key !== key || store.key !== key) return
      walk.from = from
      history.prepend(prompts.map(blocks => draftOf(blocks, itemOf)))
      const prompt = history.older([], draft.content.peek())
      if (prompt) show(prompt)
    } catch {
      // the host is gone or busy: the next key asks again
    } finally {
      walk.fetching = false
    }
  }

  return {
    /** The text was changed by hand or sent: the walk is over. */
    stop: () => history.stop(),
    isWalking: () => history.isWalking,
    /** Takes an arrow key; false when it is no matter of the history. */
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
        prompts = last.prompts.map(blocks => draftOf(blocks, itemOf))
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

/** Walking through earlier prompts with the arrow keys; what was being written comes back at the end. */
export class PromptHistory<Prompt = string> {
  readonly #textOf: (prompt: Prompt) => string
  #list: readonly Prompt[] = []
  /** position in the list; its length is what is being written */
  #at: number | undefined
  #own: Prompt | undefined

  constructor(textOf: (prompt: Prompt) => string = String) {
    this.#textOf = textOf
  }

  /** The next older prompt, if there is one. `list`: oldest first; `now`: the composer's content. */
  older(list: readonly Prompt[], now: Prompt): Prompt | undefined {
    if (this.#at === undefined) {
      this.#list = this.#unlike(list)
      this.#own = now
      this.#at = this.#list.length
    }
    if (this.#at === 0) return undefined
    this.#at--
    return this.#list[this.#at]
  }

  /** Prompts from before the oldest one that it knew; the walk stays where it is. */
  prepend(list: readonly Prompt[]): void {
    if (this.#at === undefined) return
    const all = this.#unlike([...list, ...this.#list])
    this.#at += all.length - this.#list.length
    this.#list = all
  }

  /** A newer one; after the newest, what was being written. */
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

  /** The text was changed by hand or sent: the walk is over. */
  stop(): void {
    this.#at = undefined
  }

  /** The same prompt twice in a row is walked past at once. */
  #unlike(list: readonly Prompt[]): Prompt[] {
    return list.filter((one, i) => i === 0 || this.#textOf(one) !== this.#textOf(list[i - 1]!))
  }
}
