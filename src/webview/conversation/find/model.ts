import { batch, signal } from '@preact/signals'
import type { FindResult } from '../../../bridge/conversation.ts'
import { type FindQuery, findPattern } from '../../../common/find-pattern.ts'
import { plural, t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import { type HeldKeys, typed } from './held-keys.ts'
import { Highlights } from './highlights.ts'
import { type FindPosition, FoundEntries } from './results.ts'
import { type FindContext, revealMatch } from './reveal.ts'

/** A query, and the index of the entry where the search begins. */
export interface WantedMatch {
  query: FindQuery
  from: number
}

/** The state of find: the query, the results, and the current match. */
export class FindModel {
  readonly isOpen = signal(false)
  readonly query = signal<FindQuery>({ text: '', matchCase: false, wholeWord: false, regex: false })
  readonly total = signal(0)
  /** number of the current match, 1-based; 0 for none */
  readonly ordinal = signal(0)
  readonly searching = signal(false)
  readonly limited = signal(false)
  readonly problem = signal<string | undefined>(undefined)
  /** Increases when the widget should take the focus. */
  readonly focusWanted = signal(0)
  readonly #held: HeldKeys
  readonly #context: FindContext
  readonly #found = new FoundEntries()
  readonly #highlights = new Highlights()
  #id = 0
  /** the query whose matches are highlighted; the host completed its search in time, so the query can't block the page */
  #markedId = -1
  #key = ''
  #pattern: RegExp | undefined
  #position: FindPosition | undefined
  /** the first entry in view when the user started to search, from which the first match is searched */
  #from = 0
  /** whether the next results reveal the first match, because the query is new */
  #toFirst = false
  #revealing = 0
  #before: Element | null = null

  /** @param held keys typed before the widget exists */
  constructor(context: FindContext, held: HeldKeys) {
    this.#context = context
    this.#held = held
  }

  /**
   * Opens the widget, or focuses it.
   * @param selected the selection to search for, if any
   * @param before the focused element, to restore the focus
   * @param match the match to search for instead
   * @param takesFocus whether the widget gets the focus
   */
  open(selected: string, before: Element | null, match?: WantedMatch, takesFocus = true): void {
    if (!this.isOpen.peek()) {
      this.#before = before
      this.#from = this.#firstEntryInView()
      this.#position = undefined
    }
    this.isOpen.value = true
    if (takesFocus) this.focusWanted.value++
    if (match) {
      this.#position = undefined
      this.#from = match.from
      this.setQuery(match.query)
    } else if (selected) this.setQuery({ ...this.query.peek(), text: selected, regex: false })
    else this.#start()
  }

  /** The widget has the focus and its text is selected. Inserts the keys that were typed meanwhile. */
  focused(): void {
    const keys = this.#held.release()
    if (keys.length === 0) return
    const query = this.query.peek()
    const { text, escaped } = typed(keys, query.text)
    if (escaped) this.close()
    else if (text !== query.text) this.setQuery({ ...query, text })
  }

  close(): void {
    if (!this.isOpen.peek()) return
    this.#id++
    this.#revealing++
    this.#highlights.leave()
    this.#context.host.send('find/stop')
    batch(() => {
      this.isOpen.value = false
      this.total.value = 0
      this.ordinal.value = 0
      this.problem.value = undefined
    })
    // the view was at the end: follow it again
    if (this.#context.list.atEnd.peek()) this.#context.list.toEnd()
    const before = this.#before
    this.#before = null
    if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus()
    else this.#context.composer.current?.focus()
  }

  setQuery(query: FindQuery): void {
    if (this.#position) this.#from = this.#position.entry
    this.#position = undefined
    this.query.value = query
    this.#start()
  }

  step(direction: 1 | -1): void {
    if (this.#markedId !== this.#id) return
    const at = this.#position
    const position = !at
      ? this.#found.from(this.#from)
      : direction > 0
        ? this.#found.after(at)
        : this.#found.before(at)
    if (!position) return
    this.#go(position)
    announce(t('{0} of {1}', this.ordinal.peek(), this.total.peek()))
  }

  /** Shows the host's results. */
  take(result: FindResult): void {
    if (result.id !== this.#id || !this.isOpen.peek()) return
    this.#found.take(result)
    batch(() => {
      this.total.value = this.#found.total
      this.searching.value = result.searching
      this.limited.value = result.limited
      this.problem.value = result.problem
    })
    if (result.problem) {
      this.#pattern = undefined
      this.#highlights.clear()
      announce(result.problem)
      return
    }
    this.#mark()
    if (this.#toFirst && (this.#found.total > 0 || !result.searching)) {
      this.#toFirst = false
      const position = this.#found.from(this.#from)
      if (position) this.#go(position)
      else this.ordinal.value = 0
      if (this.query.peek().text !== '') announce(foundText(this.#found.total, result.limited))
      return
    }
    if (this.#position) this.#position = this.#found.clamp(this.#position)
    this.ordinal.value = this.#position ? this.#found.ordinal(this.#position) : 0
  }

  /** Call this when a conversation is displayed, since it may be another one: searches again. */
  conversationShown(): void {
    if (!this.isOpen.peek() || this.#context.store.key === this.#key) return
    this.#position = undefined
    this.#from = 0
    this.#start()
  }

  #start(): void {
    const query = this.query.peek()
    this.#key = this.#context.store.key
    this.#revealing++
    this.#toFirst = true
    this.#pattern = toPattern(query)
    if (!this.#pattern) {
      this.#highlights.clear()
      this.#found.take({ hits: [], part: 'whole' })
      this.total.value = 0
      this.ordinal.value = 0
    }
    this.problem.value = undefined
    this.#context.host.send('find/start', { key: this.#key, id: ++this.#id, query })
  }

  #mark(): void {
    const list = document.querySelector('.transcript')
    if (list && this.#pattern && this.#markedId !== this.#id) {
      this.#markedId = this.#id
      this.#highlights.show(list, this.#pattern)
    }
  }

  #go(position: FindPosition): void {
    this.#position = position
    this.ordinal.value = this.#found.ordinal(position)
    const mine = ++this.#revealing
    const isWanted = () => mine === this.#revealing
    if (this.#pattern)
      void revealMatch(this.#context, this.#highlights, this.#found, this.#pattern, position, isWanted)
  }

  #firstEntryInView(): number {
    const row = this.#context.list.firstVisible?.item
    if (!row) return 0
    if (row.kind === 'missing' || row.kind === 'aside') return row.entryIndex
    return row.kind === 'run' ? row.slots[0]!.index : row.slot.index
  }
}

function toPattern(query: FindQuery): RegExp | undefined {
  if (query.text === '') return undefined
  try {
    return findPattern(query)
  } catch {
    return undefined
  }
}

function foundText(total: number, limited: boolean): string {
  if (total === 0) return t('No results')
  return limited ? t('{0}+ results', total) : plural(total, '1 result', '{0} results')
}
