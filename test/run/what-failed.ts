/** The most that is told of one part, in characters. */
const most = 3000

/**
 * The part of an output that tells which tests failed and why: Mocha's list of failures, else the blocks that begin with
 * a cross, else the end.
 */
export function whatFailed(output: string): string {
  const list = /^ +\d+ failing$[\s\S]*/m.exec(output)?.[0].trimEnd()
  return shorten(list ?? (crosses(output).join('\n') || output.slice(-most).trimEnd()))
}

/** Each line with a cross, with the lines below it that are further in. */
function crosses(output: string): string[] {
  const lines = output.split('\n')
  return lines.flatMap((line, index) => {
    const indent = /^( *)✖ /.exec(line)?.[1]
    if (indent === undefined) return []
    const rest = lines.slice(index + 1)
    const end = rest.findIndex(below => below.trim() !== '' && !below.startsWith(`${indent} `))
    return [[line, ...rest.slice(0, end === -1 ? undefined : end)].join('\n').trimEnd()]
  })
}

function shorten(text: string): string {
  return text.length <= most ? text : `${text.slice(0, most)}\n…`
}
