import { readdirSync } from 'node:fs'
import path from 'node:path'
import { readEntries } from '../../src/acp/transport/host/endpoint.ts'
import { until } from './until.ts'

/** The ids of the processes of the agent hosts that windows with this folder started. */
export async function agentHostsOf(folder: string): Promise<number[]> {
  const names = readdirSync(folder, { recursive: true }).map(String)
  const folders = names.filter(name => path.basename(name) === 'hosts')
  const entries = await Promise.all(folders.map(name => readEntries(path.join(folder, name))))
  return entries.flat().map(({ pid }) => pid)
}

/** Ends them with their agents. */
export async function endAgentHosts(folder: string): Promise<void> {
  for (const pid of await agentHostsOf(folder)) {
    process.kill(pid, 'SIGTERM')
    await until(async () => !(await agentHostsOf(folder)).includes(pid), 'the end of the agent host')
  }
}
