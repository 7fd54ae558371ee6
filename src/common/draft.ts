/**
 * The content of a composer: text, and items in the text or attached to it (a file, a selection, an image). An item in
 * the text has a chip over the words that represent it; an item without a chip is attached.
 */
export interface Draft<Item extends DraftItem = DraftItem> {
  text: string
  /** the chips in their order in the text, never overlapping */
  chips: ChipRange[]
  items: Item[]
}
export interface ChipRange {
  /** offsets in the text, in UTF-16 units; `to` is exclusive */
  from: number
  to: number
  /** id of the item */
  id: string
}
export interface DraftItem {
  id: string
  label: string
}

export const EMPTY_DRAFT: Draft<never> = { text: '', chips: [], items: [] }

export function isEmptyDraft({ text, items }: Draft): boolean {
  return text.trim() === '' && items.length === 0
}

/** The attached items, which have no chip in the text. */
export function attachedItems<Item extends DraftItem>({ chips, items }: Draft<Item>): Item[] {
  const within = new Set(chips.map(chip => chip.id))
  return items.filter(item => !within.has(item.id))
}

/** The words that represent an item in the text: a mention, or a command as it was typed. */
export function wordsFor(label: string): string {
  return label.startsWith('/') ? label : `@${label}`
}

/** The draft without chips that don't match its text or items. */
export function validDraft<Item extends DraftItem>({ text, chips, items }: Draft<Item>): Draft<Item> {
  const known = new Set(items.map(item => item.id))
  const used = new Set<string>()
  let end = 0
  const valid = [...chips]
    .sort((a, b) => a.from - b.from)
    .filter(({ from, to, id }) => {
      if (from < end || to <= from || to > text.length || !known.has(id) || used.has(id)) return false
      end = to
      used.add(id)
      return true
    })
  return { text, chips: valid, items }
}

/**
 * Concatenates drafts with an empty line between them. A draft of only white space is dropped unless it's last, where the user typed it
 * after the others. Items with the same id in several drafts get different ids.
 */
export function joinDrafts<Item extends DraftItem>(...drafts: Array<Draft<Item>>): Draft<Item> {
  const joined: Draft<Item> = { text: '', chips: [], items: [] }
  for (const [at, one] of drafts.entries()) {
    const draft = withFreshIds(one, new Set(joined.items.map(item => item.id)))
    const isBlank = draft.text.trim() === ''
    if (!isBlank) {
      if (joined.text !== '') joined.text += '\n\n'
      const start = joined.text.length
      for (const { from, to, id } of draft.chips)
        joined.chips.push({ from: from + start, to: to + start, id })
    }
    if (!isBlank || at === drafts.length - 1) joined.text += draft.text
    joined.items.push(...draft.items)
  }
  return joined
}

function withFreshIds<Item extends DraftItem>(draft: Draft<Item>, taken: ReadonlySet<string>): Draft<Item> {
  if (!draft.items.some(item => taken.has(item.id))) return draft
  const used = new Set([...taken, ...draft.items.map(item => item.id)])
  const fresh = (id: string): string => {
    let another = id
    for (let n = 2; used.has(another); n++) another = `${id} ${n}`
    return another
  }
  const names = new Map(draft.items.map(({ id }) => [id, taken.has(id) ? fresh(id) : id]))
  return {
    text: draft.text,
    chips: draft.chips.map(chip => ({ ...chip, id: names.get(chip.id) ?? chip.id })),
    items: draft.items.map(item => ({ ...item, id: names.get(item.id)! })),
  }
}

/** A part of a prompt: text, or one of the items. */
export type DraftPart<Item> = { text: string } | { item: Item }

/** The draft in the form in which it's sent: text and its items in order, then the attached items. No part is empty text. */
export function draftParts<Item extends DraftItem>(draft: Draft<Item>): Array<DraftPart<Item>> {
  const { text, chips, items } = validDraft(draft)
  const byId = new Map(items.map(item => [item.id, item]))
  const start = text.length - text.trimStart().length
  const end = Math.max(start, text.trimEnd().length)
  const parts: Array<DraftPart<Item>> = []
  let at = start
  const write = (to: number) => {
    if (to > at) parts.push({ text: text.slice(at, to) })
  }
  for (const { from, to, id } of chips) {
    write(from)
    parts.push({ item: byId.get(id)! })
    at = Math.max(at, to)
  }
  write(end)
  for (const item of attachedItems({ text, chips, items })) parts.push({ item })
  return parts
}

/** The fields of a prompt's block that this module needs. */
interface Block {
  type: string
  /** whether the block is only for the model: the user didn't write it */
  agentOnly?: true
  /** a slash command that the user typed, and the text that the agent gets instead */
  asText?: true
  text?: string
}

/**
 * For each block of a prompt, whether the block is part of the text: text, commands, and blocks with text before or after them on the same
 * line. Attached blocks come after the end of the text.
 */
export function inText(blocks: readonly Block[]): boolean[] {
  const last = blocks.findLastIndex(isText)
  let leads = false
  return blocks.map((block, i) => {
    if (isText(block)) {
      leads = /\s$/.test(block.text)
      return true
    }
    const within = canStandInText(block) && (i < last || leads || block.asText === true)
    leads = false
    return within
  })
}

function isText<B extends Block>(block: B): block is B & { text: string } {
  return block.type === 'text' && block.text !== undefined && !block.agentOnly
}

function canStandInText(block: Block): boolean {
  return (block.type === 'resource' || block.type === 'resource_link') && !block.agentOnly
}

/** Turns a sent or queued prompt into a draft that the user can continue to edit. */
export function draftOf<B extends Block, Item extends DraftItem>(
  blocks: readonly B[],
  itemOf: (block: B) => Item,
): Draft<Item> {
  const draft: Draft<Item> = { text: '', chips: [], items: [] }
  const within = inText(blocks)
  let afterText = false
  for (const [i, block] of blocks.entries()) {
    if (isText(block)) {
      // two texts in a row are two paragraphs
      if (afterText && !draft.text.endsWith('\n')) draft.text += '\n'
      draft.text += block.text
      afterText = true
      continue
    }
    const item = itemOf(block)
    draft.items.push(item)
    if (!within[i]) continue
    const from = draft.text.length
    draft.text += wordsFor(item.label)
    draft.chips.push({ from, to: draft.text.length, id: item.id })
    afterText = false
  }
  return draft
}
