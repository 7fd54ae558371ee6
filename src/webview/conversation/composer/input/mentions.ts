import { invertedEffects } from '@codemirror/commands'
import { type EditorState, type Extension, RangeSet, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'
import type { Attachment } from '../../../../bridge/conversation.ts'
import { type ChipRange, wordsFor } from '../../../../common/draft.ts'
import { t } from '../../../l10n.ts'

/** Turns a part of the text into a chip. */
export const putChip = StateEffect.define<ChipRange>({
  map: ({ from, to, id }, changes) => ({ from: changes.mapPos(from, 1), to: changes.mapPos(to, -1), id }),
})

interface ChipParts {
  item(id: string): Attachment | undefined
  open(item: Attachment): void
}

/** Chips in the text: ranges that are rendered as a unit, and that the cursor, deletion and undo treat as a unit. */
export class Chips {
  readonly #field: StateField<DecorationSet>
  readonly #parts: ChipParts

  constructor(parts: ChipParts) {
    this.#parts = parts
    this.#field = StateField.define<DecorationSet>({
      create: () => Decoration.none,
      update: (chips, transaction) => {
        const { state } = transaction
        let next = chips.map(transaction.changes)
        if (transaction.docChanged)
          next = next.update({ filter: (from, to, { spec }) => this.#fits(state, { from, to, id: spec.id }) })
        const added = transaction.effects.flatMap(effect =>
          effect.is(putChip) ? this.#chip(state, effect.value) : [],
        )
        return added.length > 0 ? next.update({ add: added, sort: true }) : next
      },
      provide: field => [
        EditorView.decorations.from(field),
        EditorView.atomicRanges.of(view => view.state.field(field)),
      ],
    })
  }

  /** Returns the editor extension for chips, with the initial chips. */
  extension(chips: readonly ChipRange[]): Extension {
    return [
      this.#field.init(state =>
        RangeSet.of(
          chips.flatMap(chip => this.#chip(state, chip)),
          true,
        ),
      ),
      invertedEffects.of(({ startState, state }) => {
        const after = new Set(this.in(state).map(chip => chip.id))
        return this.in(startState)
          .filter(chip => !after.has(chip.id))
          .map(chip => putChip.of(chip))
      }),
    ]
  }

  /** The chips in the text, in their order. */
  in(state: EditorState): ChipRange[] {
    const chips: ChipRange[] = []
    for (const chip = state.field(this.#field).iter(); chip.value; chip.next())
      chips.push({ from: chip.from, to: chip.to, id: chip.value.spec.id })
    return chips
  }

  #fits(state: EditorState, { from, to, id }: ChipRange): boolean {
    const item = this.#parts.item(id)
    return item !== undefined && to <= state.doc.length && state.sliceDoc(from, to) === wordsFor(item.label)
  }

  #chip(state: EditorState, range: ChipRange) {
    const item = this.#parts.item(range.id)
    if (!item || !this.#fits(state, range)) return []
    const widget = new ChipWidget(item, this.#parts.open)
    return [Decoration.replace({ widget, id: range.id }).range(range.from, range.to)]
  }
}

class ChipWidget extends WidgetType {
  readonly #item: Attachment
  readonly #open: (item: Attachment) => void

  constructor(item: Attachment, open: (item: Attachment) => void) {
    super()
    this.#item = item
    this.#open = open
  }

  override eq(other: ChipWidget): boolean {
    return other.#item.id === this.#item.id
  }

  toDOM(): HTMLElement {
    const chip = document.createElement('span')
    chip.className = 'chip mention'
    const hint = t('Double-click or press Alt+Enter to expand')
    chip.title = [this.#item.detail, hint].filter(Boolean).join('\n\n')
    const icon = chip.appendChild(document.createElement('span'))
    icon.className = `codicon codicon-${this.#item.icon}`
    icon.setAttribute('aria-hidden', 'true')
    const label = chip.appendChild(document.createElement('span'))
    label.className = 'chip-label truncate'
    label.dir = 'auto'
    const name = this.#item.label
    const cut = nameCut(name)
    if (cut === name.length) label.textContent = name
    else {
      label.classList.add('cut')
      for (const [part, text] of [
        ['cut-start', name.slice(0, cut)],
        ['cut-end', name.slice(cut)],
      ] as const) {
        const span = label.appendChild(document.createElement('span'))
        span.className = part
        span.textContent = text
      }
    }
    // a click moves the cursor there, as in text; a double-click opens the chip's target
    chip.addEventListener('dblclick', () => this.#open(this.#item))
    return chip
  }

  override ignoreEvent(event: Event): boolean {
    return event.type === 'dblclick'
  }
}

/** Number of letters at the end of a long name that are always visible, since they distinguish files. */
const VISIBLE_END = 14

/**
 * Returns where to split a name so that it can be truncated in the middle: at its end if the name is short, or if it may be
 * written from right to left, since such a name can't be split.
 */
export function nameCut(name: string): number {
  return name.length > 2 * VISIBLE_END && /^[\x20-\x7e]+$/.test(name)
    ? name.length - VISIBLE_END
    : name.length
}
