import type * as z from 'zod'
import type { EntryBase, TerminalState } from '../state-base.ts'
import type { ReducedKind, ReducerState, Step } from '../step.ts'

export type Terminals = ReadonlyMap<string, TerminalState>

/** The text of an entry: the part that is visible while the entry is collapsed, and the part that is visible only when it's expanded. */
export interface EntryText {
  head: string
  body: string
}

/** Everything about a kind of entry, except how the entry is drawn: the webview's `entries/` do that. */
export interface EntryKind<E extends EntryBase> extends ReducedKind<E> {
  /** Returns the minimum shape of a stored entry, without the fields that all entries have. A stored file may contain anything. */
  schema(): z.ZodRawShape
  /** Identifies an entry among the entries of its kind in a turn, also in a replay. Returns `undefined` if nothing identifies the entry. */
  mergeKey(entry: E): readonly unknown[] | undefined
  /** Identifies an entry that the agent replays with another id. White space in texts is ignored. */
  traits?(entry: E): readonly unknown[]
  /** Returns the known entry, completed with data that only the replay has; by default, the known entry is unchanged. */
  merged?(known: E, reported: E): E
  /** Returns a copy that later updates can change. */
  copy?(entry: E): E
  /**
   * Adds a stored entry to the reducer's indexes, so that later updates find the entry. `state`: the state of the session that reported the
   * entry.
   */
  restore?(state: ReducerState, entry: E, position: number): void
  /** Closes an entry of an agent that ended, since no update will close it. Called for the entries in `positionsOf`. */
  agentGone?(step: Step, entry: E, position: number): void
  /** Returns the entry as Markdown, for an export; empty if there is nothing to show. */
  markdown(entry: E, terminals: Terminals): string
  /** Returns the entry's text, for the search. */
  text(entry: E, terminals: Terminals): EntryText
}
