import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { AgentHosts, type AgentHostsOptions } from '../../src/acp/transport/host/agent-hosts.ts'
import { HOST_VERSION } from '../../src/acp/transport/host/channel.ts'
import { readEntries } from '../../src/acp/transport/host/endpoint.ts'
import type { AgentTag } from '../../src/acp/transport/host/hosted-agent-state.ts'
import { bundlePrograms } from './bundle-program.ts'
import { until } from './until.ts'

/** Of the agents that tests start. */
export const TAG: AgentTag = { agentId: 'fixture', name: 'Fixture', workspace: 'file:///w' }

/** The agent host, built as it runs in a window, with a folder of its own. */
export class AgentHostProgram {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'parley-agent-host-test-'))
  /** where the hosts' entries are */
  readonly entries = path.join(this.folder, 'hosts')
  /** as a window has it */
  readonly hosts: AgentHosts

  constructor() {
    this.hosts = this.window()
  }

  /** Another window. */
  window(options: Pick<AgentHostsOptions, 'connect' | 'version'> = {}): AgentHosts {
    const [script, guardScript] = ['agent-host.mjs', 'process-guard.mjs'].map(name =>
      path.join(this.folder, options.version === undefined ? '' : `${options.version}`, name),
    )
    return new AgentHosts({
      folder: this.entries,
      script: script!,
      guardScript: guardScript!,
      maxFrameBytes: () => 4 << 20,
      ...options,
    })
  }

  async build(): Promise<void> {
    await bundlePrograms(this.folder, {
      'agent-host': 'src/agent-host/main.ts',
      window: 'test/support/agent-host-window.ts',
      'process-guard': 'src/common/processes/process-guard-main.ts',
    })
  }

  /** Builds the same program as if it was of another version. */
  async buildVersion(version: number): Promise<void> {
    const folder = path.join(this.folder, `${version}`)
    mkdirSync(folder)
    for (const file of ['agent-host.mjs', 'process-guard.mjs'])
      copyFileSync(path.join(this.folder, file), path.join(folder, file))
    const host = path.join(folder, 'agent-host.mjs')
    const own = `HOST_VERSION = ${HOST_VERSION}`
    const program = readFileSync(host, 'utf8')
    if (!program.includes(own)) throw new Error(`The program doesn't contain ${own}`)
    writeFileSync(host, program.replace(own, `HOST_VERSION = ${version}`))
  }

  /** A window in a process of its own, which stores what the agent says until it's killed; see `agent-host-window.ts`. */
  startWindow(agentId: string, stored: string, last: number, confirms: boolean): ChildProcess {
    const args = [
      path.join(this.folder, 'window.mjs'),
      this.entries,
      agentId,
      stored,
      `${last}`,
      `${confirms}`,
    ]
    return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  }

  /** The ids of the processes of all hosts that run. */
  async pids(): Promise<number[]> {
    return (await readEntries(this.entries)).map(({ pid }) => pid)
  }

  /** Ends all hosts with their agents. */
  async end(): Promise<void> {
    for (const pid of await this.pids()) {
      process.kill(pid, 'SIGTERM')
      await until(async () => !(await this.pids()).includes(pid), 'the end of the agent host')
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}
