import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../../host/isolated-root.ts'
import { testDirectory } from '../../host/paths.ts'
import { SchemaCheck } from '../../support/schema-check.ts'

/** An entry of `parley.agents`. */
export interface AgentSetting {
  command: string
  args?: string[]
  env?: Record<string, string>
  name?: string
  /** which version of the protocol it is offered */
  protocol?: 'latest'
}

/** One frame that the fixture agent got, or something it did. */
export interface LogLine {
  received?: { id?: unknown; method?: string; params?: Record<string, unknown>; result?: unknown }
  /** A request of its own, without what it asked with. */
  asked?: { id: unknown; method: string }
  /** the version of the protocol that it answered to `initialize` */
  speaks?: number
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

/** Lets the agent of that name through the gate that it waits at, or will come to: `[[gate]]`. */
export function openGate(root: IsolatedRoot, name: string): void {
  writeFileSync(`${logOf(root, name)}.gate`, '')
}

/** What the agent of that name was sent for a method, in this order. */
export function receivedBy(root: IsolatedRoot, name: string, method: string): Array<Record<string, unknown>> {
  return linesOf(root, name).flatMap(({ received }) =>
    received?.method === method ? [received.params ?? {}] : [],
  )
}

export function linesOf(root: IsolatedRoot, name: string): LogLine[] {
  return readLog(logOf(root, name))
}

/** The agent may be writing the last line: it counts once it ends. */
function readLog(file: string): LogLine[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as LogLine)
}

/** Fails when a fixture agent of this root was ever sent a message that is not as the official schema has it. */
export function assertSpokenToAsDefined(root: IsolatedRoot): void {
  const problems = readdirSync(root.directory)
    .filter(name => name.endsWith('.log') && isFixtureLog(join(root.directory, name)))
    .flatMap(name => problemsIn(readLog(join(root.directory, name))).map(problem => `${name}: ${problem}`))
  if (problems.length > 0) throw new Error(`Not as the schema has it:\n${problems.join('\n')}`)
}

/** Others log into files of that name, too; ours has an object on each line. */
function isFixtureLog(file: string): boolean {
  return readFileSync(file, 'utf8').startsWith('{"at":')
}

/** @internal Each process that wrote to the log is a connection of its own. */
export function problemsIn(lines: readonly LogLine[]): string[] {
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
  // The agent lies: what it asks next to its requests is answered, too.
  return [...checks.values()].flatMap(({ problems }) =>
    problems.filter(problem => !problem.includes('an answer to nothing')),
  )
}

function logOf(root: IsolatedRoot, name: string): string {
  return join(root.directory, `${name.replace(/\W+/g, '-')}.log`)
}
