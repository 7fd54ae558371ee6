import assert from 'node:assert/strict'
import type { AgentLaunch } from '../../../src/acp/agent.ts'
import { isCancelled } from '../../../src/common/errors.ts'
import type * as Terminal from '../../../src/workbench/agents/sign-in-terminal.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

describe('a sign-in in a terminal', () => {
  it('opens no terminal if the user canceled while the start of the agent was looked up', async () => {
    let opened = 0
    const window = {
      createTerminal: () => ({ show: () => void opened++, dispose() {} }),
      onDidCloseTerminal: (close: (terminal: unknown) => void) => {
        close(undefined)
        return { dispose() {} }
      },
    }
    const { signInTerminal } = await loadWithFakeVsCode<typeof Terminal>(
      'workbench/agents/sign-in-terminal.ts',
      { window, ThemeIcon: class {} },
    )
    const launch: AgentLaunch = { command: 'agent', args: [], env: {}, cwd: '/' }
    const method = { methodId: 'm', name: 'Log in', type: 'terminal' as const }
    const canceled = new AbortController()
    const asked = signInTerminal('Agent', launch, method, canceled.signal)
    canceled.abort()
    await assert.rejects(asked, isCancelled)
    assert.equal(opened, 0)
  })
})
