import { AgentProcess } from '../../../src/acp/transport/agent-process.ts'
import { AgentHostProgram, TAG } from '../../support/agent-host-program.ts'
import { runningProcessContract } from '../../support/contracts/running-process.ts'

describe('a process that this one starts', () => {
  runningProcessContract(AgentProcess.start)
})

describe('a process that the agent host starts', () => {
  const program = new AgentHostProgram()
  before(() => program.build())
  after(() => program.end())

  runningProcessContract((launch, options) => program.hosts.start(launch, TAG, options))
})
