import assert from 'node:assert/strict'
import type { InstallManager } from '../../../src/agents/registry/install-manager.ts'
import { installCommands } from '../../../src/app/commands/install-commands.ts'
import { CommandId } from '../../../src/app/ids.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
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
      isRunning: agentId => running.includes(agentId),
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

  it("isn't restarted if it isn't running: a new session is offered", async () => {
    running = ['claude']
    await update()
    await until(() => commands.length > 0)
    assert.deepEqual(offered, [['Codex 1.1.0 is installed.', 'New Session']])
    assert.deepEqual([restarted, commands], [[], [[CommandId.newSessionWithAgent, 'codex']]])
  })
})
