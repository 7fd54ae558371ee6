import { Emitter } from './event.ts'

/** The placeholder for a secret. */
export const REDACTED = '•••'

/** Shorter values occur in ordinary words, so they're replaced only where they are separate words. */
const MIN_LENGTH_IN_WORDS = 6

/** Matches the names of members whose texts the protocol defines, or that identify something: a short secret isn't replaced in them. */
const PROTOCOL_KEY =
  /^(id|kind|type|role|status|state|toolKind|severity|stopReason|updateKind|priority|\w+Id|within|of)$/

/**
 * The secrets that Parley itself knows: inputs of MCP servers, sign-in values, headers of providers. Code that resolves a secret adds it
 * here; code that writes a log, a card or a saved conversation redacts its text here.
 */
export class SecretRegistry {
  readonly #values = new Set<string>()
  readonly #add = new Emitter<string>()
  #forms: Forms | undefined

  /** Fires with a value that was added. */
  readonly onDidAdd = this.#add.event

  /**
   * Adds a secret. A value shorter than six characters is replaced only where it's a separate word. Secrets are never removed, because
   * earlier output may be logged later.
   */
  add(value: string | undefined): void {
    if (value === undefined) return
    // `Bearer abc…`: the agent may print the token alone; short parts are ordinary words
    const parts = value.split(/\s+/).filter(part => part.length >= MIN_LENGTH_IN_WORDS)
    for (const part of [value, ...parts]) {
      const secret = part.trim()
      if (secret === '' || this.#values.has(secret)) continue
      this.#values.add(secret)
      this.#forms = undefined
      this.#add.fire(secret)
    }
  }

  /** Replaces every secret in the text, also if the secret is escaped for JSON or a URL, or encoded in base64. */
  redact(text: string): string {
    if (this.#values.size === 0) return text
    return text.replace(this.#compiled.pattern, REDACTED)
  }

  /** Redacts JSON, which stays valid: a short secret is replaced only within texts, not in numbers, keys or words of the protocol. */
  redactJson(json: string): string {
    if (this.#values.size === 0) return json
    const { long, short, hasShort } = this.#compiled
    const text = json.replace(long, REDACTED)
    if (!hasShort.test(text)) return text
    return JSON.stringify(
      JSON.parse(text, (key, value: unknown) =>
        typeof value === 'string' && !PROTOCOL_KEY.test(key) ? value.replace(short, REDACTED) : value,
      ),
    )
  }

  /** A copy of a JSON value with all strings redacted; parts without a secret are shared. */
  redactAll<T>(value: T): T {
    if (this.#values.size === 0) return value
    const { long } = this.#compiled
    return mapTexts(
      value,
      text => this.redact(text),
      key => key.replace(long, REDACTED),
    ) as T
  }

  /** Whether a secret starts in the first text and ends in the second, which follows it. */
  crosses(before: () => string, text: string): boolean {
    if (this.#values.size === 0) return false
    const { longest } = this.#compiled
    const [end, start] = [before().slice(-longest), text.slice(0, longest)]
    return this.redact(end + start) !== this.redact(end) + this.redact(start)
  }

  /**
   * Redacts consecutive parts of a text that follow `before`, including secrets that span several parts. `count`: the number of parts that
   * don't contain the beginning of a secret that a later part may complete. In the remaining parts, such a beginning is replaced unless
   * it's too short to reveal anything.
   */
  redactParts(before: string, parts: readonly string[]): { parts: string[]; count: number } {
    if (this.#values.size === 0) return { parts: [...parts], count: parts.length }
    const forms = this.#compiled
    const text = before + parts.join('')
    const end = safeEnd(text, 0, forms)
    const found = [...matchesFrom(text, 0, forms)].map(match => [match.index, match.index + match[0].length])
    if (text.length - end >= MIN_LENGTH_IN_WORDS) found.push([end, text.length])
    let count = 0
    let start = before.length
    const redacted = parts.map(part => {
      const [from, to] = [start, start + part.length]
      start = to
      if (to <= end) count++
      let [passed, done] = ['', from]
      for (const [first = 0, last = 0] of found) {
        if (last <= from || first >= to) continue
        passed += text.slice(done, Math.max(done, first)) + (first >= from ? REDACTED : '')
        done = Math.max(done, Math.min(last, to))
      }
      return passed + text.slice(done, to)
    })
    return { parts: redacted, count }
  }

  get values(): readonly string[] {
    return [...this.#values]
  }

  /** Redacts a text that arrives in chunks: the possible start of a secret is held back until the next chunk. */
  stream(): StreamRedactor {
    return new StreamRedactor(() => (this.#values.size === 0 ? undefined : this.#compiled))
  }

  get #compiled(): Forms {
    this.#forms ??= compile(this.#values)
    return this.#forms
  }
}

export class StreamRedactor {
  readonly #forms: () => Forms | undefined
  /** the last character that was passed on, which may make a short secret after it a part of a word */
  #before = ''
  #rest = ''

  constructor(forms: () => Forms | undefined) {
    this.#forms = forms
  }

  push(chunk: string): string {
    const text = this.#before + this.#rest + chunk
    const forms = this.#forms()
    return this.#pass(text, forms ? safeEnd(text, this.#before.length, forms) : text.length, forms)
  }

  end(): string {
    const text = this.#before + this.#rest
    return this.#pass(text, text.length, this.#forms())
  }

  #pass(text: string, end: number, forms: Forms | undefined): string {
    const from = this.#before.length
    this.#rest = text.slice(end)
    this.#before = text.slice(Math.max(0, end - 1), end)
    if (!forms) return text.slice(from, end)
    let passed = ''
    let done = from
    for (const match of matchesFrom(text, from, forms)) {
      if (match.index >= end) break
      passed += text.slice(done, match.index) + REDACTED
      done = match.index + match[0].length
    }
    return passed + text.slice(done, end)
  }
}

/** All forms in which the secrets may appear. */
interface Forms {
  /** matches all forms */
  pattern: RegExp
  /** matches secrets that are also replaced within words */
  long: RegExp
  /** matches short secrets as separate words */
  short: RegExp
  /** matches a short secret anywhere; not global, so that `test` has no state */
  hasShort: RegExp
  /** the beginnings of all forms, which the next character may extend */
  prefixes: Set<string>
  /** the length of the longest secret, plus one */
  longest: number
}

function matchesFrom(text: string, from: number, { pattern }: Forms): Iterable<RegExpExecArray> {
  // `matchAll` starts at the `lastIndex` of the pattern
  pattern.lastIndex = from
  const matches = [...text.matchAll(pattern)]
  pattern.lastIndex = 0
  return matches
}

/** The position up to which no later text can complete a secret. */
function safeEnd(text: string, from: number, forms: Forms): number {
  const { prefixes, longest } = forms
  let end = text.length
  for (let start = Math.max(from, text.length - longest + 1); start < text.length; start++) {
    if (!prefixes.has(text.slice(start))) continue
    end = start
    break
  }
  // Don't cut a match in two.
  for (const match of matchesFrom(text, from, forms)) {
    if (match.index < end && match.index + match[0].length > end) end = match.index
  }
  return end
}

function compile(values: ReadonlySet<string>): Forms {
  const forms = [...new Set([...values].flatMap(encodedForms))].sort((a, b) => b.length - a.length)
  const long = forms.filter(form => form.length >= MIN_LENGTH_IN_WORDS)
  const short = forms.filter(form => form.length < MIN_LENGTH_IN_WORDS)
  // the next character decides whether a short secret is a separate word
  const prefixes = new Set(short)
  for (const form of forms) for (let end = 1; end < form.length; end++) prefixes.add(form.slice(0, end))
  const [inWords, alone] = [anyPattern(long), `(?<!${LETTER})(?:${anyPattern(short)})(?!${LETTER})`]
  return {
    pattern: new RegExp(`${inWords}|${alone}`, 'g'),
    long: new RegExp(inWords, 'g'),
    short: new RegExp(alone, 'g'),
    hasShort: new RegExp(anyPattern(short)),
    prefixes,
    longest: Math.max(long[0]?.length ?? 0, (short[0]?.length ?? 0) + 1),
  }
}

/** A letter or digit next to which a short secret is part of a word. */
const LETTER = '[\\w\u00c0-\u024f]'

function anyPattern(forms: readonly string[]): string {
  return forms.length === 0 ? '[]' : forms.map(form => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')
}

function encodedForms(value: string): string[] {
  const escaped = inJson(value)
  const forms = [value, escaped, inJson(escaped), inAscii(escaped), inAscii(inJson(escaped)), inGo(escaped)]
  for (const encoded of [uri(value), uri(value).replaceAll('%20', '+'), strictUri(value), looseUri(value)]) {
    forms.push(
      encoded,
      encoded.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
    )
  }
  // omit base64 forms of a short secret: they reveal nothing, and also occur in other texts
  return value.length < MIN_LENGTH_IN_WORDS
    ? forms
    : [...forms, ...inBase64(value).filter(form => form.length >= MIN_LENGTH_IN_WORDS)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Escapes everything outside of ASCII, as Python does in JSON. */
function inAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Escapes the characters that Go escapes in JSON. */
function inGo(text: string): string {
  return text.replace(/[<>&]/g, character => `\\u00${character.charCodeAt(0).toString(16)}`)
}

function uri(text: string): string {
  return encodeURIComponent(wellFormed(text))
}

function looseUri(text: string): string {
  return encodeURI(wellFormed(text))
}

/** Replaces lone surrogates, which can't be encoded. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

function strictUri(text: string): string {
  return uri(text).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The three forms that a text can have in base64, depending on its position. Characters that depend on adjacent text are omitted. */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap(offset => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const whole = encoded.slice([0, 2, 3][offset], Math.floor(((offset + bytes.length) * 8) / 6))
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function mapTexts(value: unknown, map: (text: string) => string, mapKey: (key: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(item => mapTexts(item, map, mapKey))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  const entries = Object.entries(value).map(
    ([key, member]) => [mapKey(key), mapTexts(member, map, mapKey)] as const,
  )
  const same = entries.every(([key, member]) => (value as { [key: string]: unknown })[key] === member)
  return same ? value : Object.fromEntries(entries)
}
