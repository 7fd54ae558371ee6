import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { HOST_VERSION, HostChannel, type HostMessage } from '../acp/transport/host/channel.ts'
import {
  journalsIn,
  newSocketPath,
  processStartTime,
  publishEntry,
  runsHost,
} from '../acp/transport/host/endpoint.ts'
import { greetWindow, MAX_HANDSHAKE_BYTES } from '../acp/transport/host/handshake.ts'
import type { AgentTag } from '../acp/transport/host/hosted-agent-state.ts'
import { messageOf } from '../common/errors.ts'
import { ENDED_AGENT_KEPT_MS, HOST_LINGER_MS } from '../common/limits.ts'
import type { ProcessGuard } from '../common/processes/process-guard.ts'
import { SpawnError, type SpawnRequest } from '../common/processes/spawn-process.ts'
import { HeldPorts } from './held-ports.ts'
import { HostedAgent, type HostedAgentOptions } from './hosted-agent.ts'

export interface HostOptions {
  /** the folder of the hosts' entries and journals */
  folder: string
  /** the folder that contains this program */
  program: string
  guard: ProcessGuard
  lingerMs?: number
}

/** The maximum number of connections. Each agent needs one, and each list needs one for a short time. */
const MAX_CONNECTIONS = 256

/**
 * Owns agents for all windows of this user. The first message of a connection defines its purpose: start an agent, attach to a running
 * agent, or list all agents. The host ends by itself when there is no agent and no window.
 */
export class AgentHost {
  /** Resolves when the host has ended, after its agents. */
  readonly ended: Promise<void>
  readonly #options: HostOptions
  readonly #agents = new Map<string, HostedAgent>()
  readonly #channels = new Set<HostChannel>()
  readonly #ports = new HeldPorts()
  readonly #secret = randomBytes(32).toString('hex')
  readonly #server: Server
  /** the start time of this process */
  #started = 0
  #starting = 0
  #unpublish: () => void = () => {}
  #isEnding = false
  #timer: NodeJS.Timeout | undefined
  #resolveEnded: () => void = () => {}

  constructor(options: HostOptions) {
    this.#options = options
    this.ended = new Promise(resolve => {
      this.#resolveEnded = resolve
    })
    this.#server = createServer(socket => void this.#connected(socket))
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  /** Starts to listen, and then publishes the host's entry. */
  async start(): Promise<void> {
    const socket = newSocketPath()
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(socket, resolve)
    })
    const { pid } = process
    const started = (await processStartTime(pid)) ?? 0
    this.#started = started
    const { folder, program } = this.#options
    this.#unpublish = publishEntry(folder, {
      pid,
      started,
      version: HOST_VERSION,
      socket,
      secret: this.#secret,
      program,
    })
    this.#endIfUnneeded()
  }

  /** Ends all agents, then the host. */
  async end(): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    clearTimeout(this.#timer)
    this.#unpublish()
    this.#server.close()
    await Promise.all([...this.#agents.values()].map(agent => agent.endWithHost()))
    for (const channel of this.#channels) channel.end()
    this.#resolveEnded()
  }

  async #connected(socket: Socket): Promise<void> {
    const channel = new HostChannel(socket, MAX_HANDSHAKE_BYTES)
    if (!(await greetWindow(channel, this.#secret))) return
    this.#channels.add(channel)
    clearTimeout(this.#timer)
    void channel.closed.then(() => {
      this.#channels.delete(channel)
      this.#endIfUnneeded()
    })
    const first = await channel.next()
    if (first) await this.#handle(channel, first)
  }

  async #handle(channel: HostChannel, message: HostMessage): Promise<void> {
    const find = () => this.#agents.get(String(message.id))
    if (message.type === 'list' || (message.type === 'attach' && !find())) await this.#reviveAll()
    const agent = find()
    switch (message.type) {
      case 'spawn':
        return this.#spawn(channel, message)
      case 'list':
        channel.send({ type: 'list', agents: [...this.#agents.values()].map(({ info }) => info) })
        return channel.end()
      case 'attach':
        if (agent?.accepts(message.attachments)) {
          if (typeof message.workspace === 'string') agent.moveTo(message.workspace)
          return agent.attach(channel, Number(message.confirmed), Number(message.read ?? 0))
        }
        channel.send({ type: 'unknown' })
        return channel.end()
      case 'end':
        await agent?.end()
        channel.send({ type: 'ended' })
        return channel.end()
      default:
        channel.dispose()
    }
  }

  async #spawn(channel: HostChannel, { launch, maxFrameBytes, tag }: HostMessage): Promise<void> {
    this.#starting++
    try {
      if (this.#isEnding) throw new Error('The agent host is ending.')
      const start = {
        ...{ launch: launch as SpawnRequest, tag: tag as AgentTag },
        maxFrameBytes: Number(maxFrameBytes),
      }
      const agent = await HostedAgent.start(start, this.#agentOptions)
      this.#agents.set(agent.id, agent)
      agent.attach(channel)
    } catch (error) {
      const cause = error instanceof SpawnError ? (error.cause as NodeJS.ErrnoException) : undefined
      channel.send({ type: 'failed', code: cause?.code, message: messageOf(cause ?? error) })
      channel.end()
    } finally {
      this.#starting--
      this.#endIfUnneeded()
    }
  }

  get #agentOptions(): HostedAgentOptions {
    const { guard, folder } = this.#options
    return {
      ...{ guard, folder, started: this.#started, ports: this.#ports },
      onEnd: ({ id }) => {
        this.#agents.delete(id)
        this.#endIfUnneeded()
      },
    }
  }

  /** Takes over the agents of crashed hosts, so that windows get the agents' last output. */
  async #reviveAll(): Promise<void> {
    const { folder } = this.#options
    for (const journal of journalsIn(folder)) {
      const { file, pid, started, agentId, isUnfinished } = journal
      if (pid === process.pid && started === this.#started) continue
      if ((await runsHost(journal)) || this.#isEnding) continue
      try {
        const isOld = Date.now() - statSync(file).mtimeMs > ENDED_AGENT_KEPT_MS
        const agent =
          isOld || isUnfinished ? undefined : HostedAgent.revive(agentId, file, this.#agentOptions)
        if (agent) this.#agents.set(agentId, agent)
        else rmSync(file, { force: true })
      } catch {
        // Another host was faster, or this host has already taken over the journal.
      }
    }
  }

  /** Ends the host soon if no window and no agent needs it. */
  #endIfUnneeded(): void {
    clearTimeout(this.#timer)
    const isNeeded = [...this.#agents.values()].some(({ needsHost }) => needsHost)
    if (isNeeded || this.#channels.size > 0 || this.#starting > 0) return
    this.#timer = setTimeout(() => void this.end(), this.#options.lingerMs ?? HOST_LINGER_MS)
  }
}
