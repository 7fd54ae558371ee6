import assert from 'node:assert/strict'
import * as bridge from '../../../../src/views/bridge/conversation.ts'
import { head } from '../conversation/entries.ts'
import { openPage, type Page } from './page.ts'

describe('the session’s title in the header', function () {
  this.timeout(60_000)
  let page: Page
  let revision = 0
  const renamed: string[] = []
  const commands: string[] = []

  const show = (more: Partial<bridge.ConversationHead>) =>
    page.host.sendNotification(bridge.Snapshot, {
      revision: ++revision,
      head: head({
        sessionId: 's',
        agent: { agentId: 'a', name: 'Agent' },
        title: 'As the agent says',
        ...more,
      }),
      entries: [],
      first: 0,
      total: 0,
      terminals: [],
      draft: { text: '', marks: [], items: [] },
    })
  const title = () => page.document.querySelector<HTMLElement>('.header-rename')
  const field = () => page.document.querySelector<HTMLInputElement>('.title-field')

  beforeEach(async () => {
    page = await openPage('conversation')
    renamed.length = 0
    commands.length = 0
    let ready = false
    page.hear('conversation/ready', () => {
      ready = true
    })
    page.hear('conversation/rename', ({ title: name }) => void renamed.push(name))
    page.hear('conversation/command', ({ command }) => void commands.push(command))
    await page.until(() => ready)
    await show({})
    await page.until(() => title())
  })
  afterEach(() => page.close())

  it('is written anew after a click or F2; Enter takes it, Escape does not', async () => {
    title()!.click()
    await page.until(() => field() && page.document.activeElement === field())
    assert.equal(field()!.value, 'As the agent says')
    field()!.value = 'Nothing'
    page.key(field()!, 'Escape')
    await page.until(() => page.document.activeElement === title())
    page.key(title()!, 'F2')
    await page.until(() => field())
    field()!.value = '  Mine '
    page.key(field()!, 'Enter')
    await page.until(() => renamed.length === 1)
    assert.deepEqual(renamed, ['Mine'])
  })

  it('is not written over by keys of the view, and gives way to another session', async () => {
    title()!.click()
    await page.until(() => field())
    page.key(field()!, 'x')
    assert.equal(page.document.activeElement, field())
    await show({ sessionId: 'other', title: 'Another' })
    await page.until(() => title()?.textContent === 'Another')
    assert.deepEqual(renamed, [])
  })

  it('stands beside who is signed in, and the fork where the agent can', async () => {
    assert.equal(page.document.querySelector('.header-fork'), null)
    await show({
      canFork: true,
      account: { text: 'Signed in as ada', signedIn: true },
      program: 'Codex 2.6 · v2',
    })
    await page.until(() => page.document.querySelector('.header-fork'))
    page.document.querySelector<HTMLElement>('.header-fork')!.click()
    page.document.querySelector<HTMLElement>('.header-agent')!.click()
    await page.until(() => page.document.querySelector('.details-account'))
    assert.match(page.document.querySelector('.details')!.textContent!, /Codex 2\.6 · v2/)
    assert.match(page.document.querySelector('.details-account')!.textContent!, /Signed in as ada/)
    page.document.querySelector<HTMLElement>('.details-account button')!.click()
    await page.until(() => commands.length === 2)
    assert.deepEqual(commands, ['parley.forkSession', 'parley.signOut'])
  })
})
