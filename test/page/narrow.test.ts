import assert from 'node:assert/strict'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'
import { layoutProblems, shapeProblems } from '../ui/support/layout.ts'

const LONG = 'An Agent With a Name That Fits Nowhere, Enterprise Edition'

/** The placeholder, the agent's name in the header, and how much of each is visible. */
const look = `(() => {
  const seen = selector => {
    const element = document.querySelector(selector)
    const { width = 0 } = element?.getBoundingClientRect() ?? {}
    return { text: element?.textContent ?? '', width, cut: !element || element.scrollWidth > element.clientWidth }
  }
  return { words: seen('.cm-placeholder'), name: seen('.header-agent-name') }
})()`

interface Seen {
  text: string
  width: number
  cut: boolean
}

describe('in a view of 280 pixels, the agent is named', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { short: fixtureAgent(root, 'Max'), long: fixtureAgent(root, LONG) },
    }),
  })

  const languages = [
    { language: undefined, short: 'Ask Max… @ for context', long: /^Ask An Agent With.*…$/ },
    { language: 'zh-cn', short: '向 Max 提问… 输入 @ 添加上下文', long: /^向 An Agent.*… 提问…$/ },
  ] as const
  for (const { language, short, long } of languages)
    it(`and no words are cut off (${language ?? 'en'})`, async () => {
      const workbench = await vscode.open(language ? { language } : {})
      await workbench.openViewContainer('Parley')
      await workbench.setSideBarWidth(280)
      const view = await ConversationPage.find(workbench)
      const bars = 280 - (await view.frame.evaluate<number>('innerWidth'))
      await workbench.setSideBarWidth(280 + bars)
      const shown = async (agent: string, isShown: (words: string) => boolean) => {
        await workbench.runAndPick('Parley: New Session with Agent…', agent)
        const { frame } = await ConversationPage.find(workbench)
        await frame.locator('body[data-phase="ready"]').waitFor()
        const seen = () => frame.evaluate<{ words: Seen; name: Seen }>(look)
        await waitFor(`the words for ${agent}`, async () => isShown((await seen()).words.text))
        assert.deepEqual(await layoutProblems(frame), [])
        return seen()
      }
      const max = await shown('Max', words => words.startsWith(short))
      assert.deepEqual([max.words.cut, max.name.text, max.name.cut], [false, 'Max', false])

      const other = await shown(LONG, words => long.test(words))
      assert.equal(other.words.cut, false)
      assert.equal(other.name.text, LONG)
      assert.ok(other.name.width > 60, `${other.name.width}`)
      await workbench.screenshot(`narrow-${language ?? 'en'}`)
    })
})

describe('the buttons of a prompt or an answer, which are seen under the pointer,', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { max: fixtureAgent(root, 'Max') } }),
  })

  it('cover no words', async () => {
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Max')
    const words = 'The planets are ordered by their distance from the sun. '
    await conversation.runTurn(`${words.repeat(3)}[[say ${words.repeat(4)}]]`)
    await conversation.runTurn('[[say Short.]]')
    const { frame } = conversation
    // as under the pointer, but all at once
    await frame.evaluate(`(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('.row-actions { opacity: 1 !important; transition: none !important }')
      document.adoptedStyleSheets.push(sheet)
    })()`)
    assert.ok((await frame.locator('.row-actions').count()) >= 4)
    for (const width of [328, 648]) {
      await workbench.setSideBarWidth(width)
      const overlaps = (await shapeProblems(frame)).filter(problem => problem.includes('overlap'))
      assert.deepEqual(overlaps, [], `${width} pixels`)
    }
  })
})
