/**
 * Parses a command line as far as necessary to match it against rules. Nothing is expanded or run. Syntax that a shell
 * may interpret differently makes the whole line uncertain, and no rule ever allows an uncertain line.
 */

import { hostPlatform } from '../../common/platform.ts'
import { needsBash } from '../../common/processes/command-shell.ts'
import { programOf, RUNNERS } from './command-effects.ts'

export interface Word {
  text: string
  /** by position in `text`: the character was quoted or escaped, so it has no special meaning */
  literal: boolean[]
}

interface SimpleCommand {
  words: Word[]
}

/**
 * Whether a character of the word is a part of a pattern, so that the shell may replace the word with the names of files. `#`, `^` and `~`
 * are special in zsh with `EXTENDED_GLOB`; at the start of a word, `~` is a home directory.
 */
export function isPatternAt({ text, literal }: Word, at: number): boolean {
  const char = text.charAt(at)
  return char !== '' && '*?[#^~'.includes(char) && !literal[at] && (char !== '~' || at > 0)
}

/** Whether the shell may replace the word with the names of files. */
export function isGlob(word: Word): boolean {
  return [...word.literal.keys()].some(at => isPatternAt(word, at))
}

export interface CommandLine {
  /** the simple commands in their order, whatever joins them */
  commands: SimpleCommand[]
  /**
   * Whether every shell of the platform interprets the line as this parser does. If false, `commands` is a guess that may contain too many
   * commands: good enough to reject the line, never to allow it.
   */
  sure: boolean
}

/** The length of the longest line that is parsed, in characters. */
const MAX_LENGTH = 20_000

/** Keywords of shells, which don't start a simple command. */
const RESERVED = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc ! { } [[ ]]'.split(
    ' ',
  ),
)
/** The beginning of an assignment `NAME=value`, which changes the effect of the command after it. */
const ASSIGNMENT = /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/
/**
 * Characters that some shell interprets differently: control characters, unusual white space, invisible characters, and typographic
 * quotes and dashes, which PowerShell treats like ASCII quotes and dashes.
 */
const STRANGE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u2000-\u200f\u2013-\u2015\u2018-\u201f\u2028-\u202f\u205f-\u2069\u3000\ufeff\ud800-\udfff]/u
/**
 * Characters that are special only in Windows shells, single quotes, which `cmd` doesn't support, and two double quotes, which are an empty
 * argument, dropped by Windows PowerShell, or one quote within an argument.
 */
const STRANGE_ON_WINDOWS = /[\^%!';@,]|""/

/** Parses a command line. `platform` determines which shells may run it. */
export function parseCommandLine(line: string, platform: NodeJS.Platform = hostPlatform): CommandLine {
  const text = line.replace(/^[ \t\n]+|[ \t\n]+$/g, '')
  if (text === '' || text.length > MAX_LENGTH) return { commands: [], sure: false }
  const { commands, sure } = new Lexer(text, platform === 'win32').read()
  const strange = STRANGE.test(text) || (platform === 'win32' && isStrangeOnWindows(text))
  if (sure && !strange && commands.length > 0) return { commands, sure: true }
  // without PowerShell's escape character, and without the `@` that makes cmd not print a command
  const unescaped = platform === 'win32' && /[`@]/.test(text) ? guessed(text.replace(/[`@]/g, '')) : []
  return { commands: [...commands, ...guessed(text), ...unescaped], sure: false }
}

/**
 * Whether Windows shells interpret the line differently. A backslash separates the parts of a path in `cmd`, but is an escape character
 * in bash, which runs the lines that need bash.
 */
function isStrangeOnWindows(text: string): boolean {
  return STRANGE_ON_WINDOWS.test(text) || (text.includes('\\') && needsBash(text))
}

