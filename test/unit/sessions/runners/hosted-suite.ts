import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { AgentHostProgram } from '../../../support/agent-host-program.ts'
import { script } from '../../../support/contracts/running-process.ts'
import { type Hosting, hostedWindows, type SessionsFixture } from '../sessions-fixture.ts'

/** What a suite with agents in the agent host needs: the host's program, a folder, and windows that are closed after each test. */
export class HostedSuite {
  readonly program = new AgentHostProgram()
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'parley-hosted-test-'))
  /** the open windows of the test */
  readonly windows: SessionsFixture[] = []

  constructor() {
    before(() => this.program.build())
    afterEach(async () => {
      for (const { manager, controller } of this.windows.splice(0)) {
        for (const { session } of manager.list()) session.agent.dispose()
        controller.dispose()
      }
      for (const { id } of await this.program.hosts.list()) await this.program.hosts.end(id)
    })
    after(async () => {
      await this.program.end()
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  /** An agent in the host that runs this JavaScript. */
  hosting(agent: string): Hosting {
    const { args, ...launch } = script(agent)
    return { program: this.program, launch: { ...launch, args: [...args] } }
  }

  /** Opens windows on one machine. */
  opener(hosting: Hosting): () => SessionsFixture {
    const open = hostedWindows(hosting)
    return () => {
      const window = open()
      this.windows.push(window)
      return window
    }
  }
}
