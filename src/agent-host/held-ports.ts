import { createServer, type Server } from 'node:net'
import { HELD_PORT_POLL_MS, HELD_PORT_SLOW_POLL_MS, RELOAD_CLOSE_MS } from '../common/limits.ts'
import { WaitingConnections } from './waiting-connections.ts'

interface HeldPort {
  /** the agents that expect a server at the port; the value says whether the agent's window serves it */
  owners: Map<unknown, boolean>
  /** the connections that agents opened while no window served the port */
  connections: WaitingConnections
  /** `undefined` while another program or a window has the port */
  server?: Server | undefined
  timer?: NodeJS.Timeout | undefined
}

/**
 * Occupies the ports of editor tools while no window serves them, so that no other program gets the tokens that agents still send there.
 * Connections wait for the window.
 */
export class HeldPorts {
  readonly #held = new Map<number, HeldPort>()

  /** Occupies a port where an agent expects a server, because no window serves it. */
  hold(port: number, owner: unknown): void {
    const held = this.#of(port)
    held.owners.set(owner, false)
    this.#holdIfUnserved(port, held)
  }

  /** Frees a port, because the agent's window serves it or is about to. */
  serve(port: number, owner: unknown): void {
    const held = this.#of(port)
    held.owners.set(owner, true)
    this.#free(held)
    held.connections.handOver()
  }

  /** Frees the agent's ports that aren't in the list, because it no longer expects servers there. */
  keepOnly(ports: ReadonlySet<number>, owner: unknown): void {
    for (const [port, held] of this.#held) {
      if (ports.has(port) || !held.owners.delete(owner)) continue
      if (held.owners.size > 0) this.#holdIfUnserved(port, held)
      else {
        this.#held.delete(port)
        this.#free(held)
        held.connections.dispose()
      }
    }
  }

  #of(port: number): HeldPort {
    const held = this.#held.get(port) ?? { owners: new Map(), connections: new WaitingConnections(port) }
    this.#held.set(port, held)
    return held
  }

  /** Occupies a port unless a window serves it for one of its agents. */
  #holdIfUnserved(port: number, held: HeldPort): void {
    if (held.server || held.timer || [...held.owners.values()].includes(true)) return
    // The previous window may not have closed the port yet, so the port is tried often at first.
    this.#listen(port, held, performance.now() + RELOAD_CLOSE_MS)
  }

  #listen(port: number, held: HeldPort, until: number): void {
    held.timer = undefined
    held.connections.wait()
    const server = createServer(socket => held.connections.add(socket))
    held.server = server
    server.on('error', () => {
      // If the server is listening, only a connection couldn't be accepted.
      if (server.listening || held.server !== server) return
      held.server = undefined
      const ms = performance.now() < until ? HELD_PORT_POLL_MS : HELD_PORT_SLOW_POLL_MS
      held.timer = setTimeout(() => this.#listen(port, held, until), ms)
    })
    server.listen({ host: '127.0.0.1', port }, () => held.connections.leave())
  }

  #free(held: HeldPort): void {
    clearTimeout(held.timer)
    held.server?.close()
    held.server = undefined
    held.timer = undefined
  }
}
