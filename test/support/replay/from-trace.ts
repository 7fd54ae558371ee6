// Creates a transcript in test/fixtures/transcripts/ from a trace of `npm run test:agents`:
//   npx tsx test/support/replay/from-trace.ts out/agents/grok-edit.ndjson test/fixtures/transcripts/grok-edit.ndjson
import fs from 'node:fs'
import path from 'node:path'
import type { TraceFrame } from '../../../src/acp/agent.ts'
import type { Message, Recorded } from './transcript.ts'

const [from, to] = process.argv.slice(2)
if (!from || !to) throw new Error('from-trace.ts FROM TO')

const own = read(from)
// A scenario with its own process has a complete trace. Others use a process that was started in another trace.
const begun = own.findLastIndex(({ msg }) => msg.method === 'initialize')
const frames = begun >= 0 ? own.slice(begun) : [...read(beginningOf(from)), ...own]
fs.writeFileSync(to, frames.map(frame => `${JSON.stringify(frame)}\n`).join(''))

/** The trace in which the process was started: `<agent>-initialize.ndjson`. */
function beginningOf(file: string): string {
  const parts = path.basename(file, '.ndjson').split('-')
  for (let length = parts.length - 1; length > 0; length--) {
    const name = [...parts.slice(0, length), 'initialize'].join('-')
    const found = path.join(path.dirname(file), `${name}.ndjson`)
    if (fs.existsSync(found)) return found
  }
  throw new Error(`Nothing tells how the process of ${file} began.`)
}

function read(file: string): Recorded[] {
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const { direction, message }: TraceFrame = JSON.parse(line)
      return { dir: direction === 'send' ? 'send' : 'recv', msg: message as Message }
    })
}
