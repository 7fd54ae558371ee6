import assert from 'node:assert/strict'
import type * as bridge from '../../../../src/bridge/conversation.ts'
import type { Entry } from '../../../../src/conversation/state.ts'
import { head, message, permission, toolCall } from '../conversation/entries.ts'
import { historyRow } from '../history/rows.ts'
import { openPage, type Page } from './page.ts'

describe('conversation page: accessibility', () => {
  let page: Page
  let revision = 0
  let heard: string[]

  beforeEach(async () => {
    page = await openPage('conversation')
    const ready: true[] = []
    page.hear('conversation/ready', () => void ready.push(true))
    await page.until(() => ready.length === 1)
    heard = []
    const region = page.document.querySelector('[role="status"][aria-live="polite"]')!
    new page.window.MutationObserver(() => heard.push(region.textContent ?? '')).observe(region, {
      childList: true,
      characterData: true,
      subtree: true,
    })
  })
  afterEach(() => page.close())

  const agent = { agentId: 'a', name: 'Ada' } as bridge.ConversationHead['agent']
  const show = (entries: Entry[], more: Partial<bridge.ConversationHead> = {}) =>
    page.send('conversation/snapshot', {
      revision: ++revision,
      head: head({ agent, ...more }),
      entries,
      first: 0,
      total: entries.length,
      terminals: [],
      draft: '',
    } as never)
  const patch = (...ops: bridge.PatchOp[]) => page.send('conversation/patch', { revision: ++revision, ops })
  const says = (text: string) => page.until(() => heard.some(one => one.trim() === text))

  it('announces a turn, its requests and its end, but not each piece of text', async () => {
    await show([message('u', 'user', 'Go'), message('a', 'agent', 'I')])
    await says('Ada is ready')
    await patch({ op: 'head', head: { activity: 'running' }, cleared: [] })
    await says('Ada is working')
    for (let i = 0; i < 50; i++) await patch({ op: 'text', id: 'a', block: 0, text: ` word${i}` })
    await page.until(() => page.document.querySelector('.prose')?.textContent?.includes('word49'))
    await patch({ op: 'entry', index: 2, entry: permission('p', { title: 'May I?' }) })
    await says('Ada asks: May I?')
    await patch({ op: 'head', head: { activity: 'idle' }, cleared: [] })
    await says('Ada finished')
    assert.equal(heard.length, 4, heard.join(' | '))
  })

  it('announces how a turn failed, and the text of a card', async () => {
    await show([message('u', 'user', 'Go')], { activity: 'running' })
    await says('Ada is ready')
    const end: Entry = {
      kind: 'turn_end',
      id: 'e',
      turn: 1,
      stopReason: 'error',
      error: { code: -1, message: 'No credit.' },
    }
    await patch(
      { op: 'entry', index: 1, entry: end },
      {
        op: 'head',
        head: { activity: 'idle' },
        cleared: [],
      },
    )
    await says('The turn ended with an error No credit.')
    const card: bridge.Card = { id: 'c', kind: 'error', title: 'Ada stopped', text: 'Why.', buttons: [] }
    await patch({ op: 'head', head: { cards: [card] }, cleared: [] })
    await says('Ada stopped Why.')
  })

  it('has headings: its title, the prompts below it, and those of answers below these', async () => {
    await show([
      message('u', 'user', 'Go'),
      message('a', 'agent', '# Result\n\n## Details\n\nDone'),
      message('v', 'user', 'More'),
    ])
    const headings = () =>
      [...page.document.querySelectorAll('h1, h2, h3')].map(heading => {
        const level = heading.getAttribute('aria-level') ?? heading.tagName.slice(1)
        return `${level} ${heading.textContent?.trim()}`
      })
    await page.until(() => headings().length === 5)
    assert.deepEqual(headings().slice(1), ['2 You:', '3 Result', '4 Details', '2 You:'])
    assert.match(headings()[0]!, /^1 /)
  })

  it('leaves the focus in sight when a key scrolls the conversation', async () => {
    await show([message('a', 'agent', 'A long answer.'), permission('p')])
    const button = (label: string) => page.document.querySelector<HTMLElement>(`.transcript ${label}`)
    await page.until(() => button('[aria-label="Copy Message"]') && button('[data-option]'))
    const copy = button('[aria-label="Copy Message"]')!
    for (const key of ['ArrowUp', 'PageDown']) {
      copy.focus()
      page.key(copy, key)
      assert.ok(page.document.activeElement?.classList.contains('transcript'))
    }
    const option = button('[data-option]')!
    option.focus()
    page.key(option, 'ArrowUp')
    assert.equal(page.document.activeElement, option)
  })

  it('moves between tool calls with the arrow keys', async () => {
    await show([
      toolCall('1', { toolKind: 'edit' }),
      message('a', 'agent', 'And'),
      toolCall('2', { toolKind: 'edit' }),
    ])
    const lines = () => [...page.document.querySelectorAll<HTMLElement>('.transcript button.line')]
    await page.until(() => lines().length === 2)
    lines()[0]!.focus()
    page.key(lines()[0]!, 'ArrowDown')
    assert.equal(page.document.activeElement, lines()[1])
    page.key(lines()[1]!, 'ArrowDown')
    assert.equal(page.document.activeElement, lines()[1])
    page.key(lines()[1]!, 'Home')
    assert.equal(page.document.activeElement, lines()[0])
    const isOpen = () => lines()[0]!.getAttribute('aria-expanded') === 'true'
    page.key(lines()[0]!, 'ArrowLeft')
    assert.ok(!isOpen())
    page.key(lines()[0]!, 'ArrowRight')
    await page.until(isOpen)
    page.key(lines()[0]!, 'ArrowRight')
    assert.ok(isOpen())
    page.key(lines()[0]!, 'ArrowLeft')
    await page.until(() => !isOpen())
  })

  it('makes the agents one tab stop, with the arrow keys to move between them', async () => {
    const agents = ['x', 'y', 'z'].map(agentId => ({ agentId, name: agentId, source: 'settings' }))
    await show([], { phase: 'empty', agent: undefined, agents, defaultAgentId: 'y' } as never)
    const buttons = () => [...page.document.querySelectorAll<HTMLElement>('.choice')]
    await page.until(() => buttons().length === 3)
    const stops = () => buttons().map(button => button.tabIndex)
    assert.deepEqual(stops(), [-1, 0, -1])
    buttons()[1]!.focus()
    page.key(buttons()[1]!, 'End')
    await page.until(() => stops().join() === '-1,-1,0')
    assert.equal(page.document.activeElement, buttons()[2])
  })

  it('mentions the installation of agents only if that is offered', async () => {
    const agents = [{ agentId: 'demo', name: 'Demo', source: 'demo' as const }]
    const empty = { phase: 'empty', agent: undefined, agents, noAgent: true } as const
    const words = () => page.document.querySelector('.conversation')?.textContent ?? ''
    await show([], { ...empty, offers: [] })
    await page.until(() => words().includes('Add an agent in settings, or try the demo.'))
    assert.doesNotMatch(words(), /install/i)
    const offer = { id: 'codex-acp', name: 'Codex', description: 'An agent', icon: 'robot' }
    await show([], { ...empty, offers: [offer] })
    await page.until(() => words().includes('Install Claude Code, Codex, Gemini CLI or another ACP agent'))
    assert.match(words(), /Choose or install an agent first/)
  })

  it('sets up no agent beside a default one, and says on demand how one is installed', async () => {
    const agents = [{ agentId: 'demo', name: 'Demo', source: 'demo' as const }]
    const plan = 'Runs: npm install codex'
    const offers = [
      { id: 'codex-acp', name: 'Codex', description: 'An agent', icon: 'sparkle', plan },
      { id: 'other', name: 'Other', description: 'Another', icon: 'sparkle' },
    ]
    const empty = { phase: 'empty', agent: undefined, agents, offers } as const
    await show([], { ...empty, noAgent: true })
    const words = () => page.document.querySelector('.conversation')?.textContent ?? ''
    await page.until(() => words().includes('Set Up an Agent') && page.document.querySelector('.offer-line'))
    assert.doesNotMatch(words(), /npm install/)
    assert.match(page.document.querySelector('.offer-line')?.getAttribute('title') ?? '', /npm install codex/)
    const running = { progress: 0.5 } as never
    for (const more of [
      { defaultAgentId: 'demo' },
      { cards: [{ id: 'default-agent', kind: 'warning' as const, title: 'Gone', text: 'x', buttons: [] }] },
    ]) {
      await show([], { ...empty, noAgent: true })
      await page.until(() => words().includes('Set Up an Agent'))
      await show([], { ...empty, ...more })
      await page.until(() => words().includes('Start with an agent'))
      assert.doesNotMatch(words(), /Set Up an Agent|Install Claude|Codex/)
    }
    await show([], { ...empty, offers: [{ ...offers[1]!, running }, offers[0]!], defaultAgentId: 'demo' })
    await page.until(() => words().includes('Other'))
    assert.doesNotMatch(words(), /Codex/)
  })

  it('lists and opens sessions instead of asking to set up an agent', async () => {
    const opened: string[] = []
    page.hear('conversation/openSession', ({ sessionId }) => void opened.push(sessionId))
    const agents = [{ agentId: 'demo', name: 'Demo', source: 'demo' as const }]
    const empty = { phase: 'empty', agent: undefined, agents, noAgent: true } as const
    await show([], empty)
    const words = () => page.document.querySelector('.conversation')?.textContent ?? ''
    await page.until(() => words().includes('Set Up an Agent'))
    assert.match(words(), /Choose an agent first/)
    const sessions = [
      historyRow('1', { open: true, activity: 'requires_action' }),
      historyRow('2', { open: true, activity: 'running' }),
      historyRow('3', { cwd: '/q', folder: 'q', here: false }),
      historyRow('4', { open: true }),
      historyRow('5', { open: true, shown: true }),
    ]
    await show([], { ...empty, sessions })
    await page.until(() => page.document.querySelector('.sessions .session-text') !== null)
    assert.doesNotMatch(words(), /Set Up an Agent|install an agent first/)
    assert.match(words(), /Choose an agent for a new session/)
    const lines = [...page.document.querySelectorAll<HTMLElement>('.sessions .choice')]
    assert.deepEqual(
      lines.map(line => line.textContent),
      [
        'Session 1Needs your answerAgent · p',
        'Session 2RunningAgent · p',
        'Session 3Agent · in q',
        'Session 4Agent · p',
        'Session 5Open hereAgent · p',
      ],
    )
    lines[1]!.click()
    await page.until(() => opened.length > 0)
    assert.deepEqual(opened, ['2'])
    // a single folder isn't worth mentioning
    await show([], { ...empty, sessions: sessions.slice(0, 2) })
    await page.until(() => page.document.querySelectorAll('.sessions .choice').length === 2)
    assert.equal(page.document.querySelector('.sessions .session-about')?.textContent, 'Agent')
  })
})
