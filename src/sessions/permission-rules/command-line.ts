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
 * Whether a character of the word is a part of a pattern, so that the shell may replace the word with the names of files. `#`, `^` and `~` are
 * special in zsh with `EXTENDED_GLOB`; at the start of a word, `~` is a home directory.
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
   * Every shell of the platform interprets the line as this parser does. If false, `commands` is a guess that may contain
   * too much: sufficient to reject, never to allow.
   */
  sure: boolean
}

/** Longer lines aren't parsed. Characters. */
const MAX_LENGTH = 20_000

/** Keywords of shells, which don't start a simple command. */
const RESERVED = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc ! { } [[ ]]'.split(
    ' ',
  ),
)
/** `NAME=value` before a command changes its effect. */
const ASSIGNMENT = /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/
/**
 * Characters that some shell interprets differently: control characters, unusual white space, typographic quotes and
 * dashes, which PowerShell treats as plain ones, and invisible characters.
 */
const STRANGE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u2000-\u200f\u2013-\u2015\u2018-\u201f\u2028-\u202f\u205f-\u2069\u3000\ufeff\ud800-\udfff]/u
/**
 * Special characters of Windows shells only; `cmd` doesn't support single quotes. Two double quotes are an empty argument, which Windows
 * PowerShell drops, or one quote within an argument.
 */
const STRANGE_ON_WINDOWS = /[\^%!';@,]|""/

/** Parses a command line. `platform` determines which shells may run it. */
export function parseCommandLine(line: string, platform: NodeJS.Platform = hostPlatform): CommandLine {
  const text = line.replace(/^[ \t\n]+|[ \t\n]+$/g, '')
  if (text === '' || text.length > MAX_LENGTH) return { commands: [], sure: false }
  const { commands, sure } = new Lexer(text, platform === 'win32').read()
  const strange = STRANGE.test(text) || (platform === 'win32' && isStrangeOnWindows(text))
  if (sure && !strange && commands.length > 0) return { commands, sure: true }
  // the escape character of PowerShell, and what cmd takes for a command that isn't printed
  const unescaped = platform === 'win32' && /[`@]/.test(text) ? guessed(text.replace(/[`@]/g, '')) : []
  return { commands: [...commands, ...guessed(text), ...unescaped], sure: false }
}

/** A backslash separates the parts of a path in `cmd`, and escapes in bash, which runs the lines that need it. */
function isStrangeOnWindows(text: string): boolean {
  return STRANGE_ON_WINDOWS.test(text) || (text.includes('\\') && needsBash(text))
}

/** Possible commands if quotes are ignored: the text between all characters that could separate commands. */
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
    // a line may end with `&` or `;`, not with `&&`: the separators say so themselves
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
        // treat its content as a separate command
        this.#boundary()
        break
      case '{':
      case '}':
        this.#sure = false
        this.#put(char, false)
        break
      case '#':
        // begins a comment in some shells: a quote within it doesn't count there
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
    // the name of a program that depends on files or a home directory
    if (name.text === '' || isGlob(name) || (name.text.startsWith('~') && !name.literal[0]))
      this.#sure = false
    this.#commands.push({ words })
    return some
  }

  /** `;`, a new line, `&`, `&&`, `|`, `||`, `|&`. Shells differ on `&>`. */
  #separator(): void {
    const [sign = ''] = /^(?:&&|\|\||\|&|[;&|\n])/.exec(this.#text.slice(this.#at)) ?? []
    if (sign.endsWith('&') && this.#text[this.#at + sign.length] === '>') this.#sure = false
    const after = this.#text.slice(this.#at + sign.length)
    const some = this.#endCommand()
    if (!some && sign !== '\n') this.#sure = false
    if (/^[&|]{2}$|^\|/.test(sign) && after.trim() === '') this.#sure = false
    this.#at += sign.length
  }

  /** A redirection without a file is skipped; any other makes the line uncertain. */
  #redirect(): void {
    const word = this.#word
    const number = word !== undefined && /^\d+$/.test(word.text)
    // a number in or after quotes is a word
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
    // skip only the operator: the file's name is treated like an argument
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

/** The option of PowerShell for a script as UTF-16 in Base64, also shortened, and with another dash. */
const ENCODED_COMMAND = /^[-/\u2013-\u2015]e(?:c|n\w*)?$/i

/** The script, with a space at its end so that it counts as one. */
function decodedCommand(text: string): string {
  return `${Buffer.from(text, 'base64').toString('utf16le')} `
}

/** Maximum depth of nested commands that are searched. */
const DEEPEST = 4

/**
 * All commands that the line may run, for rules that ask or reject: includes commands that other programs run (`sudo rm`, `bash -c "rm"`).
 * May contain too many commands, never too few.
 */
export function possibleCommands(line: CommandLine, platform?: NodeJS.Platform, depth = 0): string[][] {
  const found: string[][] = []
  for (const { words } of line.commands) {
    const texts = words.map(({ text }) => text)
    found.push(...spellings(texts))
    const [name = ''] = texts
    // bash drops the backslashes
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
      // `cmd /cdel x`
      if (/^\/[ckr]./i.test(word)) found.push(...spellings([word.slice(2), ...rest]))
      const script = ENCODED_COMMAND.test(texts[at - 1] ?? '') ? decodedCommand(word) : word
      if (/\s/.test(script))
        found.push(...possibleCommands(parseCommandLine(script, platform), platform, depth + 1))
    }
  }
  return found
}

/** The command as written, and without its program's folder and file type: `/usr/bin/git`, `git.exe`. */
function spellings([name, ...rest]: readonly string[]): string[][] {
  if (name === undefined) return []
  const base = /[^\\/]+$/.exec(name)?.[0] ?? name
  const bare = base.replace(/\.(?:exe|cmd|bat|com|ps1)$/i, '')
  return [...new Set([name, base, bare])].map(program => [program, ...rest])
}

/** A parsed pattern: each word is a list of literal pieces with anything between them. */
export interface CommandPattern {
  words: string[][]
  /** by word: it has a quoted character that matches several files if a command has it without quotes */
  quoted: boolean[]
  /** The pattern ends with a separate `*` or `**`, which matches any number of further words. */
  open: boolean
  /** The pattern ends with `**` and names the program, so it allows any arguments. */
  anything: boolean
}

/**
 * Parses a pattern: the words of a command as typed. A `*` matches any part of one word; as the last word, `*` and `**`
 * match all following words, or none. `undefined` if it isn't a single command, or uses shell syntax.
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

/** Whether the pattern leaves any word, or a part of one, open. */
export function hasStar({ words, open }: CommandPattern): boolean {
  return open || words.some(pieces => pieces.length > 1)
}

/**
 * Whether the words of a possible command match the pattern, also with further options between them, each with or without
 * a value: `git -C src push` and `npm run --silent deploy` match `git push` and `npm run deploy`.
 */
export function fitsCommand(pattern: CommandPattern, words: readonly string[], ignoreCase = false): boolean {
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  // how many of the words may be used up
  let used = new Set([0])
  for (const pieces of pattern.words) {
    const next = new Set<number>()
    // grows during the iteration
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
 * For each word of a simple command, whether a `*` of the pattern matches at least a part of it, so that the rule's author hasn't seen that
 * word. `undefined` if the command doesn't match.
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
