import assert from 'node:assert/strict'
import { succeeds, waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { Focus } from './support/focus.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

describe('with only the keyboard', () => {
  const vscode = new VsCodeSuite()

  /** Runs a command from the command palette without the mouse. */
  async function command(workbench: Workbench, title: string): Promise<void> {
    const { keyboard } = workbench.page
    let timeout = 3000
    await waitFor(`"${title}" in the command palette`, async () => {
      await keyboard.press('F1')
      const input = workbench.paletteInput.and(workbench.page.locator(':focus'))
      // a busy window can miss the key
      if (!(await succeeds(input.waitFor({ timeout })))) return false
      await keyboard.type(title)
      const first = workbench.palette.locator('.monaco-list-row').first().filter({ hasText: title })
      const found = await succeeds(first.waitFor({ timeout }))
      timeout = Math.min(2 * timeout, 24_000)
      await input.press(found ? 'Enter' : 'Escape')
      return found
    })
  }

  it('users can start, use, leave and find a session, and always see the focus', async () => {
    const workbench = await vscode.open()
    const { keyboard } = workbench.page
    await command(workbench, 'Parley: Focus on Parley View')
    let conversation = await ConversationPage.find(workbench)
    const { frame } = conversation
    const focus = await Focus.in(frame)
    await conversation.button(/^Try the Demo Agent/).waitFor()
    // VS Code doesn't focus a view that it has just created
    await command(workbench, 'Parley: Focus on Parley View')
    await conversation.waitForFocus(conversation.composer)

    // the list of agents is one tab stop, with arrow keys to move in it
    await focus.goTo(/^Open Session History/, 'Shift+Tab')
    await keyboard.press('Shift+Tab')
    await focus.goTo(/^Try the Demo Agent/, 'ArrowDown')
    await keyboard.press('Enter')
    await conversation.waitUntilReady()

    await conversation.waitForFocus(conversation.composer)
    await keyboard.type('Look at planets.js, please')
    await keyboard.press('Enter')
    const edit = conversation.permission.filter({ hasText: 'Allow this edit?' })
    await conversation.waitForFocus(edit.getByRole('button', { name: 'Allow once' }))
    await keyboard.press('Enter')
    await edit.waitFor({ state: 'detached' })
    const run = conversation.permission.filter({ hasText: 'Allow running this command?' })
    await conversation.waitForFocus(run.getByRole('button', { name: 'Allow once' }))
    await keyboard.press('1')
    await conversation.text('exit code 0').waitFor()
    await conversation.button(/^Stop \(/).waitFor({ state: 'detached' })

    // the turn and its requests were announced, but not every chunk of text
    for (const sentence of [
      /^Demo Agent is ready/,
      /^Demo Agent is working/,
      /^Demo Agent asks: Edit planets\.js/,
      /^Demo Agent asks: .*ls -la/,
      /^Demo Agent finished/,
    ])
      await waitFor(`${sentence} told`, async () =>
        (await focus.announcements()).some(text => sentence.test(text)),
      )
    const heard = await focus.announcements()
    assert.ok(heard.length < 12, JSON.stringify(heard))

    // typing anywhere goes to the composer; Tab and Shift+Tab go through all elements
    await keyboard.type('a')
    await conversation.waitForFocus(conversation.composer)
    await keyboard.press('Backspace')
    const stops = [...(await focus.tabThrough('Tab')), ...(await backFrom(workbench, focus))]
    for (const wanted of [/^Edit: Edit planets/, /^Command: ls/, /^Mode: /, /Demo Agent/])
      assert.ok(
        stops.some(stop => wanted.test(stop.name)),
        `${wanted} among ${stops.map(stop => stop.name).join(' | ')}`,
      )
    assert.deepEqual(
      stops.filter(stop => !stop.shown || !stop.inView || stop.name === ''),
      [],
    )

    // arrow keys move from row to row, and into a row
    await command(workbench, 'Parley: Focus on Parley View')
    await focus.goTo(/^Command: ls/, 'Shift+Tab')
    await focus.goTo(/^Edit: Edit planets/, 'ArrowUp')
    await keyboard.press('Enter')
    await frame.locator('.diff').first().waitFor()
    await keyboard.press('Enter')
    await frame.locator('.diff').first().waitFor({ state: 'detached' })

    // Escape first closes what is open, then stops the turn
    await keyboard.type('/slow 600')
    await keyboard.press('Enter')
    await conversation.button(/^Tool: Work for 600 seconds/).waitFor()
    await conversation.waitForFocus(conversation.composer)
    await focus.goTo(/^Mode: /, 'Tab')
    await keyboard.press('Enter')
    await frame.getByRole('listbox').waitFor()
    await keyboard.press('ArrowDown')
    await keyboard.press('Escape')
    await frame.getByRole('listbox').waitFor({ state: 'detached' })
    await focus.waitFor(/^Mode: /)
    assert.equal(await conversation.button(/^Stop \(/).count(), 1, 'Escape in the menu stopped the turn')
    await keyboard.press('Escape')
    await conversation.text('Stopped by you').waitFor()
    await waitFor('the end told', async () => (await focus.announcements()).includes('Stopped by you'))

    await command(workbench, 'Parley: Open History')
    const history = await workbench.webview('main.history')
    await history.getByRole('option').first().waitFor()
    const inHistory = await Focus.in(history)
    await inHistory.waitFor(/^Search sessions/)
    await keyboard.type('planets')
    await waitFor('the only match', async () => (await history.getByRole('option').count()) === 1)
    await keyboard.press('ArrowDown')
    await keyboard.press('Enter')
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForPhase('ready')
  })

  /** Goes back with Shift+Tab from the element after the view, through the view to its start. */
  async function backFrom(workbench: Workbench, focus: Focus) {
    const last = await waitFor('the way back into the view', async () => {
      await workbench.page.keyboard.press('Shift+Tab')
      return focus.current()
    })
    return [last, ...(await focus.tabThrough('Shift+Tab'))]
  }
})
