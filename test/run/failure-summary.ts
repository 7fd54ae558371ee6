/** The maximum length of a quoted part, in characters. */
const most = 3000

/**
 * The part of an output that shows which tests failed and why: Mocha's list of failures, else the lines that start
 * with a cross, else the end of the output.
 */
export function failureSummary(output: string): string {
  const list = /^ +\d+ failing$[\s\S]*/m.exec(output)?.[0].trimEnd()
  return shorten(list ?? (blocks(output, '✖').join('\n') || output.slice(-most).trimEnd()))
}

/** The tests that passed only on the retry, each with its first failure. */
export function testsPassedOnRetry(output: string): string[] {
  return blocks(output, '↻').map(shorten)
}

/** Each line that starts with the mark, with the following lines that are indented further. */
function blocks(output: string, mark: string): string[] {
  const lines = output.split('\n')
  return lines.flatMap((line, index) => {
    const indent = line.slice(0, line.indexOf(mark))
    if (!line.includes(`${mark} `) || indent.trim() !== '') return []
    const rest = lines.slice(index + 1)
    const end = rest.findIndex(below => below.trim() !== '' && !below.startsWith(`${indent} `))
    return [[line, ...rest.slice(0, end === -1 ? undefined : end)].join('\n').trimEnd()]
  })
}

function shorten(text: string): string {
  return text.length <= most ? text : `${text.slice(0, most)}\n…`
}
