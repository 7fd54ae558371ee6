import assert from 'node:assert/strict'
import { deferred } from '../../../../src/common/async.ts'
import { Emitter } from '../../../../src/common/event.ts'
import { type TerminalAgent, TerminalAgents } from '../../../../src/mcp/terminal/terminal-agents.ts'
import type { TerminalIde } from '../../../../src/mcp/terminal/terminal-editor.ts'

describe('agents in terminals', () => {
  const on = new Set<TerminalAgent>()
  const open = new Set<TerminalAgent>()
  const failures: string[] = []
  let variables: Record<string, string>
  let failure: string | undefined
  let before: Promise<void> | undefined
  let agents: TerminalAgents
  let change: Emitter<void>

  const ide = (agent: TerminalAgent) => async (): Promise<TerminalIde> => {
    await before
    if (failure) throw new Error(failure)
    open.add(agent)
    return { variables: { [agent.toUpperCase()]: '1' }, dispose: () => void open.delete(agent) }
  }

  beforeEach(() => {
    for (const set of [on, open]) set.clear()
    failures.length = 0
    failure = undefined
    before = undefined
    variables = {}
    change = new Emitter()
    agents = new TerminalAgents({
      isOn: agent => on.has(agent),
      onDidChange: change.event,
      start: { claude: ide('claude'), gemini: ide('gemini') },
      setVariables: given => {
        variables = { ...given }
      },
      failed: (agent, message) => failures.push(`${agent}: ${message}`),
    })
  })
  afterEach(() => agents.dispose())

  it('reach the editor only while they are on', async () => {
    await agents.update()
    assert.deepEqual([[...open], variables], [[], {}])
    on.add('claude').add('gemini')
    await agents.update()
    assert.deepEqual(variables, { CLAUDE: '1', GEMINI: '1' })
    on.delete('claude')
    await agents.update()
    assert.deepEqual([[...open], variables], [['gemini'], { GEMINI: '1' }])
    agents.dispose()
    assert.deepEqual([[...open], variables], [[], {}])
  })

  it('that are turned off while they start, or whose window closes, are closed', async () => {
    const gate = deferred()
    before = gate.promise
    on.add('claude')
    const first = agents.update()
    on.delete('claude')
    gate.resolve()
    await first
    assert.deepEqual([[...open], variables], [[], {}])

    const second = deferred()
    before = second.promise
    on.add('gemini')
    const closing = agents.update()
    agents.dispose()
    second.resolve()
    await closing
    assert.deepEqual([[...open], variables], [[], {}])
  })

  it('report that one failed to start, and start the other', async () => {
    on.add('claude')
    failure = 'no port'
    await agents.update()
    assert.deepEqual([failures, variables], [['claude: no port'], {}])
    failure = undefined
    await agents.update()
    assert.deepEqual(variables, { CLAUDE: '1' })
  })

  it('say the same failure once, until they are turned on again', async () => {
    on.add('claude')
    const fail = async (text: string) => {
      failure = text
      await agents.update()
    }
    await fail('1234.lock is read-only')
    // the next port
    await fail('5678.lock is read-only')
    assert.deepEqual(failures, ['claude: 1234.lock is read-only'])
    await fail('no folder')
    assert.deepEqual(failures.splice(0), ['claude: 1234.lock is read-only', 'claude: no folder'])
    on.delete('claude')
    await agents.update()
    on.add('claude')
    await fail('no folder')
    assert.deepEqual(failures, ['claude: no folder'])
  })
})
