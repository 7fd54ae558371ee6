/** With more places to try than these, the time grows with more than the third power of the text. */
const REPETITIONS = 2
/** A longer text is for whoever can stop. */
const LONGEST_TEXT = 200

/**
 * Whether a regular expression that somebody else wrote is sure to be through with a text at once, for where nothing can
 * stop it: no group is repeated, nothing refers back, and hardly anything is repeated at all. Cautious: others may be
 * harmless, too.
 */
export function isPlainMatch(pattern: string, text: string): boolean {
  if (text.length > LONGEST_TEXT || /\\[1-9k]/.test(pattern)) return false
  const bare = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  if (/\)[*+{]/.test(bare)) return false
  return (bare.match(/[*+]|\{\d+(?:,\d*)?\}/g) ?? []).filter(repeats).length <= REPETITIONS
}

/** `{3}` is one way only. */
function repeats(quantifier: string): boolean {
  return !/^\{\d+\}$/.test(quantifier)
}
