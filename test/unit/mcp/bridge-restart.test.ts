import assert from 'node:assert/strict'
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  SseError,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { deferred } from '../../../src/common/async.ts'
import { Bridge } from '../../../src/mcp/bridge/bridge.ts'
import { until } from '../../support/until.ts'

/** A connection whose server does what a test wants. */
class FakeTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** What opening it waits for. */
  opened: Promise<void> = Promise.resolve()
  /** What sending waits for. */
  taken: Promise<void> = Promise.resolve()
  answers = true
  isClosed = false
  readonly sent: JSONRPCMessage[] = []
  readonly options: Array<TransportSendOptions | undefined> = []

  start(): Promise<void> {
    return this.opened
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.sent.push(message)
    this.options.push(options)
    await this.taken
    if (this.answers && 'method' in message && 'id' in message) this.answer(message)
  }

  answer({ id, method }: JSONRPCRequest): void {
    const result = method === 'initialize' ? { protocolVersion: '2025-06-18', capabilities: {} } : {}
    this.onmessage?.({ jsonrpc: '2.0', id, result })
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  get methods(): string[] {
    return this.sent.flatMap(message => ('method' in message ? [message.method] : []))
  }
}

describe('the restart of a bridge', () => {
  const never = new Promise<void>(() => {})
  let transports: FakeTransport[]
  let prepare: Array<(transport: FakeTransport) => void>
  let written: JSONRPCMessage[]
  let states: string[]
  let bridge: Bridge

  beforeEach(() => {
    ;[transports, prepare, written, states] = [[], [], [], []]
    bridge = new Bridge({
      name: 'probe',
      connect() {
        const transport = new FakeTransport()
        prepare.shift()?.(transport)
        transports.push(transport)
        return transport
      },
      write: message => written.push(message),
      report: () => {},
      onState: state => states.push(state),
    })
  })

  const request = (id: number, method: string): JSONRPCRequest => ({ jsonrpc: '2.0', id, method })
  const initialize = () => bridge.receive(request(1, 'initialize'))
  /** Which requests the agent has got answers to, and whether these are results. */
  const answers = () =>
    written.flatMap(message =>
      'id' in message && !('method' in message) ? [[message.id, 'result' in message]] : [],
    )
  const answered = (count: number) => until(() => answers().length === count, `${count} answers`)
  const connect = async () => {
    initialize()
    await answered(1)
  }

  it('ends the wait for a server that does not open the connection', async () => {
    prepare = [transport => (transport.opened = never)]
    initialize()
    await until(() => transports.length === 1)
    await bridge.restart()
    await answered(1)
    assert.deepEqual(answers(), [[1, true]])
    assert.ok(transports[0]!.isClosed)
  })

  it('ends the wait for a server that takes the repeated initialize and never answers it', async () => {
    await connect()
    prepare = [transport => (transport.answers = false)]
    void bridge.restart()
    await until(() => transports[1]?.sent.length === 1)
    await bridge.restart()
    assert.deepEqual(transports[2]?.methods, ['initialize', 'notifications/initialized'])
    assert.ok(transports[1]!.isClosed)
    assert.deepEqual(states, ['connected', 'connecting', 'connected'])
  })

  it('connects again by itself when the stream drops while it repeats initialize', async () => {
    await connect()
    prepare = [transport => (transport.answers = false)]
    const restarting = bridge.restart()
    await until(() => transports[1]?.sent.length === 1)
    transports[1]!.onerror?.(new SseError(undefined, 'terminated', {} as never))
    await restarting
    assert.equal(states.at(-1), 'failed')
    bridge.receive(request(2, 'ping'))
    await answered(2)
    assert.deepEqual(answers(), [
      [1, true],
      [2, true],
    ])
  })

  it("sends the agent's own initialize again instead of failing it", async () => {
    prepare = [transport => (transport.answers = false)]
    initialize()
    await until(() => transports[0]?.sent.length === 1)
    await Promise.resolve()
    await bridge.restart()
    // the stream of the first attempt ends with its connection
    transports[0]!.options[0]?.onRequestStreamEnd?.()
    await answered(1)
    assert.deepEqual(answers(), [[1, true]])
    assert.deepEqual(transports[1]?.methods, ['initialize'])
    assert.deepEqual(states, ['connecting', 'connected'])
  })

  it('fails a request whose answer comes while the connection closes', async () => {
    const gate = deferred()
    await connect()
    transports[0]!.taken = gate.promise
    bridge.receive(request(2, 'tools/call'))
    await until(() => transports[0]!.sent.length === 2)
    await bridge.restart()
    gate.resolve()
    await answered(2)
    assert.deepEqual(answers()[1], [2, false])
  })

  it('sends initialize again whose answer comes while the connection closes', async () => {
    const gate = deferred()
    prepare = [transport => (transport.taken = gate.promise)]
    initialize()
    await until(() => transports[0]?.sent.length === 1)
    await bridge.restart()
    gate.resolve()
    await answered(1)
    assert.deepEqual(answers(), [[1, true]])
    assert.equal(transports.length, 2)
  })

  it('does not show that it connects before the agent wants a session', async () => {
    bridge.receive(request(1, 'server/discover'))
    await answered(1)
    await bridge.restart()
    assert.deepEqual(states, ['connected'])
  })

  it('that another one overtook reports no failure', async () => {
    await connect()
    prepare = [transport => (transport.opened = never)]
    const first = bridge.restart()
    await until(() => transports.length === 2)
    await Promise.all([first, bridge.restart()])
    assert.deepEqual(states, ['connected', 'connecting', 'connected'])
  })
})
