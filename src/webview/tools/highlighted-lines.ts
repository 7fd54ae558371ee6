/** A part of a line in one color. */
export interface Token {
  text: string
  /** the highlighter's classes */
  class?: string
  /** whether the other side's line doesn't contain the token */
  changed?: boolean
}

/** Splits highlighted code into lines of tokens. `html` is the output of highlight.js: only text, entities and nested spans. */
export function tokenLines(html: string): Token[][] {
  const lines: Token[][] = [[]]
  const open: string[] = []
  for (const [piece] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (piece === '</span>') open.pop()
    else if (piece.startsWith('<')) open.push(piece.slice(13, -2))
    else {
      const parts = decoded(piece).split('\n')
      for (const [i, text] of parts.entries()) {
        if (i > 0) lines.push([])
        if (text === '') continue
        const name = open.at(-1)
        lines.at(-1)!.push(name === undefined ? { text } : { text, class: name })
      }
    }
  }
  return lines
}

function decoded(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27);/g, entity => entities[entity]!)
}
const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}
