import { REDACTED } from '../common/secrets.ts'

/** Keys whose text is always a secret. Numbers under such a key, such as `totalTokens`, aren't redacted. */
const SECRET_KEY =
  /(^|[-_.\s])(pass(word|phrase|wd)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth(orization)?|cookie|credentials?|bearer|session[-_]?key|signature)s?$/i
/** Secret keys in camel case: `apiKey`, `accessToken`, `clientSecret`. */
const SECRET_CAMEL_KEY =
  /(Password|Passphrase|Secret|Token|ApiKey|AccessKey|PrivateKey|Authorization|Cookie|Credentials?)s?$|[a-z\d](Pat|PAT|Jwt|JWT)$/
/** `NAME_PAT`, and `pat` in JSON, but not `Pat`, which is a person's name. */
const SECRET_WORD_KEY = /(^|[-_.\s])(pat|PAT|jwt|JWT)$/
/** Keys under which even a number is a secret. */
const PASSWORD_KEY = /pass(word|phrase|wd)$/i
/** Names in `NAME=value` that mean a secret. Most of these words may be anywhere in the name. */
const SECRET_NAME =
  /secret|token|passw(or)?d|passphrase|credential|(^|[-_.])(key|pwd|auth|sig|pat|jwt)([-_.\d]|$)|api-?key|(access|private|public|secret|session|auth|signing|encryption|master|license|service|account|ssh)-?key/i
/** Names of parameters in a URL that may mean a secret. */
const SECRET_PARAMETER = /token|key|secret|passw(or)?d|signature|sig|code|auth|jwt|session/i

/** Returns a pattern for the word that follows `source` in a command. Group 1 of `source` is kept. A quoted word may contain spaces. */
function valueAfter({ source }: RegExp, flags = 'g'): RegExp {
  return new RegExp(String.raw`${source}(?:"[^"\r\n]{1,1024}|'[^'\r\n]{1,1024}|[^\s]{1,1024})`, flags)
}

/** Returns a pattern for a token with a known prefix (`source`). In a URL, the character before the prefix may be percent-encoded. */
function knownToken({ source }: RegExp, minLength: number): RegExp {
  return new RegExp(
    String.raw`((?:(?<![A-Za-z\d])|(?<=%[\dA-Fa-f]{2}))(?:${source}))[\w-]{${minLength},}`,
    'g',
  )
}

/** Returns a pattern for the value of a command's option: `docker login -p password`, `mysql -ppassword`. */
function optionValue(command: RegExp, option: RegExp): RegExp {
  return valueAfter(
    new RegExp(String.raw`\b((?:${command.source})\b(?:\\\r?\n|[^\r\n|;&]){0,256}?\s${option.source})`),
  )
}

/**
 * Patterns of secrets of a known form, anywhere in a text. Group 1, the text before the secret, is kept. Agents choose the text, so
 * matching must take linear time: each repetition has a maximum, or starts where no other repetition has passed.
 */
