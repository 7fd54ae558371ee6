import { afterEach } from 'mocha'
import type { Agent, AgentClient, AgentExit } from '../../src/acp/agent.ts'
import { AgentClosedError } from '../../src/acp/agent.ts'
import { Connection, type ConnectionHandlers } from '../../src/acp/connection.ts'
import type { SessionUpdate } from '../../src/acp/model.ts'
import { AgentV1 } from '../../src/acp/v1/agent-v1.ts'
import { AgentV2 } from '../../src/acp/v2/agent-v2.ts'
import { initializeSchema } from '../../src/acp/wire/initialize.ts'
import { Emitter } from '../../src/common/event.ts'
import type { Logger } from '../../src/common/logger.ts'
import { MemoryPipe } from './memory-pipe.ts'
import { SchemaCheck, type SchemaCheckOptions } from './schema-check.ts'

export interface MemoryAgent {
  agent: Agent
  /** the agent's exit */
  pipe: MemoryPipe
  updates: Array<{ sessionId: string; update: SessionUpdate }>
  /** logged warnings and errors */
  warnings: string[]
  check: SchemaCheck
  /** Ends the agent's connection. */
  exit(exit?: Partial<AgentExit>): void
}

const open: SchemaCheck[] = []

/**
 * An agent in this process that the test controls, in v1 or the version of `schema`. Parley's messages are checked
 * against the official schema: if one is invalid, the test fails at its end.
 * @param answer the agent's response to `initialize`, without the version
 */
export function memoryAgent(
  answer: object = {},
  client: Partial<AgentClient> = {},
  schema: SchemaCheckOptions = {},
): MemoryAgent {
  const pipe = new MemoryPipe()
  const check = new SchemaCheck(schema)
  open.push(check)
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const log: Logger = { trace() {}, debug() {}, info() {}, warn, error: warn }
  let handlers: ConnectionHandlers | undefined
  const connection = new Connection({
    reader: pipe.reader,
    writer: pipe.writer,
    handlers: {
      notification: (method, params) => handlers?.notification(method, params) ?? false,
      request: (method, params, signal) => handlers?.request(method, params, signal),
    },
    log,
    tap: { current: check.tap },
  })
  connection.listen()
  const onDidClose = new Emitter<AgentExit>()
  let isOver = false
  const exit = (how: Partial<AgentExit> = {}) => {
    if (isOver) return
    isOver = true
    const whole: AgentExit = { reason: 'exited', stderrTail: '', ...how }
    connection.end(new AgentClosedError(whole))
    onDidClose.fire(whole)
  }
  const link = { connection, onDidClose: onDidClose.event, dispose: () => exit({ reason: 'disposed' }) }
  const protocolVersion = schema.version ?? 1
  const agent = new (protocolVersion === 2 ? AgentV2 : AgentV1)({
    link,
    answer: initializeSchema.parse({ protocolVersion, ...answer }),
    client: client as AgentClient,
    log,
  })
  handlers = agent
  const updates: MemoryAgent['updates'] = []
  agent.onUpdate(update => updates.push(update))
  return { agent, pipe, updates, warnings, check, exit }
}

afterEach(() => {
  for (const check of open.splice(0)) check.assertClean()
})
