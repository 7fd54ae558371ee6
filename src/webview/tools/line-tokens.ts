import { diffWordsWithSpace } from 'diff'
import type { Token } from './highlighted-lines.ts'

/** Lines longer than this are not compared within. Characters. */
const longestCompared = 600

/** Which characters of a line are not in the line that took its place, as `[from, to]`; none when little is the same. */
export function changedRanges(line: string, mate: string): Array<[number, number]> {
  if (line.length > longestCompared || mate.length > longestCompared || line === mate) return []
  const ranges: Array<[number, number]> = []
  let at = 0
  let same = 0
  for (const part of diffWordsWithSpace(mate, line)) {
    if (part.removed) continue
    const end = at + part.value.length
    if (part.added) {
      const last = ranges.at(-1)
      // what only a blank parts is one change
      if (last && line.slice(last[1], at).trim() === '') last[1] = end
      else ranges.push([at, end])
    } else same += part.value.trim().length
    at = end
  }
  const least = Math.min(line.trim().length, mate.trim().length) * 0.3
  return same >= least ? ranges : []
}

/** The tokens with those parts marked that lie in the ranges. */
export function markRanges(
  tokens: readonly Token[],
  ranges: ReadonlyArray<readonly [number, number]>,
): Token[] {
  if (ranges.length === 0) return [...tokens]
  const marked: Token[] = []
  let at = 0
  for (const token of tokens) {
    const end = at + token.text.length
    let from = at
    for (const [start, stop] of ranges) {
      if (stop <= from || start >= end) continue
      if (start > from) marked.push({ ...token, text: token.text.slice(from - at, start - at) })
      const until = Math.min(stop, end)
      marked.push({ ...token, text: token.text.slice(Math.max(start, from) - at, until - at), changed: true })
      from = until
    }
    if (from < end) marked.push({ ...token, text: token.text.slice(from - at) })
    at = end
  }
  return marked
}
