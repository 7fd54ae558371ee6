// An agent that repeats the messages of a recorded agent: node replay-agent.mjs transcript.ndjson
// It sends a recorded frame as soon as it has received everything that the client had sent before that frame.
import fs from 'node:fs'

const recorded = fs
  .readFileSync(process.argv[2], 'utf8')
  .split('\n')
  .filter(line => line !== '')
  .map(line => JSON.parse(line))

/** The positions of the recorded client messages that haven't arrived yet. */
const expected = new Set(recorded.flatMap(({ dir }, at) => (dir === 'send' ? [at] : [])))
/** The ids of this client's requests, by the recorded ids. */
const ids = new Map()
let next = 0

function proceed() {
  for (; next < recorded.length; next++) {
    const { dir, msg } = recorded[next]
    if (dir === 'send') {
      if (expected.has(next)) return
      continue
    }
    const isAnswer = msg.method === undefined && ids.has(JSON.stringify(msg.id))
    process.stdout.write(
      `${JSON.stringify(isAnswer ? { ...msg, id: ids.get(JSON.stringify(msg.id)) } : msg)}\n`,
    )
  }
}

/** The first recorded frame that matches this one. */
function positionOf(message) {
  for (const at of expected) {
    const { msg } = recorded[at]
    if (message.method === undefined) {
      if (msg.method === undefined && JSON.stringify(msg.id) === JSON.stringify(message.id)) return at
    } else if (msg.method === message.method && msg.params?.sessionId === message.params?.sessionId) return at
  }
  return undefined
}

let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', data => {
  const lines = (rest + data).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    if (line === '') continue
    const message = JSON.parse(line)
    const at = positionOf(message)
    if (at === undefined) {
      process.stderr.write(`not in the recording: ${line.slice(0, 300)}\n`)
      if (message.method !== undefined && message.id !== undefined) {
        const error = { code: -32601, message: 'Not in the recording' }
        process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, error })}\n`)
      }
      continue
    }
    expected.delete(at)
    if (message.method !== undefined && message.id !== undefined) {
      ids.set(JSON.stringify(recorded[at].msg.id), message.id)
    }
  }
  proceed()
})
process.stdin.on('end', () => process.exit(0))
