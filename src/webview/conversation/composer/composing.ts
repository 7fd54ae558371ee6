import { type Draft, type DraftItem, EMPTY_DRAFT, isEmptyDraft, joinDrafts } from '../../../common/draft.ts'

/** A prompt that left the composer. */
export interface Outgoing<Item extends DraftItem> {
  id: string
  draft: Draft<Item>
}

/**
 * What a person wrote and nobody took yet: the prompts that are on their way, in the order they were sent, and after
 * them what stands in the composer. Nothing of it is ever lost, and its order never changes.
 */
export interface Composing<Item extends DraftItem> {
  outgoing: ReadonlyArray<Outgoing<Item>>
  draft: Draft<Item>
}

export const NOTHING: Composing<never> = { outgoing: [], draft: EMPTY_DRAFT }

/** The prompt leaves the composer, which is empty then; an empty one stays. */
export function send<Item extends DraftItem>(state: Composing<Item>, id: string): Composing<Item> {
  if (isEmptyDraft(state.draft)) return state
  return { outgoing: [...state.outgoing, { id, draft: state.draft }], draft: EMPTY_DRAFT }
}

/** It is on its way no longer. */
export function taken<Item extends DraftItem>(state: Composing<Item>, id: string): Composing<Item> {
  const outgoing = state.outgoing.filter(one => one.id !== id)
  return outgoing.length === state.outgoing.length ? state : { ...state, outgoing }
}

/** These were not taken: they stand in the composer again, in their order and before what was written meanwhile. */
export function givenBack<Item extends DraftItem>(
  state: Composing<Item>,
  ids: readonly string[],
): Composing<Item> {
  const back = state.outgoing.filter(one => ids.includes(one.id))
  if (back.length === 0) return state
  return {
    outgoing: state.outgoing.filter(one => !back.includes(one)),
    draft: joinDrafts(...back.map(one => one.draft), state.draft),
  }
}

/** The prompt and those that were sent after it: where it is refused, they are not sent either. */
export function fromOn<Item extends DraftItem>(state: Composing<Item>, id: string): string[] {
  const at = state.outgoing.findIndex(one => one.id === id)
  return at === -1 ? [] : state.outgoing.slice(at).map(one => one.id)
}

/** Prompts of before the page was made, that are still on their way, come before those of this one. */
export function adopted<Item extends DraftItem>(
  state: Composing<Item>,
  found: ReadonlyArray<Outgoing<Item>>,
): Composing<Item> {
  return found.length === 0 ? state : { ...state, outgoing: [...found, ...state.outgoing] }
}
