import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { contentAgents } from '../ui/support/content-agents.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent } from '../ui/support/fixture-agent.ts'

/** One of each kind. */
const diagrams = [
  'flowchart LR\n  A --> B',
  'sequenceDiagram\n  A->>B: hello\n  Note over A: note',
  'classDiagram\n  A <|-- B\n  A : int size',
  'stateDiagram-v2\n  [*] --> A\n  A --> [*]',
  'erDiagram\n  A ||--o{ B : has',
  'gantt\n  dateFormat YYYY-MM-DD\n  section S\n  one :a, 2026-01-01, 3d',
  'journey\n  title T\n  section S\n    Work: 5: Me',
  'pie\n  "A" : 2\n  "B" : 1',
  'quadrantChart\n  title T\n  x-axis Low --> High\n  A: [0.3, 0.6]',
  'requirementDiagram\n  requirement r {\n    id: 1\n    text: t\n    risk: high\n    verifymethod: test\n  }',
  'gitGraph\n  commit\n  branch b\n  commit\n  checkout main\n  merge b tag: "v1"',
  'C4Context\n  Person(a, "A")\n  System(b, "B")\n  Rel(a, b, "uses")',
  'mindmap\n  root\n    leaf',
  'timeline\n  2026 : one : two',
  'sankey-beta\nA,B,3\nA,C,2',
  'xychart-beta\n  x-axis [a, b]\n  bar [1, 2]',
  'block-beta\n  a b c',
  'packet-beta\n  0-15: "A"\n  16-31: "B"',
  'kanban\n  todo[To do]\n    a[A task]',
  'architecture-beta\n  service db(database)[DB]',
  'radar-beta\n  axis a, b, c\n  curve x{1, 2, 3}',
  'treemap-beta\n"A"\n  "B": 3',
]
const fenced = (source: string) => `\`\`\`mermaid
${source}
\`\`\`
`

