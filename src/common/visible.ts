/**
 * Invisible characters that change how a text looks: controls, direction overrides and isolates, zero-width characters,
 * fillers, tags. Line feeds and tabs are not among them.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character is searched for on its own
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

/** Matches a joiner between characters that need it, for example in Persian, Hindi and emoji. */
const JOINER = /(?<=[^\p{ASCII}])[\u200c\u200d](?=[^\p{ASCII}])/u

/** The text with invisible characters spelled out, so that users see exactly the text that they agree to. */
export function visible(text: string): string {
  return text.replace(HIDDEN, spelled)
}

/** Like `visible`, for prose rather than code: joiners that some scripts need stay as they are. */
export function visibleProse(text: string): string {
  return text.replace(HIDDEN, (character, at: number) =>
    JOINER.test(text.slice(Math.max(0, at - 2), at + 3)) ? character : spelled(character),
  )
}

/** Whether the text contains invisible characters that change how it looks. */
export function hasHidden(text: string): boolean {
  return text.search(HIDDEN) >= 0
}

function spelled(character: string): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return `‹U+${code}›`
}

/** The beginning of a text, without half of a surrogate pair at its end. `max`: the length in UTF-16 units. */
export function beginning(text: string, max: number): string {
  return text.slice(0, max).replace(/[\ud800-\udbff]$/, '')
}

/** The beginning of a text, with an ellipsis if there is more. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${beginning(text, max).trimEnd()}…` : text
}

/** The text with `$(name)` changed so that VS Code's lists don't show an icon in its place. */
export function withoutIcons(text: string): string {
  return text.replaceAll('$(', '$ (')
}
