import { readFileSync } from 'node:fs'
import { openFile, replaceWord } from '../ui/support/editor.ts'
import { names } from './agents.ts'
import type { State, Studio } from './studio.ts'

/** A file of the workspace. */
const SERVER = readFileSync(new URL('../fixtures/workspace/planets-api/server.js', import.meta.url), 'utf8')

/** Permission rules, the changes of a session, and the bars above the composer. */
export const workStates: State[] = [
  {
    name: 'work-rules',
    async take(studio) {
      const conversation = await studio.startReadySession('Demo Agent')
      await conversation.send('/run git --version')
      await conversation.button(/allowed by your rule/).click()
      await studio.waitForTurnEnd(conversation)
      await conversation.send('/run npm --version')
      await conversation.permission.getByRole('button', { name: 'Create Rule…' }).click()
      await conversation.frame.getByRole('radio', { name: 'npm --version' }).waitFor()
      await studio.captureSideBar('work-rule-offer')
      await conversation.frame.getByRole('radio').first().press('Escape')
      await studio.captureSideBar('work-rule-applied')
      await conversation.button(/^Stop/).click()
      await studio.waitForTurnEnd(conversation)
    },
  },
  {
    name: 'work-bars',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      const long = `${Array.from({ length: 9 }, (_, at) => `folder-${at}`).join('/')}/a-file-with-a-name.test.ts`
      await conversation.send(
        `[[plan 5]] [[write planets.js flat]] [[write moons.txt Io]] [[write ${long} x]] [[usage 187000 200000]]`,
      )
      await conversation.frame.getByRole('region', { name: 'Changed files' }).getByText('3 files').waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('work-bars')
      await conversation.frame
        .getByRole('region', { name: 'Changed files' })
        .getByRole('button', { name: /^3 files/ })
        .click()
      await studio.captureSideBar('work-bars-open')
      await conversation.button(/^Context:/).click()
      await conversation.frame.getByRole('dialog', { name: 'Usage' }).waitFor()
      await studio.workbench.setSideBarWidth(280)
      await studio.captureSideBar('work-bars-narrow')
      await studio.workbench.page.keyboard.press('Escape')
      await leave(studio)
    },
  },
  {
    // of the session before
    name: 'work-review',
    needsWorkbench: true,
    async take(studio) {
      const conversation = await studio.conversation()
      await conversation.button(/^Review$/).click()
      await studio.workbench.page.locator('.multiDiffEntry', { hasText: 'moons.txt' }).waitFor()
      await studio.captureWindow('work-review')
      await leave(studio)
    },
  },
  {
    name: 'work-commands',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      const print = 'for n in $(seq 12); do echo "line $n of what the command says"; done'
      await conversation.send(`[[run ${print}; sleep 20]]`)
      await conversation.frame.locator('.tail').getByText('line 12 ').waitFor()
      await studio.captureSideBar('work-command-runs')
      await studio.captureNarrow('work-command-runs')
      await conversation.button(/^Stop \(/).click()
      await studio.waitForTurnEnd(conversation)
      const another = await studio.startReadySession('Fixture')
      await another.send(`[[run ${print}; exit 3]]`)
      await studio.waitForTurnEnd(another)
      await another.frame.locator('.line', { hasText: /exit code 3/ }).waitFor()
      await studio.captureSideBar('work-command-failed')
      await studio.captureNarrow('work-command-failed')
    },
  },
  {
    name: 'work-moved',
    isSlow: true,
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      const changes = conversation.frame.getByRole('region', { name: 'Changed files' })
      await conversation.send(
        '[[run mkdir worlds]] [[run mv planets.js worlds/planets-and-their-distances-from-the-sun.js]]',
      )
      await changes.getByText('1 file').waitFor()
      await studio.waitForTurnEnd(conversation)
      const list = conversation.button(/^1 file/)
      if ((await list.getAttribute('aria-expanded')) === 'false') await list.click()
      await changes.getByRole('button', { name: /^Renamed/ }).waitFor()
      // more files than Parley compares
      await conversation.send('[[run mkdir made]] [[run seq -f made/%g.txt 1200 | xargs touch]]')
      await changes.getByText(/ more files changed and aren't listed/).waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('work-moved')
      await studio.captureNarrow('work-moved')
      await conversation.send(
        '[[run mv worlds/planets-and-their-distances-from-the-sun.js planets.js]] [[run rm -r worlds made]]',
      )
      await studio.waitForTurnEnd(conversation)
    },
  },
  {
    name: 'work-conflict',
    needsWorkbench: true,
    async take(studio) {
      const { workbench } = studio
      const conversation = await studio.startReadySession('Fixture')
      await conversation.send('[[edit server.js 8080 5000]]')
      await conversation.frame.getByRole('region', { name: 'Changed files' }).getByText('1 file').waitFor()
      await studio.waitForTurnEnd(conversation)
      await openFile(workbench, 'server.js')
      await replaceWord(workbench, SERVER.replace('8080', '5000'), '5000', '9090')
      await conversation.button('Revert All Changes…').click()
      const dialog = workbench.page.locator('.monaco-dialog-box')
      await dialog
        .getByRole('button', { name: 'Revert', exact: true })
        .and(dialog.locator(':focus'))
        .waitFor()
      await workbench.page.keyboard.press('Enter')
      const question = workbench.notification("so they weren't reverted")
      await question.waitFor()
      await workbench.page.locator('.tab.active', { hasText: 'Since Start of Session' }).waitFor()
      await studio.captureWindow('work-conflict')
      await question.getByRole('button', { name: 'Revert Anyway' }).click()
      await question.waitFor({ state: 'detached' })
      await leave(studio)
    },
  },
  {
    name: 'work-editor',
    needsWorkbench: true,
    async take(studio) {
      const { workbench } = studio
      const { page } = workbench
      const conversation = await studio.startReadySession('Fixture')
      const changes = conversation.frame.getByRole('region', { name: 'Changed files' })
      const editor = page.locator('.part.editor')
      await conversation.send('[[edit server.js node:http node:https 404 410]] [[write rings.txt Ice]]')
      await changes.getByText('2 files').waitFor()
      await studio.waitForTurnEnd(conversation)
      await openFile(workbench, 'server.js')
      await editor.locator('.codelens-decoration', { hasText: 'Keep' }).nth(1).waitFor()
      await studio.captureEditor('work-lenses')
      await page.locator('.activitybar [aria-label^="Source Control"]').first().click()
      await page.locator('.scm-view').getByText('rings.txt').first().waitFor()
      await studio.captureSideBar('work-source-control')
      await studio.captureNarrow('work-source-control')
      await editor.locator('.view-line', { hasText: 'findPlanet' }).first().click()
      await page.keyboard.press('Alt+F3')
      await editor.locator('.peekview-actions').getByLabel('Keep Change').first().waitFor()
      await studio.captureEditor('work-peek')
      await page.keyboard.press('Escape')
      await workbench.openViewContainer('Parley')

      const prompt = conversation.frame.locator('.row-prompt').last()
      await prompt.hover()
      await prompt.getByRole('button', { name: 'Edit and Resend' }).click()
      const edited = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
      await conversation.waitForFocus(edited)
      await studio.captureSideBar('work-edit-prompt')
      await studio.captureNarrow('work-edit-prompt')
      await edited.press('Escape')
      await prompt.hover()
      await prompt.getByRole('button', { name: 'Restore to Here…' }).click()
      await conversation.button('Undo Restore').waitFor()
      await studio.captureSideBar('work-restored')
      await studio.captureNarrow('work-restored')
      await leave(studio)
    },
  },
  {
    // everything that can be open above the composer at the same time, and then a request
    name: 'work-pressed',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      const files = Array.from({ length: 12 }, (_, at) => `[[write moon-${at}.txt Io]]`).join(' ')
      await conversation.send(`[[plan 12 7]] ${files} [[say All of it is written.]]`)
      await conversation.text('All of it is written.').waitFor()
      await studio.waitForTurnEnd(conversation)
      const plan = conversation.frame.getByRole('region', { name: 'Plan' }).getByRole('button')
      // the bar may still be open from before
      const changes = conversation.frame.getByRole('region', { name: 'Changed files' })
      for (const bar of [plan, changes.getByRole('button', { name: /^12 files/ })])
        if ((await bar.getAttribute('aria-expanded')) === 'false') await bar.click()
      await studio.captureSideBar('work-pressed')
      await conversation.send('[[permissions 1]]')
      await conversation.permission.waitFor()
      for (const prompt of ['Then run the tests', 'And write it down in CHANGELOG.md, please', 'Thanks'])
        await conversation.send(prompt)
      await conversation.frame.getByRole('listitem').filter({ hasText: 'Thanks' }).waitFor()
      await conversation.composer.fill('A line that is written meanwhile\n'.repeat(12))
      await studio.captureSideBar('work-pressed-question')
      await studio.captureNarrow('work-pressed-question')
      await plan.click()
      await studio.captureSideBar('work-pressed-opened')
      await conversation.composer.fill('')
      await conversation.button(/^Stop \(/).click()
      await studio.waitForTurnEnd(conversation)
    },
  },
  {
    name: 'work-many',
    async take(studio) {
      const conversation = await studio.startReadySession('Fixture')
      await studio.workbench.setSideBarWidth(280)
      await conversation.send('[[permissions 30]]')
      await conversation.text('1 of 30').waitFor()
      await studio.captureSideBar('work-thirty-narrow')
      await conversation.button(/^Stop/).click()
      await studio.waitForTurnEnd(conversation)
      await leave(studio)
    },
  },
  {
    name: 'work-long',
    async take(studio) {
      const conversation = await studio.startReadySession(names.paths)
      await studio.workbench.setSideBarWidth(280)
      await conversation.send('Go')
      await conversation.text('Done.').waitFor()
      await studio.waitForTurnEnd(conversation)
      await studio.captureSideBar('work-long-narrow')
      await leave(studio)
    },
  },
]

async function leave(studio: Studio): Promise<void> {
  await studio.workbench.runCommand('View: Close All Editors')
  await studio.resetWidth()
}