/** Returns the possible commands if quotes are ignored: each text between characters that could separate commands. */
function guessed(text: string): SimpleCommand[] {
  return text.split(/[;&|\r\n()`{}<>#]|\$\(/).flatMap(part => {
    const texts = part.split(/\s+/).map(word => word.replace(/["'\\^]/g, ''))
    const words = texts.filter(word => word !== '').map(word => ({ text: word, literal: [] }))
    while (words[0] && isPrefix(words[0])) words.shift()
    return words.length > 0 ? [{ words }] : []
  })
}

class Lexer {
  readonly #text: string
  readonly #windows: boolean
  #at = 0
  #sure = true
  readonly #commands: SimpleCommand[] = []
  #words: Word[] = []
  #word: Word | undefined

  constructor(text: string, windows: boolean) {
    this.#text = text
    this.#windows = windows
  }

  read(): { commands: SimpleCommand[]; sure: boolean } {
    while (this.#at < this.#text.length) this.#step()
    // a line may end with `&` or `;`, but not with `&&`: `#separator` has checked this
    this.#endCommand()
    return { commands: this.#commands, sure: this.#sure }
  }

  #step(): void {
    const char = this.#text.charAt(this.#at)
    switch (char) {
      case ' ':
      case '\t':
        this.#endWord()
        this.#at += 1
        break
      case '\n':
      case ';':
      case '&':
      case '|':
        this.#separator()
        break
      case '<':
      case '>':
        this.#redirect()
        break
      case "'":
        this.#single()
        break
      case '"':
        this.#double()
        break
      case '\\':
        this.#backslash()
        break
      case '$':
      case '`':
      case '(':
      case ')':
        // treat the content of a substitution or subshell as a separate command
        this.#boundary()
        break
      case '{':
      case '}':
        this.#sure = false
        this.#put(char, false)
        break
      case '#':
        // begins a comment in some shells, which ignore quotes in comments
        if (!this.#word) this.#boundary()
        else this.#put(char, false)
        break
      default:
        this.#put(char, false)
    }
  }

  #put(char: string, literal: boolean): void {
    this.#word ??= { text: '', literal: [] }
    this.#word.text += char
    this.#word.literal.push(literal)
    this.#at += 1
  }

  #boundary(): void {
    this.#sure = false
    this.#endCommand()
    this.#at += 1
  }

  #endWord(): void {
    // zsh replaces `=program` with the program's path
    if (this.#word?.text.startsWith('=') && !this.#word.literal[0]) this.#sure = false
    if (this.#word) this.#words.push(this.#word)
    this.#word = undefined
  }

  #endCommand(): boolean {
    this.#endWord()
    const words = this.#words
    this.#words = []
    const some = words.length > 0
    while (words[0] && isPrefix(words[0])) {
      this.#sure = false
      words.shift()
    }
    const [name] = words
    if (!name) return some
    // which program the name refers to depends on files or a home directory
    if (name.text === '' || isGlob(name) || (name.text.startsWith('~') && !name.literal[0]))
      this.#sure = false
    this.#commands.push({ words })
    return some
  }

  /** Reads `;`, a new line, `&`, `&&`, `|`, `||` or `|&`. Shells differ on `&>`. */
  #separator(): void {
    const [sign = ''] = /^(?:&&|\|\||\|&|[;&|\n])/.exec(this.#text.slice(this.#at)) ?? []
    if (sign.endsWith('&') && this.#text[this.#at + sign.length] === '>') this.#sure = false
    const after = this.#text.slice(this.#at + sign.length)
    const some = this.#endCommand()
    if (!some && sign !== '\n') this.#sure = false
    if (/^[&|]{2}$|^\|/.test(sign) && after.trim() === '') this.#sure = false
    this.#at += sign.length
  }

  /** Reads a redirection. Skips redirections to `&1`, `&2` and `/dev/null`; any other makes the line uncertain. */
  #redirect(): void {
    const word = this.#word
    const number = word !== undefined && /^\d+$/.test(word.text)
    // a number is a file descriptor only if it's a separate, unquoted digit
    const descriptor =
      number && word.text.length === 1 && /(?:^|[\s;&|])\d+$/.test(this.#text.slice(0, this.#at))
    const harmless =
      /^(?:>&[12](?![^\s;&|])|>>?[ \t]*\/dev\/null(?![^\s;&|])|<[ \t]*\/dev\/null(?![^\s;&|]))/.exec(
        this.#text.slice(this.#at),
      )
    if (harmless && !this.#windows && descriptor === number) {
      if (descriptor) this.#word = undefined
      this.#endWord()
      this.#at += harmless[0].length
      return
    }
    this.#sure = false
    if (descriptor) this.#word = undefined
    this.#endWord()
    // skip only the operator, so that the name of the file is treated like an argument
    this.#at += /^&?[<>]+[&|]?/.exec(this.#text.slice(this.#at))?.[0].length || 1
  }

  #single(): void {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end < 0) this.#sure = false
    this.#quoted(this.#text.slice(this.#at + 1, end < 0 ? undefined : end))
    this.#at = end < 0 ? this.#text.length : end + 1
  }

  #quoted(text: string): void {
    this.#word ??= { text: '', literal: [] }
    this.#word.text += text
    for (let i = 0; i < text.length; i++) this.#word.literal.push(true)
  }

  #double(): void {
    this.#word ??= { text: '', literal: [] }
    this.#at += 1
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at)
      if (char === '"') {
        this.#at += 1
        return
      }
      if (char === '$' || char === '`') this.#sure = false
      if (char === '\\') {
        const next = this.#text.charAt(this.#at + 1)
        // shells differ on a backslash in double quotes, especially before a quote
        if (this.#windows || next === '\n') this.#sure = false
        if ('"\\$`'.includes(next) && next !== '') {
          this.#at += 1
          this.#put(next, true)
          continue
        }
      }
      this.#put(char, true)
    }
    this.#sure = false
  }

  #backslash(): void {
    const next = this.#text.charAt(this.#at + 1)
    if (next === '' || next === '\n') {
      this.#sure = false
      this.#at += 2
      return
    }
    if (this.#windows) {
      // a path separator on Windows, but an escape character in shells ported to it
      if (!/[\w.]/.test(next)) this.#sure = false
      this.#put('\\', false)
      return
    }
    this.#at += 1
    this.#put(next, true)
  }
}

