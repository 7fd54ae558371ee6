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
  /** the folder of the hosts' entries and journals, which all windows of the user share */
  folder: string
  /** the program of the host, and the script of the host's process guard; the host runs copies of both files */
  script: string
  guardScript: string
  maxFrameBytes: () => number
  /** Connects to the socket of a host. */
  connect?: (socket: string) => Socket
  /** the version of the hosts that this window uses; the window's own version by default */
  version?: number
}

/** A host of another version of Parley. */
export interface OtherHost {
  pid: number
  /** the sessions of the host's running agents, as far as the host reports them */
  sessions: SessionId[]
}

/** The environment variables that the host gets from this process. An agent's environment is a part of the agent's launch. */
const HOST_ENVIRONMENT =
  /^(path|home|tmpdir|tmp|temp|xdg_runtime_dir|lang|lc_\w+|systemroot|systemdrive|windir|userprofile|parley_\w+)$/i

/**
 * Finds the agent host of this user, and starts a host when an agent needs one. Several hosts may run: windows may have started theirs at
 * the same moment, and a host of another version runs until its agents have ended. New agents go to the oldest host of this version.
 */
export class AgentHosts {
  readonly #options: AgentHostsOptions
  readonly #version: number
  /** by the id of an agent: the host that listed the agent last */
  readonly #listed = new Map<string, HostEntry>()
  /** by the host's secret: a connection that was opened before it's needed */
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
   * Resolves to all agents that run in hosts of this version, and agents whose host has crashed and left output. `attaches`: whether this
   * window is about to attach to one of the agents.
   */
  async list(attaches = false): Promise<HostedAgentInfo[]> {
    this.#listed.clear()
    const lists = await this.#lists(attaches)
    if (lists.some(list => list !== undefined) || !this.#hasOrphanedJournals())
      return lists.flatMap(list => list ?? [])
    try {
      // A new host reads the journals that crashed hosts have left.
      ;(await this.#connectOrStart()).dispose()
    } catch {
      return []
    }
    return (await this.#lists(attaches)).flatMap(list => list ?? [])
  }

  /** Resolves to the agents of each host, or to `undefined` for a host that doesn't answer. */
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
   * Attaches to a running agent. Resolves to `undefined` if the agent is gone or another window was faster. Each line of output is a frame;
   * the output begins after the frame `confirmed`, the last frame that is stored.
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
    // Trying all hosts would take longer, so the host that listed the agent is tried first.
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
   * Resolves to the hosts of other versions that still have agents, to which no window of this version can attach. Ends a host whose agents
   * have all exited, so that a host of this version can pass on their last output.
   */
  async others(): Promise<OtherHost[]> {
    const { folder } = this.#options
    const isOther = ({ version }: HostEntry) => version !== this.#version
    // Listing all processes takes a while, so `readEntries` is only called if necessary.
    if (!likelyEntries(folder).some(isOther)) return []
    const entries = (await readEntries(folder)).filter(isOther)
    const others = await Promise.all(
      entries.map(async (entry): Promise<OtherHost | undefined> => {
        const { pid } = entry
        const agents: unknown = await withTimeout(this.#listOf(entry), HOST_HANDSHAKE_MS)
        if (!Array.isArray(agents)) return { pid, sessions: [] }
        const needed = agents.filter(agent => agent?.hasExited !== true || agent.isAttached !== false)
        if (needed.length > 0) return { pid, sessions: needed.flatMap(sessionsOf) }
        // The host is ended at once, because an older window may be about to start an agent there.
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
    // Unless the start time is equal, another process may have got the host's pid.
    if (entry && (await processStartTime(pid)) === entry.started) await this.#endHost(entry)
  }

  /** Ends a host. The caller must be sure that the process is a host. */
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

  /** Connects to a host, or starts one. Agents that need a host at the same moment share the start. */
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
      // The host doesn't end with this process, and doesn't lock a project's folder.
      detached: true,
      cwd: folder,
      windowsHide: true,
      // The host reports on stderr why it can't start. The pipe is closed once a window is connected.
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
    // `stderr` is absent if the system has no file descriptor left.
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
      // A reason of several lines is a stack trace, which isn't shown.
      reason === '' || reason.includes('\n')
        ? l10n.t("The program that runs agents in the background didn't start.")
        : l10n.t("The program that runs agents in the background didn't start: {0}", reason),
      { cause: failure ?? said },
    )
  }

  /** Connects to a host while the list of its agents is still requested. An unused connection closes soon. */
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

  /** Resolves to the connection that was opened early, if there is one, which can be used once. Otherwise, connects. */
  async #connectOnce(entry: HostEntry): Promise<HostChannel | undefined> {
    const early = this.#early.get(entry.secret)
    this.#early.delete(entry.secret)
    const channel = await early
    return channel && !channel.isClosed ? channel : this.#connectTo(entry)
  }

  /** Connects to a host. Resolves to `undefined` if the host is gone or can't prove its identity. */
  async #connectTo(entry: HostEntry): Promise<HostChannel | undefined> {
    const channel = new HostChannel((this.#options.connect ?? connect)(entry.socket), MAX_HANDSHAKE_BYTES)
    const greeting = greetHost(channel, entry.secret, entry.version)
    // A silent process gets more time if it may be a busy host. If it's another program, its entry is removed.
    if ((await withTimeout(greeting, HOST_SILENT_MS)) === undefined && !(await mayBeHost(entry))) {
      channel.dispose()
      removeForeignEntry(this.#options.folder, entry)
    }
    return (await greeting) ? channel : undefined
  }
}

/** Returns the sessions of an agent from the list of a host of another version. The list may have any form. */
function sessionsOf(agent: unknown): SessionId[] {
  const { tag, sessions } = (agent ?? {}) as { tag?: { agentId?: unknown }; sessions?: unknown }
  const agentId = tag?.agentId
  if (typeof agentId !== 'string' || !Array.isArray(sessions)) return []
  return sessions.filter(id => typeof id === 'string').map(sessionId => ({ agentId, sessionId }))
}
