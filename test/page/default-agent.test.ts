import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { testDirectory } from '../host/paths.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'

describe('the default agent in the settings', () => {
  const env: Record<string, string> = { SHELL: '/bin/bash' }
  const vscode = new PageSuite({
    env,
    settings: root => {
      const log = join(root.directory, 'Gemini-CLI.log')
      const agent = join(testDirectory, 'fixtures/agent/main.mjs')
      // only the login shell has the agent on its PATH, and the shell is slow
      const bin = join(root.home, 'bin')
      mkdirSync(bin)
      const gate = join(root.home, 'gate')
      const lines = ['#!/bin/sh', `export FIXTURE_LOG='${log}'`, `exec '${process.execPath}' '${agent}'`]
      writeFileSync(join(bin, 'gemini'), `${lines.join('\n')}\n`)
      chmodSync(join(bin, 'gemini'), 0o755)
      const profile = `while [ ! -e '${gate}' ]; do sleep 0.1; done\n[ -s '${gate}' ] && PATH="${bin}:$PATH"\n`
      writeFileSync(join(root.home, '.bash_profile'), profile)
      return { 'parley.agents': { mine: fixtureAgent(root, 'Mine') }, 'parley.agentRegistry': '' }
    },
  })
  const card = (conversation: ConversationPage) => conversation.card("The default agent isn't available")
  const openGate = (found: boolean) => writeFileSync(join(vscode.root.home, 'gate'), found ? 'found' : '')
  /** Opens a folder of its own, so that no session of an earlier window is restored. */
  const asksFor = async (agentId: string, folder: string): Promise<[PageWindow, ConversationPage]> => {
    vscode.root.updateSettings({ 'parley.defaultAgent': agentId })
    const workbench = await vscode.open({ workspace: join(dirname(vscode.workspace), folder) })
    return [workbench, await ConversationPage.open(workbench)]
  }
  const starts = (name: string) => receivedParams(vscode.root, name, 'initialize').length

  it('starts once the search for installed agents has finished', async () => {
    const [workbench, conversation] = await asksFor('gemini', '.')
    await conversation.button(/^Mine/).waitFor()
    await workbench.runCommand('Parley: New Session')
    await conversation.composer.waitFor()
    assert.equal(await card(conversation).count(), 0)
    assert.deepEqual([starts('Mine'), starts('Gemini CLI')], [0, 0])
    openGate(true)
    await conversation.waitForAgent('Gemini CLI')
    await conversation.waitForPhase('ready')
    await conversation.send('hello')
    await conversation.text('You said: hello').waitFor()
    assert.equal(starts('Mine'), 0)
  })

  for (const [what, agentId, folder, text] of [
    ['misspelled', 'mien', 'planets-api', /unknown agent ID "mien" \(available: mine/],
    [
      'well known but not installed',
      'opencode',
      'notes',
      /OpenCode is a well-known agent, but opencode isn't on the PATH/,
    ],
  ] as const)
    it(`shows a card and starts no other agent if it's ${what}`, async () => {
      openGate(false)
      const before = starts('Gemini CLI')
      const mine = starts('Mine')
      const [workbench, conversation] = await asksFor(agentId, folder)
      await card(conversation).getByText(text).waitFor()
      await workbench.runCommand('Parley: New Session')
      await card(conversation).getByText(text).waitFor()
      await conversation.send('who is there?')
      await card(conversation).getByText(text).waitFor()
      assert.equal(starts('Mine'), mine)
      assert.equal(starts('Gemini CLI'), before)
      // the waiting prompt goes to the agent that the user chooses instead
      await card(conversation).getByRole('button', { name: 'Choose an Agent' }).click()
      await workbench.paletteInput.fill('Mine')
      await workbench.palette.locator('.monaco-list-row.focused', { hasText: 'Mine' }).waitFor()
      await workbench.paletteInput.press('Enter')
      await conversation.waitForAgent('Mine')
      await conversation.waitForPhase('ready')
      await workbench.close()
    })
})