function isPrefix({ text, literal }: Word): boolean {
  if (ASSIGNMENT.test(text)) return true
  return RESERVED.has(text) && !literal.some(Boolean)
}

/** Shells, and programs that run a command in their arguments, in addition to {@link RUNNERS}. */
const SHELLS =
  /^(?:.*[\\/])?(?:ba|z|da|k|fi|c|tc|a)?sh(?:\.exe)?$|^(?:.*[\\/])?(?:cmd|powershell|pwsh)(?:\.exe)?$/i

/** PowerShell's option `-EncodedCommand`, also shortened or with another dash. Its value is a script in UTF-16, encoded in Base64. */
const ENCODED_COMMAND = /^[-/\u2013-\u2015]e(?:c|n\w*)?$/i

/** Returns the decoded script. The space at its end makes {@link possibleCommands} parse even a single word as a script. */
function decodedCommand(text: string): string {
  return `${Buffer.from(text, 'base64').toString('utf16le')} `
}

/** Maximum depth of nested commands that are searched. */
const DEEPEST = 4

/**
 * Returns all commands that the line may run, for rules that ask or reject, including commands that other programs run (`sudo rm`,
 * `bash -c "rm"`). The result may contain too many commands, but not too few.
 */
export function possibleCommands(line: CommandLine, platform?: NodeJS.Platform, depth = 0): string[][] {
  const found: string[][] = []
  for (const { words } of line.commands) {
    const texts = words.map(({ text }) => text)
    found.push(...spellings(texts))
    const [name = ''] = texts
    // bash removes backslashes, which it takes for escape characters
    if (platform === 'win32' && texts.some(text => text.includes('\\')))
      found.push(...spellings(texts.map(text => text.replaceAll('\\', ''))))
    if (depth >= DEEPEST) continue
    const carries = SHELLS.test(name) || RUNNERS.has(programOf(name))
    if (!carries) {
      // many programs run the words after `--`
      const dashes = texts.indexOf('--')
      if (dashes > 0) found.push(...spellings(texts.slice(dashes + 1)))
      continue
    }
    for (let at = 1; at < Math.min(texts.length, 50); at++) {
      const [word = '', ...rest] = texts.slice(at)
      found.push(...spellings([word, ...rest]))
      // the command may follow the option without a space, as in `cmd /cdel x`
      if (/^\/[ckr]./i.test(word)) found.push(...spellings([word.slice(2), ...rest]))
      const script = ENCODED_COMMAND.test(texts[at - 1] ?? '') ? decodedCommand(word) : word
      if (/\s/.test(script))
        found.push(...possibleCommands(parseCommandLine(script, platform), platform, depth + 1))
    }
  }
  return found
}