const SECRET_TEXT: RegExp[] = [
  /\b((?:bearer|basic|token)\s{1,8})[\w.~+/=-]{8,}/gi,
  /(\/\/[^/\s:@]{0,256}:)[^/\s@]{1,1024}(?=@)/g,
  knownToken(/(?:sk|pk|rk)(?:-|_(?:live|test)_)/, 16),
  knownToken(/(?:gh[oprsu]|github_pat|glpat|gl[dr]t|dckr_pat|xox[abprs]|xapp|whsec|gsk|hf|npm)[_-]/, 12),
  knownToken(/AKIA|ASIA|AIza|shpat_|dop_v1_/, 12),
  /(?<![\w-])(eyJ)[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]+/g,
  // The pattern matches `curl -u name:password`. Patterns for `.netrc` files and for Maven's settings follow below.
  /\b(curl\b(?:\\\r?\n|[^\r\n|;&]){0,256}?\s(?:-[uU]|--user|--proxy-user)[ =]{1,8}["']?[^\s:"']{1,256}:)[^\s"']{1,1024}/g,
  optionValue(
    /sshpass|(?:docker|podman|nerdctl|buildah|skopeo|oras|regctl|az|oc|cf|ibmcloud|helm\s{1,8}registry)\s{1,8}login/,
    /-p\s{0,8}/,
  ),
  optionValue(/(?:mysql|mariadb)\w{0,16}/, /-p/),
  optionValue(/redis-cli/, /(?:-a|--pass)\s{1,8}/),
  valueAfter(
    /\b(setx(?:\.exe)?\s{1,8}(?:\/m\s{1,8})?["']?\w{0,64}(?:SECRET|TOKEN|PASS(?:W(?:OR)?D|PHRASE)?|CREDENTIALS?|KEY)\w{0,16}["']?\s{1,8})/,
    'gi',
  ),
  /\b(login\s{1,8}[^\s]{1,256}\s{1,8}password\s{1,8})[^\s]{1,1024}/gi,
  /(<(?:password|passwd|passphrase|secret|token|api-?key|access-?token|client-?secret)(?:\s[^<>]{0,128})?>)[^<>]{1,1024}(?=<)/gi,
]

/** The name of an option that is followed by a space and its value, as in `--api-key value`. `redactSettings` finds `--api-key=value`. */
const FLAG = /(?<![\w-])--([\w-]{1,64}) {1,8}/g
const SECRET_FLAG = /(?:password|secret|token|api-?key|credentials?|(?:^|-)(?:pat|jwt))$/i
const SIGN = /[=:]/g
const ADDRESS = /\b(?:https?|wss?):\/\/[^\s"'<>]+/gi
/** A path segment that looks generated. Some services put the key into the URL's path. */
const MADE_UP = /^(?=.*\d)(?=.*[A-Za-z])[\w~%-]{16,}$/

/** The maximum length of a text to search, in characters. A longer text is cut first. */
export const MAX_REDACTED_LENGTH = 100_000
/** The maximum length of a name, in characters. Only the end of a longer name is read. */
const MAX_NAME = 128
/** The maximum number of spaces between a name, its sign (`=` or `:`) and its value. */
const MAX_SPACES = 8
/** The maximum length of a quoted part of a word, in characters. It's limited because the part's end may be searched at each sign. */
const MAX_QUOTED_PART = 512
/**
 * The maximum length of a cut text's last word that is removed, because it may be the start of a secret. Longer words are kept. Characters.
 */
const MAX_LAST_WORD = 1024

/** The maximum length of the note that {@link cutText} appends, such as `… (2250020)`. Characters. */
const MAX_LENGTH_NOTE = 20

/** The end of a line whose value is in the lines below. May have YAML's `|`, `>-`, tags, anchors and comments, or an open bracket. */
const LINE_END =
  /[*_`]{0,3}[ \t]{0,8}(?:[!&][^\s]{0,64}(?:[ \t]{1,8}|(?=[\r\n]))){0,2}(?:[|>][-+\d]{0,2}|([{[(]))?[ \t]{0,8}(#[^\r\n]{0,256})?(?=[\r\n])/y
/** The text before a line's content: a line number, then indentation and the marks of a list, diff or quotation (group 1). */
const LEAD = /(?:[ \t]{0,16}\d{1,7}(?:→|\t|: ?|\| ?))?([ \t+>*-]*)/y
/** Characters that may precede a name at the start of its line. */
const NAME_LEAD = /^[{[(]?[ \t]{0,8}[*_]{0,3}["'`]?$/
const CODE_FENCE = /^(```|~~~)[\w-]{0,32}$/
/** The maximum length of a value in the line below a name, in characters. An indented or quoted value may be longer. */
const MAX_WORD_BELOW = 4096
const QUOTED_LINE = /^(["'`])(?!\1)(.+)\1[,;)}\]]{0,8}$/
/** The only word of a line. The next name, which ends with a colon, and a word of signs alone don't match. */
const WORD = /^(?=.*[\p{L}\d])[^\s]+(?<!:)$/u
/** Lines that aren't secret: a number, a field with a simple type, a closing bracket, a sentence in a list, and a shown function call. */
const COUNT = /^(?:["']?[\w.-]{1,64}["']?\??\s{0,8}[:=]\s{0,8})?\d{1,9}(?:\.\d{1,9})?[,;]?[)}\]]{0,4}[,;]?$/
const TYPE = /^[\w]{1,64}\??: (?:string|number|boolean|unknown|null|undefined)(?:\[\])?[,;]?$/
const CLOSING = /^[)}\]]{1,4}[,;]?$/
const PROSE_ITEM = /^\p{Lu}[\p{L}.,]{0,64} [\p{L} .,()’]{1,512}$/u
const CALL = /^(?:\w{1,16} )?[\w.]{1,64}\(.{0,1024}\)/
const HEADER_NAME = /(?:authorization|cookie)$/i
const AUTH_NAME = /auth$/i
/** The end of a line in a shell command that continues in the next line. */
const CONTINUATION = /\\\r?\n[ \t]{0,64}/y

