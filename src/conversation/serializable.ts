import { TOO_DEEP } from '../common/bound-depth.ts'
import { MAX_DEPTH } from '../common/limits.ts'
import type { Entry } from './state.ts'

/**
 * The value as JSON can write it: itself, or a copy without what is nested deeper than {@link MAX_DEPTH}; `undefined`
 * where no copy can be written either. What agents send is bounded as it comes in; what an earlier version stored isn't.
 */
export function serializable<T>(value: T): T | undefined {
  for (const candidate of [() => value, () => boundedCopy(value, MAX_DEPTH) as T]) {
    try {
      const result = candidate()
      JSON.stringify(result)
      return result
    } catch {}
  }
  return undefined
}

/** The same of an entry; one that can't be written at all keeps its place. */
export function serializableEntry(entry: Entry): Entry {
  const { id, turn } = entry
  return serializable(entry) ?? { kind: 'unknown', id, turn, updateKind: 'damaged', raw: '' }
}

function boundedCopy(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return TOO_DEEP
  if (Array.isArray(value)) return value.map(item => boundedCopy(item, levels - 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, boundedCopy(member, levels - 1)]),
  )
}
