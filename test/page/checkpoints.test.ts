import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator } from 'playwright-core'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import { succeeds, waitFor } from '../host/wait-for.ts'
import { openFile, replaceWord } from '../support/page/editor.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, receivedParams } from '../ui/support/fixture-agent.ts'
import { storedDrafts } from '../ui/support/stored.ts'

const ORIGINAL = readFileSync(
  new URL('../fixtures/workspace/planets-api/planets.js', import.meta.url),
  'utf8',
)
const FIRST = ORIGINAL.replaceAll('Mercury', 'Hermes')
const BOTH = FIRST.replaceAll('Mars', 'Ares')
/** How many files the tests change, one for each try of each test. */
const MOST_TRIES = 20

const forks = { results: { initialize: { agentCapabilities: { sessionCapabilities: { fork: {} } } } } }
const agents = (root: IsolatedRoot) => ({
  plain: fixtureAgent(root, 'Plain'),
  able: fixtureAgent(root, 'Able', forks),
})

describe('restoring a checkpoint', () => {
  const vscode = new PageSuite({ settings: root => ({ 'parley.agents': agents(root) }) })
  /** unique for each test and retry, because the server keeps a window's unsaved files */
  let name = ''
  const nameOf = (number: number) => `checkpoint-${number}.js`
  let tries = 0
  const pathOf = (file: string) => join(dirname(vscode.workspace), 'planets-api', file)
  const file = () => pathOf(name)
  const planets = () => readFileSync(file(), 'utf8')
  const holds = (text: string) => waitFor('the text of the file', () => planets() === text)
  let workbench: PageWindow
  let conversation: ConversationPage

  async function open(agent: string): Promise<void> {
    name = nameOf(++tries)
    // all before the first turn: one that is written while the turn of the test before ends would count as that turn's
    if (!existsSync(file()))
      for (let number = tries; number < tries + MOST_TRIES; number++)
        writeFileSync(pathOf(nameOf(number)), ORIGINAL)
    workbench = await vscode.clearedWindow()
    conversation = await ConversationPage.startSession(workbench, agent)
  }

  const received = (agent: string, method: string) => receivedParams(vscode.root, agent, method)
  const lastPrompt = (agent: string) => received(agent, 'session/prompt').at(-1)
  async function say(prompt: string): Promise<void> {
    await conversation.send(prompt)
    await prompts().filter({ hasText: prompt }).first().waitFor()
    await conversation.button(/^Stop/).waitFor({ state: 'detached' })
  }
  /** Runs two turns with one change each. */
  async function twoEdits(): Promise<void> {
    await say(`[[edit ${name} Mercury Hermes]] first`)
    await holds(FIRST)
    await say(`[[edit ${name} Mars Ares]] second`)
    await holds(BOTH)
  }
  const prompts = () => conversation.frame.locator('.row-prompt')
  const prompt = (text: string) => prompts().filter({ hasText: text }).last()
  const rewound = () => conversation.frame.locator('.row-prompt.rewound')
  const asideLine = () => conversation.frame.getByRole('button', { name: /entr(y|ies) set aside/ })
  /** Waits until a restore has set aside this many prompts, which are in one line until it's selected. */
  async function aside(count: number): Promise<void> {
    if (count === 0) {
      await asideLine().waitFor({ state: 'detached' })
      await waitFor('no rewound prompt', async () => (await rewound().count()) === 0)
      return
    }
    const expanded = asideLine().and(conversation.frame.locator('[aria-expanded="true"]'))
    await waitFor(`${count} rewound prompts`, async () => {
      // the line of an earlier restore is replaced by one for all
      if (!(await expanded.isVisible())) {
        await succeeds(asideLine().click({ timeout: 3000 }))
        await succeeds(expanded.waitFor({ timeout: 3000 }))
      }
      return (await rewound().count()) === count
    })
  }
  async function press(row: Locator, label: string): Promise<void> {
    await row.hover()
    await row.getByRole('button', { name: label }).click()
  }
  /** Waits for a dialog with all of these texts, and confirms it. */
  async function confirm(...texts: string[]): Promise<void> {
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog.waitFor()
    const shown = await dialog.innerText()
    for (const text of texts) assert.ok(shown.includes(text), shown)
    await dialog.getByRole('button', { name: 'Restore', exact: true }).and(dialog.locator(':focus')).waitFor()
    await workbench.page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
  }
  const composerText = (text: string) =>
    waitFor(`the input with “${text}”`, async () => (await conversation.composerText()) === text)
  /** Undoes the restore, after which the file has this text. */
  async function undoRestore(left = BOTH): Promise<void> {
    const bars = await conversation.frame.evaluateHandle<string[]>(`(() => {
      const shown = []
      const look = () => shown.push(document.querySelector('.changes-bar')?.innerText ?? '')
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
      return shown
    })()`)
    await conversation.button('Undo Restore').click()
    await holds(left)
    await aside(0)
    await waitFor('the counts', () => bars.evaluate(shown => /1 file\s*\+2\s*−2/.test(shown.at(-1) ?? '')))
    // the file is never listed without them
    const listed = await bars.evaluate(shown => shown.filter(text => text.includes('1 file')))
    assert.deepEqual(
      listed.filter(text => !/1 file\s*\+\d+\s*−\d+/.test(text)),
      [],
    )
  }
  it('restores earlier files, the conversation and the input without a question, and can be undone', async () => {
    await open('Plain')
    await twoEdits()
    await conversation.composer.fill('my draft')
    await press(prompt('second'), 'Restore to Here…')
    await holds(FIRST)
    await asideLine().filter({ hasText: '3 entries set aside · Show' }).waitFor()
    assert.equal(await prompts().filter({ hasText: 'second' }).count(), 0)
    const [first, second] = [`[[edit ${name} Mercury Hermes]] first`, `[[edit ${name} Mars Ares]] second`]
    await composerText(`my draft\n\n${second}`)
    // its button is gone
    await conversation.waitForFocus(conversation.composer)
    await aside(1)
    // an earlier one replaces it
    await press(prompt('first'), 'Restore to Here…')
    await holds(ORIGINAL)
    await composerText(`my draft\n\n${first}`)
    await conversation.button('Undo Restore').last().click()
    await holds(FIRST)
    await composerText('my draft')
    await undoRestore()
    await composerText('my draft')
    await conversation.composer.fill('')

    await press(prompt('first'), 'Restore to Here…')
    await holds(ORIGINAL)
    await aside(2)
    // they have their buttons only under the pointer or the focus, like all others
    const buttons = conversation.frame.locator('.rewound .row-actions')
    const shown = () => buttons.evaluateAll(all => all.map(one => getComputedStyle(one).opacity))
    const showOnly = (what: string, count: number) =>
      waitFor(what, async () => {
        const values = await shown()
        const visible = values.filter(opacity => opacity === '1').length
        return (
          values.length > 2 &&
          visible === count &&
          values.length - visible === values.filter(opacity => opacity === '0').length
        )
      })
    await conversation.frame.locator('.composer').first().hover()
    await showOnly('hidden buttons', 0)
    await rewound().last().hover()
    await showOnly('the buttons under the pointer', 1)
    await conversation.frame.locator('.composer').first().hover()
    await showOnly('hidden buttons again', 0)
    await buttons.first().getByRole('button').first().focus()
    await showOnly('the buttons with the focus', 1)
    // like any other reverted change
    await workbench.runCommand('Parley: Restore Last Reverted Changes')
    await holds(BOTH)
    await aside(0)

    await conversation.composer.fill('')
    await press(prompt('second'), 'Restore to Here…')
    await aside(1)
    await conversation.composer.fill('')
    await say('[[say go on]]')
    assert.match(JSON.stringify(lastPrompt('Plain')), /Disregard that prompt.*second/)
  })

  it('restores the conversation if no files changed', async () => {
    await open('Plain')
    await say('[[say one]] first')
    await say('[[say two]] second')
    await press(prompt('second'), 'Restore to Here…')
    await conversation.frame.getByText('Conversation restored to before the prompt').waitFor()
    await composerText('[[say two]] second')
    await asideLine().waitFor()
    await waitFor('the draft on disk', () => storedDrafts(vscode.root).includes('[[say two]] second'))
    await workbench.reload()
    conversation = await ConversationPage.find(workbench)
    await composerText('[[say two]] second')
    await aside(1)
    await conversation.button('Undo Restore').click()
    await aside(0)
    await composerText('')
  })

  it('shows Undo Restore, also in a long conversation', async () => {
    await open('Plain')
    await twoEdits()
    // its prompt may scroll out of the drawn rows before anything else is seen
    await conversation.send('long [[flood 600 8]]')
    await conversation.agentMessage('[end of flood]').waitFor()
    await conversation.button(/^Stop \(/).waitFor({ state: 'detached' })
    await conversation.composer.press('Alt+Home')
    await press(prompt('first'), 'Restore to Here…')
    await waitFor('Undo Restore in the view', () =>
      conversation.frame.evaluate<boolean>(
        `(() => {
          const view = document.querySelector('.transcript').getBoundingClientRect()
          const button = [...document.querySelectorAll('.notice button')].find(one => one.textContent === 'Undo Restore')
          const box = button?.getBoundingClientRect()
          return box !== undefined && box.top >= view.top && box.bottom <= view.bottom
        })()`,
      ),
    )
    await undoRestore()
  })

  it('shows a preview on request, and then asks again', async () => {
    await open('Plain')
    await twoEdits()
    await openFile(workbench, name)
    await replaceWord(workbench, 'Ares', 'Mine')
    await holds(BOTH.replaceAll('Ares', 'Mine'))
    await press(prompt('first'), 'Restore to Here…')
    const dialog = workbench.page.locator('.monaco-dialog-box')
    await dialog.getByText('Restore 1 file and the conversation to before this prompt?').waitFor()
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await workbench.page.locator('.tab', { hasText: 'Preview of Restore (1 file)' }).waitFor()
    const question = workbench.notification('Restore 1 file and the conversation to before this prompt?')
    // what is shown meanwhile doesn't get the prompt
    const other = await ConversationPage.startSession(workbench, 'Able')
    await question.getByRole('button', { name: 'Restore', exact: true }).click()
    await holds(ORIGINAL.replaceAll('Mars', 'Mine'))
    await other.composer.click()
    await workbench.page.keyboard.type('else')
    await composerText('else')
    await other.composer.fill('')
  })

  it('has the checkpoints of the original conversation in a fork', async () => {
    await open('Able')
    await twoEdits()
    await workbench.runAndPick('Parley: Fork or Continue Session…', 'Fork Session')
    await conversation.button('Open Original Session').waitFor()
    await press(prompt('second'), 'Restore to Here…')
    await holds(FIRST)
    await composerText(`[[edit ${name} Mars Ares]] second`)
    await conversation.composer.fill('')
    await press(prompt('first'), 'Restore to Here…')
    await holds(ORIGINAL)
    await aside(2)
    // the fork also begins with the notice of the restore before it
    const notice = conversation.frame.locator('.row-notice', { hasText: /before the prompt.*first/ })
    await notice.getByRole('button', { name: 'Undo Restore' }).click()
    await holds(FIRST)
  })

  it('asks before it replaces lines that the user edited later', async () => {
    await open('Plain')
    await twoEdits()
    const mine = BOTH.replaceAll('Hermes', 'Mine')
    // in the editor: a change on disk at the end of the turn would count as the agent's
    await openFile(workbench, name)
    await replaceWord(workbench, 'Hermes', 'Mine')
    await holds(mine)
    await press(prompt('first'), 'Restore to Here…')
    await confirm('Not restored:', `${name}: you edited the same lines`)
    await holds(mine.replaceAll('Ares', 'Mars'))
    const question = workbench.notification("so they weren't restored")
    await question.getByRole('button', { name: 'Restore Anyway' }).click()
    await holds(ORIGINAL)
    await aside(2)
    await undoRestore(mine)
  })
})
