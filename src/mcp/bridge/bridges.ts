import { randomUUID } from 'node:crypto'
import { redactText } from '../../acp/redact-text.ts'
import type { HostChannel, HostMessage } from '../../acp/transport/host/channel.ts'
import { type Disposable, Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { isRecord } from '../../common/is-record.ts'
import { MAX_CHECKED_TOOLS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import type { Environment } from '../../common/processes/spawn-process.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { BridgeState, BridgeStatus } from '../bridge-status.ts'
import type { CheckedTool } from '../server-check.ts'
import { secretsOf } from '../server-secrets.ts'
import { BridgeSocket } from './bridge-socket.ts'
import {
  type BridgeProgram,
  bridgedServer,
  type RemoteMcpServer,
  type StdioServer,
  type WindowSocket,
} from './bridged-server.ts'
import { MAX_LINE, MAX_TOOL_TEXT, shownPart } from './reported-text.ts'

/** The end of a bridge's log that is kept. Characters. */
const MAX_LOG = 20_000
/** The largest message of a bridge: a part of its tools. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
const REPORTED: ReadonlySet<unknown> = new Set<BridgeState>(['connecting', 'connected', 'failed'])

/** Follows the bridge of one server in one session, until the follower is disposed. The bridge keeps running. */
export interface BridgeFollower extends Disposable {
  readonly id: string
}

export interface BridgedServer {
  server: StdioServer
  /** Absent if the window has no socket for the bridge. */
  link?: BridgeFollower
}

export interface BridgesOptions {
  program: BridgeProgram
  environment: { get(): Promise<{ env: Readonly<Environment>; platform: NodeJS.Platform }> }
  /** Redacts secrets in the reports of bridges, in addition to the headers of their servers. */
  secrets: Pick<SecretRegistry, 'redact'>
  log: Logger
}

/** The bridges of this window's sessions. Agents start the bridges, so each bridge reports its status over a socket. */
export class Bridges extends Owner {
  readonly #options: BridgesOptions
  readonly #changed = this.register(new Emitter<void>())
  readonly #open = new Map<string, FollowedBridge>()

  constructor(options: BridgesOptions) {
    super()
    this.#options = options
  }

  get onDidChange(): Event<void> {
    return this.#changed.event
  }

  /** Creates a program for an agent that connects to the server. `tokens`: provides the tokens of the user's sign-in. */
  async bridge(server: RemoteMcpServer, tokens?: WindowSocket): Promise<BridgedServer> {
    const { program, environment, secrets, log } = this.#options
    const own = secretsOf(server)
    const redact = (text: string) => redactText(own.redact(secrets.redact(text)))
    const open = new FollowedBridge(redact, () => this.#changed.fire())
    let window: WindowSocket | undefined
    try {
      const socket = await BridgeSocket.listen(channel => open.serve(channel))
      window = socket.address
      const end = this.register({
        dispose: () => {
          this.#open.delete(open.id)
          socket.dispose()
        },
      })
      open.onDispose = () => this.owned.release(end)
      this.#open.set(open.id, open)
    } catch (error) {
      log.warn(`The bridge to the MCP server "${server.name}" can't be followed: ${messageOf(error)}`)
    }
    const bridged = bridgedServer(server, program, await environment.get(), {
      ...(tokens && { tokens }),
      ...(window && { window }),
    })
    return { server: bridged, ...(window && { link: open }) }
  }

  status(id: string): BridgeStatus | undefined {
    return this.#open.get(id)?.status
  }

  /** Connects a running bridge to its server again; the agent only learns that lists may have changed. */
  restart(id: string): void {
    this.#open.get(id)?.restart()
  }
}

type ChannelStatus = Omit<BridgeStatus, 'log'>

class FollowedBridge implements BridgeFollower {
  readonly id = randomUUID()
  onDispose = () => {}
  readonly #redact: (text: string) => string
  readonly #changed: () => void
  /** An agent may start it several times. */
  readonly #channels = new Map<HostChannel, ChannelStatus>()
  /** While there is none. */
  #without: ChannelStatus = { state: 'waiting' }
  /** Of all. */
  #log = ''

  constructor(redact: (text: string) => string, changed: () => void) {
    this.#redact = redact
    this.#changed = changed
  }

  serve(channel: HostChannel): void {
    channel.maxBytes = MAX_MESSAGE_BYTES
    this.#channels.set(channel, { state: 'connecting' })
    this.#changed()
    void channel.closed.then(() => {
      this.#without = { ...this.#channels.get(channel)!, state: 'ended' }
      this.#channels.delete(channel)
      this.#changed()
    })
    channel.listen(message => this.#receive(channel, message))
  }

  /** The status of the newest running bridge. */
  get status(): BridgeStatus {
    return { ...([...this.#channels.values()].at(-1) ?? this.#without), log: this.#log }
  }

  restart(): void {
    for (const channel of this.#channels.keys()) channel.send({ type: 'restart' })
  }

  dispose(): void {
    this.onDispose()
  }

  #receive(channel: HostChannel, { type, state, reason, line, tools, isMore }: HostMessage): void {
    const last = this.#channels.get(channel)!
    const { reason: _, ...before } = last
    if (type === 'state' && REPORTED.has(state)) {
      const why = typeof reason === 'string' ? { reason: this.#shown(reason, MAX_LINE) } : {}
      this.#channels.set(channel, { ...before, state: state as BridgeState, ...why })
    } else if (type === 'log' && typeof line === 'string') {
      const log = `${this.#log}${this.#shown(line, MAX_LINE)}\n`
      this.#log = log.length > MAX_LOG ? log.slice(log.indexOf('\n', log.length - MAX_LOG) + 1) : log
    } else if (type === 'tools' && Array.isArray(tools)) {
      const known = (isMore === true && before.tools) || []
      const all = [...known, ...tools.flatMap(one => this.#toolOf(one))].slice(0, MAX_CHECKED_TOOLS)
      this.#channels.set(channel, { ...last, tools: all })
    } else return
    this.#changed()
  }

  #shown(text: string, max: number): string {
    return shownPart(text, max, this.#redact)
  }

  #toolOf(value: unknown): CheckedTool[] {
    if (!isRecord(value) || typeof value.name !== 'string') return []
    const text = (key: 'title' | 'description') =>
      typeof value[key] === 'string' ? { [key]: this.#shown(value[key], MAX_TOOL_TEXT) } : {}
    return [{ name: this.#shown(value.name, MAX_TOOL_TEXT), ...text('title'), ...text('description') }]
  }
}
