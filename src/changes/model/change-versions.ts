/** The versions of one place in a file (some lines, or the attributes), each with its author, and how to undo the changes of one author. */

/** A turn of a session in this window. */
export interface TurnRef {
  /** the session's key in this window */
  session: string
  /** number of the turn in the conversation */
  turn: number
}

/** The author of a version. */
export interface AgentAuthor {
  /** The turn that made the version; several turns if several were running and none of them reported the change. */
  turns: TurnRef[]
  /** the tool call that named the file */
  toolCallId?: string
  /** The change happened during the turn, but no report says that the agent made it. */
  uncertain?: true
}
export type Author = AgentAuthor | 'user'

export interface Version<T> {
  value: T
  by: Author
  /** increases with each edit of a file; orders the versions of a place */
  seq: number
}

/** Versions, oldest first. The first one is the user's. */
export type Versions<T> = Version<T>[]

export type Matches = (author: AgentAuthor) => boolean

function isBy(author: Author, matches: Matches): boolean {
  return author !== 'user' && matches(author)
}

/**
 * The smallest equivalent list of versions. If only one version is left, no agent's change is. `everyTurn`: also keeps text that agents
 * reverted themselves, since a turn may have started from it.
 */
export function normalized<T>(
  versions: Versions<T>,
  same: (one: T, other: T) => boolean,
  everyTurn = false,
): Versions<T> {
  const isBack = ({ by }: Version<T>) => !everyTurn || by === 'user'
  const result: Versions<T> = []
  for (const version of versions) {
    const last = result.at(-1)
    if (last && same(last.value, version.value)) continue
    // consecutive versions of one author become one version
    if (last && sameAuthor(last.by, version.by)) result.pop()
    result.push(version)
    const previous = result.at(-2)
    if (previous && same(previous.value, version.value)) {
      result.pop()
      continue
    }
    // the text is back as it was two versions before
    const before = result.at(-3)
    if (before && isBack(version) && same(before.value, version.value) && !hides(result.slice(-2)))
      result.splice(-2)
  }
  const first = result[0]
  const last = result.at(-1)
  return first && last && isBack(last) && same(first.value, last.value) && !hides(result.slice(1))
    ? [first]
    : result
}

/** Whether the last version is an agent's, and may hide text of the user or of another session. */
function hides<T>(versions: Versions<T>): boolean {
  const last = versions.at(-1)?.by ?? 'user'
  return last !== 'user' && versions.some(({ by }) => by === 'user' || !sharesSession(by, last))
}

/** Whether one session made both changes. */
function sharesSession(one: AgentAuthor, other: AgentAuthor): boolean {
  return one.turns.some(({ session }) => other.turns.some(turn => turn.session === session))
}

/** Whether one turn made both changes. */
export function sharesTurn(one: AgentAuthor, other: AgentAuthor): boolean {
  return one.turns.some(({ session, turn }) =>
    other.turns.some(also => also.session === session && also.turn === turn),
  )
}

function sameAuthor(one: Author, other: Author): boolean {
  if (one === 'user' || other === 'user') return one === other
  return (
    !one.uncertain === !other.uncertain &&
    one.turns.length === other.turns.length &&
    one.turns.every(
      ({ session, turn }, i) => other.turns[i]?.session === session && other.turns[i]?.turn === turn,
    )
  )
}

/**
 * Versions without the changes of some agents. `conflict`: the user or another agent changed the place later; `versions` then lacks the
 * later changes.
 */
export interface Without<T> {
  versions: Versions<T>
  conflict?: 'user' | 'agent'
  /** On a conflict: the versions after undoing as much as possible without losing other changes. */
  partial?: Versions<T>
  /** On a conflict with the user: the versions if the user's later changes are discarded, but not those of other agents. */
  forced?: Versions<T>
}

/** Undoes the versions that match. */
export function without<T>(
  versions: Versions<T>,
  matches: Matches,
  merge: (base: T, one: T, other: T) => T | undefined,
): Without<T> {
  const lowest = versions.findIndex(({ by }) => isBy(by, matches))
  if (lowest < 0) return { versions }
  const above = versions.slice(lowest)
  const rest = versions.slice(0, lowest)
  const others = above.filter(({ by }) => !isBy(by, matches))
  if (others.length === 0) return { versions: rest }
  const merged = rebased(versions, lowest, matches, merge)
  if (merged) return { versions: merged }
  const last = versions.findLastIndex(({ by }) => !isBy(by, matches))
  const partial = versions.slice(0, last + 1)
  // above the last version of another agent, matching versions may have only the user's changes on top
  const agents = versions.findLastIndex(({ by }) => by !== 'user' && !isBy(by, matches))
  const given = versions.slice(0, Math.max(lowest, agents + 1))
  if (!versions.slice(given.length, last).some(({ by }) => isBy(by, matches)))
    return { versions: rest, conflict: 'agent', partial }
  const below = without(given, matches, merge)
  return { versions: rest, conflict: 'user', partial, forced: below.partial ?? below.versions }
}

/** Applies later changes by others to the version before the undone change. */
function rebased<T>(
  versions: Versions<T>,
  lowest: number,
  matches: Matches,
  merge: (base: T, one: T, other: T) => T | undefined,
): Versions<T> | undefined {
  const result = versions.slice(0, lowest)
  for (let i = lowest; i < versions.length; i++) {
    const version = versions[i]!
    if (isBy(version.by, matches)) continue
    const value = merge(versions[i - 1]!.value, result.at(-1)!.value, version.value)
    if (value === undefined) return undefined
    result.push({ ...version, value })
  }
  return result
}

/** Makes the matching versions the user's. */
export function withUserAsAuthor<T>(versions: Versions<T>, matches: Matches): Versions<T> {
  return versions.map(version => (isBy(version.by, matches) ? { ...version, by: 'user' } : version))
}
