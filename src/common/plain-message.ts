/**
 * A text of somebody else's as it may stand in a message of VS Code's, which makes links of `[words](address)`: those of
 * commands run them. A space between keeps it what it is, text.
 */
export function plainMessage(text: string): string {
  return text.replaceAll('](', '] (')
}