export function isSecretKey(key: string): boolean {
  const end = key.slice(-MAX_NAME).replace(/[-_]?v?\d{1,3}$/, '')
  return SECRET_KEY.test(end) || SECRET_CAMEL_KEY.test(end) || SECRET_WORD_KEY.test(end)
}

export function isPasswordKey(key: string): boolean {
  return PASSWORD_KEY.test(key.slice(-MAX_NAME))
}

/** Returns a text in which everything that looks like a secret is replaced. A long text is cut first. */
export function redactText(text: string): string {
  let result = text.length > MAX_REDACTED_LENGTH ? cutText(text, MAX_REDACTED_LENGTH) : text
  for (const pattern of SECRET_TEXT) result = result.replace(pattern, `$1${REDACTED}`)
  return redactFlags(redactSettings(result)).replace(ADDRESS, redactPath)
}

/**
 * Returns the start of a text and the text's length, in at most `length` characters. Omits what may be the start of a secret at the cut.
 */
export function cutText(text: string, length: number, withoutSecrets = (start: string) => start): string {
  const start = withoutSecrets(text.slice(0, Math.max(0, length - MAX_LENGTH_NOTE)))
  let end = start.length
  while (end > 0 && start.length - end <= MAX_LAST_WORD && !isSpace(start, end - 1)) end--
  return `${start.length - end > MAX_LAST_WORD ? start : start.slice(0, end)}… (${text.length})`
}

/** Redacts the values in `NAME=value`, `Name: value`, `"name": "value"` and `?name=value`. */
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

/** Returns the range of the secret after the sign at `at`, if the name before the sign means a secret. */
function secretAt(text: string, at: number): Range | undefined {
  const { name, before, isSpaced, start } = nameBefore(text, at)
  if (name === '') return
  if (text[at] === ':' && text[at + 1] === '=') return
  const isAssignment = text[at] === '=' && text[at - 1] !== ':'
  const isParameter = isAssignment && (before === '?' || before === '&' || before === '#')
  const isSecret =
    isSecretKey(name) ||
    (isAssignment && SECRET_NAME.test(name)) ||
    (isParameter && SECRET_PARAMETER.test(name))
  if (!isSecret) return
  let from = at + 1
  while (from < text.length && from - at <= MAX_SPACES && isBlank(text, from)) from++
  from = afterContinuation(text, from)
  const below = valueBelow(text, start, from, name, isAssignment)
  const range =
    below ?? valueAt(text, from, isParameter, isAssignment && !isSpaced && from === at + 1, before)
  if (!below && !isAssignment && HEADER_NAME.test(name)) range.to = headerEnd(text, range.to)
  const value = text.slice(range.from, Math.min(range.to, range.from + 16)).trim()
  if (value === '' || (/^\d{1,9}$/.test(value) && !isPasswordKey(name))) return
  return range
}

/** Returns the name that ends before a sign, and the character before the name. */
function nameBefore(
  text: string,
  at: number,
): { name: string; before: string; isSpaced: boolean; start: number } {
  let end = text[at] === '=' && text[at - 1] === ':' ? at - 1 : at
  while (end > 0 && at - end < MAX_SPACES && isBlank(text, end - 1)) end--
  const isSpaced = end < at
  if (isQuote(text[end - 1])) end--
  while (text[end - 1] === '\\' && at - end < 2 * MAX_SPACES) end--
  let start = end
  while (start > 0 && end - start < MAX_NAME && isNamePart(text, start - 1)) start--
  return { name: text.slice(start, end), before: text[start - 1] ?? '', isSpaced, start }
}

