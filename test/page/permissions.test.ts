import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defaultViewport } from '../host/browser.ts'
import { waitFor } from '../host/wait-for.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import type { PageWindow } from '../support/page/page-window.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { fixtureAgent, openGate } from '../ui/support/fixture-agent.ts'

describe('permission requests', () => {
  const vscode = new PageSuite({
    settings: root => ({
      'parley.agents': { liar: fixtureAgent(root, 'Liar') },
      'parley.permissionRules': [
        { command: 'ls *', action: 'allow' },
        { kind: 'edit', path: '**/*.js', action: 'reject' },
      ],
    }),
  })
  const planets = () => readFileSync(join(dirname(vscode.workspace), 'planets-api/planets.js'), 'utf8')
  let workbench: PageWindow

  beforeEach(async () => {
    workbench = await vscode.sharedWindow()
  })

  /** The link to the rule that answered last: it selects the rule in the settings that contain it. */
  const leadsTo = async (conversation: ConversationPage, answered: RegExp, link: string, text: string) => {
    await conversation.button(answered).click()
    await conversation.frame.getByRole('button', { name: link }).click()
    await waitFor(`the rule with ${text}`, async () => {
      const at = (await workbench.host.call('activeLine')) as { path: string; line: number } | undefined
      if (!at || !/\.(json|code-workspace)$/.test(at.path)) return false
      // the cursor is at the rule's end
      const before = readFileSync(at.path, 'utf8').split('\n').slice(0, at.line).join('')
      return before.slice(before.lastIndexOf('{')).includes(text)
    })
  }

  it('are answered by a rule that rejects', async () => {
    const before = planets()
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/edit planets.js')
    await conversation.button(/rejected by your rule/).waitFor()
    await conversation.text('You rejected the edit').waitFor()
    assert.equal(planets(), before)
    await leadsTo(conversation, /rejected by your rule/, 'Open User Settings', '**/*.js')
  })

  it('are answered by a rule that the user reviewed and saved', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/run echo one')
    await conversation.permission.getByRole('button', { name: 'Create Rule…' }).click()
    const offers = conversation.frame.getByRole('dialog', { name: 'Create Permission Rule' })
    await offers.getByRole('radio', { name: 'Commands that start with echo' }).check()
    await offers.getByText('Demo Agent may do this without asking.').waitFor()
    await offers.getByRole('button', { name: 'Save in Workspace Settings' }).click()
    await offers.waitFor({ state: 'detached' })
    await conversation.button(/allowed once/).waitFor()
    await conversation.text('exit code 0').waitFor()
    await conversation.send('/run echo two')
    await leadsTo(conversation, /allowed by your rule/, 'Open Workspace Settings', 'echo')
  })

  it('are complete when they appear: nothing loads later that moves their buttons', async () => {
    // a page that has drawn no diff yet
    workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    const { frame } = conversation
    await frame.evaluate(`(() => {
      window.heights = []
      const look = () => {
        const box = document.querySelector('.permission.first')
        if (box) window.heights.push(Math.round(box.getBoundingClientRect().height))
        requestAnimationFrame(look)
      }
      look()
    })()`)
    // the rules say nothing about it
    await conversation.send('/edit package.json')
    await conversation.permission.locator('.diff-line').first().waitFor()
    await conversation.waitForFocus(conversation.permission.getByRole('button', { name: 'Allow once' }))
    const heights = await frame.evaluate<number[]>('window.heights')
    assert.equal(new Set(heights).size, 1, heights.join())
    await conversation.permission.getByRole('button', { name: 'Reject', exact: true }).click()
  })

  it("don't move what is below them when they are answered, until the agent's next output fills the space", async () => {
    await workbench.setSideBarWidth(300)
    for (const long of [false, true]) {
      const conversation = await ConversationPage.startSession(workbench, 'Liar')
      const { frame } = conversation
      const before = long ? `[[say ${'A line of the answer. '.repeat(120)}]] ` : ''
      await conversation.send(`${before}[[permissions 1]] [[gate]] [[say It is done.]]`)
      await conversation.permission.waitFor()
      const top = async () => Math.round((await frame.locator('.working-text').boundingBox())?.y ?? 0)
      // the view follows the request in its next frames
      let at = await top()
      await waitFor('the request in its place', async () => {
        const isAtEnd =
          await frame.evaluate<boolean>(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
          const { scrollTop, clientHeight, scrollHeight } = document.querySelector('.transcript')
          done(scrollHeight - clientHeight - scrollTop < 1)
        })))`)
        const [earlier, now] = [at, await top()]
        at = now
        return isAtEnd && earlier === now
      })
      await conversation.permission.getByRole('button', { name: 'Allow', exact: true }).click()
      await conversation.permission.waitFor({ state: 'detached' })
      await frame.locator('.line-answer').last().waitFor()
      assert.equal(await top(), at)
      openGate(vscode.root, 'Liar')
      await conversation.agentMessage('It is done.').waitFor()
      await frame.locator('.working-text').waitFor({ state: 'detached' })
      // the next turn begins below the last row
      await conversation.send('[[say And again.]]')
      await conversation.agentMessage('And again.').waitFor()
      const gap = () =>
        frame.evaluate<number>(`(() => {
          const rows = [...document.querySelectorAll('.transcript .row')]
          const { bottom } = rows.at(-1).getBoundingClientRect()
          return document.querySelector('.list-footer').getBoundingClientRect().top - bottom
        })()`)
      await waitFor('no gap below the last row', async () => (await gap()) < 4)
    }
  })

  it('leave the conversation in view when they are answered, even if they were higher than the view', async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `printf ${at}`).join(' && ')
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send(`/run ${lines}`)
    await conversation.permission.getByRole('button', { name: 'Reject', exact: true }).waitFor()
    await workbench.page.setViewportSize({ width: 1000, height: 320 })
    try {
      await conversation.permission.getByRole('button', { name: 'Reject', exact: true }).click()
      await conversation.permission.waitFor({ state: 'detached' })
      const answer = conversation.agentMessage('You rejected the command')
      await answer.waitFor()
      await waitFor('the answer in view', () =>
        answer.evaluate(element => {
          const list = element.closest('.transcript')!.getBoundingClientRect()
          const { top, bottom } = element.getBoundingClientRect()
          return bottom > list.top + 10 && top < list.bottom - 10
        }),
      )
    } finally {
      await workbench.page.setViewportSize(defaultViewport)
    }
  })

  it('are answered in the line of a long command, where the answer can be read', async () => {
    await workbench.setSideBarWidth(460)
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send(`/run printf ${'planets '.repeat(30)}`)
    await conversation.permission.getByRole('button', { name: 'Allow once' }).click()
    const answer = conversation.frame.locator('.line-answer', { hasText: 'allowed once' }).last()
    await answer.waitFor()
    const hidden = await answer.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
    // an ellipsis needs more
    assert.ok(hidden < 12, `${hidden} pixels are cut off`)
  })

  it('have rules that can be listed, changed and deleted with a command', async () => {
    const { palette } = workbench
    const rows = palette.locator('.monaco-list-row')
    await workbench.runCommand('Parley: Manage Permission Rules')
    await rows.filter({ hasText: 'Edits: **/*.js' }).filter({ hasText: 'Reject' }).waitFor()
    const list = rows.filter({ hasText: 'Commands that start with ls' })
    await workbench.pick('Commands that start with ls')
    await workbench.pick('Ask')
    await list.filter({ hasText: 'Ask' }).waitFor()
    await workbench.pick('Commands that start with ls')
    await workbench.pick('Remove')
    await workbench.page.getByRole('button', { name: 'Remove' }).click()
    await rows.filter({ hasText: 'Edits: **/*.js' }).waitFor()
    await list.waitFor({ state: 'detached' })
    await workbench.closePalette()
  })

  it('are shown one at a time if thirty arrive at once', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Liar')
    await conversation.send('[[permissions 30]]')
    // in one call, because ninety calls take half a minute
    const look = () =>
      conversation.frame.evaluate<Array<string | null | undefined>>(`(() => {
        const first = document.querySelector('.permission.first[role="group"]')
        const focus = first?.contains(document.activeElement) ? document.activeElement : undefined
        return [
          first?.getAttribute('aria-label'),
          first?.querySelector('.permission-count')?.textContent,
          focus?.querySelector('.button-label')?.textContent,
        ]
      })()`)
    for (let left = 30; left > 0; left--) {
      const wanted = [`Permission needed: Question ${30 - left}`, left > 1 ? `1 of ${left}` : null, 'Allow']
      await waitFor(wanted.join(', '), async () => {
        const seen = await look()
        return wanted.every((one, at) => one === (seen[at] ?? null))
      })
      await workbench.page.keyboard.press(left % 2 ? '3' : 'Enter')
    }
    await conversation.text(/^(allow reject ?){15}$/).waitFor()
  })

  /** Sends a request while another view is visible; returns its notification and the status bar's text. */
  async function askWhileHidden() {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/slow 2')
    await conversation.send('/run date')
    await workbench.openViewContainer('Search')
    const call = workbench.notification(/Demo Agent asks:.*date/)
    await call.waitFor()
    const status = workbench.page.locator('.statusbar').getByLabel('Demo Agent: needs your answer')
    return { conversation, call, status }
  }

  it('show only one notification when they are hidden', async () => {
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    await conversation.send('/run date')
    await conversation.permission.waitFor()
    await workbench.openViewContainer('Search')
    const call = workbench.notification(/Demo Agent asks:.*date/)
    await call.getByRole('link', { name: 'Reject', exact: true }).click()
    await workbench.openViewContainer('Parley')
    await conversation.text('You rejected the command').waitFor()
  })

  it('close their notification when they are answered in the conversation', async () => {
    const { conversation, call, status } = await askWhileHidden()
    await status.click()
    await conversation.permission.getByRole('button', { name: 'Reject', exact: true }).click()
    await conversation.text('You rejected the command').waitFor()
    await call.waitFor({ state: 'detached' })
  })
})
