import { type Signal, signal } from '@preact/signals'
import { diffWordsWithSpace } from 'diff'
import type { DiffHunk, FileDiff } from './diff.ts'
import type { DiffLine } from './diff-rows.ts'
import { highlight, loadGrammars, takeWanted } from './highlight.ts'
import { type Token, tokenLines } from './highlighted-lines.ts'
import { languageOfPath } from './languages.ts'

/** A longer side of a diff isn't highlighted. Characters. */
const MAX_HIGHLIGHTED = 40_000

interface Side {
  /** the colored tokens by line number */
  readonly lines: Map<number, Token[]>
}

/** The colors of a diff's lines, computed on first use. */
export class DiffColors {
  /** Increases when new colors are available. */
  readonly version: Signal<number> = signal(0)
  readonly #diff: FileDiff
  readonly #language: string
  #sides: { old: Side; new: Side } | undefined
  #asked = false

  constructor(diff: FileDiff, path: string) {
    this.#diff = diff
    this.#language = languageOfPath(path)
  }

  /** Returns the tokens of a line. `shift`: the offset that was added to its line number. */
  tokens(line: DiffLine, shift: number): Token[] {
    const side = line.kind === 'removed' ? 'old' : 'new'
    const number = (line.kind === 'removed' ? line.old : line.new) ?? 0
    const colored = this.#color()?.[side].lines.get(number - shift)
    const tokens = colored ?? (line.text === '' ? [] : [{ text: line.text }])
    if (line.mate === undefined) return tokens
    return markRanges(tokens, changedRanges(line.text, line.mate))
  }

  #color(): { old: Side; new: Side } | undefined {
    if (this.#sides || this.#language === '') return this.#sides
    if (highlight('', this.#language) === undefined) {
      const wanted = takeWanted()
      if (wanted.length > 0 && !this.#asked) {
        this.#asked = true
        void loadGrammars(wanted).then(isLoaded => {
          this.#asked = false
          if (isLoaded) this.version.value++
        })
      }
      return undefined
    }
    const sides = { old: new Map<number, Token[]>(), new: new Map<number, Token[]>() }
    const whole = this.#diff.newLines !== undefined && this.#read(sides.new, 1, this.#diff.newLines)
    for (const hunk of this.#diff.hunks) {
      this.#read(sides.old, Math.max(hunk.oldStart, 1), listLines(hunk, 'removed'))
      if (!whole) this.#read(sides.new, Math.max(hunk.start, 1), listLines(hunk, 'added'))
    }
    this.#sides = { old: { lines: sides.old }, new: { lines: sides.new } }
    return this.#sides
  }

  /** Highlights the lines of one side of a hunk; returns false if the text is too long. */
  #read(into: Map<number, Token[]>, start: number, lines: readonly string[]): boolean {
    if (lines.length > MAX_HIGHLIGHTED / 4) return false
    const text = lines.join('\n')
    if (text.length > MAX_HIGHLIGHTED) return false
    const html = highlight(text, this.#language) ?? ''
    for (const [i, tokens] of tokenLines(html).entries()) into.set(start + i, tokens)
    return true
  }
}

function listLines(hunk: DiffHunk, side: 'added' | 'removed'): string[] {
  return hunk.groups.flatMap(group => (group.kind === side || group.kind === 'same' ? group.lines : []))
}

const known = new WeakMap<FileDiff, DiffColors>()

export function colorsOf(diff: FileDiff, path: string): DiffColors {
  let colors = known.get(diff)
  if (!colors) {
    colors = new DiffColors(diff, path)
    known.set(diff, colors)
  }
  return colors
}

/** Changes within longer lines aren't computed. Characters. */
const MAX_COMPARED = 600

/** Returns the parts of a line that differ from its counterpart, as `[from, to]`; none if the lines have little in common. */
export function changedRanges(line: string, mate: string): Array<[number, number]> {
  if (line.length > MAX_COMPARED || mate.length > MAX_COMPARED || line === mate) return []
  const ranges: Array<[number, number]> = []
  let at = 0
  let same = 0
  for (const part of diffWordsWithSpace(mate, line)) {
    if (part.removed) continue
    const end = at + part.value.length
    if (part.added) {
      const last = ranges.at(-1)
      // changes separated only by a space are one change
      if (last && line.slice(last[1], at).trim() === '') last[1] = end
      else ranges.push([at, end])
    } else same += part.value.trim().length
    at = end
  }
  const least = Math.min(line.trim().length, mate.trim().length) * 0.3
  return same >= least ? ranges : []
}

/** Splits the tokens so that the parts in the ranges are marked as changed. */
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
