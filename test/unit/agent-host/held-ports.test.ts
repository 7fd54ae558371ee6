import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, Server } from 'node:net'
import { HeldPorts } from '../../../src/agent-host/held-ports.ts'
import { until } from '../../support/until.ts'

describe('the ports that the agent host holds', () => {
  it('stay held if connections cannot be accepted', async () => {
    const servers: Server[] = []
    const { listen } = Server.prototype
    Server.prototype.listen = function (this: Server, ...args: unknown[]) {
      servers.push(this)
      return Reflect.apply(listen, this, args)
    } as typeof listen
    const ports = new HeldPorts()
    const port = 20_000 + (process.pid % 10_000)
    try {
      ports.hold(port, 'agent')
      await until(() => servers[0]?.listening === true)
      const [server] = servers as [Server]
      // without a listener, an error would be thrown here
      for (let i = 0; i < 2; i++) server.emit('error', new Error('accept EMFILE'))
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'close')
      assert.ok(server.listening)
      await ports.serve(port, 'agent')
      assert.ok(!server.listening)
      assert.equal(servers.length, 1)
    } finally {
      Server.prototype.listen = listen
      ports.keepOnly(new Set(), 'agent')
      for (const server of servers) if (server.listening) server.close()
    }
  })
})
