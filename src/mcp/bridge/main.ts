/**
 * The bridge's program, a separate file: an agent starts it like any MCP server with a command. Its environment names the server to connect
 * to; see `bridgedServer`.
 */
import { deserializeMessage, type JSONRPCMessage, serializeMessage } from '@modelcontextprotocol/client'
import { Bridge } from './bridge.ts'
import { BRIDGE_VARIABLE, parseSettings } from './bridged-server.ts'
import { LineReader } from './line-reader.ts'
import { remoteTransport } from './remote-transport.ts'
import { WindowLink } from './window-link.ts'
import { WindowToken } from './window-token.ts'

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

const settings = parseSettings(process.env[BRIDGE_VARIABLE])
if (!settings) {
  process.stderr.write(`Parley starts this program with the variable ${BRIDGE_VARIABLE}.\n`)
  process.exit(2)
}
const { server, tokens, window } = settings
const auth = tokens && new WindowToken(tokens)
const write = (message: JSONRPCMessage) => process.stdout.write(serializeMessage(message))
const link = window && new WindowLink(window, () => void bridge.restart())
const bridge = new Bridge({
  name: server.name,
  connect: () => remoteTransport(server, auth && { auth }),
  write,
  report: line => {
    process.stderr.write(`${line}\n`)
    link?.log(line)
  },
  onLog: line => link?.log(line),
  onState: (state, reason) => link?.state(state, reason),
  onTools: (tools, isMore) => link?.tools(tools, isMore),
})
const reader = new LineReader(line => {
  for (const message of messagesIn(line)) bridge.receive(message)
})
process.stdin.on('data', (chunk: Buffer) => reader.push(chunk))
// the bridge ends with the agent, however the agent ends
let isEnding = false
const end = () => {
  if (isEnding) return
  isEnding = true
  void bridge.close().finally(() => process.exit())
}
process.stdin.on('end', end)
process.stdin.on('error', end)
process.stdout.on('error', end)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)

/** The messages in a line: one message, or several in a batch of older revisions. */
function messagesIn(line: string): JSONRPCMessage[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return refuse(PARSE_ERROR, "The message isn't JSON.")
  }
  const messages = (Array.isArray(value) ? value : [value]).map(one => {
    try {
      return deserializeMessage(JSON.stringify(one))
    } catch {
      return undefined
    }
  })
  if (messages.includes(undefined)) return refuse(INVALID_REQUEST, "The message isn't one of JSON-RPC.")
  return messages.filter(message => message !== undefined)
}

function refuse(code: number, message: string): [] {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`)
  return []
}
