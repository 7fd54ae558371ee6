import { openFile } from '../ui/support/editor.ts'
import { inSession, type State } from './studio.ts'

/** Permission rules, the changes of a session, and the bars above the composer. */
export const workStates: State[] = [
  inSession('work-rules', 'Demo Agent', async (conversation, studio) => {
    await conversation.send('/run git --version')
    await conversation.button(/allowed by your rule/).click()
    await studio.waitForTurnEnd(conversation)
    await conversation.send('/run npm --version')
    await conversation.permission.getByRole('button', { name: 'Create Rule…' }).click()
    await conversation.frame.getByRole('radio', { name: 'npm --version' }).waitFor()
    await studio.captureSideBar('work-rule-offer')
    await conversation.frame.getByRole('radio').first().press('Escape')
    await studio.captureSideBar('work-rule-applied')
    await studio.stopTurn(conversation)
  }),
  inSession('work-bars', 'Fixture', async (conversation, studio) => {
    const long = `${Array.from({ length: 9 }, (_, at) => `folder-${at}`).join('/')}/a-file-with-a-name.test.ts`
    await conversation.send(
      `[[plan 5]] [[write planets.js flat]] [[write moons.txt Io]] [[write ${long} x]] [[usage 187000 200000]]`,
    )
    const changes = conversation.frame.getByRole('region', { name: 'Changed files' })
    await changes.getByText('3 files').waitFor()
    await studio.waitForTurnEnd(conversation)
    await studio.captureSideBar('work-bars')
    await changes.getByRole('button', { name: /^3 files/ }).click()
    await studio.captureSideBar('work-bars-open')
    await conversation.button(/^Context:/).click()
    await conversation.frame.getByRole('dialog', { name: 'Usage' }).waitFor()
    await studio.captureWidths('work-usage')
    await studio.workbench.page.keyboard.press('Escape')
  }),
  inSession('work-commands', 'Fixture', async (conversation, studio) => {
    const print = 'for n in $(seq 12); do echo "line $n of what the command says"; done'
    await conversation.send(`[[run ${print}; sleep 20]]`)
    await conversation.frame.locator('.tail').getByText('line 12 ').waitFor()
    await studio.captureWidths('work-command-runs')
    await studio.stopTurn(conversation)
    const another = await studio.startReadySession('Fixture')
    await another.runTurn(`[[run ${print}; exit 3]]`)
    await another.frame.locator('.line', { hasText: /exit code 3/ }).waitFor()
    await studio.captureWidths('work-command-failed')
  }),
  inSession(
    'work-moved',
    'Fixture',
    async (conversation, studio) => {
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
      await studio.captureWidths('work-moved')
      await conversation.runTurn(
        '[[run mv worlds/planets-and-their-distances-from-the-sun.js planets.js]] [[run rm -r worlds made]]',
      )
    },
    { isSlow: true },
  ),
  inSession('work-prompt', 'Fixture', async (conversation, studio) => {
    await conversation.runTurn('[[write rings.txt Ice]]')
    const prompt = conversation.frame.locator('.row-prompt').last()
    await prompt.hover()
    await prompt.getByRole('button', { name: 'Edit and Resend' }).click()
    const edited = conversation.frame.getByRole('textbox', { name: 'Edit Prompt' })
    await conversation.waitForFocus(edited)
    await studio.captureWidths('work-edit-prompt')
    await edited.press('Escape')
    await prompt.hover()
    await prompt.getByRole('button', { name: 'Restore to Here…' }).click()
    await conversation.button('Undo Restore').waitFor()
    await studio.captureWidths('work-restored')
  }),
  inSession(
    'work-editor',
    'Fixture',
    async (conversation, studio) => {
      const { workbench } = studio
      const { page } = workbench
      const editor = page.locator('.part.editor')
      await conversation.runTurn('[[edit server.js node:http node:https 404 410]] [[write rings.txt Ice]]')
      await openFile(workbench, 'server.js')
      await editor.locator('.codelens-decoration', { hasText: 'Keep' }).nth(1).waitFor()
      await studio.captureEditor('work-lenses')
      await editor.locator('.view-line', { hasText: 'findPlanet' }).first().click()
      await page.keyboard.press('Alt+F3')
      await editor.locator('.peekview-actions').getByLabel('Keep Change').first().waitFor()
      await studio.captureEditor('work-peek')
      await workbench.runCommand('View: Close All Editors')
      await workbench.openViewContainer('Parley')
    },
    { needsWorkbench: true },
  ),
  // everything that can be open above the composer at the same time, and then a request
  inSession('work-pressed', 'Fixture', async (conversation, studio) => {
    const files = Array.from({ length: 12 }, (_, at) => `[[write moon-${at}.txt Io]]`).join(' ')
    await conversation.runTurn(`[[plan 12 7]] ${files}`)
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
    await studio.captureWidths('work-pressed-question')
    await plan.click()
    await studio.captureSideBar('work-pressed-opened')
    await conversation.composer.fill('')
    await studio.stopTurn(conversation)
  }),
]
