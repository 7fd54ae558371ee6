// An agent that responds to `initialize` and `session/new`, and to a prompt with as many updates as its first argument
// says, in the protocol version of its second argument.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const count = Number(process.argv[2])
const version = Number(process.argv[3] ?? 1)
const SESSION = 'session-1'

const send = message => writeAll(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`))

function writeAll(buffer) {
  for (let start = 0; start < buffer.length; ) {
    try {
      start += writeSync(1, buffer, start)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

/** Eight of ten updates are text of 24 characters, the others thoughts or updates of tool calls. */
function update(i) {
  const messageId = version === 2 ? { messageId: `message-${Math.floor(i / 100)}-${i % 10 === 3}` } : {}
  switch (i % 10) {
    case 3:
      return {
        sessionUpdate: 'agent_thought_chunk',
        ...messageId,
        content: { type: 'text', text: `thinking about step ${i % 1000}` },
      }
    case 7:
      return {
        sessionUpdate: 'tool_call_update',
        toolCallId: `call-${Math.floor(i / 100)}`,
        status: i % 100 === 97 ? 'completed' : 'in_progress',
        content: [{ type: 'content', content: { type: 'text', text: `line ${i} of the output` } }],
        locations: [{ path: `/workspace/src/file-${i % 50}.ts`, line: (i % 300) + 1 }],
      }
    default:
      return {
        sessionUpdate: 'agent_message_chunk',
        ...messageId,
        content: { type: 'text', text: 'twenty-four characters, ' },
      }
  }
}

/** All updates in chunks of about 60 kB, created in advance: the agent must be faster than its reader. */
function makePieces() {
  const pieces = []
  let lines = ''
  for (let i = 0; i < count; i++) {
    const params = { sessionId: SESSION, update: update(i) }
    lines += `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`
    if (lines.length > 60_000 || i === count - 1) {
      pieces.push(Buffer.from(lines))
      lines = ''
    }
  }
  return pieces
}

const INFO = { name: 'flood', version: '1.0.0' }
const INITIALIZED = {
  1: { protocolVersion: 1, agentCapabilities: {}, agentInfo: INFO },
  2: { protocolVersion: 2, capabilities: { session: {} }, info: INFO },
}

const pieces = makePieces()

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: INITIALIZED[version] })
  else if (method === 'session/new') send({ id, result: { sessionId: SESSION } })
  else if (method === 'session/prompt') {
    for (const piece of pieces) writeAll(piece)
    send({ id, result: version === 2 ? { messageId: 'prompt' } : { stopReason: 'end_turn' } })
  }
})