/**
 * Finds a secret in the lines below a name, such as `password:` at the end of a line of YAML, pretty-printed JSON, code or headers. Below a
 * sentence that ends with such a name, only text that looks like a token is hidden. To stay linear: a line has at most one sign at its end,
 * and each line is read only a few times.
 */
function valueBelow(
  text: string,
  start: number,
  from: number,
  name: string,
  isAssignment: boolean,
): Range | undefined {
  LINE_END.lastIndex = from
  const ending = LINE_END.exec(text)
  if (!ending) return
  const lineEnd = LINE_END.lastIndex
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const lead = measureIndent(text, lineStart)
  const isQuotedName = isQuote(text[start - 1])
  // `nameBefore` takes the `-` or `+` of a diff for a part of the name.
  const first = Math.max(start, lead.to)
  const isFirst = first - lead.to < 16 && NAME_LEAD.test(text.slice(lead.to, first))
  const [, bracket, comment] = ending
  const column = lead.width + (isFirst ? first - lead.to - Number(isQuotedName) : 0)
  const block =
    (isFirst || bracket) && !isAssignment && blockBelow(text, lineEnd, column, name, bracket !== undefined)
  if (block === 'harmless') return { from, to: from }
  const range =
    (bracket && listBelow(text, lineEnd)) ||
    (isQuotedName && !bracket && wordBelow(text, lineEnd, -1, true)) ||
    block ||
    ((isFirst || isAssignment) && wordBelow(text, lineEnd, isAssignment ? lead.width : -1, isAssignment)) ||
    undefined
  // Outside of YAML, text that looks like a comment may be the value.
  return range && (comment === undefined ? range : { from, to: range.to })
}

/** Returns the range of the quoted lines in a bracket, indented or not. */
function listBelow(text: string, lineEnd: number): Range | undefined {
  let range: Range | undefined
  for (let line = nextLine(text, lineEnd); line < text.length; ) {
    const { to: from } = measureIndent(text, line)
    const end = findEnd(text, from, /[\r\n]/g)
    const quoted = QUOTED_LINE.exec(text.slice(from, end).trimEnd())
    if (!quoted) break
    range = { from: range?.from ?? from + 1, to: from + 1 + quoted[2]!.length }
    line = nextLine(text, end)
  }
  return range
}

/** Returns the end of a header that continues in indented lines. */
function headerEnd(text: string, end: number): number {
  let to = end
  while (to < text.length && ',;'.includes(text[to - 1]!)) {
    const line = nextLine(text, to)
    if (!/[\r\n]/.test(text[to]!) || !isBlank(text, line)) break
    to = findEnd(text, line, /[\r\n]/g)
  }
  return to
}

/** Returns the range of the lines that are indented more than a name, or `harmless` if these lines only look like values. */
function blockBelow(
  text: string,
  lineEnd: number,
  column: number,
  name: string,
  isOpen: boolean,
): Range | 'harmless' | undefined {
  let range: Range | undefined
  let [isCounts, isTypes, isProse] = [true, isOpen, !isOpen]
  for (let line = nextLine(text, lineEnd); line < text.length; ) {
    const { to: from, width } = measureIndent(text, line)
    const to = findEnd(text, from, /[\r\n]/g)
    if (to > from) {
      if (width <= column) break
      const shown = text.slice(from, Math.min(to, from + MAX_WORD_BELOW)).trimEnd()
      const isClosing = CLOSING.test(shown)
      isCounts &&= isClosing || COUNT.test(shown)
      isTypes &&= isClosing || TYPE.test(shown)
      isProse &&= text[line + column] === '-' && PROSE_ITEM.test(shown)
      range = { from: range?.from ?? from, to }
    }
    line = nextLine(text, to)
  }
  if (range && (isCounts || isTypes || isProse) && !isPasswordKey(name.replace(/s$/i, ''))) return 'harmless'
  if (range && /signature$/i.test(name) && CALL.test(text.slice(range.from, range.to))) return 'harmless'
  // An object named `auth` may also contain sign-in methods, which aren't secret.
  if (range && AUTH_NAME.test(name) && /:\s/.test(text.slice(range.from, range.to))) return
  return range
}

