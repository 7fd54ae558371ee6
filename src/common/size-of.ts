/** Twice the number of characters and members of a JSON value, which is about its size in memory in bytes. Counts no further than `max`. */
export function sizeOf(value: unknown, max: number): number {
  let size = 0
  const open = [value]
  while (open.length > 0 && size <= max) {
    const next = open.pop()
    size += 32
    if (typeof next === 'string') size += 2 * next.length
    else if (Array.isArray(next)) for (const item of next) open.push(item)
    else if (typeof next === 'object' && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        size += 2 * key.length
        open.push(member)
      }
    }
  }
  return size
}
