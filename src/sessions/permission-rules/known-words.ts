/** Checks the words of a command that a rule with `*` leaves open against the tables of known options. */
import { anything, type CommandTable, type KnownWords, tableOf } from './command-table.ts'

/** Options before a subcommand that take a value, although no rule with `*` may use them. */
const TAKES_VALUE =
  /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|config-env|attr-source|super-prefix))$/

/**
 * Returns why a rule with `*` doesn't allow the command: the position of a word that may be harmful, or the position of the program if
 * no table describes it. `open`: for each word, whether the rule leaves it open. `acts`: the command may also change the files that it
 * names. `globs`: for each word, whether the shell may replace it with file names.
 */
export function refusedWord(
  words: readonly string[],
  open: readonly boolean[],
  acts = false,
  globs: readonly boolean[] = [],
): number | undefined {
  const located = locate(words, open)
  if (!located) return 0
  if ('refused' in located) return located.refused
  if (located.words.acts && !acts)
    return Math.max(
      0,
      open.findIndex((is, at) => is && at > 0 && at < located.at),
    )
  return firstRefused(words, located, open, globs)
}

/** Whether a table describes commands that start with these words. `open`: for each word, whether the rule leaves it open. */
export function isKnownStart(words: readonly string[], open: readonly boolean[]): boolean {
  // if the rule leaves the program open, the known words depend on the program of each command
  if (words.length === 0 || open[0]) return true
  const table = tableOf(words[0] ?? '')
  if (!table || words.length === 1) return table !== undefined && !table.words?.acts
  const located = locate(words, open)
  return located !== undefined && ('refused' in located || !located.words.acts)
}

/** Returns the number of words that determine what runs, if a rule may leave the other words open. */
export function knownStart(words: readonly string[]): number | undefined {
  const located = locate(
    words,
    words.map(() => true),
  )
  return located && 'words' in located && !located.words.acts ? located.at : undefined
}

interface Located {
  words: KnownWords
  /** where the words of the table start */
  at: number
}

/** Returns the known words; `undefined` if there is no table for the program, or for the subcommand that the rule names. */
function locate(
  words: readonly string[],
  open: readonly boolean[],
): Located | { refused: number } | undefined {
  const table = tableOf(words[0] ?? '')
  if (!table) return undefined
  if (table.words) return { words: table.words, at: 1 }
  const alone = table.subcommands.get('')
  if (alone && words.length === 2 && words[1]?.startsWith('-') && readOption(words[1], undefined, alone))
    return { words: alone, at: 1 }
  const at = subcommandAt(table, words, open)
  if (typeof at !== 'number') return at
  const [word = '', next = ''] = words.slice(at)
  for (const [key, length] of [
    [`${word} ${next}`, 2],
    [word, 1],
  ] as const) {
    const found = key === '' ? undefined : table.subcommands.get(key)
    if (found) return { words: found, at: at + length }
  }
  return open[at] ? { refused: at } : undefined
}

/** Returns the position of the subcommand, after the program's own options. */
function subcommandAt(
  table: CommandTable,
  words: readonly string[],
  open: readonly boolean[],
): number | { refused: number } | undefined {
  let at = 1
  for (let word = words[at]; word?.startsWith('-'); word = words[at]) {
    const known = readOption(word, words[at + 1], table.before)
    const length = known?.length ?? (TAKES_VALUE.test(word) ? 2 : 1)
    const unsure = !known && length === 1 && !word.includes('=')
    const refused = open.findIndex((is, i) => is && i >= at && (unsure || (!known && i < at + length)))
    if (refused >= 0) return { refused }
    if (unsure) return undefined
    at += length
  }
  if (at < words.length) return at
  const refused = open.indexOf(true, 1)
  return refused < 0 ? undefined : { refused }
}

/** Returns the position of the first word that isn't known to be harmless. */
function firstRefused(
  words: readonly string[],
  { words: known, at: start }: Located,
  open: readonly boolean[],
  globs: readonly boolean[],
): number | undefined {
  // in programs without subcommands, words that the rule names can make the open words harmful: `find . -exec *`
  const checked = (at: number) => start === 1 || open[at] === true
  const used: string[] = []
  const operands: number[] = []
  let ended = false
  let at = start
  while (at < words.length) {
    const word = words[at] ?? ''
    if (word === '--' && !ended && known.ends) {
      ended = true
      at += 1
    } else if (ended || !/^-./.test(word)) {
      // the name of a file can be a script: `sed s/a/*/ x`
      const unsure = globs[at] === true && known.operand !== anything
      if (checked(at) && (unsure || !known.operand(word, operands.length))) return at
      operands.push(at)
      at += 1
    } else {
      const option = readOption(word, words[at + 1], known)
      if (!option && checked(at)) return at
      // the next word may be the value of an unknown option that the rule names
      if (!option && checked(at + 1)) return at + 1
      if (option?.length === 2 && globs[at + 1] && known.value !== anything) return at + 1
      used.push(...(option?.names ?? []))
      at += option?.length ?? 1
    }
  }
  const { requires } = known
  if (!requires || used.some(name => requires.options.test(name))) return undefined
  return requires.always ? start : operands[0]
}

interface Option {
  /** `--list`, or `-l` for each letter */
  names: string[]
  /** number of words of the option, including its value */
  length: 1 | 2
}

/** Reads an option. Returns `undefined` if the option or its value isn't known. */
function readOption(word: string, next: string | undefined, known: KnownWords): Option | undefined {
  if (known.anyOption) return { names: [], length: 1 }
  const isValue = (value: string | undefined, name: string) => value !== undefined && known.value(value, name)
  // another version of the program may read a value that begins with a dash as an option
  const withNext = (names: string[], name: string): Option | undefined =>
    isValue(next, name) && !/^-\D/.test(next ?? '') ? { names, length: 2 } : undefined
  if (known.numbers && /^-\d+$/.test(word)) return { names: [], length: 1 }
  if (word.startsWith('--') || known.oneDash) {
    const [, name = '', value] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? []
    const names = [`--${name}`]
    if (value === undefined && known.flags.has(name)) return { names, length: 1 }
    if (value === undefined) return known.values.has(name) ? withNext(names, name) : undefined
    const takes = known.values.has(name) || known.joined.has(name)
    return takes && isValue(value, name) ? { names, length: 1 } : undefined
  }
  const names: string[] = []
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at)
    const value = word.slice(at + 1)
    names.push(`-${letter}`)
    if (known.values.has(letter) || (known.joined.has(letter) && value !== '')) {
      if (value === '') return withNext(names, letter)
      return isValue(value, letter) ? { names, length: 1 } : undefined
    }
    if (!known.flags.has(letter)) return undefined
  }
  return { names, length: 1 }
}
