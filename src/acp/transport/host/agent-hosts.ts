import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { delay, withTimeout } from '../../../common/async.ts'
import {
  END_HOST_MS,
  HOST_EARLY_CONNECTION_MS,
  HOST_HANDSHAKE_MS,
  HOST_LAST_WORDS_MS,
  HOST_SILENT_MS,
  HOST_START_MS,
  HOST_START_POLL_MS,
} from '../../../common/limits.ts'
import { makePrivateFolder } from '../../../common/private-files.ts'
import { operatingSystem } from '../../../common/processes/process-system.ts'
import type { SpawnRequest } from '../../../common/processes/spawn-process.ts'
import type { SessionId } from '../../../common/session-key.ts'
import type { AgentProcessOptions } from '../running-process.ts'
import { HOST_VERSION, HostChannel } from './channel.ts'
import {
  type HostEntry,
  journalsIn,
  likelyEntries,
  mayBeHost,
  processStartTime,
  readEntries,
  removeForeignEntry,
  runsHost,
} from './endpoint.ts'
import { greetHost, MAX_HANDSHAKE_BYTES } from './handshake.ts'
import type { AgentClaim, AgentTag, HostedAgentInfo } from './hosted-agent-state.ts'
import { attachTo, HostedProcess, type Recover } from './hosted-process.ts'
import { copyProgram, pruneCopies } from './program-copy.ts'

export interface AgentHostsOptions {
  /** the folder of the entries and journals, the same for all windows of the user */
  folder: string
  /** the program of the host, and the script of its process guard; the host runs copies of both */
  script: string
  guardScript: string
  maxFrameBytes: () => number
  /** Connects to the socket of a host. */
  connect?: (socket: string) => Socket
  /** of the hosts that this window uses; by default, its own */
  version?: number
}

/** A host of another version of Parley. */
export interface OtherHost {
  pid: number
  /** the sessions of the host's running agents, as far as the host reports them */
  sessions: SessionId[]
}

/** The variables of this process's environment that the host gets. An agent's own environment is part of its launch. */
const HOST_ENVIRONMENT =
  /^(path|home|tmpdir|tmp|temp|xdg_runtime_dir|lang|lc_\w+|systemroot|systemdrive|windir|userprofile|parley_\w+)$/i

/**
 * Finds the agent host of this user, and starts one when an agent needs it. Several may run: windows that start one at the
 * same moment, or of another version until its agents have ended. New agents go to the oldest one of this version.
 */
export class AgentHosts {
  readonly #options: AgentHostsOptions
  readonly #version: number
  /** by the id of an agent: where it was listed last */
  readonly #listed = new Map<string, HostEntry>()
  /** by the host's secret: a connection that was made before it's needed */
  readonly #early = new Map<string, Promise<HostChannel | undefined>>()

  #starting: Promise<HostChannel> | undefined

  constructor(options: AgentHostsOptions) {
    this.#options = options
    this.#version = options.version ?? HOST_VERSION
  }

  /** Starts an agent in the host. @throws SpawnError */
  async start(launch: SpawnRequest, tag: AgentTag, options: AgentProcessOptions): Promise<HostedProcess> {
    const channel = await this.#connectOrStart()
    const maxFrameBytes = this.#options.maxFrameBytes()
    return HostedProcess.spawn(channel, launch, { maxFrameBytes, tag }, options, this.#recover)
  }

  /**
   * All agents that run in hosts of this version, and agents whose host has crashed and left output. `attaches`: this window is about to
   * attach to one of the agents.
   */
  async list(attaches = false): Promise<HostedAgentInfo[]> {
    this.#listed.clear()
    const lists = await this.#lists(attaches)
    if (lists.some(list => list !== undefined) || !this.#hasOrphanedJournals())
      return lists.flatMap(list => list ?? [])
    try {
      // a new host reads the journals of hosts that have died
      ;(await this.#connectOrStart()).dispose()
    } catch {
      return []
    }
    return (await this.#lists(attaches)).flatMap(list => list ?? [])
  }

  /** The agents of each host; `undefined` for a host that doesn't answer. */
  #lists(attaches: boolean): Promise<Array<HostedAgentInfo[] | undefined>> {
    return Promise.all(
      this.#entries().map(async entry => {
        if (attaches) this.#connectEarly(entry)
        const agents = await this.#listOf(entry)
        for (const { id } of agents ?? []) this.#listed.set(id, entry)
        return agents
      }),
    )
  }

  async #listOf(entry: HostEntry): Promise<HostedAgentInfo[] | undefined> {
    const channel = await this.#connectTo(entry)
    channel?.send({ type: 'list' })
    const answer = await channel?.next()
    channel?.dispose()
    return answer?.type === 'list' ? (answer.agents as HostedAgentInfo[]) : undefined
  }

