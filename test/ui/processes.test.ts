import assert from 'node:assert/strict'
import { findExtensionHost, processesStartedIn, type StrayProcess } from '../host/processes.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

/** Identifies the processes of these tests: nothing else sleeps for this many seconds. */
const mark = 98_317

describe('processes', () => {
  // three commands that detach from their shell: one in the background, one started by a shell that exits immediately, and
  // one in a session of its own
  const commands = `(sh -c 'sleep ${mark} & exec sleep ${mark}' &) ; setsid sleep ${mark} & trap '' TERM ; sleep ${mark} ; sleep ${mark}`
  const vscode = new VsCodeSuite({
    ownServer: true,
    settings: root => ({
      'parley.agents': {
        // ignores SIGTERM, and has children of its own
        stubborn: fixtureAgent(root, 'Stubborn', {
          preset: 'quirk-20',
          prompt: [{ do: `children ${mark}` }, { do: `run ${commands}` }, { hang: true }],
        }),
      },
    }),
  })

  /** The running agents, child processes and terminal commands of all windows. */
  const running = (): StrayProcess[] =>
    processesStartedIn(vscode.server.root.directory).filter(
      ({ command }) =>
        /fixtures\/agent\/main\.mjs|process-guard/.test(command) || command.includes(String(mark)),
    )

  /** Starts a turn of an agent with child processes, and a terminal whose commands detach from their shell. */
  async function work(): Promise<Workbench> {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Stubborn')
    await conversation.send('Go')
    await waitFor('the commands of the terminal', () => {
      const sleeping = running().filter(({ command }) => command === `sleep ${mark}`)
      return sleeping.length === 4
    })
    await conversation.button(/^Stop \(/).waitFor()
    return workbench
  }

  async function nothingLeft(): Promise<void> {
    await waitFor('end of all that the agent ran', () => running().length === 0).catch(() => {
      assert.deepEqual(running(), [])
    })
  }

  it('of an agent exit when the window is closed during a turn', async () => {
    const workbench = await work()
    await workbench.close()
    await nothingLeft()
  })

  it('of an agent exit when the extension host is killed during a turn', async () => {
    await work()
    const before = running().map(({ pid }) => pid)
    process.kill(await findExtensionHost(vscode.server.root), 'SIGKILL')
    // the workbench may start another host, which restores the session: only the old processes must exit
    const left = () => running().filter(({ pid }) => before.includes(pid))
    await waitFor('end of what the killed host ran', () => left().length === 0).catch(() => {
      assert.deepEqual(left(), [])
    })
  })
})
