/**
 * Every sentence the webviews show goes through {@link t}. English is the key; the host injects the translations as
 * `<script type="application/json" id="l10n">{"English": "translated"}</script>`.
 */
let bundle: Readonly<Record<string, string>> = {}
let locale = 'en'

export function setBundle(translations: Readonly<Record<string, string>>, language: string): void {
  bundle = translations
  locale = language
  formats.clear()
  dateFormats.clear()
}

/** Returns the sentence in the user's language; the arguments replace `{0}`, `{1}`, … */
export function t(message: string, ...args: ReadonlyArray<string | number>): string {
  const text = bundle[message] ?? message
  if (args.length === 0) return text
  return text.replace(/\{(\d+)\}/g, (whole, index) => {
    const value = args[Number(index)]
    return value === undefined ? whole : String(value)
  })
}

/** Returns the singular or the plural sentence; both contain the number as `{0}`. */
export function plural(count: number, one: string, many: string): string {
  return t(count === 1 ? one : many, formatNumber(count))
}

/** Returns the language for `Intl`, as a BCP 47 tag. */
export function language(): string {
  return locale
}

export function formatNumber(value: number): string {
  return numberFormat(0).format(value)
}

/** Returns a number as a short text, for small places: `3.2K`. */
export function formatCompact(value: number): string {
  return new Intl.NumberFormat(locale, { notation: 'compact' }).format(value)
}

/** Returns a number of bytes as text: `812 B`, `1.4 KB`, `23 MB`. */
export function formatSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'] as const
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  const decimals = unit > 0 && value < 9.95 ? 1 : 0
  return `${numberFormat(decimals).format(value)} ${units[unit]}`
}

/** Returns a duration as a short text: `0.4 s`, `12 s`, `3 min 5 s`, `1 h 2 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000
  if (seconds < 9.95) return t('{0} s', numberFormat(1).format(seconds))
  return formatSeconds(Math.round(seconds))
}

/** Like {@link formatDuration}, in whole seconds, for a duration that is updated every second. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 60) return t('{0} s', whole)
  if (whole < 3600) return t('{0} min {1} s', Math.floor(whole / 60), whole % 60)
  return t('{0} h {1} min', Math.floor(whole / 3600), Math.floor((whole % 3600) / 60))
}

const formats = new Map<number, Intl.NumberFormat>()

/** Returns a cached number format, since creating a format costs a thousand times more than using it. */
function numberFormat(decimals: number): Intl.NumberFormat {
  let format = formats.get(decimals)
  if (!format) {
    format = new Intl.NumberFormat(locale, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    })
    formats.set(decimals, format)
  }
  return format
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()

export function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options)
  let format = dateFormats.get(key)
  if (!format) {
    format = new Intl.DateTimeFormat(locale, options)
    dateFormats.set(key, format)
  }
  return format
}
