import { parseCommandLine, type Word } from './command-line.ts'

/** A pattern word by word: each a list of literal pieces with anything between them. */
export interface CommandPattern {
  words: string[][]
  /** It ends with a `*` of its own: any further words, also none. */
  open: boolean
}

/**
 * Reads a pattern: the words of one command, as they are typed. A `*` stands for any part of one word; as the last word
 * it stands for all that follows, or nothing. `undefined` when it is no single command, or one with signs of the shell.
 */
export function parseCommandPattern(
  text: string,
  platform: NodeJS.Platform = process.platform,
): CommandPattern | undefined {
  // a star is no sign of the shell here, also not in the program's name
  const plain = parseCommandLine(text.replaceAll('*', 'x'), platform)
  const [command] = parseCommandLine(text, platform).commands
  if (!command || !plain.sure || plain.commands.length !== 1) return undefined
  const words = command.words.map(piecesOf)
  const last = words.at(-1)
  const open = last?.length === 2 && last.every(piece => piece === '')
  return { words: open ? words.slice(0, -1) : words, open }
}

function piecesOf({ text, literal }: Word): string[] {
  const pieces = ['']
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '*' && !literal[at]) pieces.push('')
    else pieces.push(`${pieces.pop() ?? ''}${text.charAt(at)}`)
  }
  return pieces
}

/** Whether the words of a simple command fit the pattern. */
export function fitsCommand(pattern: CommandPattern, words: readonly string[], ignoreCase = false): boolean {
  return matchCommand(pattern, words, ignoreCase) !== undefined
}

/**
 * For each word of a simple command, whether a `*` of the pattern stands for it or a part of it: the rule's author did
 * not see that word. `undefined` when the command does not fit.
 */
export function matchCommand(
  pattern: CommandPattern,
  words: readonly string[],
  ignoreCase = false,
): boolean[] | undefined {
  if (pattern.open ? words.length < pattern.words.length : words.length !== pattern.words.length)
    return undefined
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  const fits = pattern.words.every((pieces, at) => fitsWord(pieces.map(fold), fold(words[at] ?? '')))
  return fits ? words.map((_, at) => (pattern.words[at]?.length ?? 2) > 1) : undefined
}

/** The pieces in their order, the first at the beginning and the last at the end. */
function fitsWord(pieces: readonly string[], word: string): boolean {
  const first = pieces[0] ?? ''
  if (pieces.length === 1) return word === first
  const last = pieces.at(-1) ?? ''
  if (word.length < first.length + last.length || !word.startsWith(first) || !word.endsWith(last))
    return false
  let at = first.length
  const end = word.length - last.length
  for (const piece of pieces.slice(1, -1)) {
    const found = word.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}
