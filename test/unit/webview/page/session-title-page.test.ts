import assert from 'node:assert/strict'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import { head } from '../conversation/entries.ts'
import { historyRow } from '../history/rows.ts'
import { openPage, type Page } from './page.ts'

describe("the session's title in the header", () => {
  let page: Page
  let revision = 0
  const renamed: string[] = []
  const commands: string[] = []

  const show = (more: Partial<bridge.ConversationHead>) =>
    page.send('conversation/snapshot', {
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
      draft: { text: '', chips: [], items: [] },
    })
  const title = () => page.document.querySelector<HTMLElement>('.header-sessions')
  const twice = () =>
    title()!.dispatchEvent(new page.document.defaultView!.MouseEvent('dblclick', { bubbles: true }))
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

  it('can be edited after a double click or F2; Enter accepts, Escape cancels', async () => {
    twice()
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

  it("isn't affected by keys of the view, and stops being edited for another session", async () => {
    twice()
    await page.until(() => field())
    page.key(field()!, 'x')
    assert.equal(page.document.activeElement, field())
    await show({ sessionId: 'other', title: 'Another' })
    await page.until(() => title()?.textContent === 'Another')
    assert.deepEqual(renamed, [])
  })

  it('leaves F2 with a modifier, and other shortcuts during editing, to VS Code', async () => {
    const seen: string[] = []
    page.document.defaultView!.addEventListener('keydown', ({ key }) => void seen.push(key))
    twice()
    await page.until(() => field())
    seen.length = 0
    page.key(field()!, 'P', { ctrlKey: true, shiftKey: true })
    page.key(field()!, 'F1')
    page.key(field()!, 'x')
    page.key(field()!, 'ArrowDown', { altKey: true })
    page.key(field()!, 'Enter', { ctrlKey: true })
    assert.deepEqual(seen, ['P', 'F1'])
    await page.until(() => page.document.activeElement === title())
    for (const other of [{ ctrlKey: true }, { shiftKey: true }, { altKey: true }])
      assert.ok(!page.key(title()!, 'F2', other).defaultPrevented)
    assert.ok(page.key(title()!, 'F2').defaultPrevented)
  })

  it('shows the other sessions after a click, to be chosen with the keyboard; rows keep their places', async () => {
    const opened: string[] = []
    const switching: boolean[] = []
    page.hear('conversation/openSession', ({ sessionId }) => void opened.push(sessionId))
    page.hear('conversation/switcher', ({ isOpen }) => void switching.push(isOpen))
    const list = () => page.document.querySelector<HTMLElement>('.switcher [role="listbox"]')
    const names = () =>
      [...page.document.querySelectorAll('.switcher .session-title')].map(name => name.textContent)
    const active = () => page.document.querySelector('.switcher [data-active]')?.textContent ?? ''
    title()!.click()
    await page.until(() => list() && switching.length === 1)
    // nothing can be chosen by accident before the sessions are known
    page.key(list()!, 'Enter')
    assert.equal(names().length, 0)
    assert.ok(list())
    const rows = [
      historyRow('a', { title: 'Waiting', open: true, activity: 'requires_action' }),
      historyRow('b', { title: 'Planets', open: true }),
      historyRow('c', { title: 'Rockets' }),
    ]
    await show({ sessions: rows })
    await page.until(() => names().length === 3)
    page.key(list()!, 'r')
    await page.until(() => active().startsWith('Rockets'))
    await show({ sessions: [rows[2]!, historyRow('d', { title: 'New' }), rows[1]!, rows[0]!] })
    await page.until(() => names().length === 4)
    assert.deepEqual(names(), ['Waiting', 'Planets', 'Rockets', 'New'])
    assert.ok(active().startsWith('Rockets'))
    page.key(list()!, 'Enter')
    await page.until(() => opened.length === 1 && switching.length === 2)
    assert.deepEqual([opened, switching, commands], [['c'], [true, false], []])
  })

  it('is next to the account, and to Fork if the agent supports it', async () => {
    assert.equal(page.document.querySelector('.header-fork'), null)
    await show({
      canFork: true,
      account: { text: 'Signed in as ada', signedIn: true },
      program: 'Codex 2.6 · v2',
    })
    await page.until(() => page.document.querySelector('.header-fork'))
    page.document.querySelector<HTMLElement>('.header-fork')!.click()
    page.document.querySelector<HTMLElement>('.header-details')!.click()
    await page.until(() => page.document.querySelector('.details-account'))
    assert.match(page.document.querySelector('.details')!.textContent!, /Codex 2\.6 · v2/)
    assert.match(page.document.querySelector('.details-account')!.textContent!, /Signed in as ada/)
    page.document.querySelector<HTMLElement>('.details-account button')!.click()
    await page.until(() => commands.length === 2)
    assert.deepEqual(commands, ['parley.forkSession', 'parley.signOut'])
  })

  it('is next to the agent, whose menu has its actions and other agents', async () => {
    const started: Array<string | undefined> = []
    page.hear('conversation/start', ({ agentId }) => void started.push(agentId))
    await show({
      account: { text: 'Sign-in status not reported' },
      agents: [
        { agentId: 'codex', name: 'Codex', source: 'preset' },
        { agentId: 'gemini', name: 'Gemini CLI', source: 'preset' },
      ],
    })
    await page.until(() => page.document.querySelector('.header-agent'))
    const options = () => [...page.document.querySelectorAll<HTMLElement>('.menu [role="option"]')]
    const choose = async (name: string) => {
      page.document.querySelector<HTMLElement>('.header-agent')!.click()
      await page.until(() => options().length > 0)
      options()
        .find(option => option.textContent?.includes(name))!
        .click()
      await page.until(() => options().length === 0)
    }
    await choose('Gemini CLI')
    await choose('Codex')
    page.document.querySelector<HTMLElement>('.header-agent')!.click()
    await page.until(() => options().length > 0)
    assert.ok(
      !options().some(option => option.textContent?.includes('Continue Session')),
      'nothing to continue',
    )
    const iconOf = (place: Element) => place.querySelector('.agent-icon')?.className
    const codex = options().find(option => option.textContent?.includes('Codex'))!
    assert.equal(iconOf(codex), iconOf(page.document.querySelector('.header-agent')!))
    page.document.querySelector<HTMLElement>('.header-agent')!.click()
    await page.until(() => options().length === 0)
    await choose('Restart Agent')
    await choose('Show Agent Log')
    await choose('Sign In')
    await choose('Manage Agents')
    await page.until(() => commands.length === 4)
    assert.deepEqual(started, ['gemini', 'codex'])
    assert.deepEqual(commands, [
      'parley.restartAgent',
      'parley.showAgentLog',
      'parley.signIn',
      'parley.manageAgents',
    ])
  })

  it("isn't next to a sign-in button if the agent has no way to sign in", async () => {
    const offers = async (account: bridge.ConversationHead['account']) => {
      await show({ account, program: `after ${account?.text}` })
      page.document.querySelector<HTMLElement>('.header-details')!.click()
      await page.until(() =>
        page.document.querySelector('.details')?.textContent?.includes(`after ${account?.text}`),
      )
      const inDetails = page.document.querySelector('.details-account button')?.textContent
      page.key(page.document.querySelector('.details')!, 'Escape')
      await page.until(() => !page.document.querySelector('.details'))
      page.document.querySelector<HTMLElement>('.header-agent')!.click()
      await page.until(() => page.document.querySelector('.menu [role="option"]'))
      const names = [...page.document.querySelectorAll('.menu [role="option"]')].map(
        option => option.textContent,
      )
      page.key(page.document.querySelector('.menu input, .menu [role="option"]')!, 'Escape')
      await page.until(() => !page.document.querySelector('.menu'))
      return [inDetails, names.find(name => name?.startsWith('Sign '))]
    }
    assert.deepEqual(await offers({ text: 'unknown' }), ['Sign In…', 'Sign In…'])
    assert.deepEqual(await offers({ text: 'none', hasNoSignIn: true }), [undefined, undefined])
    assert.deepEqual(await offers({ text: 'in', signedIn: true, hasNoSignIn: true }), [
      'Sign Out',
      'Sign Out…',
    ])
    assert.deepEqual(await offers(undefined), [undefined, undefined])
  })
})
