import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isRunning } from './contracts/running-process.ts'
import { until } from './until.ts'

/** The ids of the processes of the agent hosts that windows with this folder started. */
export function agentHostsOf(folder: string): number[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter(name => /hosts[\\/]host-\d+\.json$/.test(name))
    .map(name => JSON.parse(readFileSync(path.join(folder, name), 'utf8')).pid as number)
    .filter(isRunning)
}

/** Ends them with their agents. */
export async function endAgentHosts(folder: string): Promise<void> {
  for (const pid of agentHostsOf(folder)) {
    process.kill(pid, 'SIGTERM')
    await until(() => !isRunning(pid), 'the end of the agent host')
  }
}