/** Returns the range of the quoted text, or of the only word, in the next line. That line must be indented more than `column`. */
function wordBelow(text: string, lineEnd: number, column: number, mustBeQuoted: boolean): Range | undefined {
  let line = nextLine(text, lineEnd)
  for (let skipped = 0; skipped <= 2 && line < text.length; skipped++) {
    const { to: from, width } = measureIndent(text, line)
    const end = findEnd(text, from, /[\r\n]/g)
    line = nextLine(text, end)
    const shown = text.slice(from, Math.min(end, from + MAX_WORD_BELOW)).trimEnd()
    if (shown === '' || CODE_FENCE.test(shown)) continue
    if (width <= column) return
    if (isQuote(shown[0])) {
      const to = closingQuote(text, from + 1, shown[0]!, false)
      if (to > from + 1 && (to < text.length || end === text.length)) return { from: from + 1, to }
    }
    const quoted = QUOTED_LINE.exec(shown)
    if (quoted) return { from: from + 1, to: from + 1 + quoted[2]!.length }
    if (mustBeQuoted || end - from > MAX_WORD_BELOW || !WORD.test(shown)) return
    return { from, to: from + shown.length }
  }
  return
}

/** Returns the end of the text before a line's content, and the width of the line's indentation. */
function measureIndent(text: string, line: number): { to: number; width: number } {
  LEAD.lastIndex = line
  const width = LEAD.exec(text)?.[1]?.length ?? 0
  return { to: LEAD.lastIndex, width }
}

function nextLine(text: string, end: number): number {
  return text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
}

function afterContinuation(text: string, from: number): number {
  CONTINUATION.lastIndex = from
  return CONTINUATION.test(text) ? CONTINUATION.lastIndex : from
}

function valueAt(text: string, from: number, isParameter: boolean, isWord: boolean, before: string): Range {
  if (isParameter) return { from, to: findEnd(text, from, /[&#\s"']/g) }
  let open = from
  while (text[open] === '\\' && open - from < MAX_SPACES) open++
  const triple = text[open]?.repeat(3)
  if (open === from && isQuote(text[open]) && text.startsWith(triple!, open)) {
    const end = text.indexOf(triple!, open + 3)
    let start = open + 3
    while (start < text.length && start !== end && isSpace(text, start)) start++
    // Without a closing mark, the text was cut off.
    if (end >= 0 || /[\r\n]/.test(text[open + 3] ?? ''))
      return { from: start, to: end < 0 ? text.length : end }
  }
  if (isQuote(text[open])) {
    const inner = { from: open + 1, to: closingQuote(text, open + 1, text[open]!, open > from) }
    // a quote that isn't closed may be part of the value
    if (inner.to < text.length || text.indexOf('\n', open) < 0) return inner
  }
  if (isWord) return { from, to: wordEnd(text, from) }
  // Reads a header in a quoted argument up to the closing quote, as in `-H "Name: value"`.
  return { from, to: findEnd(text, from, isQuote(before) ? QUOTED_ENDS[before]! : /[\r\n]/g) }
}

const QUOTED_ENDS: { [quote: string]: RegExp } = { '"': /["\r\n]/g, "'": /['\r\n]/g, '`': /[`\r\n]/g }

function findEnd(text: string, from: number, end: RegExp): number {
  end.lastIndex = from
  return end.exec(text)?.index ?? text.length
}

/** Returns the position of the quote that closes a value (in an escaped text, of the backslashes before the quote), or `end`. */
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

/** Returns the end of a shell word, whose parts may be quoted. A `;` or `,` within the word is a part of the word. */
function wordEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && !isSpace(text, at) && !'&|()<>'.includes(text[at]!)) {
    const character = text[at]!
    if ((character === ';' || character === ',') && (at + 1 >= text.length || isSpace(text, at + 1))) break
    if (!isQuote(character)) {
      at++
      continue
    }
    // A quote without a closing quote in this word surrounds the whole assignment.
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
    const from = afterContinuation(text, match.index + match[0].length)
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

/** Whether the character is a letter, a digit, or one of `_-.` */
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