  /** Whether there are journals that don't belong to a running host of another version. */
  #hasOrphanedJournals(): boolean {
    const { folder } = this.#options
    const others = likelyEntries(folder).filter(({ version }) => version !== this.#version)
    return journalsIn(folder).some(({ pid }) => !others.some(entry => entry.pid === pid))
  }

  /**
   * Attaches to a running agent; `undefined` if the agent is gone or another window was faster. Output begins after the frame `confirmed`,
   * the last one that is stored; each line of output is a frame.
   */
  async attach(
    id: string,
    confirmed = 0,
    options: AgentProcessOptions = {},
    claim?: AgentClaim,
  ): Promise<HostedProcess | undefined> {
    const attachIn = async (entry: HostEntry) => {
      const channel = await this.#connectOnce(entry)
      return channel && HostedProcess.attach(channel, id, confirmed, options, claim, this.#recover)
    }
    // looking for all hosts takes longer than the rest
    const known = this.#listed.get(id)
    this.#listed.delete(id)
    const attached = known && (await attachIn(known))
    if (attached) return attached
    for (const entry of this.#entries()) {
      const found = await attachIn(entry)
      if (found) return found
    }
    return undefined
  }

  /** Ends an agent and its processes, even if another window is attached to the agent. */
  async end(id: string): Promise<void> {
    for (const entry of this.#entries()) {
      const channel = await this.#connectTo(entry)
      channel?.send({ type: 'end', id })
      await channel?.next()
      channel?.dispose()
    }
  }

  /**
   * Hosts of other versions that still have agents, to which no window of this version can attach. Ends a host whose agents have all
   * exited, so that a host of this version passes on their last output.
   */
  async others(): Promise<OtherHost[]> {
    const { folder } = this.#options
    const isOther = ({ version }: HostEntry) => version !== this.#version
    // a list of all processes takes a while
    if (!likelyEntries(folder).some(isOther)) return []
    const entries = (await readEntries(folder)).filter(isOther)
    const others = await Promise.all(
      entries.map(async (entry): Promise<OtherHost | undefined> => {
        const { pid } = entry
        const agents: unknown = await withTimeout(this.#listOf(entry), HOST_HANDSHAKE_MS)
        if (!Array.isArray(agents)) return { pid, sessions: [] }
        const needed = agents.filter(agent => agent?.hasExited !== true || agent.isAttached !== false)
        if (needed.length > 0) return { pid, sessions: needed.flatMap(sessionsOf) }
        // at once: an older window may be about to start an agent there
        if (agents.length > 0) await this.#endHost(entry)
        return undefined
      }),
    )
    return others.filter(other => other !== undefined)
  }

  /** Ends a host of another version with its agents. Resolves when the host has exited, or after a time limit. */
  async endOther(pid: number): Promise<void> {
    const entries = await readEntries(this.#options.folder)
    const entry = entries.find(one => one.pid === pid && one.version !== this.#version)
    // without a list of processes, another process could have the host's id by now
    if (entry && (await processStartTime(pid)) === entry.started) await this.#endHost(entry)
  }

  /** Ends a process that is a host for sure. */
  async #endHost({ pid, started }: HostEntry): Promise<void> {
    operatingSystem.signal(pid, 'SIGTERM')
    const until = performance.now() + END_HOST_MS
    while ((await processStartTime(pid)) === started && performance.now() < until)
      await delay(HOST_START_POLL_MS)
  }

  #entries(): HostEntry[] {
    return likelyEntries(this.#options.folder).filter(({ version }) => version === this.#version)
  }

  readonly #recover: Recover = async (id, read) => {
    const journal = journalsIn(this.#options.folder).find(({ agentId }) => agentId === id)
    if (!journal || (await runsHost(journal))) return undefined
    ;(await this.#connectOrStart()).dispose()
    for (const entry of this.#entries()) {
      const channel = await this.#connectTo(entry)
      if (channel && (await attachTo(channel, id, 0, { read }))) return channel
    }
    return undefined
  }

  /** Several agents may need a host at the same moment. */
  async #connectOrStart(): Promise<HostChannel> {
    const connected = await this.#connectToAny()
    if (connected) return connected
    if (!this.#starting) {
      this.#starting = this.#startHost().finally(() => {
        this.#starting = undefined
      })
      return this.#starting
    }
    await this.#starting
    return this.#connectOrStart()
  }

  async #connectToAny(): Promise<HostChannel | undefined> {
    for (const entry of this.#entries()) {
      const channel = await this.#connectTo(entry)
      if (channel) return channel
    }
    return undefined
  }

