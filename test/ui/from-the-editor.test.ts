import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator } from 'playwright-core'
import { succeeds, waitFor } from '../host/wait-for.ts'
import type { Workbench } from '../host/workbench.ts'
import { ConversationPage } from './support/conversation-page.ts'
import { openFile, selectLines } from './support/editor.ts'
import { fixtureAgent, openGate, receivedParams } from './support/fixture-agent.ts'
import { VsCodeSuite } from './support/vscode-suite.ts'

/** A script: reports that it reads one line and edits another, then waits. */
const reads = {
  prompt: [
    {
      update: {
        sessionUpdate: 'tool_call',
        toolCallId: 'read',
        title: 'Read planets.js',
        kind: 'read',
        status: 'completed',
        locations: [{ path: '$cwd/planets.js', line: 3 }],
      },
    },
    { do: 'edit planets.js Mars Ares' },
    { do: 'gate' },
  ],
}

describe('in the editor, Parley', () => {
  const vscode = new VsCodeSuite({
    settings: root => ({
      'parley.agents': {
        fixture: fixtureAgent(root, 'Fixture'),
        reader: fixtureAgent(root, 'Reader', reads),
      },
      'parley.defaultAgent': 'fixture',
      // otherwise an editor that opens changes the selection in the explorer, possibly later
      'explorer.autoReveal': false,
      'terminal.integrated.gpuAcceleration': 'off',
    }),
  })
  let workbench: Workbench
  let conversation: ConversationPage

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
  })

  const chip = (label: string) => conversation.frame.locator('.composer .chip', { hasText: label }).first()
  const remove = async (label: string) => {
    await chip(label)
      .getByRole('button', { name: `Remove ${label}` })
      .click()
    await chip(label).waitFor({ state: 'detached' })
  }
  const explorerRow = (name: string) =>
    workbench.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).first()

  /** A file in a folder that may be collapsed. */
  async function inExplorer(name: string): Promise<Locator> {
    await workbench.runCommand('View: Show Explorer')
    await explorerRow('notes').waitFor()
    const file = explorerRow(name)
    await waitFor('files of the folder', async () => {
      if (await file.isVisible()) return true
      await explorerRow('planets-api').click()
      return file.waitFor({ timeout: 3000 }).then(
        () => true,
        () => false,
      )
    })
    return file
  }

  it('adds the selection with two keys, and gives the input the focus', async () => {
    await openFile(workbench, 'planets.js')
    await selectLines(workbench, 2)
    for (const key of ["Control+'", 'a']) await workbench.page.keyboard.press(key)
    await chip('planets.js:1-2').waitFor()
    await conversation.waitForFocus(conversation.composer)
    await remove('planets.js:1-2')
  })

  it('fills the input of a new session from a link, and sends nothing', async () => {
    const prompts = () => receivedParams(vscode.server.root, 'Fixture', 'session/prompt').length
    const before = prompts()
    await workbench.runCommand('Developer: Open URL')
    // until then, it's the input of the command palette
    await workbench.palette.getByText('URL to open').waitFor()
    const text = encodeURIComponent('Explain a & b')
    await workbench.paletteInput.fill(`vscode://parley.parley/new?agent=fixture&prompt=${text}`)
    await workbench.paletteInput.press('Enter')
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog
      .getByText(/Parley/)
      .first()
      .waitFor()
    await dialog.getByRole('button', { name: 'Open', exact: true }).click()
    await waitFor('the prompt', async () => (await conversation.composerText()) === 'Explain a & b')
    await conversation.waitForPhase('ready')
    assert.equal(prompts(), before)
    await conversation.composer.fill('')
  })

  it('adds the selected files and folders of the explorer', async () => {
    const file = await inExplorer('planets.js')
    const both = workbench.page.locator('.explorer-folders-view .monaco-list-row.selected')
    await waitFor('both selected', async () => {
      await file.click()
      await workbench.page.locator('.tabs-container .tab.active', { hasText: 'planets.js' }).waitFor()
      await explorerRow('notes').click({ modifiers: ['Control'] })
      return (await both.count()) === 2
    })
    await workbench.chooseFromContextMenu(file, 'Add to Conversation')
    conversation = await ConversationPage.find(workbench)
    await chip('planets.js').waitFor()
    await chip('notes').waitFor()
    await conversation.waitForFocus(conversation.composer)
    await remove('planets.js')
    await remove('notes')
  })

  it("adds a file from its tab's context menu, and the active editor with the icon in its title", async () => {
    await openFile(workbench, 'server.js')
    await workbench.chooseFromContextMenu(
      workbench.page.locator('.tab', { hasText: 'server.js' }).first(),
      'Add to Conversation',
    )
    await chip('server.js').waitFor()
    await remove('server.js')
    await workbench.runCommand('View: Show Explorer')
    await workbench.page
      .locator('.part.editor .editor-actions')
      .getByRole('button', { name: /^Focus Conversation/ })
      .click()
    conversation = await ConversationPage.find(workbench)
    await conversation.waitForFocus(conversation.composer)
  })

  /**
   * Drags with the mouse while holding Shift, because without Shift VS Code handles the drop itself. Begins again if the hint to drop doesn't
   * appear, which has happened on a slow machine; why isn't known.
   */
  async function drag(from: Locator, to: Locator): Promise<void> {
    const { mouse, keyboard } = workbench.page
    const center = async (element: Locator) => {
      const box = await element.boundingBox()
      assert.ok(box)
      return [box.x + box.width / 2, box.y + box.height / 2] as const
    }
    await workbench.page.evaluate(() => {
      document.addEventListener('dragstart', () => document.body.setAttribute('data-drags', ''), {
        capture: true,
      })
    })
    const hint = conversation.frame.getByText('Drop to add to the prompt')
    await waitFor('hint to drop', async () => {
      await workbench.page.evaluate(() => document.body.removeAttribute('data-drags'))
      const [x, y] = await center(from)
      await mouse.move(x, y)
      await mouse.down()
      await mouse.move(x + 8, y + 8, { steps: 4 })
      await keyboard.down('Shift')
      // an update of the list can move the element away from the mouse
      if ((await workbench.page.locator('body[data-drags]').count()) > 0) {
        const [toX, toY] = await center(to)
        let nudge = 0
        const hinted = waitFor(
          'hint',
          async () => {
            nudge = 4 - nudge
            await mouse.move(toX + nudge, toY, { steps: 4 })
            return hint.isVisible()
          },
          { timeout: 10_000 },
        )
        if (await succeeds(hinted)) return true
        await keyboard.up('Shift')
        await keyboard.press('Escape')
        await mouse.move(x, y)
      }
      await keyboard.up('Shift')
      await mouse.up()
      return false
    })
    await mouse.up()
    await keyboard.up('Shift')
    await hint.waitFor({ state: 'detached' })
  }

  it('adds an editor tab that is dragged anywhere onto the conversation', async () => {
    await openFile(workbench, 'server.js')
    const tab = workbench.page.locator('.tab', { hasText: 'server.js' }).first()
    await drag(tab, conversation.frame.getByRole('heading', { name: 'New session' }))
    await chip('server.js').waitFor()
    await remove('server.js')
  })

  it('adds a file that is dragged from the explorer onto a conversation in a tab', async () => {
    await workbench.runCommand('View: Close All Editors')
    await workbench.runCommand('Parley: Open Conversation in Editor Tab')
    const file = await inExplorer('planets.js')
    const inSideBar = conversation.frame
    const inTab = await waitFor('the conversation in the tab', async () => {
      const shown = await workbench.webview('body[data-view="conversation"][data-phase="ready"]')
      return shown !== inSideBar && shown
    })
    conversation = await ConversationPage.inFrame(inTab)
    await drag(file, conversation.frame.getByRole('heading', { name: 'New session' }))
    await chip('planets.js').waitFor()
    await remove('planets.js')
    await workbench.runCommand('View: Close All Editors')
  })

  it('says why a command has nothing to add or quote', async () => {
    // offered once there is something to quote
    await conversation.send('[[say Something to quote.]]')
    await conversation.agentMessage('Something to quote.').waitFor()
    await workbench.chooseFromContextMenu(conversation.agentMessage('Something to quote.'), 'Quote Selection')
    await conversation.frame.getByRole('alert').getByText('Select text in the conversation first.').waitFor()
    await conversation.composer.fill('x')
    await conversation.frame.getByRole('alert').waitFor({ state: 'detached' })
    await conversation.composer.fill('')
    await workbench.runCommand('View: Close All Editors')
    await workbench.runCommand('Parley: Add File to Conversation')
    await workbench.notification('Open or select a file on this machine first.').waitFor()
  })

  /** The texts of all blocks of the last prompt. */
  const prompted = () => {
    const blocks = receivedParams(vscode.server.root, 'Fixture', 'session/prompt').at(-1)?.prompt
    return JSON.stringify(blocks ?? [])
  }
  /** Runs a code action; `prepare` sets the selection again before each try, since Escape removes it. */
  const chooseCodeAction = async (title: string, prepare: () => Promise<void>) => {
    const row = workbench.page.locator('.action-widget .monaco-list-row', { hasText: title }).first()
    await waitFor(`code action "${title}"`, async () => {
      await prepare()
      await workbench.page.keyboard.press('Control+.')
      // the language service may still be starting
      const shown = await row.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      )
      // the list closes when something else takes the focus, such as a page that has just loaded
      if (shown && (await succeeds(row.click({ timeout: 3000 })))) return true
      await workbench.page.keyboard.press('Escape')
      return false
    })
  }

  it('writes a prompt that fixes a problem, with a code action, after the draft', async () => {
    const file = join(dirname(vscode.workspace), 'planets-api', 'broken.json')
    writeFileSync(file, 'nonsense\n')
    await conversation.composer.fill('My draft')
    await openFile(workbench, 'broken.json')
    await workbench.page.locator('.squiggly-error').first().waitFor()
    const line = workbench.page.locator('.editor-group-container.active .view-line', { hasText: 'nonsense' })
    await chooseCodeAction('Fix with Parley', () => line.click())
    await conversation.waitForFocus(conversation.composer)
    await waitFor('the prompt', async () =>
      /^My draft\s+Fix this problem\.$/.test(await conversation.composerText()),
    )
    await conversation.frame.locator('.composer .chip', { hasText: 'broken.json' }).first().waitFor()
    await workbench.screenshot('fix-in-composer')
    assert.doesNotMatch(prompted(), /Fix this problem/)
    await workbench.page.keyboard.press('Enter')
    await waitFor('prompt', () => prompted().includes('Fix this problem.'))
    assert.match(prompted(), /planets-api\/broken\.json#L1-L1/)
    assert.match(prompted(), /broken\.json:1: error: /)
    await workbench.runCommand('View: Revert and Close Editor')
    rmSync(file)
  })

  it('asks the agent to explain the selection, with a code action that sends at once, and keeps the draft', async () => {
    vscode.server.root.updateSettings({ 'parley.sendCodeActions': true })
    // an open window may miss the change; this one has the setting with the agents, which are in the same file
    workbench = await vscode.open()
    conversation = await ConversationPage.startSession(workbench, 'Fixture')
    await conversation.composer.fill('My draft')
    await openFile(workbench, 'planets.js')
    await chooseCodeAction('Explain with Parley', () => selectLines(workbench, 2))
    await conversation.frame.locator('.row-prompt', { hasText: 'Explain this code.' }).waitFor()
    await waitFor('prompt', () => prompted().includes('Explain this code.'))
    assert.match(prompted(), /planets\.js#L1-L2/)
    await waitFor('the draft', async () => (await conversation.composerText()) === 'My draft')
    await conversation.composer.fill('')
    vscode.server.root.updateSettings({ 'parley.sendCodeActions': undefined })
  })

  it('generates a commit message from the staged changes, or from all if nothing is staged', async () => {
    const folder = join(dirname(vscode.workspace), 'planets-api')
    const file = join(folder, 'planets.js')
    const before = readFileSync(file, 'utf8')
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
    git('init', '-q')
    git('add', '.')
    git('-c', 'user.name=t', '-c', 'user.email=t@t.example', 'commit', '-q', '-m', 'Count the planets')
    const { root } = vscode.server
    const deleted = () => receivedParams(root, 'Fixture', 'session/delete').length
    await workbench.page
      .locator('.activitybar')
      .getByRole('tab', { name: /^Source Control/ })
      .click()
    const generate = async () => {
      // the buttons of a view are visible while it's hovered
      await workbench.page.locator('.pane-header', { hasText: 'Changes' }).first().hover()
      await workbench.page
        .getByRole('button', { name: /^Generate Commit Message/ })
        .first()
        .click()
    }
    const input = (text: string) => workbench.page.locator('.scm-editor .view-line', { hasText: text })
    await generate()
    await workbench.notification('There are no changes to commit.').waitFor()

    // the changes contain the agent's script: a permission request, which isn't shown to anyone, and a response
    appendFileSync(file, '// [[permission planets.js]] [[say Named the ninth planet]]\n')
    const sessions = deleted()
    await generate()
    await input('rejected.Named').waitFor()
    assert.match(prompted(), /Count the planets/)
    assert.match(String(receivedParams(root, 'Fixture', 'session/new').at(-1)?.cwd), /scratch$/)
    await waitFor('end of the session', () => deleted() === sessions + 1)
    assert.match(readFileSync(file, 'utf8'), /Named the ninth planet/, 'the agent may write nothing')

    // the progress of the previous message stays visible for a moment
    const progress = workbench.notification('Fixture is writing a commit message…')
    await progress.waitFor({ state: 'detached' })
    appendFileSync(file, '// [[gate]]\n')
    git('add', '.')
    await generate()
    await progress.waitFor()
    await progress.hover()
    await progress.getByRole('button', { name: 'Cancel' }).click()
    await progress.waitFor({ state: 'detached' })
    await waitFor('end of the session', () => deleted() === sessions + 2)
    assert.ok(receivedParams(root, 'Fixture', 'session/cancel').length > 0)
    await input('rejected.Named').waitFor()

    rmSync(join(folder, '.git'), { recursive: true })
    writeFileSync(file, before)
  })

  it('marks the lines that an agent reads and edits until the turn ends', async () => {
    const file = join(dirname(vscode.workspace), 'planets-api', 'planets.js')
    const before = readFileSync(file, 'utf8')
    conversation = await ConversationPage.startSession(workbench, 'Reader')
    await openFile(workbench, 'planets.js')
    const editor = workbench.page.locator('.editor-group-container.active .monaco-editor').first()
    await editor.locator('.view-line', { hasText: 'Mars' }).waitFor()
    await editor.and(workbench.page.locator('.focused')).waitFor()
    /** The texts of the lines with a bar next to them. */
    const marked = () =>
      workbench.page.evaluate<string[]>(`(() => {
        const lines = [...document.querySelectorAll('.part.editor .view-line')]
        const top = element => element.getBoundingClientRect().top
        return [...document.querySelectorAll('.part.editor .view-overlays .cdr')]
          .filter(bar => getComputedStyle(bar).borderLeftWidth === '2px')
          .map(bar => lines.find(line => Math.abs(top(line) - top(bar)) < 3)?.textContent ?? '')
      })()`)
    await conversation.send('Go')
    await editor.locator('.view-line', { hasText: 'Ares' }).waitFor()
    await waitFor('lines that are read and edited', async () => {
      const lines = (await marked()).join(' ')
      return /Mercury/.test(lines) && /Ares/.test(lines) && !/Venus/.test(lines)
    })
    openGate(vscode.server.root, 'Reader')
    await waitFor('end of the highlights', async () => (await marked()).length === 0)
    writeFileSync(file, before)
  })
})
