import { fenced } from '../tool-call.ts'
import type { Turn } from '../turn.ts'
import { isInsideRoots, locate, readText, shortName, subjectFile } from '../workspace.ts'

/** Lines that one read asks for. */
const LINES = 400

export interface ReadResult {
  file: string
  text: string
}

/** `/read [path]`: reads a file and says what it saw. */
export async function read(turn: Turn, input: string): Promise<void> {
  const file = input ? await locate(turn, input) : await subjectFile(turn, '')
  if (!file) return turn.say('There is no text file in this folder that I could read.')
  const result = await readFile(turn, file)
  if (result) await turn.say(describe(turn, result))
  else await turn.say('That did not work; the tool call above says why.')
}

/** Reads as a tool call, through the client when it offers its files. `undefined` when the file cannot be read. */
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
    await call.complete({
      content: [fenced(excerpt, languageOf(file))],
      rawOutput: { lines: text.split('\n').length, characters: text.length },
    })
    return { file, text }
  } catch (error) {
    turn.rethrowCancelled(error)
    await call.fail(`${name} could not be read: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

/** One honest sentence about a text: counted, not understood. */
export function describe(turn: Turn, { file, text }: ReadResult): string {
  const lines = text.split(/\r?\n/)
  const words = text.match(/\S+/g)?.length ?? 0
  const first = lines.find(line => line.trim() !== '')?.trim()
  const opening = first ? ` It begins with “${first.slice(0, 80).replaceAll('`', "'")}”.` : ''
  const count = lines.length >= LINES ? `at least ${LINES}` : String(lines.length)
  return `\`${shortName(turn, file)}\` has ${count} lines and about ${words} words.${opening}\n\n`
}

function languageOf(file: string): string {
  return /\.([\p{L}\p{N}]+)$/u.exec(file)?.[1]?.toLowerCase() ?? ''
}
