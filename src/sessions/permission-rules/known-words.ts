/** Checks the words of a command that a rule leaves open: against the tables of known options, and without a table. */
import { innerCommand, programOf, runsOpenCode, writesUnnamedFiles } from './command-effects.ts'
import { type CommandTable, type KnownWords, scriptWords, tableOf } from './command-table.ts'

/** Options before a subcommand that take a value, although no rule with `*` may use them. */
const TAKES_VALUE =
  /^(?:-[cC]|-Z|--(?:git-dir|work-tree|namespace|exec-path|config-env|attr-source|super-prefix|prefix|config|dir|cwd))$/

/**
 * The word for which a rule with `*` doesn't allow the command: one that isn't known to be harmless, or the program if what
 * it does isn't limited to what the command names. `open`: for each word, whether the rule leaves it open; without an
 * open word, the rule's author saw the whole command.
 */
export function refusedWord(words: readonly string[], open: readonly boolean[]): string | undefined {
  if (!open.includes(true)) return undefined
  const start = innerCommand(words, open)
  if (start === undefined) return words[0]
  if (start > 0) return refusedWord(words.slice(start), open.slice(start))
  const name = programOf(words[0] ?? '')
  const found = locate(name, words, open)
  if (found && 'refused' in found) return words[found.refused] ?? name
  if (found) {
    const refused = firstRefused(words, found, open)
    if (refused !== undefined) return words[refused] ?? name
    if (found.sure) return undefined
  }
  return writesUnnamedFiles(name, words) || runsOpenCode(words, open)
    ? (firstOpen(words, open) ?? name)
    : undefined
}

/**
 * Whether a rule that starts with these words and ends with `*` allows only what is known to be harmless. Otherwise it
 * allows almost everything that the program can do.
 */
export function isKnownStart(words: readonly string[]): boolean {
  const [program] = words
  if (program === undefined) return false
  const open = words.map(() => false)
  const start = innerCommand([...words, 'x'], [...open, true])
  if (start === undefined || start >= words.length) return false
  if (start > 0) return isKnownStart(words.slice(start))
  const name = programOf(program)
  const table = tableOf(name)
  if (!table) return false
  if (table.words || words.length === 1) return true
  const found = locate(name, words, open)
  return found !== undefined && (!('sure' in found) || found.sure)
}

/** How many of the words determine what runs, if Parley may suggest a rule that leaves the others open. */
export function suggestedStart(words: readonly string[]): number | undefined {
  // a program with a path is part of the project
  if (/[\\/]/.test(words[0] ?? '')) return undefined
  const found = locate(
    programOf(words[0] ?? ''),
    words,
    words.map(() => true),
  )
  return found && 'words' in found && found.sure && found.words.suggested ? found.at : undefined
}

/** Whether the command runs code of the project in its folder. */
export function runsProject(words: readonly string[]): boolean {
  const found = locate(
    programOf(words[0] ?? ''),
    words,
    words.map(() => false),
  )
  return found !== undefined && 'words' in found && found.words.runsProject
}

function firstOpen(words: readonly string[], open: readonly boolean[]): string | undefined {
  return words.find((_, at) => at > 0 && open[at])
}

interface Located {
  words: KnownWords
  /** where the words of the table start */
  at: number
  /** Without it, its arguments aren't known. */
  sure: boolean
}

/** `undefined` if there is no table for the program, or for the subcommand that the rule names. */
function locate(
  name: string,
  words: readonly string[],
  open: readonly boolean[],
): Located | { refused: number } | undefined {
  const table = tableOf(name)
  if (!table) return undefined
  if (table.words) return { words: table.words, at: 1, sure: true }
  const alone = table.subcommands.get('')
  if (alone && words.length === 2 && words[1]?.startsWith('-') && optionOf(words[1] ?? '', undefined, alone))
    return { words: alone, at: 1, sure: true }
  const at = subcommandAt(table, words, open)
  if (typeof at !== 'number') return at
  const [word = '', next = ''] = words.slice(at)
  if (word === 'run' || word === 'run-script') {
    const script = /^\w/.test(next) ? scriptWords(name, next) : undefined
    if (script) return { ...script, at: at + 2 }
  }
  for (const [key, length] of [
    [`${word} ${next}`, 2],
    [word, 1],
  ] as const) {
    const found = key === '' ? undefined : table.subcommands.get(key)
    if (found) return { words: found, at: at + length, sure: true }
  }
  return open[at] ? { refused: at } : undefined
}

/** Where the subcommand is, after options for all of them. */
function subcommandAt(
  table: CommandTable,
  words: readonly string[],
  open: readonly boolean[],
): number | { refused: number } | undefined {
  let at = 1
  for (let word = words[at]; word?.startsWith('-'); word = words[at]) {
    const known = optionOf(word, words[at + 1], table.before)
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

/** The position of the first word that isn't known to be harmless. */
function firstRefused(
  words: readonly string[],
  located: Located,
  open: readonly boolean[],
): number | undefined {
  // without subcommands, words of the rule can also be such that the open ones do harm: `tar -xf *`
  const all = located.at === 1
  const checked = (at: number) => all || open[at] === true
  const used: string[] = []
  let known = located.words
  let ended = false
  let at = located.at
  while (at < words.length) {
    const word = words[at] ?? ''
    const bundled = known.bundle && at === 1 && /^[a-z]+$/i.test(word) ? `-${word}` : word
    if (word === '--' && !ended) {
      ended = known.rest === undefined
      known = known.rest ?? known
      at += 1
    } else if (ended || !/^-./.test(bundled)) {
      if (checked(at) && !known.operand(word)) return at
      at += 1
    } else {
      const option = optionOf(bundled, words[at + 1], known)
      if (!option && checked(at)) return at
      // the next word may be the value of the rule's own option
      if (!option && checked(at + 1)) return at + 1
      used.push(...(option?.names ?? []))
      at += option?.length ?? 1
    }
  }
  const { requires } = located.words
  return requires && !used.some(name => requires.test(name)) ? located.at : undefined
}

interface Option {
  /** `-l` or `--list`, for each letter */
  names: string[]
  /** with its value, in words */
  length: 1 | 2
}

/** `undefined` if the option or its value isn't known. */
function optionOf(word: string, next: string | undefined, known: KnownWords): Option | undefined {
  if (known.anyOption) return { names: [], length: 1 }
  const isValue = (value: string | undefined) => value !== undefined && known.value(value)
  // another version of the program may read what looks like an option as one
  const withNext = (names: string[]): Option | undefined =>
    isValue(next) && !/^-\D/.test(next ?? '') ? { names, length: 2 } : undefined
  if (known.numbers && /^-\d+$/.test(word)) return { names: [], length: 1 }
  if (word.startsWith('--') || known.oneDash) {
    const [, name = '', value] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? []
    const names = [`--${name}`]
    if (value === undefined && known.flags.has(name)) return { names, length: 1 }
    if (value === undefined) return known.values.has(name) ? withNext(names) : undefined
    const takes = known.values.has(name) || known.joined.has(name)
    return takes && isValue(value) ? { names, length: 1 } : undefined
  }
  const names: string[] = []
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at)
    const value = word.slice(at + 1)
    names.push(`-${letter}`)
    if (known.values.has(letter) || (known.joined.has(letter) && value !== '')) {
      if (value === '') return withNext(names)
      return isValue(value) ? { names, length: 1 } : undefined
    }
    if (!known.flags.has(letter)) return undefined
  }
  return { names, length: 1 }
}