describe('message content', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': {
        ...contentAgents(root),
        painter: fixtureAgent(root, 'Painter', { prompt: [{ say: diagrams.map(fenced).join('\n') }] }),
        runner: fixtureAgent(root, 'Runner'),
      },
    }),
  })
  let workbench: PageWindow

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
  })

  const tab = (name: string | RegExp): Locator =>
    workbench.page.locator('.part.editor .tabs-container .tab', { hasText: name }).first()

  it('includes diagrams of all kinds', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Painter')
    await conversation.send('Diagrams, please')
    const drawn = new Set<string>()
    await waitFor('all diagrams', async () => {
      // scrolls on when everything in the view is drawn
      const seen = await conversation.frame.locator('.transcript').evaluate(view => {
        const { top, bottom } = view.getBoundingClientRect()
        const blocks = [...view.querySelectorAll<HTMLElement>('[data-rich]')]
        const visible = blocks.filter(block => {
          const box = block.getBoundingClientRect()
          return box.bottom > top && box.top < bottom
        })
        if (visible.every(({ dataset }) => dataset.state === 'drawn' || dataset.state === 'failed')) {
          const isAtEnd = view.scrollTop + view.clientHeight >= view.scrollHeight - 1
          view.scrollTop = isAtEnd ? 0 : view.scrollTop + view.clientHeight / 2
        }
        return blocks
          .filter(({ dataset }) => dataset.state === 'drawn')
          .map(block => (block.querySelector('code')?.textContent ?? '').trimEnd())
      })
      for (const source of seen) drawn.add(source)
      return drawn.size === diagrams.length
    }).catch(() => {})
    assert.deepEqual(
      diagrams.filter(source => !drawn.has(source)),
      [],
    )
  })

  it('includes formulas, whose source is shown until their fonts are loaded', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Mathematician')
    const drawn = conversation.frame.evaluate<boolean>(`new Promise(resolve => {
      const drawn = '[data-rich="math"][data-state="drawn"]'
      const observer = new MutationObserver(() => {
        if (document.querySelector(drawn)) resolve([...document.fonts].some(font => /KaTeX_Math/.test(font.family) && font.status === 'loaded'))
      })
      observer.observe(document.body, { subtree: true, childList: true, attributes: true })
    })`)
    await conversation.send('A formula, please')
    assert.equal(await drawn, true)
  })

  it("includes diffs, whose unchanged lines expand and which open in VS Code's diff editor", async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Editor')
    await conversation.send('Edit, please')
    await conversation.text('Edited.').waitFor()
    await conversation.button(/^Edit: Edit planets\.js/).click()
    const diff = conversation.frame.locator('.diff')
    await diff.locator('ins', { hasText: 'line twenty' }).waitFor()
    await diff.locator('ins .diff-word', { hasText: /^twenty$/ }).waitFor()
    assert.equal(await diff.getByText('line 5', { exact: true }).count(), 0)
    await diff.getByRole('button', { name: '16 unchanged lines' }).click()
    await diff.getByText('line 5', { exact: true }).waitFor()
    await conversation.button('Open Diff').click()
    await tab(/other\.js \(Agent's edit\)/).waitFor()
  })

  it('includes formulas, diagrams that can be enlarged, and links to files', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Mathematician')
    // markup in a diagram's text must never be parsed or inserted into the page
    await conversation.frame.evaluate(`
      window.fromDiagram = 0
      const parse = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML').set
      Object.defineProperty(Element.prototype, 'innerHTML', { configurable: true, set(html) {
        if (this.ownerDocument === document && /<(b|img) [^>]*from-diagram/.test(html)) window.fromDiagram = window.fromDiagram || new Error(String(html)).stack
        parse.call(this, html)
      } })
      new MutationObserver(() => {
        if (document.querySelector('.from-diagram')) window.fromDiagram = window.fromDiagram || 'element in the page'
      }).observe(document, { subtree: true, childList: true })`)
    await conversation.send('Explain')
    await conversation.text('That was all.').waitFor()
    const { frame } = conversation
    await waitFor(
      'two formulas',
      async () => (await frame.locator('.math[data-state="drawn"] .katex').count()) === 2,
    )
    const picture = frame.getByRole('img', { name: 'Diagram (graph)' })
    await picture.waitFor()
    const width = "document.querySelector('.diagram img').naturalWidth"
    await waitFor('a picture', async () => Number(await frame.evaluate(width)) > 20)
    assert.equal(await frame.evaluate('window.fromDiagram'), 0)

    await frame.locator('.diagram').getByRole('button', { name: 'Enlarge' }).focus()
    await workbench.page.keyboard.press('Enter')
    const larger = frame.getByRole('dialog', { name: 'Diagram (graph)' })
    await larger.waitFor()
    await workbench.page.keyboard.press('Escape')
    await larger.waitFor({ state: 'detached' })

    await frame.locator('a.file-link', { hasText: 'planets.js:2' }).click()
    await tab('planets.js').waitFor()
    await waitFor('the line', async () => (await workbench.host.call('activeLine'))?.line === 2)
  })
  it('can be loaded again if a part of the page could not be loaded', async () => {
    // the page of the tests before may have loaded all parts
    await workbench.reload()
    await workbench.openViewContainer('Parley')
    const conversation = await ConversationPage.startSession(workbench, 'Runner')
    // everything else has been loaded once its turn has ended
    await conversation.runTurn('[[say Ready.]]')
    let isBroken = true
    await workbench.page.route('**/chunks/*.js', route => (isBroken ? route.abort() : route.continue()))
    try {
      await conversation.runTurn('[[run echo shown]]')
      await conversation
        .button(/echo shown/)
        .first()
        .click()
      const failed = conversation.frame.locator('.work-body').getByRole('button', { name: 'Retry' })
      await failed.waitFor()
      isBroken = false
      await failed.click()
      await conversation.frame.locator('.terminal', { hasText: 'shown' }).waitFor()
    } finally {
      await workbench.page.unrouteAll()
    }
  })
})
