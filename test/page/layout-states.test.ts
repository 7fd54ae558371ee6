import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { screenshotAgents } from '../screenshots/agents.ts'
import { aroundStates } from '../screenshots/around-states.ts'
import { firstStates } from '../screenshots/first-states.ts'
import { translateLocators } from '../screenshots/in-language.ts'
import { allSizes, fewSizes, type LayoutSizes, LayoutStudio } from '../screenshots/layout-studio.ts'
import { states } from '../screenshots/states.ts'
import type { State } from '../screenshots/studio.ts'
import { transcriptStates } from '../screenshots/transcript-states.ts'
import { workStates } from '../screenshots/work-states.ts'
import { bundleOf, LONGER, type TestLanguage } from '../support/longer-texts.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { AgentSetting } from '../ui/support/fixture-agent.ts'
import { shapeProblems } from '../ui/support/layout.ts'

/**
 * All states in all sizes and both languages: `npm run test:layout`. Otherwise the states of a conversation in English, and
 * those with the most words in the least space in Chinese, each in two widths. Those also with longer texts, as other languages
 * have, where space is scarce.
 */
const isComplete = process.env.PARLEY_LAYOUT === 'all'
const all = [...states, ...workStates, ...aroundStates, ...transcriptStates]
const crowded = ['queue', 'work-bars', 'around-permission-long', 'around-form', 'around-header']
const crowdedStates = all.filter(({ name }) => crowded.includes(name))

const sizes = isComplete ? allSizes : fewSizes
for (const [name, language, shown, inSizes] of [
  ['English', undefined, isComplete ? all : states, sizes],
  ['Chinese', 'zh-cn', isComplete ? all : crowdedStates, sizes],
  ['longer words', LONGER, isComplete ? all : crowdedStates, { themes: ['dark'], widths: [280] }],
] as const)
  describe(`in ${name}, nothing overlaps or is cut off`, () => {
    if (isComplete || !language)
      describe('without agents, in', () => check(language, inSizes, firstStates, () => ({})))
    describe('in', () => check(language, inSizes, shown, screenshotAgents))
  })

function check(
  language: TestLanguage | undefined,
  sizes: LayoutSizes,
  shown: State[],
  agents: (root: IsolatedRoot) => Record<string, AgentSetting>,
) {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': agents(root),
      'parley.permissionRules': [{ command: 'git *', action: 'allow' }],
    }),
  })

  for (const { name, needsWorkbench, isSlow, take } of shown) {
    if (needsWorkbench || (isSlow && !isComplete)) continue
    it(name, async () => {
      const window = await vscode.sharedWindow({
        ...(language && { language }),
        viewport: { width: 1400, height: 900 },
      })
      const undo = language ? translateLocators(window.page, language) : () => {}
      const studio = new LayoutStudio(window, sizes)
      try {
        await take(studio)
      } finally {
        undo()
      }
      assert.deepEqual([...studio.problems], [])
    })
  }
}

describe('the check of the layout', () => {
  const vscode = new PageSuite()
  const box = 'width: 100px; height: 30px; border: 1px solid;'
  const row = 'position: relative; height: 20px; font: 13px sans-serif;'
  for (const [what, html, found] of [
    [
      'a text that leaves its box',
      `<div style="${box}"><nobr>A long text in a small box</nobr></div>`,
      /outside/,
    ],
    [
      'a chip that leaves its box',
      `<div style="${box}"><button style="width: 140px">Chip</button></div>`,
      /outside/,
    ],
    [
      'a text that is cut off',
      `<div style="${box} overflow: hidden"><nobr>A long text in a box</nobr></div>`,
      /cut off/,
    ],
    [
      'a button over a text',
      `<p style="${row}">Some text<button style="position: absolute; left: 9px">B</button></p>`,
      /overlap/,
    ],
    [
      'a broken word',
      `<div style="${row} width: 40px; word-break: break-all">a settings file</div>`,
      /breaks inside “settings”/,
    ],
    [
      'a control beyond the page',
      '<button style="position: absolute; right: -9px">OK</button>',
      /beyond the page/,
    ],
  ] as const)
    it(`finds ${what}`, async () => {
      const page = await (await vscode.sharedWindow()).page.context().newPage()
      await page.setContent(html)
      assert.match((await shapeProblems(page.mainFrame())).join(), found)
      await page.close()
    })

  it('has longer words for every text, with the same placeholders', () => {
    const texts = Object.entries(JSON.parse(readFileSync(bundleOf(LONGER), 'utf8')) as Record<string, string>)
    const length = (at: 0 | 1) => texts.reduce((sum, pair) => sum + pair[at].length, 0)
    assert.ok(length(1) > length(0) * 1.4, `${length(0)} → ${length(1)}`)
    const placeholders = (text: string) => text.match(/\{\d+\}|`[^`]*`|\]\([^)]*\)/g)
    for (const [english, longer] of texts)
      assert.deepEqual(placeholders(longer), placeholders(english), english)
  })

  it('accepts an ellipsis, a list that scrolls, a menu above a text, and a path that is longer than a line', async () => {
    const page = await (await vscode.sharedWindow()).page.context().newPage()
    await page.setContent(`
      <div style="${box} overflow: hidden; text-overflow: ellipsis"><nobr>A long text in a small box</nobr></div>
      <div style="${box} overflow: auto"><nobr>A long text in a small box</nobr></div>
      <div style="${row}">Some text<div role="menu" style="position: absolute; inset: 0; background: white">Menu</div></div>
      <div style="${row} width: 90px; overflow-wrap: anywhere">/work/a-folder-with-quite-a-long-name/settings.json</div>`)
    assert.deepEqual(await shapeProblems(page.mainFrame()), [])
    await page.close()
  })
})
