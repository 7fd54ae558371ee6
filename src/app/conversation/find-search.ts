import * as l10n from '@vscode/l10n'
import { FIND_LIMIT, type FindResult } from '../../bridge/conversation.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { countMatches, type FindQuery, findPattern } from '../../common/find-pattern.ts'
import { inTime } from '../../common/timed-regexp.ts'
import type { EntryText } from '../../conversation/entries/entry-kind.ts'
import { entryKind } from '../../conversation/entries/entry-kinds.ts'
import type { Change, SessionState } from '../../conversation/state.ts'

/** The maximum duration of a slice of a search, in milliseconds. Between slices, the extension host can do other work. */
const SLICE_MS = 12
/** The time after which a search reports its results so far, in milliseconds. */
const PARTIAL_MS = 150
/** The time limit for a slice of a search with a regular expression, in milliseconds. A search that takes longer is aborted. */
const EXPRESSION_MS = 500
/** The maximum share of the time for searching updates of a running conversation. */
const SHARE = 1 / 8
const MIN_WAIT_MS = 100

interface Search {
  id: number
  pattern: RegExp
  /** number of matches by entry index: in the head, and in the whole entry */
  counts: Map<number, [head: number, all: number]>
  total: number
  limited: boolean
}

/**
 * Searches a conversation of any length, including entries that are added during the search. Works in slices; a new search ends the
 * previous one. The text of an entry is computed once and cached while the search is open.
 */
export class FindSearch extends Owner {
  readonly #state: () => SessionState | undefined
  readonly #tell: (result: FindResult) => void
  readonly #texts = new Map<number, EntryText>()
  readonly #terminalEntries = new Map<string, Set<number>>()
  readonly #changed = new Set<number>()
  #search: Search | undefined
  /** whether the first search of all entries is still in progress */
  #searching = false
  #timer: NodeJS.Timeout | undefined
  #cost = 0
  #visible = true

  constructor(state: () => SessionState | undefined, tell: (result: FindResult) => void) {
    super()
    this.#state = state
    this.#tell = tell
    this.register(toDisposable(() => this.stop()))
  }

  /** Searches the conversation. Resolves when everything was searched or another search was started. */
  async start(id: number, query: FindQuery): Promise<void> {
    this.#end()
    if (query.text === '') {
      this.#tell({ id, hits: [], part: 'whole', searching: false, limited: false })
      return
    }
    let pattern: RegExp
    try {
      pattern = findPattern(query)
    } catch {
      this.#refuse(id, l10n.t('Invalid regular expression.'))
      return
    }
    const search: Search = { id, pattern, counts: new Map(), total: 0, limited: false }
    this.#search = search
    await this.#searchAll(search)
  }

  stop(): void {
    this.#end()
    this.#texts.clear()
    this.#terminalEntries.clear()
  }

  /** Ends the search and starts it again, because another conversation is displayed or the conversation was reloaded. */
  reset(): void {
    const search = this.#search
    this.stop()
    if (!search) return
    this.#search = { ...search, counts: new Map(), total: 0, limited: false }
    void this.#searchAll(this.#search)
  }

