import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readEntries } from '../../src/acp/transport/host/endpoint.ts'
import { until } from './until.ts'

/** The ids of the processes of the agent hosts that windows with this folder started. */
export async function agentHostsOf(folder: string): Promise<number[]> {
  const entries = await Promise.all(foldersOfHosts(folder).map(name => readEntries(name)))
  return entries.flat().map(({ pid }) => pid)
}

/** Ends them with their agents. */
export async function endAgentHosts(folder: string): Promise<void> {
  for (const pid of await agentHostsOf(folder)) {
    process.kill(pid, 'SIGTERM')
    await until(async () => !(await agentHostsOf(folder)).includes(pid), 'the end of the agent host')
  }
}

/** What these hosts have on disk of what agents said. */
export function journalsOf(folder: string): string {
  const files = foldersOfHosts(folder).flatMap(name =>
    readdirSync(name).flatMap(file => (file.startsWith('journal-') ? path.join(name, file) : [])),
  )
  return files.map(file => readFileSync(file, 'utf8')).join('\n')
}

function foldersOfHosts(folder: string): string[] {
  const inner = foldersIn(folder)
  return inner.flatMap(name => (path.basename(name) === 'hosts' ? name : foldersOfHosts(name)))
}

function foldersIn(folder: string): string[] {
  try {
    const found = readdirSync(folder, { withFileTypes: true })
    return found.flatMap(one => (one.isDirectory() ? path.join(folder, one.name) : []))
  } catch {
    // removed meanwhile
    return []
  }
}
