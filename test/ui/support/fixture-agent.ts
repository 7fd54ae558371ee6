import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../../host/isolated-root.ts'
import { testDirectory } from '../../host/paths.ts'
import { SchemaCheck } from '../../support/schema-check.ts'

/** Contains the log of each agent. */
type Root = Pick<IsolatedRoot, 'directory'>

/** An entry of `parley.agents`. */
export interface AgentSetting {
  command: string
  args?: string[]
  env?: Record<string, string>
  name?: string
  /** the protocol version that Parley offers */
  protocol?: 'latest'
}

/** A line of the fixture agent's log: a frame that it received, or something that it did. */
export interface LogLine {
  received?: { id?: unknown; method?: string; params?: Record<string, unknown>; result?: unknown }
  /** One of the agent's own requests, without its parameters. */
  asked?: { id: unknown; method: string }
  /** the protocol version in its response to `initialize` */
  speaks?: number
  event?: string
  /** milliseconds since the epoch */
  at?: number
  /** how long it took to write this */
  milliseconds?: number
  /** the index in a stream */
  index?: number
  pid?: number
}

const program = join(testDirectory, 'fixtures/agent/main.mjs')

/** What a fixture agent answers to `initialize` that speaks version 2 only. */
export const INITIALIZE_V2 = {
  protocolVersion: 2,
  info: { name: 'second', version: '2.0.0' },
  capabilities: { session: {} },
  agentInfo: null,
  agentCapabilities: null,
  authMethods: null,
}

/** The fixture agent as an entry of the settings; a preset or a script defines its behavior. */
export function fixtureAgent(root: Root, name: string, script: string | object = {}): AgentSetting {
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

/** Opens the `[[gate]]` at which the agent with this name waits, or will wait. */
export function openGate(root: Root, name: string): void {
  writeFileSync(`${logOf(root, name)}.gate`, '')
}

/** The parameters that the agent with this name received for a method, in order. */
export function receivedParams(root: Root, name: string, method: string): Array<Record<string, unknown>> {
  return agentLog(root, name).flatMap(({ received }) =>
    received?.method === method ? [received.params ?? {}] : [],
  )
}

export function agentLog(root: Root, name: string): LogLine[] {
  return readLog(logOf(root, name))
}

/** Ignores the last line until it's complete, since the agent may still be writing it. */
function readLog(file: string): LogLine[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as LogLine)
}

/** Fails if any fixture agent of this root received a message that violates the official schema. */
export function assertValidMessages(root: Root): void {
  const problems = readdirSync(root.directory)
    .filter(name => name.endsWith('.log') && isFixtureLog(join(root.directory, name)))
    .flatMap(name =>
      invalidMessages(readLog(join(root.directory, name))).map(problem => `${name}: ${problem}`),
    )
  if (problems.length > 0) throw new Error(`Not as the schema has it:\n${problems.join('\n')}`)
}

/** Other programs log to files with that name, too; the fixture agent writes an object per line. */
function isFixtureLog(file: string): boolean {
  return readFileSync(file, 'utf8').startsWith('{"at":')
}

/** @internal Each process that wrote to the log is a separate connection. */
export function invalidMessages(lines: readonly LogLine[]): string[] {
  const checks = new Map<number | undefined, SchemaCheck>()
  for (const { pid, received, asked, speaks } of lines) {
    const check = checks.get(pid) ?? new SchemaCheck({ unstable: true, alsoAllowed: ['session/set_model'] })
    checks.set(pid, check)
    if (received) check.see({ at: 0, direction: 'send', message: received })
    if (asked) check.see({ at: 0, direction: 'receive', message: asked })
    if (speaks === undefined) continue
    const id = lines.find(line => line.pid === pid && line.received?.method === 'initialize')?.received?.id
    check.see({ at: 0, direction: 'receive', message: { id, result: { protocolVersion: speaks } } })
  }
  // Answers to extra requests of an agent that violates the protocol are allowed.
  return [...checks.values()].flatMap(({ problems }) =>
    problems.filter(problem => !problem.includes('an answer to nothing')),
  )
}

function logOf(root: Root, name: string): string {
  return join(root.directory, `${name.replace(/\W+/g, '-')}.log`)
}
