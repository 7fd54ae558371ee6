import fs from 'node:fs/promises'
import path from 'node:path'
import { fenced, type ToolCallChange } from '../tool-call.ts'
import { mayRun, type Turn } from '../turn.ts'
import { isInsideRoots, locate, readText, shortName, subjectFile, writeText } from '../workspace.ts'

/** Maximum number of lines to read. */
const LINES = 400

export interface ReadResult {
  file: string
  text: string
}

/** `/read [path]`: reads a file and describes it. */
export async function read(turn: Turn, input: string): Promise<void> {
  const file = input ? await locate(turn, input) : await subjectFile(turn, '')
  if (!file) return turn.say("There's no text file in this folder that I can read.")
  const result = await readFile(turn, file)
  if (result) await turn.say(describe(turn, result))
  else await turn.say("That didn't work. The tool call above says why.")
}

/** Reads a file in a tool call, through the client if it supports reading. Returns `undefined` if the file can't be read. */
export async function readFile(turn: Turn, file: string): Promise<ReadResult | undefined> {
  const name = shortName(turn, file)
  const call = await turn.tool({
    title: `Read ${name}`,
    kind: 'read',
    locations: [{ path: file, line: 1 }],
    rawInput: { path: file, limit: LINES },
  })
  await call.run()
  await turn.rest(250)
  if (!isInsideRoots(turn, file)) {
    await call.fail(`${file} is outside the folders of this session.`)
    return undefined
  }
  try {
    const text = await readText(turn, file, LINES)
    turn.session.used += Math.ceil(text.length / 4)
    const excerpt = text.split(/\r?\n/).slice(0, 40).join('\n')
    await call.end('completed', {
      content: [fenced(excerpt, languageOf(file))],
      rawOutput: { lines: text.split('\n').length, characters: text.length },
    })
    return { file, text }
  } catch (error) {
    await turn.fail(call, `${name} couldn't be read`, error)
    return undefined
  }
}

/** Returns sentences about a text, based only on counting. */
export function describe(turn: Turn, { file, text }: ReadResult): string {
  const lines = text.split(/\r?\n/)
  const words = text.match(/\S+/g)?.length ?? 0
  const first = lines.find(line => line.trim() !== '')?.trim()
  const opening = first ? ` It begins with “${first.slice(0, 80).replaceAll('`', "'")}”.` : ''
  const many = lines.length >= LINES ? `at least ${LINES} lines` : `${lines.length} lines`
  const count = lines.length === 1 ? '1 line' : many
  const name = shortName(turn, file)
  const lengths = lines.map(line => line.length)
  const longest = `\`${name}:${lengths.indexOf(Math.max(...lengths)) + 1}\``
  return `\`${name}\` has ${count} and about ${words === 1 ? '1 word' : `${words} words`}. Its longest line is ${longest}.${opening}\n\n`
}

function languageOf(file: string): string {
  return /\.([\p{L}\p{N}]+)$/u.exec(file)?.[1]?.toLowerCase() ?? ''
}

export type EditResult = 'written' | 'rejected' | 'failed'

/** `/edit [path]`: proposes a small change, asks for permission, and writes it. */
export async function edit(turn: Turn, input: string): Promise<void> {
  if (turn.session.settings.mode === 'plan') {
    return turn.say("I'm in *Plan* mode: I'd propose a small edit here, but I don't change anything.")
  }
  const file = input ? await locate(turn, input) : await subjectFile(turn, '')
  await turn.think(
    'A small change is enough: one comment at the end of the file, easy to see and easy to undo.',
  )
  const result = await editFile(turn, file ?? path.join(turn.session.cwd, 'parley-demo.md'))
  await turn.say(afterEdit(result))
}

export function afterEdit(result: EditResult): string {
  if (result === 'written') return "The change is written. Undo it in the editor if you don't want it.\n\n"
  if (result === 'rejected') return 'You rejected the edit, so the file is unchanged.\n\n'
  return "The edit didn't work. The tool call above says why.\n\n"
}

