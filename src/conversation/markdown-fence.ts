/** A text as a block of code: its fence is longer than any in the text. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language.replace(/[^\w+#.-]/g, '')}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** A text on one line, in which nothing is markup. */
export function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>#|~!]/g, '\\$&')
}

/** A text on one line, in HTML. */
function escapedHtml(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}

/**
 * Markdown that somebody wrote, as a part of a longer text: a block of code that it leaves open is closed, and outside of
 * code it neither opens nor closes a fold.
 */
export function contained(markdown: string): string {
  let open: string | undefined
  const lines = markdown.split('\n').map(line => {
    const [, mark, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (open !== undefined) {
      if (mark && mark[0] === open[0] && mark.length >= open.length && rest.trim() === '') open = undefined
      return line
    }
    if (mark && !(mark[0] === '`' && rest.includes('`'))) {
      open = mark
      return line
    }
    return line.replace(/<(?=\/?(?:details|summary)\b)/gi, '&lt;').replace(/<!--/g, '&lt;!--')
  })
  if (open !== undefined) lines.push(open)
  return lines.join('\n')
}

/** A part that is folded until somebody opens it. */
export function folded(summary: string, parts: readonly string[]): string {
  return [`<details>\n<summary>${escapedHtml(summary)}</summary>`, ...parts, '</details>'].join('\n\n')
}
