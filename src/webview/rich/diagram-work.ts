/**
 * How much work a diagram is to draw, told from its text. Drawing cannot be stopped once it has begun, and the page
 * stands still meanwhile: in a busy browser about 5 ms for each unit, measured over the kinds that there are.
 */

/** More work than this is done only when the person asks for it: it may take more than a second. */
export const MOST_WORK = 160
/** Text that is longer is not looked at. UTF-16 units. */
const LONGEST = 20_000

/** Kinds whose parts are given a place by how they are linked: every link is work, and every part. */
const linked = /^(?:graph|flowchart|class|state|er|requirement|block|architecture|c4|swimlane|usecase)/i
/** Kinds that try out where parts may stand. */
const tried = /^(?:mindmap|ishikawa|venn)/i

export function diagramWork(source: string): number {
  if (source.length > LONGEST) return Number.POSITIVE_INFINITY
  const statements = source
    .replace(/^\s*---\n[\s\S]*?\n---\n/, '')
    .split(/[\n;]/)
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('%%'))
  const [kind = ''] = statements
  if (tried.test(kind)) return statements.length * 1.5
  if (!linked.test(kind)) return statements.length / 2
  return statements.reduce((sum, statement) => sum + linksIn(statement), statements.length / 2)
}

/** `a & b --> c & d` are four. */
function linksIn(statement: string): number {
  const ends = statement.split(/[-=~.]{2,}/).map(part => part.split('&').length)
  let links = 0
  for (let i = 1; i < ends.length; i++) links += ends[i - 1]! * ends[i]!
  return links
}
