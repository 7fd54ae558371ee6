import { useRef } from 'preact/hooks'
import { draftOf } from '../../../common/draft.ts'
import { useApp } from '../context.ts'
import type { Draft, WrittenDraft } from './draft.ts'
import { itemOf } from './items.ts'
import { PromptHistory } from './prompt-history.ts'

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
