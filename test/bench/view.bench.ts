/**
 * Whether each step of the view's work on very long content stays below a limit of CPU time: a code block of 1 MB,
 * 100,000 chunks, a million backticks, a diff of 100,000 lines, a terminal with 10,000 colored lines. Prints the
 * longest step of each and its share of the whole work, and fails above the limit.
 *
 *   npm run bench -- view
 */

import { BlockStream } from '../../src/webview/markdown/blocks.ts'
import { diffOf } from '../../src/webview/tools/diff.ts'
import { unifiedRows } from '../../src/webview/tools/diff-rows.ts'
import { TerminalScreen } from '../../src/webview/tools/terminal-screen.ts'

/** Milliseconds of CPU time. */
const LIMIT = 50
/** Milliseconds after which the work yields, as in the view. */
const SLICE = 12
const ROUNDS = 3
const MB = 1_000_000

const codeLine = 'const answer = compute(42, "text") // and a comment\n'
const code = codeLine.repeat(MB / codeLine.length)
const prose = `${'Some prose with **bold** words in it. '.repeat(9)}\n\n`

const texts: Record<string, string> = {
  'a code block of 1 MB': `\`\`\`ts\n${code}\`\`\`\n`,
  'a list item with a fence of 1 MB': `- item\n\n  \`\`\`ts\n${code.replace(/^/gm, '  ')}  \`\`\`\n`,
  'a fold of 1 MB': `<details>\n<summary>x</summary>\n\n${prose.repeat(MB / prose.length)}</details>\n`,
  'a fold with a fence of 1 MB': `<details>\n<summary>x</summary>\n\n\`\`\`ts\n${code}\`\`\`\n\n</details>\n`,
  'a million backticks': '`'.repeat(MB),
  'a million backticks in spaces': '` '.repeat(MB / 2),
  'a paragraph of 1 MB in one line': 'word '.repeat(MB / 5),
  'a list of 1 MB': '- item of a list\n'.repeat(MB / 17),
  'a table of 1 MB': `| a | b |\n|---|---|\n${'| cell | other |\n'.repeat(MB / 17)}`,
}

/** Runs the steps one after the other, yielding after each. */
type Work = () => Generator<void>

/** @param piece characters per chunk */
function parsing(text: string, piece: number): Work {
  return function* () {
    const stream = new BlockStream()
    for (let at = 0; at < text.length; at += piece) {
      stream.append(text.slice(at, at + piece))
      for (let pending = true; pending; ) {
        ;({ pending } = stream.flush(SLICE))
        yield
      }
    }
  }
}

const before = Array.from({ length: 100_000 }, (_, i) => `line ${i} of the file`)
const after = before.map((line, i) => (i % 1000 === 7 ? `${line}, changed` : line))

const works: Record<string, Work> = {
  ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, parsing(text, text.length)])),
  'a code block of 1 MB in pieces': parsing(texts['a code block of 1 MB']!, 4000),
  'a list item with a fence of 1 MB in pieces': parsing(texts['a list item with a fence of 1 MB']!, 4000),
  '100,000 chunks at once': parsing(prose.repeat(2_400_000 / prose.length), 2_400_000),
  'a new file of 100,000 lines': function* () {
    const diff = diffOf({ operation: 'add', path: '/a', newText: before.join('\n') })
    yield
    unifiedRows(diff!, new Set())
    yield
  },
  'a diff of 100,000 lines with 100 changes': function* () {
    const diff = diffOf({
      operation: 'modify',
      path: '/a',
      oldText: before.join('\n'),
      newText: after.join('\n'),
    })
    yield
    unifiedRows(diff!, new Set())
    yield
  },
  'an output of 5 MB in lines': function* () {
    output.split('\n')
    yield
  },
}
const output = 'a line of the output of a tool\n'.repeat((5 * MB) / 31)

let failed = false
function report(name: string, steps: number[]): void {
  const longest = Math.max(...steps)
  const all = steps.reduce((sum, step) => sum + step, 0)
  failed ||= longest > LIMIT
  const share = ((longest / all) * 100).toFixed(0)
  console.log(
    `${name}: longest step ${longest.toFixed(1)} ms of ${all.toFixed(0)} ms in ${steps.length} steps (${share} %)${longest > LIMIT ? ` — more than ${LIMIT} ms` : ''}`,
  )
}

function milliseconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The round whose longest step is the shortest, since other processes only add to it. */
function best(rounds: number[][]): number[] {
  return rounds.toSorted((one, other) => Math.max(...one) - Math.max(...other))[0] ?? []
}

for (const [name, work] of Object.entries(works)) {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const steps: number[] = []
    let begun = milliseconds()
    for (const _ of work()) {
      steps.push(milliseconds() - begun)
      begun = milliseconds()
    }
    return steps
  })
  report(name, best(rounds))
}

// the emulator works in slices, between which a timer measures the longest one
const colored = Array.from(
  { length: 10_000 },
  (_, i) =>
    `\u001b[3${i % 8}mline ${i}\u001b[0m of \u001b[1;38;5;${i % 255}mthe output\u001b[22m with words\r\n`,
).join('')
const terminalRounds: number[][] = []
for (let round = 0; round < ROUNDS; round++) {
  const steps: number[] = []
  let begun = milliseconds()
  const timer = setInterval(() => {
    steps.push(milliseconds() - begun)
    begun = milliseconds()
  })
  const screen = new TerminalScreen()
  await screen.append(colored)
  clearInterval(timer)
  steps.push(milliseconds() - begun)
  begun = milliseconds()
  for (const line of screen.lines.slice(-60)) screen.spans(line)
  steps.push(milliseconds() - begun)
  terminalRounds.push(steps)
}
report('a terminal of 10,000 colored lines', best(terminalRounds))

if (failed) {
  console.error(`A step took more than ${LIMIT} ms.`)
  process.exitCode = 1
}
