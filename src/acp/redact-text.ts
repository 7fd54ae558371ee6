import { REDACTED } from '../common/secrets.ts'

/** Keys whose text is always a secret. Counts (`totalTokens`) are numbers and stay. */
const SECRET_KEY =
  /(^|[-_.\s])(pass(word|phrase|wd)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth(orization)?|cookie|credentials?|bearer|session[-_]?key|signature)s?$/i
/** `apiKey`, `accessToken`, `clientSecret` */
const SECRET_CAMEL_KEY =
  /(Password|Passphrase|Secret|Token|ApiKey|AccessKey|PrivateKey|Authorization|Cookie|Credentials?)s?$|[a-z\d](Pat|PAT|Jwt|JWT)$/
/** `NAME_PAT`, and `pat` in JSON: not a person who is called Pat */
const SECRET_WORD_KEY = /(^|[-_.\s])(pat|PAT|jwt|JWT)$/
/** Keys under which even a number is a secret. */
const PASSWORD_KEY = /pass(word|phrase|wd)$/i
/** A name in `NAME=value`, with any text before and after the word. */
const SECRET_NAME =
  /secret|token|passw(or)?d|passphrase|credential|(^|[-_.])(key|pwd|auth|sig|pat|jwt)([-_.\d]|$)|api-?key|(access|private|public|secret|session|auth|signing|encryption|master|license|service|account|ssh)-?key/i
/** The name of a parameter in an address. */
const SECRET_PARAMETER = /token|key|secret|passw(or)?d|signature|sig|code|auth|jwt|session/i

/** A word of a command after what group 1 of the pattern matches. In quotes, it may contain spaces. */
function valueAfter({ source }: RegExp, flags = 'g'): RegExp {
  return new RegExp(String.raw`${source}(?:"[^"\r\n]{1,1024}|'[^'\r\n]{1,1024}|[^\s]{1,1024})`, flags)
}

/** A token that starts in this way, also in an address where a sign before it is encoded. */
function knownToken({ source }: RegExp, minLength: number): RegExp {
  return new RegExp(
    String.raw`((?:(?<![A-Za-z\d])|(?<=%[\dA-Fa-f]{2}))(?:${source}))[\w-]{${minLength},}`,
    'g',
  )
}

/** The value of a command's option: `docker login -p password`, `mysql -ppassword`. */
function optionValue(command: RegExp, option: RegExp): RegExp {
  return valueAfter(
    new RegExp(String.raw`\b((?:${command.source})\b(?:\\\r?\n|[^\r\n|;&]){0,256}?\s${option.source})`),
  )
}

/**
 * Secrets of a known form, anywhere in a text. Group 1, the text before the secret, stays. Agents choose the text, so the time must be
 * linear: each repetition has a maximum, or starts where no other repetition has passed.
 */