  /** Notes whether the view is visible. A hidden view gets no updates; they follow when it's shown again. */
  setVisible(visible: boolean): void {
    this.#visible = visible
    if (visible && this.#changed.size > 0 && !this.#searching) this.#schedule()
  }

  /** Schedules a search of the changed entries. Does nothing if no search is open. */
  note(changes: readonly Change[]): void {
    if (!this.#search) return
    const index = this.#state()?.index
    for (const change of changes) {
      if (change.type === 'reset') {
        this.reset()
        return
      }
      if (change.type === 'entry' || change.type === 'text') {
        const position = index?.get(change.id)
        if (position !== undefined) this.#changed.add(position)
      } else if (change.type === 'terminal' || change.type === 'terminal_output') {
        for (const position of this.#terminalEntries.get(change.terminalId) ?? []) this.#changed.add(position)
      }
    }
    if (this.#changed.size > 0 && !this.#searching) this.#schedule()
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#search = undefined
    this.#searching = false
    for (const position of this.#changed) this.#texts.delete(position)
    this.#changed.clear()
  }

  #refuse(id: number, problem: string): void {
    this.#tell({ id, hits: [], part: 'whole', searching: false, limited: false, problem })
  }

  async #searchAll(search: Search): Promise<void> {
    this.#searching = true
    const begun = performance.now()
    let reportedAt = begun
    let position = 0
    for (;;) {
      const until = performance.now() + SLICE_MS
      const next = inTime(EXPRESSION_MS, () => this.#searchFrom(search, position, until))
      if (next === undefined) {
        this.#end()
        this.#refuse(search.id, l10n.t('Search timed out. Simplify the expression.'))
        return
      }
      position = next
      if (position >= (this.#state()?.entries.length ?? 0) || search.limited) break
      if (performance.now() - reportedAt > PARTIAL_MS) {
        reportedAt = performance.now()
        this.#tellAll(search, true)
      }
      await new Promise(resolve => setImmediate(resolve))
      if (this.#search !== search) return
    }
    this.#searching = false
    this.#tellAll(search, false)
    if (this.#changed.size > 0) this.#schedule()
  }

  /** Searches entries from `position` on until the time `until`. Returns the position at which to continue. */
  #searchFrom(search: Search, position: number, until: number): number {
    const state = this.#state()
    const { length } = state?.entries ?? []
    let next = position
    while (state && next < length && !search.limited) {
      this.#count(search, state, next)
      next += 1
      if ((next & 15) === 0 && performance.now() > until) break
    }
    return search.limited ? length : next
  }

  #count(search: Search, state: SessionState, position: number): [head: number, all: number] {
    const { head, body } = this.#textOf(state, position)
    const before = search.counts.get(position)?.[1] ?? 0
    const room = FIND_LIMIT - search.total + before
    const inHead = head === '' ? 0 : countMatches(search.pattern, head, room)
    const all = inHead + (body === '' ? 0 : countMatches(search.pattern, body, room - inHead))
    if (all > 0) search.counts.set(position, [inHead, all])
    else search.counts.delete(position)
    search.total += all - before
    if (search.total >= FIND_LIMIT) search.limited = true
    return [inHead, all]
  }

  #textOf(state: SessionState, position: number): EntryText {
    let text = this.#texts.get(position)
    const entry = state.entries[position]
    if (!entry) return { head: '', body: '' }
    if (text) return text
    text = entryKind(entry).text(entry, state.terminals)
    this.#texts.set(position, text)
    if (entry.kind === 'tool_call') {
      for (const content of entry.content) {
        if (content.type !== 'terminal') continue
        const entries = this.#terminalEntries.get(content.terminalId) ?? new Set()
        this.#terminalEntries.set(content.terminalId, entries.add(position))
      }
    }
    return text
  }

  #tellAll(search: Search, searching: boolean): void {
    const hits: number[] = []
    for (const [position, [head, all]] of search.counts) hits.push(position, head, all)
    this.#tell({ id: search.id, hits, part: 'whole', searching, limited: search.limited })
  }

  #schedule(): void {
    if (!this.#visible) return
    this.#timer ??= setTimeout(() => this.#follow(), Math.max(MIN_WAIT_MS, this.#cost / SHARE))
  }

  /** Searches the changed entries again. */
  #follow(): void {
    this.#timer = undefined
    const search = this.#search
    const state = this.#state()
    if (!search || !state) return
    const start = performance.now()
    const positions = [...this.#changed].sort((a, b) => a - b)
    this.#changed.clear()
    for (const position of positions) this.#texts.delete(position)
    const hits = inTime(EXPRESSION_MS, () =>
      positions.flatMap(position => [position, ...this.#count(search, state, position)]),
    )
    if (!hits) {
      this.#end()
      this.#refuse(search.id, l10n.t('Search timed out. Simplify the expression.'))
      return
    }
    this.#cost = performance.now() - start
    this.#tell({ id: search.id, hits, part: 'change', searching: false, limited: search.limited })
  }
}
