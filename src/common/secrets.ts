/** The placeholder for a secret. */
export const REDACTED = '•••'

/** Shorter values occur in too many ordinary words to be replaced. */
const MIN_SECRET_LENGTH = 6

/**
 * The secrets that Parley itself knows: inputs of MCP servers, sign-in values, headers of providers. Code that resolves
 * one adds it here; code that writes a log, a card or a saved conversation redacts its text here.
 */
export class SecretRegistry {
  readonly #values = new Set<string>()
  #forms: Forms | undefined

  /**
   * Values shorter than six characters aren't replaced. Secrets are never removed, because earlier output may be logged
   * later.
   */
  add(value: string | undefined): void {
    if (value === undefined) return
    // `Bearer abc…`: the agent may print the token alone
    for (const part of [value, ...value.split(/\s+/)]) {
      const secret = part.trim()
      if (secret.length < MIN_SECRET_LENGTH || this.#values.has(secret)) continue
      this.#values.add(secret)
      this.#forms = undefined
    }
  }

  /** The text with every secret replaced, also if it's escaped for JSON or a URL, or encoded in base64. */
  redact(text: string): string {
    if (this.#values.size === 0) return text
    return text.replace(this.#compiled.pattern, REDACTED)
  }

  /** A copy of a JSON value with all strings redacted; parts without a secret are shared. */
  redactAll<T>(value: T): T {
    return this.#values.size === 0 ? value : (mapTexts(value, text => this.redact(text)) as T)
  }

  /** Whether a secret starts in the first text and ends in the second, which follows it. */
  crosses(before: () => string, text: string): boolean {
    if (this.#values.size === 0) return false
    const { longest } = this.#compiled
    const [end, start] = [before().slice(1 - longest), text.slice(0, longest - 1)]
    return this.redact(end + start) !== this.redact(end) + this.redact(start)
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
  #rest = ''

  constructor(forms: () => Forms | undefined) {
    this.#forms = forms
  }

  push(chunk: string): string {
    const text = this.#rest + chunk
    const forms = this.#forms()
    const end = forms ? safeEnd(text, forms) : text.length
    this.#rest = text.slice(end)
    return replaced(text.slice(0, end), forms)
  }

  end(): string {
    const text = replaced(this.#rest, this.#forms())
    this.#rest = ''
    return text
  }
}

/** All forms in which the secrets may appear. */
interface Forms {
  pattern: RegExp
  /** the proper prefixes of all forms */
  prefixes: Set<string>
  longest: number
}

function replaced(text: string, forms: Forms | undefined): string {
  return forms ? text.replace(forms.pattern, REDACTED) : text
}

/** The position up to which no later text can complete a secret. */
function safeEnd(text: string, { pattern, prefixes, longest }: Forms): number {
  let end = text.length
  for (let start = Math.max(0, text.length - longest + 1); start < text.length; start++) {
    if (!prefixes.has(text.slice(start))) continue
    end = start
    break
  }
  // A match must not be cut in two.
  for (const match of text.matchAll(pattern)) {
    if (match.index < end && match.index + match[0].length > end) end = match.index
  }
  return end
}

function compile(values: ReadonlySet<string>): Forms {
  const forms = [...new Set([...values].flatMap(formsOf))].sort((a, b) => b.length - a.length)
  const prefixes = new Set<string>()
  for (const form of forms) for (let end = 1; end < form.length; end++) prefixes.add(form.slice(0, end))
  const pattern = new RegExp(forms.map(form => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'), 'g')
  return { pattern, prefixes, longest: forms[0]?.length ?? 0 }
}

function formsOf(value: string): string[] {
  const escaped = inJson(value)
  const forms = [value, escaped, inJson(escaped), inAscii(escaped), inAscii(inJson(escaped)), inGo(escaped)]
  for (const encoded of [uri(value), uri(value).replaceAll('%20', '+'), strictUri(value), looseUri(value)]) {
    forms.push(
      encoded,
      encoded.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
    )
  }
  return [...forms, ...inBase64(value)].filter(form => form.length >= MIN_SECRET_LENGTH)
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** As Python writes JSON. */
function inAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** As Go writes JSON. */
function inGo(text: string): string {
  return text.replace(/[<>&]/g, character => `\\u00${character.charCodeAt(0).toString(16)}`)
}

function uri(text: string): string {
  return encodeURIComponent(wellFormed(text))
}

function looseUri(text: string): string {
  return encodeURI(wellFormed(text))
}

/** A lone surrogate can't be encoded. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

function strictUri(text: string): string {
  return uri(text).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** In base64, a text has three forms, depending on its position; the characters that depend on its neighbors are omitted. */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap(offset => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const whole = encoded.slice([0, 2, 3][offset], Math.floor(((offset + bytes.length) * 8) / 6))
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(item => mapTexts(item, map))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  const entries = Object.entries(value).map(([key, member]) => [map(key), mapTexts(member, map)] as const)
  const same = entries.every(([key, member]) => (value as { [key: string]: unknown })[key] === member)
  return same ? value : Object.fromEntries(entries)
}
