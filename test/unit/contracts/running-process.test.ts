import { AgentProcess } from '../../../src/acp/transport/agent-process.ts'
import { runningProcessContract } from '../../support/contracts/running-process.ts'

describe('a process that this one starts', () => {
  runningProcessContract(AgentProcess.start)
})
