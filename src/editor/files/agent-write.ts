/** Merges an agent's write through the client with the user's changes since the agent read the file. */
import { adaptLineEnds, countChanges, splitLines } from '../line-edits.ts'
import { sameButEnds, withoutMark } from '../text.ts'
import {
  changedLines,
  type MergeConflict,
  type MergedTexts,
  mergeTexts,
  sameConflicts,
} from './merge-texts.ts'

/**
 * The user's answer about conflicts:
 * - `mine`: the user's lines stay; the rest of the agent's text is written.
 * - `theirs`: the agent's lines replace the user's.
 * - `refuse`: nothing is written.
 */
export type MergeAnswer = 'mine' | 'theirs' | 'refuse'

/** A question about an agent's text that changes lines in which the user has unsaved changes. */
export interface MergeQuestion {
  path: string
  realPath: string
  conflicts: readonly MergeConflict[]
}

/** Asks the user about conflicts. `signal` aborts when the session ends or the agent withdraws its request. */
export type AskMerge = (question: MergeQuestion, signal: AbortSignal) => Promise<MergeAnswer>

/** Maximum length of all texts that are remembered for a session. Characters. */
const MAX_KNOWN = 8_000_000

/**
 * The texts that a session's agent last read or wrote through the client, by file. Files that the agent reads from disk aren't included.
 */
export class KnownTexts {
  readonly #texts = new Map<string, string>()
  #size = 0

  get(key: string): string | undefined {
    return this.#texts.get(key)
  }

  /** Remembers the text that the agent read. `text`: `undefined` if the agent read only a part of a changed file. */
  read(key: string, text: string | undefined): void {
    this.#size -= this.#texts.get(key)?.length ?? 0
    this.#texts.delete(key)
    if (text === undefined) return
    this.#texts.set(key, text)
    this.#size += text.length
    for (const [oldest, known] of this.#texts) {
      if (this.#size <= MAX_KNOWN) return
      this.#texts.delete(oldest)
      this.#size -= known.length
    }
  }

  wrote(key: string, text: string): void {
    if (this.#texts.has(key)) this.read(key, text)
  }
}

/** The change tracker's part in a write. */
export interface TrackedWrite {
  /** The text that the document's unsaved changes are based on, if this text is no longer on disk. */
  loaded?: string
  /**
   * Called with the text that the file gets: the agent's text, merged with the user's changes. Called again if the user types meanwhile.
   */
  willWrite?: (text: string) => void
}

export interface AgentWriteOptions extends TrackedWrite {
  content: string
  /** The agent's version of the file; see {@link KnownTexts}. */
  known: string | undefined
  /** Asks the user about lines that both the user and the agent changed. */
  ask: (conflicts: readonly MergeConflict[]) => Promise<'mine' | 'theirs'>
}

export class AgentWrite {
  readonly content: string
  readonly #options: AgentWriteOptions
  #answer: { to: MergedTexts; take: 'mine' | 'theirs' } | undefined
  #hasUserLines = false

  constructor(options: AgentWriteOptions) {
    this.content = withoutMark(options.content)
    this.#options = options
  }

  /** Whether the file contains lines of the user instead of the agent's. */
  get hasUserLines(): boolean {
    return this.#hasUserLines
  }

  /** Whether the agent's text is already on disk, and the user's unsaved changes are based on it. */
  isKnown(onDisk: string | undefined): boolean {
    if (onDisk === undefined || !sameButEnds(onDisk, this.content)) return false
    const { loaded } = this.#options
    return loaded === undefined || sameButEnds(loaded, onDisk)
  }

  /** Reports the text that the file gets. */
  begin(text: string): void {
    this.#options.willWrite?.(text)
  }

  /**
   * Resolves to the text to write in place of `now`, which is the text in the file (`onDisk`) or, with unsaved changes, in its document.
   * Asks about conflicts with unsaved lines; saved lines can be restored. Resolves to `undefined` if the file changed meanwhile.
   */
  async merged(now: string, onDisk: string | undefined): Promise<string | undefined> {
    const { known, loaded, ask } = this.#options
    this.#hasUserLines = false
    const content = adaptLineEnds(this.content, now)
    const isUnsaved = now !== onDisk
    const saved = isUnsaved ? (loaded ?? onDisk ?? '') : now
    // an agent that wrote the file without the client most likely read it without the client, too
    const isOwn = isUnsaved && onDisk === content
    const read = isOwn && known !== now ? undefined : known
    const base = adaptLineEnds(closest(content, read, known === now && !isOwn, saved), now)
    if (base === now) return content
    const merge = mergeTexts(base, now, content)
    if (merge.conflicts.length === 0 || !isUnsaved) return merge.theirs
    if (!this.#answer || !sameConflicts(this.#answer.to, merge)) {
      this.#answer = { to: merge, take: await ask(merge.conflicts) }
      return undefined
    }
    this.#hasUserLines = this.#answer.take === 'mine'
    return merge[this.#answer.take]
  }
}

/**
 * Returns the text from which the agent presumably started: the text that it read through the client (`known`), which may have unsaved
 * changes, or the text on disk. If both are equally close to `content`, `known` is chosen only if it `isLikely`, such as when it's still
 * current, or if fewer lines are added and removed: otherwise, the agent's text might remove unsaved lines that the agent never saw.
 */
function closest(content: string, known: string | undefined, isLikely: boolean, onDisk: string): string {
  if (known === undefined || known === onDisk) return onDisk
  const further = changedLines(known, content) - changedLines(onDisk, content)
  if (further !== 0) return further < 0 ? known : onDisk
  return isLikely || comingAndGoing(known, content) < comingAndGoing(onDisk, content) ? known : onDisk
}

function comingAndGoing(before: string, after: string): number {
  const { added, removed } = countChanges(splitLines(before), splitLines(after))
  return added + removed
}
