/** Characters that change how a text looks without being seen: direction overrides, controls, zero widths. */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** The text with those characters spelled out, so that what a person agrees to is what they see. */
export function visible(text: string): string {
  return text.replace(hidden, character => {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    return `‹U+${code}›`
  })
}
