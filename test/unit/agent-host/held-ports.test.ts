import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, Server, type Socket } from 'node:net'
import { HeldPorts } from '../../../src/agent-host/held-ports.ts'
import { WaitingConnections } from '../../../src/agent-host/waiting-connections.ts'
import { MAX_HELD_BYTES, MAX_HELD_CONNECTIONS } from '../../../src/common/limits.ts'
import { until } from '../../support/until.ts'

describe('the ports that the agent host holds', () => {
  const port = 20_000 + (process.pid % 10_000)
  let ports: HeldPorts
  let sockets: Socket[]
  let window: Server | undefined

  beforeEach(() => {
    ports = new HeldPorts()
    sockets = []
    window = undefined
  })
  afterEach(async () => {
    ports.keepOnly(new Set(), 'agent')
    for (const socket of sockets) socket.destroy()
    if (window) await new Promise(resolve => window?.close(resolve))
  })

  /** A connection of an agent; a refused one is tried again. */
  async function agent(): Promise<Socket> {
    for (;;) {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket.on('error', () => {}))
      const isConnected = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'close').then(() => false),
      ])
      if (isConnected) return socket
    }
  }
  /** What the window's server has got from each connection; it answers each piece with "got" and the piece. */
  async function serve(): Promise<string[]> {
    const got: string[] = []
    window = createServer(socket => {
      let at: number | undefined
      socket.on('error', () => {})
      socket.on('data', (chunk: Buffer) => {
        at ??= got.push('') - 1
        got[at] += chunk.toString()
        socket.write(`got ${chunk.subarray(0, 9)}`)
      })
    })
    ports.serve(port, 'agent')
    window.listen(port, '127.0.0.1')
    await once(window, 'listening')
    return got
  }

  it('stay held if connections cannot be accepted', async () => {
    const servers: Server[] = []
    const { listen } = Server.prototype
    Server.prototype.listen = function (this: Server, ...args: unknown[]) {
      servers.push(this)
      return Reflect.apply(listen, this, args)
    } as typeof listen
    try {
      ports.hold(port, 'agent')
      await until(() => servers[0]?.listening === true)
      const [server] = servers as [Server]
      // without a listener, an error would be thrown here
      for (let i = 0; i < 2; i++) server.emit('error', new Error('accept EMFILE'))
      await agent()
      assert.ok(server.listening)
      ports.serve(port, 'agent')
      assert.ok(!server.listening)
      assert.equal(servers.length, 1)
    } finally {
      Server.prototype.listen = listen
    }
  })

  it('keep what agents send until a window serves them, which then answers', async () => {
    ports.hold(port, 'agent')
    const [first, second] = [await agent(), await agent()]
    first.write('one')
    const large = 'x'.repeat(4 * MAX_HELD_BYTES)
    second.write(large)
    const got = await serve()
    const [answer] = (await once(first, 'data')) as [Buffer]
    assert.equal(`${answer}`, 'got one')
    await until(() => got.reduce((sum, text) => sum + text.length, 0) === 3 + large.length)
    assert.ok(got.includes(large))
    // it stays open
    first.write('two')
    const [next] = (await once(first, 'data')) as [Buffer]
    assert.equal(`${next}`, 'got two')
    window?.close()
    first.destroy()
    await until(() => got.includes('onetwo'))
  })

  it('keep connections until a second window serves them, if the first one is gone before it does', async () => {
    ports.hold(port, 'agent')
    const socket = await agent()
    socket.write('one')
    ports.serve(port, 'agent')
    ports.hold(port, 'agent')
    await agent()
    await serve()
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.equal(`${answer}`, 'got one')
  })

  it('close the connections of a window that no longer serves them, also if it is not responding', async () => {
    ports.hold(port, 'agent')
    const socket = await agent()
    socket.write('one')
    await serve()
    await once(socket, 'data')
    // the window holds its end of the connection open
    window?.close()
    ports.hold(port, 'agent')
    await once(socket, 'close')
    const next = await agent()
    next.write('two')
    await serve()
    const [answer] = (await once(next, 'data')) as [Buffer]
    assert.equal(`${answer}`, 'got two')
  })

  it('forget what an agent has sent that has given up', async () => {
    ports.hold(port, 'agent')
    const [gone, there] = [await agent(), await agent()]
    gone.write('gone')
    gone.end()
    await once(gone, 'close')
    there.write('there')
    const got = await serve()
    await once(there, 'data')
    assert.deepEqual(got, ['there'])
  })

  it('close a connection for which no window comes, and the excess of many', async () => {
    ports.hold(port, 'agent')
    for (let i = 0; i < MAX_HELD_CONNECTIONS; i++) await agent()
    const excess = await agent()
    await once(excess, 'close')
    assert.equal(sockets.filter(socket => !socket.destroyed).length, MAX_HELD_CONNECTIONS)

    const waiting = new WaitingConnections(port, 10)
    const server = createServer(socket => waiting.add(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port: at } = server.address() as { port: number }
    const late = connect(at, '127.0.0.1')
    sockets.push(late)
    await once(late, 'close')
    server.close()
  })

  it('close the connections of an agent that expects no server anymore', async () => {
    ports.hold(port, 'agent')
    const socket = await agent()
    ports.keepOnly(new Set(), 'agent')
    await once(socket, 'close')
  })
})
