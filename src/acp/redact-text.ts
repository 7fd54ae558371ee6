import { REDACTED } from '../common/secrets.ts'

/** Keys whose text is always a secret. Counts (`totalTokens`) are numbers and stay. */
const SECRET_KEY =
  /(^|[-_.\s])(pass(word|phrase|wd)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth(orization)?|cookie|credentials?|bearer|session[-_]?key|signature)s?$/i
/** `apiKey`, `accessToken`, `clientSecret` */
const SECRET_CAMEL_KEY =
  /(Password|Passphrase|Secret|Token|ApiKey|AccessKey|PrivateKey|Authorization|Cookie|Credentials?)s?$/
/** Keys under which even a number is a secret. */
const PASSWORD_KEY = /pass(word|phrase|wd)$/i
/** A name in `NAME=value`, with any text before and after the word. */
const SECRET_NAME =
  /secret|token|passw(or)?d|passphrase|credential|(^|[-_.])(key|pwd|auth|sig)([-_.\d]|$)|api-?key|(access|private|public|secret|session|auth|signing|encryption|master|license|service|account|ssh)-?key/i
/** The name of a parameter in an address. */
const SECRET_PARAMETER = /token|key|secret|passw(or)?d|signature|sig|code|auth|jwt|session/i

/**
 * Secrets of a known form, anywhere in a text; what precedes them stays (group 1). Agents choose the text, so the time
 * may only grow in proportion to it: a repetition has a maximum, or starts where no other one has passed.
 */
const SECRET_TEXT: RegExp[] = [
  /\b((?:bearer|basic|token)\s{1,8})[\w.~+/=-]{8,}/gi,
  /(\/\/[^/\s:@]{0,256}:)[^/\s@]{1,1024}(?=@)/g,
  /\b((?:sk|pk|rk)-)[\w-]{16,}/g,
  /\b((?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|hf|npm)[_-])[\w-]{12,}/g,
  /\b(AKIA|ASIA|AIza)[\w-]{12,}/g,
  /(?<![\w-])(eyJ)[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]+/g,
]

