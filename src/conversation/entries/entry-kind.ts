import type * as z from 'zod'
import type { EntryBase, TerminalState } from '../state-base.ts'
import type { ReducedKind, ReducerState, Step } from '../step.ts'

export type Terminals = ReadonlyMap<string, TerminalState>

/** The text of an entry: the part that is visible while the entry is collapsed, and the part that is visible only when it's expanded. */
export interface EntryText {
  head: string
  body: string
}

/** Everything about a kind of entry, except how it's drawn: the webview's `entries/` do that. */
export interface EntryKind<E extends EntryBase> extends ReducedKind<E> {
  /** The minimum shape of a stored entry, without what all entries have. A stored file may contain anything. */
  schema(): z.ZodRawShape
  /** Identifies an entry among those of its kind in a turn, also in a replay; `undefined`: nothing does. */
  mergeKey(entry: E): readonly unknown[] | undefined
  /** Identifies an entry that the agent replays with another id. White space in texts doesn't count. */
  traits?(entry: E): readonly unknown[]
  /** The known entry, completed with data that only the replay has; by default, unchanged. */
  merged?(known: E, reported: E): E
  /** A copy that later updates can change. */
  copy?(entry: E): E
  /**
   * Adds a stored entry to the reducer's indexes, so that later updates find it. `state`: the state of the session that reported the entry.
   */
  restore?(state: ReducerState, entry: E, position: number): void
  /** The agent ended: closes an entry that no update will close anymore. Called for those in `positionsOf`. */
  agentGone?(step: Step, entry: E, position: number): void
  /** As Markdown, for an export; empty if there is nothing to show. */
  markdown(entry: E, terminals: Terminals): string
  /** For the search. */
  text(entry: E, terminals: Terminals): EntryText
}
