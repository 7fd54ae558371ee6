import { attachedItems } from '../../../common/draft.ts'
import type { WrittenDraft } from './draft.ts'

/** Returns a draft without the prompt that was appended to it; the same draft if the user has edited the prompt since. */
export function withoutPrompt(draft: WrittenDraft, prompt: WrittenDraft): WrittenDraft {
  const start = draft.text.length - prompt.text.length
  const isJoined = start === 0 || prompt.text === '' || draft.text.slice(0, start).endsWith('\n\n')
  if (start < 0 || !isJoined || !draft.text.endsWith(prompt.text)) return draft
  const within = draft.chips.filter(({ to }) => to > start)
  const isSameText =
    within.length === prompt.chips.length &&
    within.every(({ from, to, id }, i) => {
      const chip = prompt.chips[i]!
      return from - start === chip.from && to - start === chip.to && isSame(id, chip.id)
    })
  if (!isSameText) return draft
  const gone = new Set(within.map(({ id }) => id))
  const beside = attachedItems(draft)
  for (const item of attachedItems(prompt)) {
    const own = beside.findLastIndex(one => sameContent(one, item))
    if (own < 0) return draft
    gone.add(beside.splice(own, 1)[0]!.id)
  }
  return {
    text: draft.text.slice(0, start).replace(/\n\n$/, ''),
    chips: draft.chips.filter(({ to }) => to <= start),
    items: draft.items.filter(({ id }) => !gone.has(id)),
  }

  function isSame(id: string, other: string): boolean {
    const item = draft.items.find(one => one.id === id)
    const original = prompt.items.find(one => one.id === other)
    return item !== undefined && original !== undefined && sameContent(item, original)
  }
}

type Item = WrittenDraft['items'][number]

function sameContent(one: Item, other: Item): boolean {
  return JSON.stringify(one.content) === JSON.stringify(other.content)
}
