import { batch, signal } from '@preact/signals'
import type {
  FrameDetails,
  FrameFilter,
  FrameRow,
  InspectorNames,
  InspectorState,
  TurnTimeline,
} from '../../bridge/inspector.ts'
import type { InspectorMessages } from '../../bridge/inspector-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { ListController } from '../list/controller.ts'
import { ListWindow, type Range, type WindowItem } from '../list/window.ts'

/** Height of a row in pixels. */
const ROW = 22
/** Number of rows that are loaded before and after the rows in the page. */
const AHEAD = 50
/** Maximum number of loaded rows that the page keeps. */
const MAX_KEPT = 2000

/** A row of the list. Its content is loaded when it's near the view. */
export class FrameItem implements WindowItem {
  readonly position: number
  height = ROW
  measured = true
  index = -1

  constructor(position: number) {
    this.position = position
  }

  get key(): string {
    return `frame-${this.position}`
  }
}

/** The frames that match the filter. Only frames near the view are loaded. */
export class Frames {
  readonly window = new ListWindow<FrameItem>()
  readonly list = new ListController(this.window, { follow: true })
  /** changes when rows were added, removed or loaded */
  readonly version = signal(0)
  readonly loaded = signal(0)
  readonly state = signal<InspectorState | undefined>(undefined)
  readonly names = signal<InspectorNames>({ agents: [], sessions: [], methods: [] })
  readonly filter = signal<FrameFilter>({ text: '' })
  /** whether the timeline of the selected frame's turn is shown */
  readonly showsTimeline = signal(false)
  readonly selected = signal<FrameDetails | undefined>(undefined)
  readonly #host: HostClient<InspectorMessages>
  readonly #rows = new Map<number, FrameRow>()
  /** identifies the filter */
  #filter = 0
  /** whether the rows in the page are still the rows of the previous filter */
  #isNew = true
  /** the filter to which the selected frame's position belongs */
  #selectedIn = 0
  /** whether loaded rows may be outdated by a later change */
  #isStale = false
  #isLoading = false
  /** the frame that the user selected last */
  #wanted = 0

  constructor(host: HostClient<InspectorMessages>) {
    this.#host = host
    this.list.drawn.onRange = () => void this.#load()
  }

  /** The title of a session, or its ID. */
  titleOf(sessionId: string | undefined): string | undefined {
    return this.names.value.sessions.find(({ id }) => id === sessionId)?.title ?? sessionId
  }

  get isFiltered(): boolean {
    const { text, ...rest } = this.filter.value
    return text !== '' || Object.values(rest).some(value => value)
  }

  show(filter: FrameFilter): void {
    this.#filter++
    this.#isNew = true
    this.filter.value = filter
    this.#host.send('inspector/filter', { version: this.#filter, filter })
  }

  update(state: InspectorState): void {
    if (state.version !== this.#filter) return
    const { start, end } = state
    const [first, last] = [this.window.items[0]?.position ?? start, this.window.items.at(-1)?.position]
    const next = last === undefined ? start : last + 1
    const isNew = this.#isNew
    this.#isNew = false
    if (this.state.peek()?.cleared !== state.cleared) this.close()
    batch(() => {
      if (isNew || start >= next || end < next) {
        this.#rows.clear()
        this.window.splice(0, this.window.count, itemsOf(start, end))
      } else {
        this.window.splice(0, start - first, [])
        this.window.splice(this.window.count, 0, itemsOf(next, end))
      }
      this.state.value = state
      this.version.value++
    })
    this.#isStale = true
    if (isNew) this.list.toEnd()
    void this.#load()
    const { row } = this.selected.peek() ?? {}
    if (row && (isNew || row.pending)) void this.select(row.n)
  }

  rowOf(item: FrameItem): FrameRow | undefined {
    return this.#rows.get(item.position)
  }

  /** The position of the selected frame, if the filter shows it. */
  get #position(): number | undefined {
    return this.#selectedIn === this.#filter ? this.selected.peek()?.position : undefined
  }

  /** Selects the row this many rows below, at most the first or the last one. */
  async move(by: number): Promise<void> {
    const { items } = this.window
    const first = items[0]?.position
    if (first === undefined) return
    const from = this.#position
    const at = from === undefined ? (by < 0 ? items.length - 1 : 0) : from - first + by
    const item = items[Math.max(0, Math.min(items.length - 1, at))]!
    this.list.reveal(item)
    if (!this.#rows.has(item.position)) await this.#request(item.position, item.position + 1)
    const row = this.#rows.get(item.position)
    if (row) await this.select(row.n)
  }

  /** Selects a frame, which shows its details. */
  async select(n: number): Promise<void> {
    this.#wanted = n
    const filter = this.#filter
    const details = await this.#host.request('inspector/frame', { n })
    if (!details || this.#wanted !== n) return
    this.#selectedIn = filter
    this.selected.value = details
  }

  /** Selects a frame, and scrolls to it. */
  async goTo(n: number): Promise<void> {
    await this.select(n)
    const position = this.#position
    const first = this.window.items[0]?.position
    if (position === undefined || first === undefined) return
    const item = this.window.items[position - first]
    if (item) this.list.reveal(item)
  }

  /** Resolves to the turn that a frame is part of; `null` for none. */
  turnOf(n: number): Promise<TurnTimeline | null> {
    return this.#host.request('inspector/turn', { n })
  }

  close(): void {
    this.#wanted = 0
    this.selected.value = undefined
  }

  clear(): void {
    this.close()
    this.#host.send('inspector/clear')
  }

  /** Loads the missing rows near the view, or all rows near the view after a change. One request at a time. */
  async #load(): Promise<void> {
    if (this.#isLoading || this.#isNew) return
    this.#isLoading = true
    try {
      let last: Range | undefined
      for (let missing = this.#missing(); missing; missing = this.#missing()) {
        // these rows have left the host's memory; the next state says which rows remain
        if (!this.#isStale && missing.start === last?.start && missing.end === last.end) break
        last = missing
        this.#isStale = false
        await this.#request(missing.start, missing.end)
      }
    } finally {
      this.#isLoading = false
    }
  }

  /** Returns the positions to load; `undefined` for none. */
  #missing(): Range | undefined {
    const { items } = this.window
    const { start, end } = this.list.drawn.range.peek()
    const inPage = items.slice(start, end)
    const isComplete = inPage.every(item => this.#rows.has(item.position))
    if (inPage.length === 0 || (isComplete && !this.#isStale)) return undefined
    const near = items.slice(Math.max(0, start - AHEAD), end + AHEAD)
    return { start: near[0]!.position, end: near.at(-1)!.position + 1 }
  }

  async #request(from: number, to: number): Promise<void> {
    const version = this.#filter
    const answer = await this.#host.request('inspector/rows', { version, from, to })
    if (version !== this.#filter || this.#isNew) return
    if (this.#rows.size > MAX_KEPT) this.#rows.clear()
    for (const [i, row] of answer.rows.entries()) this.#rows.set(answer.from + i, row)
    this.loaded.value++
  }
}

function itemsOf(from: number, to: number): FrameItem[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => new FrameItem(from + i))
}