/** Returns the command as written, without the program's folder (`/usr/bin/git`), and also without its file extension (`git.exe`). */
function spellings([name, ...rest]: readonly string[]): string[][] {
  if (name === undefined) return []
  const base = /[^\\/]+$/.exec(name)?.[0] ?? name
  const bare = base.replace(/\.(?:exe|cmd|bat|com|ps1)$/i, '')
  return [...new Set([name, base, bare])].map(program => [program, ...rest])
}

/** A parsed pattern: each word is a list of literal pieces, with a `*` between the pieces. */
export interface CommandPattern {
  words: string[][]
  /** by word: the word has a quoted character that would match several files if a command had the character without quotes */
  quoted: boolean[]
  /** The pattern ends with a separate `*` or `**`, which matches any number of further words. */
  open: boolean
  /** The pattern ends with `**` and names the program, so it allows any arguments. */
  anything: boolean
}

/**
 * Parses a pattern: the words of a command as typed. A `*` matches any part of one word; as the last word, `*` and `**` match any number
 * of words, also none. Returns `undefined` if the pattern isn't a single command, or uses shell syntax.
 */
export function parseCommandPattern(
  text: string,
  platform: NodeJS.Platform = hostPlatform,
): CommandPattern | undefined {
  // an asterisk isn't shell syntax here, even in the program's name
  const plain = parseCommandLine(text.replaceAll('*', 'x'), platform)
  const [command] = parseCommandLine(text, platform).commands
  if (!command || !plain.sure || plain.commands.length !== 1) return undefined
  const words = command.words.map(splitAtStars)
  const stars = words.at(-1)?.every(piece => piece === '') ? (words.at(-1)?.length ?? 1) - 1 : 0
  const open = stars === 1 || stars === 2
  return {
    words: open ? words.slice(0, -1) : words,
    quoted: command.words.map(({ text, literal }) =>
      literal.some((is, at) => is && '*?['.includes(text.charAt(at))),
    ),
    open,
    anything: stars === 2 && words.length > 1 && words[0]?.length === 1,
  }
}

function splitAtStars({ text, literal }: Word): string[] {
  const pieces = ['']
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '*' && !literal[at]) pieces.push('')
    else pieces.push(`${pieces.pop() ?? ''}${text.charAt(at)}`)
  }
  return pieces
}

/** Whether a `*` of the pattern matches any word or part of a word. */
export function hasStar({ words, open }: CommandPattern): boolean {
  return open || words.some(pieces => pieces.length > 1)
}

/**
 * Whether the words of a possible command match the pattern, also with further options between them, each with or without
 * a value: `git -C src push` and `npm run --silent deploy` match `git push` and `npm run deploy`.
 */
export function fitsCommand(pattern: CommandPattern, words: readonly string[], ignoreCase = false): boolean {
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  // possible numbers of words that the pattern's words so far have matched
  let used = new Set([0])
  for (const pieces of pattern.words) {
    const next = new Set<number>()
    // the loop adds to `used` while iterating, and also visits the added numbers
    for (const at of used) {
      const word = words[at]
      if (word === undefined) continue
      if (fitsWord(pieces.map(fold), fold(word))) next.add(at + 1)
      if (at > 0 && word.startsWith('-')) used.add(at + 1).add(at + 2)
    }
    used = next
  }
  return pattern.open ? used.size > 0 : used.has(words.length)
}

/**
 * Returns, for each word of a simple command, whether a `*` of the pattern matches at least a part of the word, so that the rule's author
 * hasn't seen the word. Returns `undefined` if the command doesn't match.
 */
export function matchCommand(pattern: CommandPattern, words: readonly Word[]): boolean[] | undefined {
  if (pattern.open ? words.length < pattern.words.length : words.length !== pattern.words.length)
    return undefined
  const fits = pattern.words.every((pieces, at) => {
    const word = words[at]
    return word && fitsWord(pieces, word.text) && !(pattern.quoted[at] && isGlob(word))
  })
  return fits ? words.map((_, at) => (pattern.words[at]?.length ?? 2) > 1) : undefined
}

/** Whether the word contains the pieces in their order, the first at its beginning and the last at its end. */
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
