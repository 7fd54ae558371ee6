import { MAX_DEPTH } from '../common/limits.ts'
import { REDACTED, type SecretRegistry } from '../common/secrets.ts'
import { cutText, isPasswordKey, isSecretKey, MAX_REDACTED_LENGTH, redactText } from './redact-text.ts'

export { REDACTED }

/** Keys of objects and lists whose pairs of name and value are all private. */
const PAIRS_KEY =
  /(^|[-_])(envs?|environ(ment)?|env(ironment)?[-_]?var(iable)?s|headers)$|(Env|Environment|EnvVars|EnvironmentVariables|Headers)$/i
/** Keys of the name in a pair, as in `{ "name": …, "value": … }`. */
const NAME_KEY = /^(name|key|header|type|id|description)$/i
const AUTH_KEY = /auth$/i
const SECRET_FLAG =
  /^--?(?:[\w-]{0,64}(?:pass(?:word|phrase|wd)?|secret|token|key|auth|credentials?|bearer|cookie)|(?:[\w-]{0,64}-)?(?:pat|jwt))$/i
/** The program `sshpass`, or a command's word `login`. Their option `-p` is followed by a password. */
const USES_PASSWORD = /^(?:.{0,512}[\\/])?(?:sshpass(?:\.exe)?|login)$/i
/** The maximum number of words before `-p` that are searched. */
const MAX_WORDS_BEFORE = 16
/** Options whose value is `Name: value` or `user:password`. */
const HEADER_FLAG = /^(-H|--headers?|-u|--user|--proxy-user)$/
/** The name and the sign of `NAME=value` or `Name: value`. */
const NAME_AND_SIGN = /^[^=:]{0,256}[=:]\s{0,8}/
/** A line with a name whose value may be in the next line. */
const NAME_LINE = /^\s{0,64}[\w.-]{1,128}:\s{0,8}$/

export interface RedactOptions {
  /** The maximum number of characters to keep, approximately; unlimited if omitted. */
  maxLength?: number
  /** Secrets that a cut must not divide, because half of a secret isn't recognized later. */
  secrets?: SecretRegistry
  /** Called when something was cut. */
  onCut?: () => void
}

/**
 * Returns a frame that may be shown or stored: the values of environments and headers, and everything that looks like a password, key or
 * token, are replaced. The original frame isn't changed; the result shares its parts without a secret.
 */
export function redact(message: unknown, options: RedactOptions = {}): unknown {
  return new Redaction(options).value(message, 0)
}

/**
 * Returns the start of a text, without secrets, in at most `length` characters. A cut divides no secret, because half of a secret isn't
 * recognized later.
 */
export function redactStart(text: string, length: number, secrets: SecretRegistry): string {
  const withoutSecrets = (start: string) => secrets.stream().push(start)
  return redactText(text.length > length ? cutText(text, length, withoutSecrets) : secrets.redact(text))
}

class Redaction {
  readonly #withoutSecrets: ((start: string) => string) | undefined
  readonly #cut: () => void
  /** the number of characters that may still be added to the result */
  #remaining: number

  constructor({ maxLength = Number.POSITIVE_INFINITY, secrets, onCut = () => {} }: RedactOptions) {
    this.#remaining = maxLength
    this.#cut = onCut
    this.#withoutSecrets = secrets && (start => secrets.stream().push(start))
  }