  async #startHost(): Promise<HostChannel> {
    const { folder, script, guardScript } = this.#options
    makePrivateFolder(folder)
    const program = copyProgram(folder, [script, guardScript])
    const copies = [script, guardScript].map(file => path.join(program, path.basename(file)))
    pruneCopies(folder, new Set([program, ...(await readEntries(folder)).map(entry => entry.program)]))
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => HOST_ENVIRONMENT.test(name)),
    )
    const child = spawn(process.execPath, [copies[0]!, folder, copies[1]!], {
      // the host doesn't end with this process, and doesn't lock a project's folder
      detached: true,
      cwd: folder,
      windowsHide: true,
      // stderr says why the host can't start; it's closed once a window is connected
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
    })
    let failure: Error | undefined
    child.once('error', error => {
      failure = error
    })
    child.unref()
    const { stderr } = child
    let said = ''
    // absent if the system has no file descriptor left
    stderr?.on('data', chunk => {
      said += chunk
    })
    const closed = once(child, 'close').catch(() => {})
    const hasExited = () => child.exitCode !== null || child.signalCode !== null
    const until = performance.now() + HOST_START_MS
    while (!failure && !hasExited() && performance.now() < until) {
      const channel = await this.#connectToAny()
      if (channel) {
        stderr?.destroy()
        return channel
      }
      await delay(HOST_START_POLL_MS)
    }
    if (hasExited()) await withTimeout(closed, HOST_LAST_WORDS_MS)
    stderr?.destroy()
    const reason = failure?.message ?? said
    throw new Error(
      // leave out a stack trace
      reason === '' || reason.includes('\n')
        ? l10n.t("The program that runs agents in the background didn't start.")
        : l10n.t("The program that runs agents in the background didn't start: {0}", reason),
      { cause: failure ?? said },
    )
  }

  /** Connects while the host is still asked for its agents. A connection that nobody needs closes soon. */
  #connectEarly(entry: HostEntry): void {
    const { secret } = entry
    if (this.#early.has(secret)) return
    const connecting = this.#connectTo(entry)
    this.#early.set(secret, connecting)
    const timer = setTimeout(() => {
      if (this.#early.get(secret) !== connecting) return
      this.#early.delete(secret)
      void connecting.then(channel => channel?.dispose())
    }, HOST_EARLY_CONNECTION_MS)
    timer.unref()
  }

  /** The connection that was opened in advance, if there is one; can be used once. */
  async #connectOnce(entry: HostEntry): Promise<HostChannel | undefined> {
    const early = this.#early.get(entry.secret)
    this.#early.delete(entry.secret)
    const channel = await early
    return channel && !channel.isClosed ? channel : this.#connectTo(entry)
  }

  /** A connection to a host that has proved its identity; `undefined` if the host is gone or can't prove it. */
  async #connectTo(entry: HostEntry): Promise<HostChannel | undefined> {
    const channel = new HostChannel((this.#options.connect ?? connect)(entry.socket), MAX_HANDSHAKE_BYTES)
    const greeting = greetHost(channel, entry.secret, entry.version)
    // a busy host has more time, but not a program that only looks like one
    if ((await withTimeout(greeting, HOST_SILENT_MS)) === undefined && !(await mayBeHost(entry))) {
      channel.dispose()
      removeForeignEntry(this.#options.folder, entry)
    }
    return (await greeting) ? channel : undefined
  }
}

/** The sessions of an agent in the list of another version, which may be anything. */
function sessionsOf(agent: unknown): SessionId[] {
  const { tag, sessions } = (agent ?? {}) as { tag?: { agentId?: unknown }; sessions?: unknown }
  const agentId = tag?.agentId
  if (typeof agentId !== 'string' || !Array.isArray(sessions)) return []
  return sessions.filter(id => typeof id === 'string').map(sessionId => ({ agentId, sessionId }))
}
