import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../../host/isolated-root.ts'
import { testDirectory } from '../../host/paths.ts'

/** An entry of `parley.agents`. */
export interface AgentSetting {
  command: string
  args?: string[]
  env?: Record<string, string>
  name?: string
}

/** One frame that the fixture agent got, or something it did. */
export interface LogLine {
  received?: { method?: string; params?: Record<string, unknown>; result?: unknown }
  event?: string
  /** milliseconds since the epoch */
  at?: number
  /** how long it took to write what the event is about */
  milliseconds?: number
  /** which one of a stream */
  index?: number
  pid?: number
}

const program = join(testDirectory, 'fixtures/agent/main.mjs')

/** The agent that lies, as an entry of the settings; a preset or a script of its own decides what it does. */
export function fixtureAgent(root: IsolatedRoot, name: string, script: string | object = {}): AgentSetting {
  return {
    name,
    command: process.execPath,
    args: [program],
    env: {
      FIXTURE_LOG: logOf(root, name),
      FIXTURE_SCRIPT: typeof script === 'string' ? script : JSON.stringify(script),
    },
  }
}

/** What the agent of that name was sent for a method, in this order. */
export function receivedBy(root: IsolatedRoot, name: string, method: string): Array<Record<string, unknown>> {
  return linesOf(root, name).flatMap(({ received }) =>
    received?.method === method ? [received.params ?? {}] : [],
  )
}

export function linesOf(root: IsolatedRoot, name: string): LogLine[] {
  const file = logOf(root, name)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as LogLine)
}

function logOf(root: IsolatedRoot, name: string): string {
  return join(root.directory, `${name.replace(/\W+/g, '-')}.log`)
}