  value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value)
    this.#remaining -= 4
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return this.#rest('…')
    return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth)
  }

  #text(text: string, redacted: (text: string) => string = redactText): string {
    const max = Math.min(this.#remaining, MAX_REDACTED_LENGTH)
    this.#remaining -= text.length
    return redacted(text.length > max ? this.#rest(cutText(text, max, this.#withoutSecrets)) : text)
  }

  /** Returns the part of a value that is left after a cut, and reports the cut. */
  #rest<T>(part: T): T {
    this.#cut()
    return part
  }

  /** Redacts a list. `command` is the program, if the list contains the program's arguments. */
  #list(list: unknown[], depth: number, command?: unknown): unknown[] {
    let copy: unknown[] | undefined
    for (let i = 0; i < list.length; i++) {
      if (this.#remaining <= 0) return this.#rest([...(copy ?? list).slice(0, i), `… (${list.length})`])
      const before = list[i]
      const flag = list[i - 1]
      const after =
        typeof before === 'string' && typeof flag === 'string'
          ? this.#text(before, argument =>
              isPasswordOption(flag, list, i, command) ? REDACTED : redactArgument(flag, argument),
            )
          : this.value(before, depth + 1)
      if (after === before) continue
      copy ??= [...list]
      copy[i] = after
    }
    return copy ?? list
  }

  #object(object: object, depth: number): object {
    let copy: { [key: string]: unknown } | undefined
    const entries = Object.entries(object)
    for (const [i, [key, before]] of entries.entries()) {
      if (this.#remaining <= 0) {
        const redacted = entries.slice(0, i).map(([name, value]) => [name, copy ? copy[name] : value])
        return this.#rest({ ...Object.fromEntries(redacted), '…': entries.length })
      }
      this.#remaining -= key.length
      const after =
        key === 'args' && Array.isArray(before) && 'command' in object
          ? this.#list(before, depth + 1, object.command)
          : this.#member(key, before, depth)
      if (after === before) continue
      copy ??= { ...object }
      Object.defineProperty(copy, key, { value: after, enumerable: true, writable: true, configurable: true })
    }
    return copy ?? object
  }

  #member(key: string, value: unknown, depth: number): unknown {
    if (PAIRS_KEY.test(key.slice(-64)) && value !== null) {
      if (typeof value === 'object') return this.#pairs(value, depth)
      if (typeof value === 'string') return this.#text(value, redactLines)
    }
    const isObject = typeof value === 'object'
    // An object named `auth` may also contain an agent's sign-in methods, which aren't secret.
    if (isSecretKey(key) && !(isObject && AUTH_KEY.test(key)))
      return this.#whole(value, depth, isPasswordKey(key))
    return this.value(value, depth + 1)
  }

  /** Redacts the values of `{NAME: value}`, `[{name, value}]`, `[[name, value]]`, `[name, value]` or `['NAME=value']`. */
  #pairs(pairs: object, depth: number): object {
    if (!Array.isArray(pairs)) {
      return Object.fromEntries(Object.keys(pairs).map(name => [name, REDACTED]))
    }
    const isFlat = pairs.length % 2 === 0 && pairs.every((item, i) => i % 2 === 1 || isName(item))
    return pairs.map((pair, i) => {
      if (typeof pair === 'string') return isFlat && i % 2 === 0 ? pair : withoutValue(pair, isFlat)
      if (Array.isArray(pair)) return pair.map((item, at) => (at === 0 && isName(item) ? item : REDACTED))
      return this.#whole(pair, depth, true, 'value' in Object(pair))
    })
  }

  /** Replaces all texts, at any depth, in the value of a secret key. The names in pairs aren't replaced. */
  #whole(value: unknown, depth: number, isPassword: boolean, isPair = false): unknown {
    if (typeof value === 'string') return value === '' ? value : REDACTED
    if (typeof value === 'number' && isPassword) return REDACTED
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return '…'
    if (Array.isArray(value)) return value.map(item => this.#whole(item, depth + 1, isPassword))
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        isPair && NAME_KEY.test(key) && typeof member === 'string'
          ? member
          : this.#whole(member, depth + 1, isPassword),
      ]),
    )
  }
}

function isName(item: unknown): boolean {
  return typeof item === 'string' && item.length <= 256 && !/[=:\s]/.test(item)
}

/** Redacts lines of `NAME=value` or `Name: value`, or a text of another kind. */
function redactLines(text: string): string {
  /** The next lines may continue the value of a header, if they are indented. */
  let mayContinue = false
  return text
    .split('\n')
    .map(line => {
      const isIndented = /^\s/.test(line)
      if (mayContinue && isIndented) return line.replace(/\S.*/, REDACTED)
      const isPair = NAME_AND_SIGN.test(line)
      mayContinue = isPair && !isIndented
      return isPair ? withoutValue(line) : redactText(line)
    })
    .join('\n')
}

/** Replaces the value of a pair: returns `NAME=•••` or `Name: •••`. */
function withoutValue(pair: string, isValue = false): string {
  const name = isValue ? undefined : NAME_AND_SIGN.exec(pair)?.[0]
  if (name === undefined) return pair === '' ? pair : REDACTED
  return name.length < pair.length ? name + REDACTED : pair
}

/** Whether the argument after `flag` is a password, as in `sshpass -p password` and `docker login -p password`. */
function isPasswordOption(flag: string, list: readonly unknown[], i: number, command: unknown): boolean {
  if (flag !== '-p') return false
  const words = [command, ...list.slice(Math.max(0, i - MAX_WORDS_BEFORE), i)]
  return words.some(word => typeof word === 'string' && USES_PASSWORD.test(word))
}

/** Redacts an argument. `flag` is the previous argument, which may say that this argument is a secret. */
function redactArgument(flag: string, argument: string): string {
  if (SECRET_FLAG.test(flag) && !argument.startsWith('-')) return REDACTED
  if (NAME_LINE.test(flag) && isSecretKey(flag.trim().slice(0, -1))) return withoutValue(argument, true)
  if (HEADER_FLAG.test(flag)) return argument.replace(/^([^:]*:\s{0,8}).+$/s, `$1${REDACTED}`)
  return redactText(argument)
}
