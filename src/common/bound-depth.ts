import { MAX_DEPTH } from './limits.ts'

/** Placeholder for values that are nested too deeply, and for surplus members. */
export const TOO_DEEP = '…'

/**
 * Cuts what is nested deeper than {@link MAX_DEPTH} from a parsed JSON value, in place. All later processing (validation, comparing,
 * structured cloning, `JSON.stringify`) recurses, and a value with thousands of levels would overflow the stack.
 * @param length the length of the JSON text: each level takes two characters, so short messages need no check
 */
export function boundDepth<T>(value: T, length = Number.POSITIVE_INFINITY): T {
  return length < 2 * MAX_DEPTH ? value : (bounded(value, MAX_DEPTH) as T)
}

function bounded(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return TOO_DEEP
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i]
      if (typeof item === 'object' && item !== null) value[i] = bounded(item, levels - 1)
    }
    return value
  }
  const object = value as { [key: string]: unknown }
  for (const key of Object.keys(object)) {
    const member = object[key]
    if (typeof member !== 'object' || member === null) continue
    const cut = bounded(member, levels - 1)
    // `__proto__` is an ordinary member in parsed JSON, but assigning it would set the prototype.
    if (cut !== member) Object.defineProperty(object, key, { value: cut, enumerable: true, writable: true })
  }
  return value
}
