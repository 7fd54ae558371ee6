/** What became of one place of a file, version by version: whose each is, and how one author's is taken back. */

/** A turn of a session in this window. */
export interface TurnRef {
  /** the session's key in this window */
  session: string
  /** as the conversation counts them */
  turn: number
}

/** Whose work a version is. */
export interface AgentAuthor {
  /** The turn that made it; several when several ran and none said that it was the one. */
  turns: TurnRef[]
  /** the tool call that named the file */
  toolCallId?: string
  /** It happened while the turn ran, and nothing says that the agent did it. */
  uncertain?: true
}
export type Author = AgentAuthor | 'user'

export interface Version<T> {
  value: T
  by: Author
  /** versions of one place in the order of time; unique for each edit of a file */
  seq: number
}

/** The first is the user's; all that follow are later. */
export type Versions<T> = Version<T>[]

export type Matches = (author: AgentAuthor) => boolean

function isBy(author: Author, matches: Matches): boolean {
  return author !== 'user' && matches(author)
}

/**
 * As few versions as tell the same; one alone means that nothing of an agent is left. `everyTurn`: also what agents took
 * back themselves stays, since a turn may have begun with it.
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
    // the first is what all others are told against
    if (last && sameAuthor(last.by, version.by)) result.pop()
    result.push(version)
    const previous = result.at(-2)
    if (previous && same(previous.value, version.value)) {
      result.pop()
      continue
    }
    // back to what it was before the last one
    const before = result.at(-3)
    if (before && isBack(version) && same(before.value, version.value) && !hides(result, -2))
      result.splice(-2)
  }
  const first = result[0]
  const last = result.at(-1)
  return first && last && isBack(last) && same(first.value, last.value) && !hides(result, 1)
    ? [first]
    : result
}

/** Did an agent take away what the user had written, in the versions from `start` on? */
function hides<T>(versions: Versions<T>, start: number): boolean {
  return versions.at(-1)!.by !== 'user' && versions.slice(start).some(({ by }) => by === 'user')
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
 * How versions are without some agents'. `conflict`: something of others came on top, of the user or else of another
 * agent; then `versions` gives up all of that.
 */
export interface Without<T> {
  versions: Versions<T>
  conflict?: 'user' | 'agent'
  /** On a conflict: as far as it goes without giving up anything. */
  partial?: Versions<T>
  /** On a conflict with the user: as far as it goes when what is the user's on top is given up, and no other agent's. */
  forced?: Versions<T>
}

/** Takes back what `matches`. */
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
  // above another agent's there may be more that only the user is on top of
  const agents = versions.findLastIndex(({ by }) => by !== 'user' && !isBy(by, matches))
  const given = versions.slice(0, Math.max(lowest, agents + 1))
  if (!versions.slice(given.length, last).some(({ by }) => isBy(by, matches)))
    return { versions: rest, conflict: 'agent', partial }
  const below = without(given, matches, merge)
  return { versions: rest, conflict: 'user', partial, forced: below.partial ?? below.versions }
}

/** What others made on top of what is taken back, made to what was there before. */
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

/** What `matches` is the user's from now on. */
export function kept<T>(versions: Versions<T>, matches: Matches): Versions<T> {
  return versions.map(version => (isBy(version.by, matches) ? { ...version, by: 'user' } : version))
}
