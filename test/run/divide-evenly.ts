/**
 * Divides `things` into `count` shares of about the same weight: assigns each, heaviest first, to the lightest share.
 * Keeps the order within a share. No share is empty if there are enough things.
 */
export function divideEvenly<T>(things: readonly T[], count: number, weight: (thing: T) => number): T[][] {
  const dealt = Array.from({ length: count }, () => ({ weight: 0, things: new Set<T>() }))
  for (const thing of things.toSorted((a, b) => weight(b) - weight(a))) {
    const lightest = dealt.reduce((least, one) => (one.weight < least.weight ? one : least))
    lightest.things.add(thing)
    lightest.weight += weight(thing)
  }
  return dealt.map(share => things.filter(thing => share.things.has(thing)))
}
