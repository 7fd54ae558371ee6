import { MAX_DEPTH } from '../common/limits.ts'
import { REDACTED } from '../common/secrets.ts'

export { REDACTED }

/** Keys whose text is always a secret. Counts (`totalTokens`) are numbers and stay. */
const SECRET_KEY =
  /(^|[-_.\s])(pass(word|phrase|wd)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth(orization)?|cookie|credentials?|bearer|session[-_]?key|signature)s?$/i
/** `apiKey`, `accessToken`, `clientSecret` */
const SECRET_CAMEL_KEY =
  /(Password|Passphrase|Secret|Token|ApiKey|AccessKey|PrivateKey|Authorization|Cookie|Credentials?)s?$/
const SECRET_FLAG = /^--?[\w-]*(pass(word|phrase|wd)?|secret|token|key|auth|credentials?|bearer|cookie)$/i
/** The next argument is `Name: value`, or `user:password`. */
const HEADER_FLAG = /^(-H|--headers?|-u|--user|--proxy-user)$/
/** A name in `NAME=value`, with any text before and after the word. */
const SECRET_NAME =
  /secret|token|passw(or)?d|passphrase|credential|(^|[-_.])(key|pwd|auth|sig)([-_.\d]|$)|api-?key|(access|private|public|secret|session|auth|signing|encryption|master|license|service|account|ssh)-?key/i

/** Secrets of a known form, anywhere in a text; what precedes them stays (group 1). */
const SECRET_TEXT: RegExp[] = [
  /\b((?:bearer|basic|token)\s+)[\w.~+/=-]{8,}/gi,
  /\b((?:authorization|proxy-authorization|x-api-key|api[-_]?key|cookie|set-cookie)["']?\s*[:=]\s*["']?)(?!(?:bearer|basic|token)\s)[^\s"',;]{4,}/gi,
  /(--[\w-]*(?:password|secret|token|api-?key|credentials?)[= ])[^\s"']+/gi,
  /([?&#](?:[\w.-]*(?:token|key|secret|passw(?:or)?d|signature|sig|code|auth|jwt|session)[\w.-]*)=)[^&#\s"']+/gi,
  /(\/\/[^/\s:@]*:)[^/\s@]+(?=@)/g,
  /\b((?:sk|pk|rk)-)[\w-]{16,}/g,
  /\b((?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|hf|npm)[_-])[\w-]{12,}/g,
  /\b(AKIA|ASIA|AIza)[\w-]{12,}/g,
  /\b(eyJ)[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
]

const ASSIGNMENT = /([A-Za-z_][\w.-]*)(\s*=\s*["']?)([^\s"'&;,|()<>]+)/g
const ADDRESS = /\b(?:https?|wss?):\/\/[^\s"'<>]+/gi
/** A path segment that looks generated: some services put the key into the URL's path. */
const MADE_UP = /^(?=.*\d)(?=.*[A-Za-z])[\w~%-]{16,}$/

/**
 * A frame that may be shown or stored: values of environments and headers, and what looks like a password, key or
 * token, are replaced. The frame itself is not changed; parts without a secret are shared with it.
 */
export function redact(message: unknown): unknown {
  return redactValue(message, 0)
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '…'
  return Array.isArray(value) ? redactList(value, depth) : redactObject(value, depth)
}

function redactList(list: unknown[], depth: number): unknown[] {
  let copy: unknown[] | undefined
  for (let i = 0; i < list.length; i++) {
    const before = list[i]
    const flag = list[i - 1]
    const after =
      typeof before === 'string' && typeof flag === 'string'
        ? redactArgument(flag, before)
        : redactValue(before, depth + 1)
    if (after === before) continue
    copy ??= [...list]
    copy[i] = after
  }
  return copy ?? list
}

function redactObject(object: object, depth: number): object {
  let copy: { [key: string]: unknown } | undefined
  for (const [key, before] of Object.entries(object)) {
    const after = redactMember(key, before, depth)
    if (after === before) continue
    copy ??= { ...object }
    Object.defineProperty(copy, key, { value: after, enumerable: true, writable: true, configurable: true })
  }
  return copy ?? object
}

function redactMember(key: string, value: unknown, depth: number): unknown {
  if (/^(env|headers|environment)$/i.test(key) && typeof value === 'object' && value !== null) {
    return redactPairs(value, depth)
  }
  if (isSecretKey(key)) return redactWhole(value, depth)
  return redactValue(value, depth + 1)
}

function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key) || SECRET_CAMEL_KEY.test(key)
}

/** The values of `{NAME: value}` or `[{name, value}]`. */
function redactPairs(pairs: object, depth: number): object {
  if (!Array.isArray(pairs)) {
    return Object.fromEntries(Object.keys(pairs).map(name => [name, REDACTED]))
  }
  return pairs.map(pair =>
    typeof pair === 'object' && pair !== null && 'value' in pair
      ? { ...pair, value: REDACTED }
      : redactValue(pair, depth + 1),
  )
}

/** All strings of a value under a secret's key; everything else in it is handled as usual. */
function redactWhole(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value === '' ? value : REDACTED
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value.map(() => REDACTED)
  return redactValue(value, depth + 1)
}

/** An argument and the one before it, which may be a flag that says what it is. */
function redactArgument(flag: string, argument: string): string {
  if (SECRET_FLAG.test(flag) && !argument.startsWith('-')) return REDACTED
  if (HEADER_FLAG.test(flag)) return argument.replace(/^([^:]*:\s*).+$/s, `$1${REDACTED}`)
  return redactText(argument)
}

/** A text with everything replaced that looks like a secret. */
export function redactText(text: string): string {
  let result = text
  for (const pattern of SECRET_TEXT) result = result.replace(pattern, `$1${REDACTED}`)
  result = result.replace(ASSIGNMENT, (all, name: string, sign: string, value: string) =>
    SECRET_NAME.test(name) && !/^\d{1,9}$/.test(value) ? name + sign + REDACTED : all,
  )
  return result.replace(ADDRESS, redactPath)
}

function redactPath(address: string): string {
  const query = address.search(/[?#]/)
  const end = query < 0 ? address.length : query
  const [scheme, , host, ...path] = address.slice(0, end).split('/')
  const shown = path.map(part => (MADE_UP.test(part) ? REDACTED : part))
  return [scheme, '', host, ...shown].join('/') + address.slice(end)
}
