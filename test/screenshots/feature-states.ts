import { pasteImage } from '../ui/support/clipboard.ts'
import { openFile } from '../ui/support/editor.ts'
import type { State } from './studio.ts'

/** The composer, the menus and the find widget in use. */
export const featureStates: State[] = [
  {
    name: 'composer',
    async take(studio) {
      const { workbench } = studio
      const { keyboard } = workbench.page
      const conversation = await studio.startReadySession('Capable')
      await conversation.composer.click()
      await keyboard.type('Compare @')
      const rows = conversation.frame.getByRole('listbox', { name: 'Context' }).getByRole('option')
      await rows.first().waitFor()
      await studio.captureSideBar('mention-all')
      await keyboard.type('plan')
      await rows.filter({ hasText: 'planets.js' }).first().waitFor()
      await studio.captureSideBar('mention-files')
      await keyboard.press('Enter')
      await keyboard.type('with @server.js')
      await rows.filter({ hasText: 'server.js' }).first().waitFor()
      await keyboard.press('Enter')
      await keyboard.type('and the picture, and say which of them has to change first.')
      await pasteImage(conversation.frame, 640, 400)
      await conversation.frame.getByRole('list', { name: 'Attached' }).getByRole('img').waitFor()
      await studio.captureSideBar('composer-filled')
      await studio.captureNarrow('composer-filled')
      await conversation.button('Send (Enter)').click()
      await conversation.text('You said').waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('prompt-with-context')
    },
  },
  {
    // everything in one image, for the README
    name: 'at-work',
    needsWorkbench: true,
    async take(studio) {
      const { workbench } = studio
      await openFile(workbench, 'planets.js')
      await workbench.openViewContainer('Parley')
      await workbench.setSideBarWidth(440)
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('Look at planets.js, please')
      const edit = conversation.permission.filter({ hasText: 'Allow this edit?' })
      await edit.waitFor()
      await studio.captureWindow('at-work')
      await edit.getByRole('button', { name: 'Allow once' }).click()
      await edit.waitFor({ state: 'detached' })
      await conversation.permission.filter({ hasText: 'Allow running this command?' }).waitFor()
      await studio.captureWindow('at-work-command')
      await conversation.button(/^Stop \(/).click()
      await studio.waitForTurnEnd(conversation)
      await studio.resetWidth()
      await workbench.runCommand('View: Close All Editors')
      await workbench.openViewContainer('Parley')
    },
  },
  {
    name: 'menus',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      const { frame } = conversation
      const { keyboard } = studio.workbench.page
      await conversation.composer.click()
      await keyboard.type('/')
      await frame.getByRole('option').first().waitFor()
      await studio.captureSideBar('commands')
      await keyboard.press('Escape')
      await keyboard.press('Backspace')
      await conversation.button(/^Mode: /).click()
      await frame.getByRole('listbox').waitFor()
      await studio.captureSideBar('menu-mode')
      await keyboard.press('Escape')
      await conversation.openDetails()
      await studio.captureSideBar('details')
      await keyboard.press('Escape')
    },
  },
  {
    name: 'find',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('/markdown')
      await conversation.text('That was all of it.').waitFor()
      await studio.waitForTurnEnd(conversation)
      await conversation.composer.press('ControlOrMeta+f')
      await conversation.waitForFocus(conversation.frame.getByRole('search').getByRole('textbox'))
      await studio.workbench.page.keyboard.type('line')
      await conversation.frame.locator('.find-count', { hasText: / of / }).waitFor()
      await studio.captureSideBar('find')
      await studio.captureNarrow('find')
      await studio.workbench.page.keyboard.press('Escape')
    },
  },
  {
    name: 'subagents',
    async take(studio) {
      const conversation = await studio.startReadySession('Delegating')
      await conversation.send('Review the change')
      await conversation.text('Both have looked at it.').waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('subagents')
    },
  },
]
