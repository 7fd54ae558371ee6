import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { ContentBlock } from '../../../acp/model.ts'
import { visibleProse } from '../../../common/visible.ts'
import { isShownPrompt } from '../../../conversation/user-prompts.ts'
import { t } from '../../l10n.ts'
import { useApp } from '../context.ts'
import { firstEntry } from '../row.ts'
import type { RowModel } from '../rows/rows.ts'
import type { EntrySlot } from '../slot.ts'
import { toEntry } from './navigation.ts'

/** Characters of a prompt that are searched for its first line. */
const MAX_LINE = 400

/**
 * The prompt of the turn in view, over the upper edge of the list, while the prompt itself isn't in view. The list doesn't change its size
 * or position for it, which would stop a scroll movement; what gets the focus is scrolled below it (`scroll-padding`). It's for the
 * pointer alone: keys and screen readers have *Go to Previous Prompt* and the outline.
 */
export function TurnPrompt() {
  const app = useApp()
  const { list, store } = app
  const shown = useSignal<EntrySlot | undefined>(undefined)
  const above = useRef(new PromptAbove(store.rows)).current
  const frame = useRef(0)
  useSignalEffect(() => {
    void list.moved.value
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0
      const edge = list.firstVisible
      const prompt = edge && above.find(firstEntry(edge.item))
      const row = prompt && store.rows.rowsOf(prompt.index)[0]
      shown.value = row && list.isAbove(row) ? prompt : undefined
    })
  })
  useEffect(() => () => cancelAnimationFrame(frame.current), [])
  const slot = shown.value
  const entry = slot?.entry.value
  if (!slot || !entry || !isShownPrompt(entry)) return null
  return (
    <div class="turn-prompt" aria-hidden="true">
      <button
        type="button"
        tabIndex={-1}
        title={t('Go to Prompt')}
        onClick={() => void toEntry(app, slot.index)}
      >
        {lineOf(entry.blocks)}
      </button>
    </div>
  )
}

/** Finds the last prompt up to an entry. While the view moves on in a turn, only what is new is read. */
class PromptAbove {
  readonly #rows: Pick<RowModel, 'slots'>
  #found: EntrySlot | undefined
  /** no prompt follows the found one up to this index */
  #to = 0

  constructor(rows: Pick<RowModel, 'slots'>) {
    this.#rows = rows
  }

  /** `undefined` if there is none, or if an entry between wasn't fetched yet. */
  find(index: number): EntrySlot | undefined {
    const { slots } = this.#rows
    const known = this.#found
    const from =
      known && slots[known.index] === known && known.index <= index ? Math.min(this.#to, index) : -1
    let at = index
    while (at > from && slots[at] && !isShownPrompt(slots[at]!.entry.peek())) at--
    this.#found = at > from ? slots[at] : from < 0 ? undefined : known
    if (at > from && !slots[at]) this.#found = undefined
    this.#to = index
    return this.#found
  }
}

function lineOf(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(block => (block.type === 'text' ? block.text.slice(0, MAX_LINE) : '')).join(' ')
  const line = text.split('\n').find(part => part.trim() !== '')
  return line === undefined ? t('Attachments without text') : visibleProse(line.trim())
}
