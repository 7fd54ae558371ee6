import { createServer, type Server } from 'node:net'
import { HELD_PORT_POLL_MS, HELD_PORT_SLOW_POLL_MS, RELOAD_CLOSE_MS } from '../common/limits.ts'
import { WaitingConnections } from './waiting-connections.ts'

interface HeldPort {
  /** the agents that expect a server at the port, and whether their windows serve it */
  owners: Map<unknown, boolean>
  /** the connections that agents opened while no window served the port */
  connections: WaitingConnections
  /** `undefined` while another program or a window has the port */
  server?: Server | undefined
  timer?: NodeJS.Timeout | undefined
}

/**
 * Occupies the ports of editor tools while their window doesn't serve them, so that no other program gets the tokens that agents still send
 * there. Connections wait for the window.
 */
export class HeldPorts {
  readonly #held = new Map<number, HeldPort>()

  /** An agent expects a server at the port, but no window serves it. */
  hold(port: number, owner: unknown): void {
    const held = this.#of(port)
    held.owners.set(owner, false)
    this.#holdIfUnserved(port, held)
  }

  /** This agent's window serves the port, or is about to: frees the port. */
  serve(port: number, owner: unknown): void {
    const held = this.#of(port)
    held.owners.set(owner, true)
    this.#free(held)
    held.connections.handOver()
  }

  /** The agent no longer expects servers at its other ports. */
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

  /** A window serves the port for all of its agents. */
  #holdIfUnserved(port: number, held: HeldPort): void {
    if (held.server || held.timer || [...held.owners.values()].includes(true)) return
    // the previous window may still be about to close the port
    this.#listen(port, held, performance.now() + RELOAD_CLOSE_MS)
  }

  #listen(port: number, held: HeldPort, until: number): void {
    held.timer = undefined
    held.connections.wait()
    const server = createServer(socket => held.connections.add(socket))
    held.server = server
    server.on('error', () => {
      // a connection that couldn't be accepted
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
