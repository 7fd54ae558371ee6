import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { processesStartedIn } from '../host/processes.ts'
import { waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { fixtureAgent } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

/** An agent that doesn't list its sessions, so only Parley stores their titles. */
const listless = (root: IsolatedRoot) =>
  fixtureAgent(root, 'Kept', { results: { 'session/list': { sessions: [] } } })

describe('if something goes wrong,', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': {
        kept: listless(root),
      },
    }),
  })
  let workbench: Workbench
  let conversation: ConversationPage

  it('a damaged conversation file is moved aside, and later messages are saved', async () => {
    const { userData } = vscode.server.root
    const storage = join(userData, 'User/globalStorage/parley.parley')
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Kept')
    await conversation.send('[[say Lost with the file.]]')
    await conversation.text(/^Lost with the file/).waitFor()
    await workbench.close()
    // the host keeps the file open until it exits
    const hosts = () =>
      processesStartedIn(vscode.server.root.directory).filter(({ command }) =>
        command.includes('--type=extensionHost'),
      )
    await waitFor('end of the extension host', () => hosts().length === 0)
    for (const name of readdirSync(storage).filter(one => one.startsWith('conversations.db')))
      writeFileSync(join(storage, name), 'no database any more '.repeat(500))
    workbench = await vscode.open()
    conversation = await ConversationPage.open(workbench)
    conversation = await ConversationPage.startSession(workbench, 'Kept')
    await conversation.send('[[say Kept from now on.]]')
    await conversation.text(/^Kept from now on/).waitFor()
    await workbench.notification('stores conversations was damaged').waitFor()
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await conversation.text(/^Kept from now on/).waitFor()
  })
})
