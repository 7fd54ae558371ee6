import assert from 'node:assert/strict'
import type { InstallManager } from '../../../src/agents/registry/install-manager.ts'
import { runningAccounts } from '../../../src/app/agents/running-accounts.ts'
import { installCommands } from '../../../src/app/commands/install-commands.ts'
import { CommandId } from '../../../src/app/ids.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import type { AgentRunner } from '../../../src/sessions/runners/agent-runner.ts'
import { until } from '../../support/until.ts'

describe('an updated agent', () => {
  const offered: Array<[string, string]> = []
  const commands: unknown[][] = []
  const restarted: string[] = []
  let running: string[]

  const workbench = {
    isTrusted: true,
    execute: async (...command: unknown[]) => void commands.push(command),
    dialogs: {
      progress: (_options: unknown, run: (...args: unknown[]) => unknown) =>
        run(() => {}, new AbortController().signal),
      // answers for the user, who clicks the offered button
      info: async (text: string, button: string) => {
        offered.push([text, button])
        return button
      },
    },
  } as unknown as Workbench
  const agent = { id: 'codex-acp', name: 'Codex', version: '1.1.0' }
  const installs = {
    load: async () => {},
    find: () => agent,
    install: async () => 'installed',
    installed: [agent],
    status: () => undefined,
    onDidChange: () => ({ dispose() {} }),
  } as unknown as InstallManager

  beforeEach(async () => {
    for (const list of [offered, commands, restarted]) list.length = 0
  })

  const update = () =>
    installCommands({
      installs,
      workbench,
      logs: {} as never,
      agentLogger: () => silentLogger,
      running: agentId => [agentId, 'work'].filter(id => running.includes(id)),
      restart: async agentId => void restarted.push(agentId),
      forget: async () => {},
    })[CommandId.updateAgent](agent.id)

  it("is restarted by Restart Agent, whatever the conversation's agent", async () => {
    running = ['claude', 'codex']
    await update()
    await until(() => restarted.length > 0)
    assert.deepEqual(offered, [['Codex 1.1.0 is installed.', 'Restart Agent']])
    assert.deepEqual([restarted, commands], [['codex'], []])
  })

  it('is restarted for the accounts that use it, also if it is not running itself', async () => {
    running = ['work']
    await update()
    await until(() => restarted.length > 0)
    assert.equal(offered[0]?.[1], 'Restart Agent')
    assert.deepEqual(restarted, ['work'])
  })

  it('runs also if only an account of it does', () => {
    const agent = {
      id: 'codex',
      name: 'Codex',
      command: 'c',
      args: [],
      env: {},
      source: 'installed' as const,
    }
    const account = { ...agent, id: 'work', account: { of: 'codex', folder: '/work' } }
    const other = { ...agent, id: 'other', account: { of: 'claude', folder: '/other' } }
    const all = [agent, account, other].map(one => ({ ...one, startable: true }))
    const runners = { peek: (id: string) => ({ running: id === 'codex' ? undefined : {} }) as AgentRunner }
    assert.deepEqual(runningAccounts('codex', { definitions: () => all, runners }), ['work'])
    // it was removed
    assert.deepEqual(runningAccounts('codex', { definitions: () => all.slice(1), runners }), ['work'])
  })

  it("isn't restarted if it isn't running: a new session is offered", async () => {
    running = ['claude']
    await update()
    await until(() => commands.length > 0)
    assert.deepEqual(offered, [['Codex 1.1.0 is installed.', 'New Session']])
    assert.deepEqual([restarted, commands], [[], [[CommandId.newSessionWithAgent, 'codex']]])
  })
})

describe('a removed agent', () => {
  const agent = { id: 'codex-acp', name: 'Codex', version: '1.1.0' }
  let isRunning: boolean
  let texts: string[]
  const remove = (onRemove = () => {}) =>
    installCommands({
      installs: {
        load: async () => {},
        installed: [agent],
        remove: async () => onRemove(),
      } as unknown as InstallManager,
      workbench: {
        isTrusted: true,
        dialogs: {
          confirm: async (_text: string, { detail = '' }, button: string) => {
            texts.push(detail)
            return button
          },
          info: async (text: string) => void texts.push(text),
        },
      } as unknown as Workbench,
      logs: {} as never,
      agentLogger: () => silentLogger,
      running: () => (isRunning ? ['codex'] : []),
      restart: async () => {},
      forget: async () => {},
    })[CommandId.removeAgent](agent.id)
  beforeEach(() => {
    texts = []
  })

  it('is said to run on if it has open sessions, before and after', async () => {
    isRunning = true
    await remove()
    assert.match(texts[0]!, /^The agent is running\. Its open sessions continue/)
    assert.equal(texts[1], 'Codex was removed, but still runs. Its files are deleted when it ends.')
  })

  it("isn't said to run if it ended or never ran", async () => {
    isRunning = true
    await remove(() => {
      isRunning = false
    })
    assert.equal(texts[1], 'Codex was removed.')
    texts = []
    await remove()
    assert.match(texts[0]!, /^The files that Parley installed/)
  })
})
