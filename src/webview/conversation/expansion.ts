import { type Signal, signal } from '@preact/signals'
import type { RewindNote } from '../../bridge/conversation.ts'
import { isPrompt } from '../../conversation/user-prompts.ts'
import type { EntrySlot } from './slot.ts'
import type { Subagents } from './subagents.ts'

/** Entries that one or more restores have set aside; `end` is exclusive. `id`: the ID of the last restore's notice. */
export interface Aside {
  id: string
  first: number
  end: number
}

/** The entries that the user has expanded and collapsed; lives as long as the conversation. */
export class Expansion {
  readonly #subagents: Subagents
  readonly #open = new Map<string, Signal<boolean>>()
  /** the last entries of the turns that the user has collapsed, by turn */
  readonly #folded = signal<ReadonlyMap<number, EntrySlot>>(new Map())
  /** the last turn that *collapse all* applied to: turns up to it are collapsed when their end is fetched, except `#unfolded` */
  #foldedTo = 0
  readonly #unfolded = new Set<number>()

  /** ranges of entries that restores set aside, in order */
  #asides: readonly Aside[] = []

  constructor(subagents: Subagents) {
    this.#subagents = subagents
  }

  /** Returns a signal of whether the user has expanded the element with this ID. */
  state(id: string): Signal<boolean> {
    let open = this.#open.get(id)
    if (!open) {
      open = signal(false)
      this.#open.set(id, open)
    }
    return open
  }

  /** Returns a signal of whether a run of tool calls is expanded, by the ID of its first entry. */
  run(firstId: string): Signal<boolean> {
    return this.state(`run/${firstId}`)
  }

  /** Sets the turns that restores have set aside. Returns the entries whose rows have changed, if any. */
  setAsides(rewinds: readonly RewindNote[]): { from: number; to: number } | undefined {
    const before = this.#asides
    this.#asides = asidesOf(rewinds)
    const differ = (these: readonly Aside[], those: readonly Aside[]) =>
      these.filter(one => !those.some(other => sameAside(one, other)))
    const changed = [...differ(before, this.#asides), ...differ(this.#asides, before)]
    if (changed.length === 0) return undefined
    return {
      from: Math.min(...changed.map(({ first }) => first)),
      to: Math.max(...changed.map(({ end }) => end)),
    }
  }

  /** Returns the range of entries set aside that includes the entry at this position. */
  asideAt(index: number): Aside | undefined {
    return this.#asides.find(({ first, end }) => first <= index && index < end)
  }

  /** Returns the same range as {@link asideAt}, if its turns are hidden. */
  hiddenAsideAt(index: number): Aside | undefined {
    const aside = this.asideAt(index)
    return aside && !this.asideState(aside.id).peek() ? aside : undefined
  }

  /** Returns a signal of whether the user has shown the turns that a restore set aside. */
  asideState(id: string): Signal<boolean> {
    return this.state(`aside/${id}`)
  }

  /** Whether the user has hidden the subagent's entries. */
  isHidden(subagent: string): boolean {
    return this.#hidden(subagent).value
  }

  /** Collapses a subagent, or expands it with all its parents. Returns the index of the first affected entry. */
  setHidden(subagent: string, hidden: boolean): number {
    const ones = hidden ? [subagent] : this.#subagents.lineOf(subagent)
    for (const one of ones) this.#hidden(one).value = hidden
    return Math.min(...ones.map(one => this.#subagents.get(one)?.index ?? 0))
  }

  /** Whether the user has collapsed the turn that ends with this entry. */
  isFolded(end: EntrySlot): boolean {
    return this.#folded.value.get(end.entry.peek().turn) === end
  }

  /** Collapses a turn to its prompts and the line at its end, or expands it. */
  setFolded(end: EntrySlot, folded: boolean): void {
    const { turn } = end.entry.peek()
    const all = new Map(this.#folded.peek())
    if (folded) all.set(turn, end)
    else all.delete(turn)
    if (folded) this.#unfolded.delete(turn)
    else this.#unfolded.add(turn)
    this.#folded.value = all
  }

  /** Collapses the turns that end with these entries, and earlier turns whose end isn't fetched yet; or expands all. */
  setAllFolded(ends: readonly EntrySlot[], folded: boolean): void {
    const all = new Map(folded ? ends.map(end => [end.entry.peek().turn, end]) : [])
    this.#foldedTo = Math.max(0, ...all.keys())
    this.#unfolded.clear()
    this.#folded.value = all
  }

  /** Whether to collapse the turn with this last entry, which was just fetched, because the user collapsed all turns. */
  foldsWhenFetched(end: EntrySlot): boolean {
    const { turn } = end.entry.peek()
    return turn <= this.#foldedTo && !this.#unfolded.has(turn) && !this.#folded.peek().has(turn)
  }

  /** Returns the last entry of the collapsed turn that hides this entry. Prompts and the reason why a turn ended stay visible. */
  foldedEnd(slot: EntrySlot): EntrySlot | undefined {
    const folded = this.#folded.peek()
    if (folded.size === 0) return undefined
    const entry = slot.entry.peek()
    const end = folded.get(entry.turn)
    if (!end || slot.index > end.index || isPrompt(entry) || entry.kind === 'turn_end') return undefined
    return end
  }

  /** Whether an entry is in a collapsed subagent or turn. */
  hides(slot: EntrySlot): boolean {
    const { within } = slot
    if (within !== undefined && this.#subagents.lineOf(within).some(one => this.#hidden(one).peek()))
      return true
    return this.foldedEnd(slot) !== undefined || this.hiddenAsideAt(slot.index) !== undefined
  }

  /** Expands the turn of a last entry that no longer exists. */
  drop(slot: EntrySlot): void {
    if (this.isFolded(slot)) this.setFolded(slot, false)
  }

  clear(): void {
    this.setAllFolded([], false)
    this.#asides = []
    this.#open.clear()
  }

  #hidden(subagent: string): Signal<boolean> {
    return this.state(`hidden/${subagent}`)
  }
}

/** Returns the ranges that restores set aside, merged, since a restore to an earlier prompt includes turns that were already set aside. */
function asidesOf(rewinds: readonly RewindNote[]): Aside[] {
  const asides: Aside[] = []
  for (const { id, first, end } of [...rewinds].sort((a, b) => a.first - b.first || a.end - b.end)) {
    if (first >= end) continue
    const last = asides.at(-1)
    if (!last || first >= last.end) asides.push({ id, first, end })
    else if (end >= last.end) asides[asides.length - 1] = { id, first: last.first, end }
  }
  return asides
}

function sameAside(one: Aside, other: Aside): boolean {
  return one.id === other.id && one.first === other.first && one.end === other.end
}
