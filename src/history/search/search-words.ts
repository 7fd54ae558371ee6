import { LATIN, type SearchTerm } from '../../common/search-query.ts'

/**
 * Turns text into words of the index, and a query into an expression of FTS5. The index contains words with their first letters, but no
 * positions: it finds messages that contain all words. The text of these messages is then compared with the query.
 */

/** A word, as SQLite's `unicode61` tokenizer sees it. */
const WORD = /[\p{L}\p{N}\p{Co}]+/gu
/** Text in scripts without spaces between words, or in which words change at their end. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]+/gu
const UNSPACED_CHARACTER = new RegExp(UNSPACED.source, 'u')
/** The position where a part of a name begins, as in `parserTest`, `HTMLParser` or `utf8`. */
const PART = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u
/** Matches if a text or word may have extra words. Most have none, and this test is much faster than searching for them. */
const MAY_HAVE_EXTRA = /[^\p{ASCII}]|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\d[A-Za-z]/u
/** Maximum length of words with extra words: longer ones are identifiers that nobody types, and would have many parts. Characters. */
const MAX_WORD_LENGTH = 64

/**
 * Additional words by which a text is found: the ends of names (`test` in `parserTest`), and each two adjacent characters of scripts
 * without spaces. Separated by spaces; empty for most texts.
 */
export function extraWords(text: string): string {
  if (!MAY_HAVE_EXTRA.test(text)) return ''
  const extra = new Set<string>()
  for (const [word] of text.matchAll(WORD)) {
    if (!MAY_HAVE_EXTRA.test(word)) continue
    if (UNSPACED_CHARACTER.test(word)) {
      for (const [run] of word.matchAll(UNSPACED)) for (const pair of pairs(run)) extra.add(pair)
      for (const other of word.split(UNSPACED)) if (other !== '') extra.add(other)
    } else if (word.length <= MAX_WORD_LENGTH) {
      const parts = word.split(PART)
      for (let i = 1; i < parts.length; i++) extra.add(parts.slice(i).join(''))
    }
  }
  return [...extra].join(' ')
}

/** Each character together with the next one, and the last character alone. */
function pairs(run: string): string[] {
  const characters = [...run]
  return characters.map((one, i) => one + (characters[i + 1] ?? ''))
}

/** The length of the longest indexed prefix of a word, in characters: see the migrations of the index. */
export const LONGEST_INDEXED_PREFIX = 4

/**
 * An expression for FTS5 that finds at least all texts with these terms; `undefined` if the terms contain no word. `longest`: maximum
 * number of characters that count of a word that may be longer in the text.
 */
export function matchExpression(
  terms: readonly SearchTerm[],
  longest = Number.POSITIVE_INFINITY,
): string | undefined {
  const wanted = new Set<string>()
  for (const { text, whole } of terms) {
    const words = [...text.matchAll(WORD)]
    for (const [i, { 0: word, index }] of words.entries()) {
      const isEnd = i === words.length - 1 && index + word.length === text.length
      for (const one of wordsOf(word, isEnd && !whole, longest)) wanted.add(one)
    }
  }
  return wanted.size === 0 ? undefined : [...wanted].join(' AND ')
}

/** The words of the index that a searched word consists of. `grows`: the last one may be longer in the text. */
function wordsOf(word: string, grows: boolean, longest: number): string[] {
  const found: string[] = []
  let at = 0
  for (const { 0: run, index } of word.matchAll(UNSPACED)) {
    if (index > at) found.push(`"${word.slice(at, index)}"`)
    const characters = [...run]
    if (characters.length === 1) found.push(`"${run}"*`)
    else for (const pair of pairs(run).slice(0, -1)) found.push(`"${pair}"`)
    at = index + run.length
  }
  if (at >= word.length) return found
  const end = Array.from(word.slice(at))
  found.push(grows ? `"${end.slice(0, longest).join('')}"*` : `"${end.join('')}"`)
  return found
}

/** A pattern that finds a term in `searchable` texts. */
export interface TermPattern {
  pattern: RegExp
  whole: boolean
}

export function termPattern({ text, whole }: SearchTerm): TermPattern {
  const source = Array.from(text, one => {
    if (one === ' ') return '\\s+'
    const escaped = one.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')
    // only Latin letters have accents that are ignored
    return /\p{Script=Latin}/u.test(one) ? `${escaped}[\u0300-\u036f]*` : escaped
  }).join('')
  return { pattern: new RegExp(source, 'giu'), whole }
}

/** Normalizes a text so that patterns also match letters with accents. */
export function searchable(text: string): string {
  return text.normalize('NFC').replace(LATIN, letters => letters.normalize('NFD'))
}

/** A part of a text, by its offsets. */
export type TextRange = readonly [start: number, end: number]

/** Finds at most `max` places of a term in a `searchable` text. Each is at the start of a word or of a part of a word. */
export function findTerm(text: string, { pattern, whole }: TermPattern, max: number): TextRange[] {
  const found: TextRange[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const start = match.index
    const end = start + match[0].length
    if (end === start) break
    if (isStart(text, start) && (!whole || isEnd(text, end))) {
      found.push([start, end])
      if (found.length >= max) break
    } else pattern.lastIndex = start + 1
  }
  return found
}

/** Whether a word or a part of a word starts at the position. */
function isStart(text: string, at: number): boolean {
  if (isInLowercase(text, at)) return false
  if (isEnd(text, at)) return true
  const before = text.slice(Math.max(0, at - 6), at).replace(/\p{M}+/gu, '')
  const around = before.slice(-1) + text.slice(at, at + 2)
  return around.split(PART)[0]!.length === 1
}

/** Whether there is a letter from a to z on both sides of the position, so that a word continues there. That is so at most positions. */
function isInLowercase(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  return before >= 97 && before <= 122 && after >= 97 && after <= 122
}

/** Whether no word continues at the position. */
function isEnd(text: string, at: number): boolean {
  if (text[at - 1] === ' ' || text[at] === ' ') return true
  if (isInLowercase(text, at)) return false
  const before = /[\p{L}\p{N}]\p{M}*$/u.exec(text.slice(Math.max(0, at - 6), at))?.[0]
  const after = /^[\p{L}\p{N}\p{M}]/u.exec(text.slice(at, at + 2))?.[0]
  if (before === undefined || after === undefined) return true
  return UNSPACED_CHARACTER.test(before) || UNSPACED_CHARACTER.test(after)
}