/** `--api-key value`; the sign in `--api-key=value` is found like any other. */
const FLAG = /(?<![\w-])--([\w-]{1,64}) {1,8}/g
const SECRET_FLAG = /(?:password|secret|token|api-?key|credentials?)$/i
const SIGN = /[=:]/g
const ADDRESS = /\b(?:https?|wss?):\/\/[^\s"'<>]+/gi
/** A path segment that looks generated: some services put the key into the URL's path. */
const MADE_UP = /^(?=.*\d)(?=.*[A-Za-z])[\w~%-]{16,}$/

/** Longer texts are cut before they are searched. Characters. */
export const MAX_REDACTED_LENGTH = 100_000
/** Only the end of a longer name is read. Characters. */
const MAX_NAME = 128
/** Number of spaces between a name, its sign and its value. */
const MAX_SPACES = 8
/** Only so much of a word's quoted part is read: whether it ends may be asked at each sign. Characters. */
const MAX_QUOTED_PART = 512
/** The last word of a text that was cut may be the start of a secret. A longer one is text without spaces. Characters. */
const MAX_LAST_WORD = 1024

/** `… (2250020)` */
const MAX_LENGTH_NOTE = 20

export function isSecretKey(key: string): boolean {
  const end = key.slice(-MAX_NAME).replace(/[-_]?v?\d{1,3}$/, '')
  return SECRET_KEY.test(end) || SECRET_CAMEL_KEY.test(end)
}

export function isPasswordKey(key: string): boolean {
  return PASSWORD_KEY.test(key.slice(-MAX_NAME))
}

/** A text with everything replaced that looks like a secret. A long text is cut first. */
export function redactText(text: string): string {
  let result = text.length > MAX_REDACTED_LENGTH ? cutText(text, MAX_REDACTED_LENGTH) : text
  for (const pattern of SECRET_TEXT) result = result.replace(pattern, `$1${REDACTED}`)
  return redactFlags(redactSettings(result)).replace(ADDRESS, redactPath)
}

/** The start of a text and its length, in at most `length` characters. What may be the start of a secret at the cut is omitted. */
export function cutText(text: string, length: number, withoutSecrets = (start: string) => start): string {
  const start = withoutSecrets(text.slice(0, Math.max(0, length - MAX_LENGTH_NOTE)))
  let end = start.length
  while (end > 0 && start.length - end <= MAX_LAST_WORD && !isSpace(start, end - 1)) end--
  return `${start.length - end > MAX_LAST_WORD ? start : start.slice(0, end)}… (${text.length})`
}

/** `NAME=value`, `Name: value`, `"name": "value"`, `?name=value` */
function redactSettings(text: string): string {
  let result = ''
  let done = 0
  SIGN.lastIndex = 0
  for (let match = SIGN.exec(text); match; match = SIGN.exec(text)) {
    const value = secretAt(text, match.index)
    if (!value) continue
    result += text.slice(done, value.from) + REDACTED
    done = value.to
    SIGN.lastIndex = done
  }
  return result + text.slice(done)
}

interface Range {
  from: number
  to: number
}

/** The secret after the sign at `at`, if its name says that it is one. */
function secretAt(text: string, at: number): Range | undefined {
  const { name, before, isSpaced } = nameBefore(text, at)
  if (name === '') return
  const isAssignment = text[at] === '='
  const isParameter = isAssignment && (before === '?' || before === '&' || before === '#')
  const isSecret =
    isSecretKey(name) ||
    (isAssignment && SECRET_NAME.test(name)) ||
    (isParameter && SECRET_PARAMETER.test(name))
  if (!isSecret) return
  let from = at + 1
  while (from < text.length && from - at <= MAX_SPACES && isBlank(text, from)) from++
  const range = valueAt(text, from, isParameter, isAssignment && !isSpaced && from === at + 1, before)
  const value = text.slice(range.from, Math.min(range.to, range.from + 16)).trim()
  if (value === '' || (/^\d{1,9}$/.test(value) && !isPasswordKey(name))) return
  return range
}

/** The name that ends before a sign, and the character before the name. */
function nameBefore(text: string, at: number): { name: string; before: string; isSpaced: boolean } {
  let end = at
  while (end > 0 && at - end < MAX_SPACES && isBlank(text, end - 1)) end--
  const isSpaced = end < at
  if (isQuote(text[end - 1])) end--
  while (text[end - 1] === '\\' && at - end < 2 * MAX_SPACES) end--
  let start = end
  while (start > 0 && end - start < MAX_NAME && isNamePart(text, start - 1)) start--
  return { name: text.slice(start, end), before: text[start - 1] ?? '', isSpaced }
}

function valueAt(text: string, from: number, isParameter: boolean, isWord: boolean, before: string): Range {
  if (isParameter) return { from, to: endOf(text, from, /[&#\s"']/g) }
  let open = from
  while (text[open] === '\\' && open - from < MAX_SPACES) open++
  if (isQuote(text[open])) {
    const inner = { from: open + 1, to: closingQuote(text, open + 1, text[open]!, open > from) }
    // a quote that isn't closed may be part of the value
    if (inner.to < text.length || text.indexOf('\n', open) < 0) return inner
  }
  if (isWord) return { from, to: wordEnd(text, from) }
  // the header in '-H "Name: value"'
  return { from, to: endOf(text, from, isQuote(before) ? QUOTED_ENDS[before]! : /[\r\n]/g) }
}

const QUOTED_ENDS: { [quote: string]: RegExp } = { '"': /["\r\n]/g, "'": /['\r\n]/g, '`': /[`\r\n]/g }

function endOf(text: string, from: number, end: RegExp): number {
  end.lastIndex = from
  return end.exec(text)?.index ?? text.length
}

/** The position of the quote that closes a value, or of its backslashes if the value is in an escaped text; or `end`. */
function closingQuote(
  text: string,
  from: number,
  quote: string,
  isEscaped: boolean,
  end = text.length,
): number {
  for (let at = from; at < end; at++) {
    if (text[at] === quote) return at
    if (text[at] !== '\\') continue
    if (isEscaped) return at
    at++
  }
  return end
}

/** The end of a shell's word, whose parts may be quoted. A `;` or `,` within it belongs to it. */
function wordEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && !isSpace(text, at) && !'&|()<>'.includes(text[at]!)) {
    const character = text[at]!
    if ((character === ';' || character === ',') && (at + 1 >= text.length || isSpace(text, at + 1))) break
    if (!isQuote(character)) {
      at++
      continue
    }
    // without a partner, the quote surrounds the whole assignment
    const end = Math.min(text.length, at + MAX_QUOTED_PART)
    const close = at === from ? end : closingQuote(text, at + 1, character, false, end)
    if (close >= end || text.slice(at, close).includes('\n')) break
    at = close + 1
  }
  return at
}

function redactFlags(text: string): string {
  let result = ''
  let done = 0
  FLAG.lastIndex = 0
  for (let match = FLAG.exec(text); match; match = FLAG.exec(text)) {
    const from = match.index + match[0].length
    if (!SECRET_FLAG.test(match[1]!) || from >= text.length || text[from] === '-') continue
    const range = valueAt(text, from, false, true, '')
    result += text.slice(done, range.from) + REDACTED
    done = range.to
    FLAG.lastIndex = done
  }
  return result + text.slice(done)
}

function redactPath(address: string): string {
  const query = address.search(/[?#]/)
  const end = query < 0 ? address.length : query
  const [scheme, , host, ...path] = address.slice(0, end).split('/')
  const shown = path.map(part => (MADE_UP.test(part) ? REDACTED : part))
  return [scheme, '', host, ...shown].join('/') + address.slice(end)
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'" || character === '`'
}

function isSpace(text: string, at: number): boolean {
  return text.charCodeAt(at) <= 32
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t'
}

/** A letter, a digit, or one of `_-.` */
function isNamePart(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45 ||
    code === 46
  )
}