/** Edits a file. If its type has no known comment syntax, writes a new file next to it instead. */
export async function editFile(turn: Turn, wanted: string): Promise<EditResult> {
  const file = proposeEdit(wanted, '') === undefined ? path.join(turn.session.cwd, 'parley-demo.md') : wanted
  const call = await turn.tool({
    title: `Edit ${shortName(turn, file)}`,
    kind: 'edit',
    locations: [{ path: file }],
    rawInput: { path: file },
  })
  try {
    if (!isInsideRoots(turn, file)) {
      await call.fail(`${file} is outside the folders of this session.`)
      return 'failed'
    }
    let change = await proposal(turn, file)
    await turn.rest(400)
    const shown = diffOf(file, change)
    await call.update(shown)
    if (!(await mayRun(turn, call, 'edits', shown))) return 'rejected'
    await call.run()
    // The user may have edited the file meanwhile, so apply the change to the file's current text.
    change = await proposal(turn, file)
    await writeText(turn, file, change.newText)
    await call.end('completed', { ...diffOf(file, change), rawOutput: { written: change.newText.length } })
    return 'written'
  } catch (error) {
    await turn.fail(call, 'The edit failed', error)
    return 'failed'
  }
}

interface Change {
  oldText: string | null
  newText: string
  line: number
}

async function proposal(turn: Turn, file: string): Promise<Change> {
  const exists = await fs.stat(file).then(
    () => true,
    () => false,
  )
  if (!exists) return { oldText: null, newText: NEW_FILE, line: 1 }
  const oldText = await readText(turn, file)
  const newText = proposeEdit(file, oldText) ?? oldText
  return { oldText, newText, line: firstDifference(oldText, newText) }
}

function diffOf(file: string, change: Change): ToolCallChange {
  return {
    content: [{ type: 'diff', path: file, oldText: change.oldText, newText: change.newText }],
    locations: [{ path: file, line: change.line }],
  }
}

/** Returns the 1-based number of the first line that differs. */
function firstDifference(a: string, b: string): number {
  const [before, after] = [a.split('\n'), b.split('\n')]
  const index = after.findIndex((line, position) => line !== before[position])
  return index < 0 ? 1 : index + 1
}

const VISIT_COMMENT = /The demo agent was here: (\d+) visits?/

/** The syntax of a one-line comment by file extension. JSON has no comments. */
const COMMENTS: Array<[RegExp, (comment: string) => string]> = [
  [/\.(md|markdown|html|xml|svg|vue)$/i, comment => `<!-- ${comment} -->`],
  [/\.([cm]?[jt]sx?|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|scss)$/i, comment => `// ${comment}`],
  [/\.(py|rb|sh|ya?ml|toml|r|pl)$/i, comment => `# ${comment}`],
  [/\.css$/i, comment => `/* ${comment} */`],
  [/\.(sql|lua)$/i, comment => `-- ${comment}`],
  [/\.(txt|rst)$/i, comment => comment],
]

/**
 * Returns the text of a file with a small, harmless change: a comment at its end that counts the demo's visits. The rest of the file,
 * including its line endings, is unchanged. Returns `undefined` for a type of file without known comment syntax.
 */
export function proposeEdit(file: string, oldText: string): string | undefined {
  const write = COMMENTS.find(([pattern]) => pattern.test(path.basename(file)))?.[1]
  if (!write) return undefined
  if (VISIT_COMMENT.test(oldText)) {
    return oldText.replace(
      VISIT_COMMENT,
      (_, visits: string) => `The demo agent was here: ${Number(visits) + 1} visits`,
    )
  }
  const lineEnd = oldText.includes('\r\n') ? '\r\n' : '\n'
  const gap = oldText === '' ? '' : oldText.endsWith('\n') ? lineEnd : lineEnd + lineEnd
  return `${oldText}${gap}${write('The demo agent was here: 1 visit')}${lineEnd}`
}

/** The file that the demo agent writes if there is no file to change. */
const NEW_FILE = [
  '# A file of the demo agent',
  '',
  'It was written through your editor after you allowed it. You can delete it at any time.',
  '',
].join('\n')
