/** Returns the text in a tool's raw output, in any shape that agents use; `undefined` if there is no output. */
export function rawText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const bytes = byteArray(value)
  if (bytes) return new TextDecoder().decode(bytes)
  if (Array.isArray(value)) {
    const parts = value.map(textIn)
    return parts.every(part => part !== undefined) && parts.length > 0 ? parts.join('\n') : pretty(value)
  }
  return textIn(value) ?? pretty(value)
}

/** Returns a value as indented JSON. */
export function pretty(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2) ?? String(value)
  } catch {
    return String(value)
  }
}

/** The members of a tool's raw input that may contain a patch. */
const PATCH_KEYS = ['input', 'patch', 'diff'] as const

/** Returns a tool's raw input as text for the user: a patch as lines, other strings unchanged, the rest as JSON. */
export function rawCode(value: unknown): { text: string; language: string } {
  if (typeof value === 'string') {
    if (isPatch(value)) return { text: value, language: 'diff' }
    if (!/^\s*[[{]/.test(value) || value.length > MAX_PARSED) return { text: value, language: '' }
    try {
      return rawCode(JSON.parse(value) as object)
    } catch {
      return { text: value, language: '' }
    }
  }
  if (typeof value !== 'object' || value === null) return { text: pretty(value), language: 'json' }
  const fields = value as Record<string, unknown>
  const key = PATCH_KEYS.find(one => isPatch(fields[one]))
  if (key === undefined) return { text: pretty(value), language: 'json' }
  const { [key]: patch, ...rest } = fields
  const others = Object.keys(rest).length > 0 ? `${pretty(rest)}\n` : ''
  return { text: `${others}${patch}`, language: 'diff' }
}

/** Longer texts are not parsed. Characters. */
const MAX_PARSED = 1_000_000

function isPatch(value: unknown): boolean {
  return typeof value === 'string' && /^(?:\*\*\* Begin Patch|diff --git |--- \S.*\n\+\+\+ \S)/m.test(value)
}

function byteArray(value: unknown): Uint8Array | undefined {
  if (!Array.isArray(value) || value.length < 8) return undefined
  const bytes = value.every(
    item => typeof item === 'number' && Number.isInteger(item) && item >= 0 && item < 256,
  )
  return bytes ? Uint8Array.from(value as number[]) : undefined
}

const textKeys = ['output', 'stdout', 'text', 'content', 'result', 'message', 'error', 'stderr'] as const

/** Returns the text in an object that contains hardly anything else. */
function textIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const object = value as Record<string, unknown>
  const texts = textKeys.flatMap(key => {
    const text = object[key]
    return typeof text === 'string' && text.trim() !== '' ? [text] : []
  })
  return texts.length > 0 ? texts.join('\n') : undefined
}