const SECRET_TEXT: RegExp[] = [
  /\b((?:bearer|basic|token)\s{1,8})[\w.~+/=-]{8,}/gi,
  /(\/\/[^/\s:@]{0,256}:)[^/\s@]{1,1024}(?=@)/g,
  knownToken(/(?:sk|pk|rk)(?:-|_(?:live|test)_)/, 16),
  knownToken(/(?:gh[oprsu]|github_pat|glpat|gl[dr]t|dckr_pat|xox[abprs]|xapp|whsec|gsk|hf|npm)[_-]/, 12),
  knownToken(/AKIA|ASIA|AIza|shpat_|dop_v1_/, 12),
  /(?<![\w-])(eyJ)[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]+/g,
  // `curl -u name:password`, a `.netrc`, and Maven's settings
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

/** `--api-key value`; the sign in `--api-key=value` is found like any other. */
const FLAG = /(?<![\w-])--([\w-]{1,64}) {1,8}/g
const SECRET_FLAG = /(?:password|secret|token|api-?key|credentials?|(?:^|-)(?:pat|jwt))$/i
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
/** Maximum length of a quoted part of a word, since its end may be searched at each sign. Characters. */
const MAX_QUOTED_PART = 512
/** The last word of a text that was cut may be the start of a secret. A longer one is text without spaces. Characters. */
const MAX_LAST_WORD = 1024

/** `… (2250020)` */
const MAX_LENGTH_NOTE = 20

/** How a line ends whose value is in the lines below: also YAML's `|`, `>-`, tags, anchors and comments, or an open bracket. */
const LINE_END =
  /[*_`]{0,3}[ \t]{0,8}(?:[!&][^\s]{0,64}(?:[ \t]{1,8}|(?=[\r\n]))){0,2}(?:[|>][-+\d]{0,2}|([{[(]))?[ \t]{0,8}(#[^\r\n]{0,256})?(?=[\r\n])/y
/** Text before a line's content: a line number, and (group 1) its indentation and the marks of a list, diff or quotation. */
const LEAD = /(?:[ \t]{0,16}\d{1,7}(?:→|\t|: ?|\| ?))?([ \t+>*-]*)/y
/** Characters that may precede a name at the start of its line. */
const NAME_LEAD = /^[{[(]?[ \t]{0,8}[*_]{0,3}["'`]?$/
const CODE_FENCE = /^(```|~~~)[\w-]{0,32}$/
/** A longer word below a name isn't taken for its value, unless it's indented or quoted. Characters. */
const MAX_WORD_BELOW = 4096
const QUOTED_LINE = /^(["'`])(?!\1)(.+)\1[,;)}\]]{0,8}$/
/** A line's only word, unless it's the next name or only signs. */
const WORD = /^(?=.*[\p{L}\d])[^\s]+(?<!:)$/u
/** A line that only counts, names a simple type, closes a bracket, or is a sentence in a list; and how a function is shown. */
const COUNT = /^(?:["']?[\w.-]{1,64}["']?\??\s{0,8}[:=]\s{0,8})?\d{1,9}(?:\.\d{1,9})?[,;]?[)}\]]{0,4}[,;]?$/
const TYPE = /^[\w]{1,64}\??: (?:string|number|boolean|unknown|null|undefined)(?:\[\])?[,;]?$/
const CLOSING = /^[)}\]]{1,4}[,;]?$/
const PROSE_ITEM = /^\p{Lu}[\p{L}.,]{0,64} [\p{L} .,()’]{1,512}$/u
const CALL = /^(?:\w{1,16} )?[\w.]{1,64}\(.{0,1024}\)/
const HEADER_NAME = /(?:authorization|cookie)$/i
const AUTH_NAME = /auth$/i
/** In a shell, the next line belongs to this one. */
const CONTINUATION = /\\\r?\n[ \t]{0,64}/y

export function isSecretKey(key: string): boolean {
  const end = key.slice(-MAX_NAME).replace(/[-_]?v?\d{1,3}$/, '')
  return SECRET_KEY.test(end) || SECRET_CAMEL_KEY.test(end) || SECRET_WORD_KEY.test(end)
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

/** The secret after the sign at `at`, if the name before the sign means a secret. */
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

/** The name that ends before a sign, and the character before the name. */
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
 * Finds a secret in the lines below a name, such as `password:` at the end of a line of YAML, pretty-printed JSON, code or headers. Text
 * after a sentence isn't checked: there, only what looks like a token is hidden. Each line has at most one such sign, and is read only a
 * few times.
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
  // the mark of a diff looks like a part of the name
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
  // outside of YAML, text that looks like a comment may be the value
  return range && (comment === undefined ? range : { from, to: range.to })
}

/** The quoted lines in a bracket, indented or not. */
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

/** The end of a header that continues in indented lines. */
function headerEnd(text: string, end: number): number {
  let to = end
  while (to < text.length && ',;'.includes(text[to - 1]!)) {
    const line = nextLine(text, to)
    if (!/[\r\n]/.test(text[to]!) || !isBlank(text, line)) break
    to = findEnd(text, line, /[\r\n]/g)
  }
  return to
}

/** The lines that are indented more than a name; `harmless`: they only look like values. */
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
  // the name may also contain sign-in methods, which aren't secret
  if (range && AUTH_NAME.test(name) && /:\s/.test(text.slice(range.from, range.to))) return
  return range
}

/**
 * The quoted text, or the only word, of the next line. `column`: the line must be indented more.
 */
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

/** The end of the text before a line's content, and the width of its indentation. */
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
    // without an end, the text is cut off
    if (end >= 0 || /[\r\n]/.test(text[open + 3] ?? ''))
      return { from: start, to: end < 0 ? text.length : end }
  }
  if (isQuote(text[open])) {
    const inner = { from: open + 1, to: closingQuote(text, open + 1, text[open]!, open > from) }
    // a quote that isn't closed may be part of the value
    if (inner.to < text.length || text.indexOf('\n', open) < 0) return inner
  }
  if (isWord) return { from, to: wordEnd(text, from) }
  // the header in '-H "Name: value"'
  return { from, to: findEnd(text, from, isQuote(before) ? QUOTED_ENDS[before]! : /[\r\n]/g) }
}

const QUOTED_ENDS: { [quote: string]: RegExp } = { '"': /["\r\n]/g, "'": /['\r\n]/g, '`': /[`\r\n]/g }

function findEnd(text: string, from: number, end: RegExp): number {
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

/** The end of a shell word, whose parts may be quoted. A `;` or `,` within the word is part of it. */
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
