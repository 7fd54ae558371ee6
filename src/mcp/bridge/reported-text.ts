/** Maximum lengths, in characters, of what a window shows: a line of the log or a reason, and a tool's name, title or description. */
export const MAX_LINE = 1000
export const MAX_TOOL_TEXT = 300
/** Additional characters that the window gets, so that a secret isn't cut before it's redacted. */
const MARGIN = 2000

/** The part of a text that the bridge sends. */
export function sentPart(text: string, max: number): string {
  return text.slice(0, max + MARGIN)
}

/** The part of a text that the window shows: without an end at which the bridge may have cut a secret in two. */
export function shownPart(sent: string, max: number, redact: (text: string) => string): string {
  const text = redact(sent)
  const isCut = sent.length >= max + MARGIN
  return text.slice(0, isCut ? Math.max(0, Math.min(max, text.length - MARGIN)) : max)
}
