import assert from 'node:assert/strict'
import type { AgentRow, AgentsState } from '../../../../src/bridge/agents.ts'
import { openPage, type Page } from './page.ts'

describe('Manage Agents page', () => {
  let page: Page

  const row = (name: string, more: Partial<AgentRow> = {}): AgentRow => ({
    section: 'registry',
    key: name,
    registryId: name.toLowerCase(),
    name,
    description: `About ${name}`,
    icon: 'robot',
    source: 'ACP registry',
    ...more,
  })
  const show = (rows: AgentRow[], more: Partial<AgentsState> = {}) =>
    page.send('manageAgents/state', {
      ...{ rows, trusted: true, refreshing: false, registryOn: true },
      ...more,
    })
  const focused = () => {
    const element = page.document.activeElement
    return element?.getAttribute('aria-label') ?? element?.tagName
  }
  const press = (key: string) => page.key(page.document.activeElement!, key)

  beforeEach(async () => {
    page = await openPage('agents', {
      // as in a focused window, even after the focused element was removed
      prepare: ({ document }) => {
        document.hasFocus = () => true
      },
    })
    let ready = false
    page.hear('manageAgents/ready', () => {
      ready = true
    })
    await page.until(() => ready)
  })
  afterEach(() => page.close())

  it('supports the arrow keys, Enter and Escape', async () => {
    await show([row('A', { hasRepository: true }), row('B')])
    await page.until(() => page.document.querySelectorAll('.agent').length === 2)
    page.document.querySelector('input')!.focus()
    press('Enter')
    assert.equal(focused(), 'Install: A')
    press('ArrowRight')
    assert.equal(focused(), 'Repository: A')
    press('ArrowDown')
    assert.equal(focused(), 'Install: B')
    press('Home')
    assert.equal(focused(), 'Install: A')
    press('ArrowUp')
    assert.equal(focused(), 'Search agents')
    press('ArrowDown')
    press('End')
    assert.equal(focused(), 'Install: B')
    press('Escape')
    assert.equal(focused(), 'Search agents')
  })

  it('keeps its search across reloads, and says if no agent matches it', async () => {
    page.close()
    page = await openPage('agents', { state: 'nothing like it' })
    await show([row('A')])
    await page.until(() => /No agents match “nothing like it”\./.test(page.document.body.textContent ?? ''))
    assert.equal(page.document.querySelector('.agent'), null)
    page.key(page.document.querySelector('input')!, 'Escape')
    await page.until(() => page.document.querySelector('.agent'))
    assert.equal(page.kept.state, '')
    const input = page.document.querySelector('input')!
    input.value = 'about a'
    input.dispatchEvent(new page.window.Event('input', { bubbles: true }))
    assert.equal(page.kept.state, 'about a')
  })

  it("keeps the focus on an agent while it's installed, updated and uninstalled", async () => {
    const installed = { section: 'installed', key: 'agent/a', agentId: 'a' } as const
    await show([row('A'), row('B')])
    await page.until(() => page.document.querySelectorAll('.agent').length === 2)
    page.document.querySelector('input')!.focus()
    press('Enter')
    await show([row('A', { running: { step: 'Installing…' } }), row('B')])
    await page.until(() => focused() === 'Cancel: A')
    await show([row('A', installed), row('B')])
    await page.until(() => focused() === 'New Session: A')
    press('ArrowRight')
    assert.equal(focused(), 'Check: A')
    await show([row('A', { ...installed, checking: true }), row('B')])
    await page.until(() => focused() === 'Checking…: A')
    await show([row('A', { ...installed, check: { ok: true, summary: 'It works.', details: [] } }), row('B')])
    await page.until(() => focused() === 'Check: A')
    assert.equal(page.document.querySelector('.agent-check')?.getAttribute('role'), 'status')
    await show([row('B'), row('A')])
    await page.until(() => focused() === 'Install: A')
    // the search gets the focus if the agent is removed
    await show([row('B')])
    await page.until(() => focused() === 'Search agents')
  })

  it("includes the agent's name in the name of each button", async () => {
    const acts: string[] = []
    page.hear('manageAgents/act', ({ action, key }) => void acts.push(`${action} ${key}`))
    const account = { text: 'Signed in as ada@example.org' }
    await show([
      row('A', { section: 'installed', key: 'a', agentId: 'a', update: '2.0.0', isRunning: true, account }),
      row('B', { running: { step: 'Installing…' } }),
      row('C', { failed: { message: 'No network.', output: 'npm error' }, hasRepository: true }),
    ])
    await page.until(() => page.document.querySelectorAll('.agent').length === 3)
    const text = page.document.body.textContent ?? ''
    for (const one of [account.text, 'Update: 2.0.0', 'Running', 'Installing…', 'No network.'])
      assert.ok(text.includes(one), one)
    const buttons = [...page.document.querySelectorAll<HTMLElement>('.agent-buttons button')]
    for (const button of buttons) button.click()
    await page.until(() => acts.length === buttons.length - 1)
    assert.deepEqual(
      buttons.map(button => button.getAttribute('aria-label')),
      ['Update', 'New Session', 'Check', 'More Actions']
        .map(words => `${words}: A`)
        .concat('Cancel: B', 'Retry: C', 'Repository: C'),
    )
    assert.deepEqual(acts.join(), 'install a,newSession a,check a,cancel B,install C,openRepository C')
  })

  it('lists what is rarely needed in a menu, with words', async () => {
    const acts: string[] = []
    page.hear('manageAgents/act', ({ action, key }) => void acts.push(`${action} ${key}`))
    await show([row('A', { section: 'installed', key: 'a', agentId: 'a', isRunning: true })])
    const more = () =>
      page.document.querySelector<HTMLElement>('[aria-label="More Actions: A"][aria-haspopup]')
    await page.until(more)
    const options = () => [...page.document.querySelectorAll<HTMLElement>('[role="option"]')]
    const names: Array<string | null> = []
    for (let at = 0; at === 0 || at < names.length; at++) {
      more()!.click()
      await page.until(() => options().length > 0)
      if (at === 0) names.push(...options().map(option => option.textContent))
      options()[at]!.click()
      await page.until(() => acts.length === at + 1 && options().length === 0)
    }
    assert.deepEqual(
      names,
      'Set as Default,Sign In,Sign Out,Restart,Check Conformance…,Show Log,Configure,Remove'.split(','),
    )
    assert.deepEqual(
      acts,
      [
        'setDefault',
        'signIn',
        'signOut',
        'restart',
        'checkConformance',
        'showLog',
        'configure',
        'remove',
      ].map(action => `${action} a`),
    )
    assert.equal(focused(), 'More Actions: A')
  })

  it("says that the registry is disabled, and doesn't mention loading or installing", async () => {
    const installed = { section: 'installed', key: 'a', agentId: 'a' } as const
    await show([row('A', installed)], { registryOn: false, refreshing: true })
    await page.until(() => page.document.querySelector('.agent'))
    const text = page.document.body.textContent ?? ''
    assert.match(text, /The agent registry is turned off in the settings\./)
    assert.doesNotMatch(text, /Reading|Install\b|Update/)
  })

  it('disables actions in Restricted Mode and says so', async () => {
    await show([row('A', { section: 'installed', key: 'a', agentId: 'a' }), row('B')], { trusted: false })
    await page.until(() => page.document.querySelectorAll('.agent').length === 2)
    assert.match(page.document.body.textContent ?? '', /Restricted Mode: agents don't start/)
    const locked = [...page.document.querySelectorAll('.agent-buttons button:disabled')]
    assert.deepEqual(
      locked.map(button => button.getAttribute('aria-label')),
      ['New Session: A', 'Check: A', 'Install: B'],
    )
    page.document.querySelector<HTMLElement>('.act-more')!.click()
    await page.until(() => page.document.querySelector('[role="option"]'))
    assert.deepEqual(
      [...page.document.querySelectorAll('[role="option"]')].map(option => option.textContent),
      ['Set as Default', 'Show Log', 'Configure'],
    )
  })
})
