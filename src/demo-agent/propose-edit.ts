import path from 'node:path'

const MARK = /The demo agent was here: (\d+) visits?/

/** How a one-line comment is written, by the file's extension. JSON has none. */
const COMMENTS: Array<[RegExp, (comment: string) => string]> = [
  [/\.(md|markdown|html|xml|svg|vue)$/i, comment => `<!-- ${comment} -->`],
  [/\.([cm]?[jt]sx?|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|scss)$/i, comment => `// ${comment}`],
  [/\.(py|rb|sh|ya?ml|toml|r|pl)$/i, comment => `# ${comment}`],
  [/\.css$/i, comment => `/* ${comment} */`],
  [/\.(sql|lua)$/i, comment => `-- ${comment}`],
  [/\.(txt|rst)$/i, comment => comment],
]

/**
 * A small, harmless change to a file: a comment at its end that counts the demo's visits. The rest of the file, its
 * line endings included, stays as it is. `undefined` for a kind of file in which the demo knows no comment.
 */
export function proposeEdit(file: string, oldText: string): string | undefined {
  const write = COMMENTS.find(([pattern]) => pattern.test(path.basename(file)))?.[1]
  if (!write) return undefined
  if (MARK.test(oldText)) {
    return oldText.replace(
      MARK,
      (_, visits: string) => `The demo agent was here: ${Number(visits) + 1} visits`,
    )
  }
  const lineEnd = oldText.includes('\r\n') ? '\r\n' : '\n'
  const gap = oldText === '' ? '' : oldText.endsWith('\n') ? lineEnd : lineEnd + lineEnd
  return `${oldText}${gap}${write('The demo agent was here: 1 visit')}${lineEnd}`
}

/** What the demo writes where there is nothing yet that it could change. */
export const NEW_FILE = [
  '# A file of the demo agent',
  '',
  'It was written through your editor, after you allowed it. Delete it whenever you like.',
  '',
].join('\n')
