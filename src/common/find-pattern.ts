/** A search text and its options. */
export interface FindQuery {
  text: string
  matchCase: boolean
  wholeWord: boolean
  /** whether `text` is a regular expression */
  regex: boolean
}

const wordCharacter = /[\p{L}\p{N}_]/u
const noWordBefore = '(?<![\\p{L}\\p{N}_])'
const noWordAfter = '(?![\\p{L}\\p{N}_])'

/** The global regular expression for a search. Throws `SyntaxError` if the text isn't a valid expression. */
export function findPattern({ text, matchCase, wholeWord, regex }: FindQuery): RegExp {
  const flags = matchCase ? 'g' : 'gi'
  if (regex) {
    const source = wholeWord ? `${noWordBefore}(?:${text})${noWordAfter}` : text
    return new RegExp(source, `${flags}mu`)
  }
  const source = text.replace(/[\\^$.*+?()[\]{}|/-]/g, character => `\\x${hex(character)}`)
  if (!wholeWord) return new RegExp(source, flags)
  // an edge of the text that isn't part of a word needs no word boundary
  const characters = [...text]
  const before = wordCharacter.test(characters[0] ?? '') ? noWordBefore : ''
  const after = wordCharacter.test(characters.at(-1) ?? '') ? noWordAfter : ''
  return new RegExp(before + source + after, `${flags}u`)
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0')
}

/** The matches of the pattern, as offsets `[start, end)`, at most `most`. Empty matches are ignored. */
export function matchesIn(pattern: RegExp, text: string, most: number): Array<[start: number, end: number]> {
  const found: Array<[number, number]> = []
  pattern.lastIndex = 0
  while (found.length < most) {
    const match = pattern.exec(text)
    if (!match) break
    const [whole] = match
    if (whole === '') pattern.lastIndex = match.index + (pattern.unicode && isPair(text, match.index) ? 2 : 1)
    else found.push([match.index, match.index + whole.length])
  }
  return found
}

/** How often the pattern matches, at most `most` times. */
export function countMatches(pattern: RegExp, text: string, most: number): number {
  let count = 0
  pattern.lastIndex = 0
  while (count < most) {
    const match = pattern.exec(text)
    if (!match) break
    if (match[0] === '')
      pattern.lastIndex = match.index + (pattern.unicode && isPair(text, match.index) ? 2 : 1)
    else count += 1
  }
  return count
}

/** Whether the character at this offset has two UTF-16 units. */
function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff
}
