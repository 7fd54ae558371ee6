/** So many of the last letters of a long name stay when there is no room for all of it: they tell files apart. */
const kept = 14

/**
 * Where a name is cut in two, so that its middle gives way where it is too long: its length when it is short, or when it
 * may be written from right to left, which cannot be cut in two.
 */
export function cutOf(name: string): number {
  return name.length > 2 * kept && /^[\x20-\x7e]+$/.test(name) ? name.length - kept : name.length
}
