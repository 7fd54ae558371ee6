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
import { nearest, toEntry } from './navigation.ts'

/** Length of the start of a prompt that is searched for its first line. Characters. */
const MAX_LINE = 400

/**
 * The prompt of the turn in view, over the upper edge of the list, while the prompt's own row isn't in view. The list doesn't change its
 * size or position for the prompt, which would stop scrolling; `scroll-padding` makes focused rows scroll below it. For the pointer only:
 * keys and screen readers have *Go to Previous Prompt* and the outline.
 */
export function TurnPrompt() {
  const app = useApp()
  const { list, store } = app
  const shown = useSignal<EntrySlot | undefined>(undefined)
  const above = useRef(new PromptAbove(store.rows)).current
  const frame = useRef(0)
  /** increases when a prompt was fetched that isn't near the rows in view */
  const fetched = useSignal(0)
  const fetching = useRef(false)
  /** Fetches only the prompt of the turn in view, since the entries between the prompt and the view may not be fetched. */
  const fetchAbove = async (index: number) => {
    if (fetching.current) return
    fetching.current = true
    const { key } = store
    const at = await nearest(app, index, -1)
    const prompt = at === undefined ? undefined : await store.load(at)
    fetching.current = false
    const isLost = at !== undefined && !prompt
    if (isLost || store.key !== key) return
    above.remember(prompt, index)
    fetched.value++
  }
  useSignalEffect(() => {
    void list.moved.value
    void fetched.value
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0
      const edge = list.firstVisible
      const found = edge && above.find(firstEntry(edge.item))
      if (typeof found === 'number') return void fetchAbove(found)
      const prompt = found
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
        {firstLine(entry.blocks)}
      </button>
    </div>
  )
}

/** Finds the last prompt up to an entry. While the view moves within a turn, only entries that weren't searched before are read. */
class PromptAbove {
  readonly #rows: Pick<RowModel, 'slots'>
  #found: EntrySlot | undefined
  /** the index up to which no other prompt follows the found one */
  #to = 0
  /** the index before which there is no prompt */
  #none = 0

  constructor(rows: Pick<RowModel, 'slots'>) {
    this.#rows = rows
  }

  /** Returns the last prompt up to an entry; `undefined` if there is none; the index of an entry that must be fetched first. */
  find(index: number): EntrySlot | number | undefined {
    const { slots } = this.#rows
    const known = this.#found
    const from =
      known && slots[known.index] === known && known.index <= index ? Math.min(this.#to, index) : -1
    let at = index
    while (at > from && slots[at] && !isShownPrompt(slots[at]!.entry.peek())) at--
    if (at > from && !slots[at]) return at < this.#none ? undefined : at
    this.#found = at > from ? slots[at] : from < 0 ? undefined : known
    this.#to = index
    return this.#found
  }

  /** Remembers the last prompt up to an index, which the host found; `undefined` if there is none. */
  remember(prompt: EntrySlot | undefined, index: number): void {
    this.#found = prompt
    this.#to = index
    if (!prompt) this.#none = index + 1
  }
}

function firstLine(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(block => (block.type === 'text' ? block.text.slice(0, MAX_LINE) : '')).join(' ')
  const line = text.split('\n').find(part => part.trim() !== '')
  return line === undefined ? t('Attachments without text') : visibleProse(line.trim())
}
