import assert from 'node:assert/strict'
import type * as bridge from '../../../../src/bridge/history.ts'
import { historyRow, plainSummary } from '../history/rows.ts'
import { openPage, type Page } from './page.ts'

describe('history page', () => {
  let page: Page
  const acts: Array<{ action: string; sessionId: string }> = []
  const started: string[] = []
  const searches: Array<{ id: number; text: string; here: boolean }> = []

  const row = (sessionId: string, more: Partial<bridge.HistoryRow> = {}) =>
    historyRow(sessionId, { updatedAt: Date.now() - Number(sessionId) * 1000, ...more })
  const show = (rows: bridge.HistoryRow[], more: Partial<bridge.HistoryChanges> = {}) =>
    page.send('history/state', {
      rows,
      ...plainSummary,
      ...more,
    })
  const titles = () =>
    [...page.document.querySelectorAll('.session-title')].map(element => element.textContent)
  const search = () => page.document.querySelector('input')!
  const active = () => page.document.querySelector('[aria-selected=true] .session-title')?.textContent

  beforeEach(async () => {
    page = await openPage('history')
    acts.length = 0
    started.length = 0
    let ready = false
    page.hear('history/ready', () => {
      ready = true
    })
    page.hear('history/act', act => void acts.push(act))
    page.hear('history/search', search => void searches.push(search))
    page.hear('history/startAgent', ({ agentId }) => void started.push(agentId))
    await page.until(() => ready)
  })
  afterEach(() => page.close())

  it('moves with the arrow keys, loads with Enter, and resumes with Shift+Enter', async () => {
    await show([row('1'), row('2'), row('3', { open: true })])
    await page.until(() => titles().length === 3)
    assert.equal(active(), 'Session 1')
    page.key(search(), 'Enter')
    page.key(search(), 'ArrowDown')
    await page.until(() => active() === 'Session 2')
    page.key(search(), 'Enter', { shiftKey: true })
    page.key(search(), 'ArrowDown')
    page.key(search(), 'ArrowDown')
    await page.until(() => active() === 'Session 3')
    page.key(search(), 'Enter')
    await page.until(() => acts.length === 3)
    assert.deepEqual(
      acts.map(({ action, sessionId }) => [action, sessionId]),
      [
        ['load', '1'],
        ['resume', '2'],
        ['show', '3'],
      ],
    )
  })

  it('focuses the search once it exists, unless the focus went elsewhere before', async () => {
    page.document.hasFocus = () => true
    const come = async () => {
      page.window.dispatchEvent(new page.window.Event('focus'))
      await new Promise(done => page.window.requestAnimationFrame(done))
    }
    await come()
    page.window.dispatchEvent(new page.window.Event('blur'))
    await show([row('1')])
    await page.until(() => titles().length === 1)
    assert.equal(page.document.activeElement, page.document.body)
    await come()
    await page.until(() => page.document.activeElement === search())
  })

  it('draws only the changed row, and renumbers all when one is added', async () => {
    await show(Array.from({ length: 20 }, (_, i) => row(String(i + 1))))
    await page.until(() => titles().length === 20)
    // every row sets the context of its menu when it's drawn
    let drawn = 0
    const { JSON: json } = page.window
    page.window.JSON = Object.assign(Object.create(json), {
      stringify: (value: unknown) => {
        if ((value as { webviewSection?: string } | null)?.webviewSection === 'session') drawn++
        return json.stringify(value)
      },
    })
    const changed = row('3', { title: 'Renamed' })
    await show([changed], { removed: [] })
    await page.until(() => titles()[2] === 'Renamed')
    assert.equal(drawn, 1)
    await show([row('0')], { removed: [] })
    await page.until(() => titles()[0] === 'Session 0')
    assert.deepEqual(
      [...page.document.querySelectorAll('[role=option]')].map(one => one.getAttribute('aria-posinset')),
      Array.from({ length: 21 }, (_, i) => String(i + 1)),
    )
    await show([], { removed: [{ agentId: 'a', sessionId: '3' }] })
    await page.until(() => titles().length === 20 && !titles().includes('Renamed'))
  })

  it("opens the match of a typed filter even if it isn't drawn yet", async () => {
    await show([row('1'), row('2', { title: 'Something else' })])
    await page.until(() => titles().length === 2)
    search().value = 'else'
    search().dispatchEvent(new page.window.Event('input', { bubbles: true }))
    page.key(search(), 'Enter')
    await page.until(() => acts.length === 1)
    assert.deepEqual(acts[0]?.sessionId, '2')
  })

  it('filters as the user types, and keeps the filter', async () => {
    await show([
      row('1', { title: 'Fix parser' }),
      row('2', { title: 'Add export', here: false, folder: 'other' }),
    ])
    await page.until(() => titles().length === 2)
    assert.match(page.document.body.textContent!, /in other/)
    search().value = 'export'
    search().dispatchEvent(new page.window.Event('input', { bubbles: true }))
    await page.until(() => titles().length === 1)
    assert.deepEqual(titles(), ['Add export'])
    assert.deepEqual(structuredClone(page.kept.state), {
      history: { text: 'export', here: false, archived: false, group: undefined, preview: false },
    })
    page.document.querySelector<HTMLElement>('[aria-pressed]')!.click()
    await page.until(() => titles().length === 0 && searches.at(-1)?.here)
    await page.send('history/hits', { id: searches.at(-1)!.id, hits: [], isLimited: false })
    await page.until(() => /No sessions match “export”/.test(page.document.body.textContent!))
    page.document.querySelector<HTMLElement>('.history-nothing .link-button')!.click()
    await page.until(() => titles().length === 2)
  })

  it('says that only the newest messages were searched', async () => {
    await show([row('1', { title: 'Fix parser' })])
    const says = () => /Only the newest messages were searched/.test(page.document.body.textContent!)
    const type = async (text: string) => {
      const before = searches.length
      search().value = text
      search().dispatchEvent(new page.window.Event('input', { bubbles: true }))
      await page.until(() => searches.length > before)
    }
    await type('parser')
    assert.equal(says(), false)
    await page.send('history/hits', { id: searches.at(-1)!.id, hits: [], isLimited: true })
    await page.until(says)
    await type('parser te')
    await page.send('history/hits', { id: searches.at(-1)!.id, hits: [], isLimited: false })
    await page.until(() => !says())
  })

  it('has buttons only for what the agent supports', async () => {
    await show([row('1', { canLoad: false, canResume: false }), row('2', { canClose: true })])
    await page.until(() => titles().length === 2)
    const [none, all] = page.document.querySelectorAll('.history-row')
    assert.equal(none!.querySelectorAll('.icon-button').length, 0)
    ;(none as HTMLElement).click()
    const buttons = all!.querySelectorAll<HTMLElement>('.icon-button')
    assert.equal(buttons.length, 3)
    buttons[2]!.click()
    await page.until(() => acts.length === 1)
    assert.equal(acts[0]!.action, 'close')
  })

  it('shows the status of each agent, and offers to start one', async () => {
    await show([], {
      agents: [
        { agentId: 'x', name: 'X', state: 'cannot-list', more: false, paging: false },
        { agentId: 'y', name: 'Y', state: 'failed', message: 'Y said no.', more: false, paging: false },
        {
          agentId: 'z',
          name: 'Z',
          state: 'not-started',
          more: false,
          paging: false,
          account: 'Not signed in',
        },
        {
          agentId: 'a',
          name: 'A',
          state: 'listed',
          more: false,
          paging: false,
          account: 'Signed in as ada@example.org',
        },
        { agentId: 'b', name: 'B', state: 'listed', more: false, paging: false },
      ],
    })
    await page.until(() => page.document.querySelectorAll('.history-note').length === 4)
    const content = page.document.body.textContent!
    assert.match(content, /X doesn't list sessions/)
    assert.match(content, /Y said no\./)
    assert.match(content, /Z isn't running\. Start to List Sessions\s*Z · Not signed in/)
    assert.match(content, /A · Signed in as ada@example\.org/)
    page.document.querySelectorAll<HTMLElement>('.history-note button')[1]!.click()
    await page.until(() => started.length === 1)
    assert.deepEqual(started, ['z'])
  })

  it("has one line for many agents that weren't started, which lists them on request", async () => {
    const agents = ['a', 'b', 'c'].map(agentId => ({
      agentId,
      name: agentId.toUpperCase(),
      state: 'not-started' as const,
      more: false,
      paging: false,
    }))
    await show([], { agents })
    await page.until(() => page.document.querySelector('.history-resting') !== null)
    const fold = page.document.querySelector<HTMLDetailsElement>('.history-resting')!
    assert.equal(fold.open, false)
    assert.equal(fold.querySelector('summary')!.textContent, "Sessions of 3 more agents aren't listed yet")
    assert.equal(page.document.querySelectorAll('.history-note').length, 3)
    assert.equal(fold.querySelectorAll('.history-note').length, 3)
  })

  it('renames a session in place with F2; Enter accepts, Escape cancels', async () => {
    const named: Array<[string, string]> = []
    page.hear('history/rename', ({ sessionId, title }) => void named.push([sessionId, title]))
    await show([row('1'), row('2')])
    await page.until(() => titles().length === 2)
    for (const modifier of ['ctrlKey', 'metaKey', 'altKey', 'shiftKey'])
      assert.equal(page.key(search(), 'F2', { [modifier]: true }).defaultPrevented, false, modifier)
    page.key(search(), 'F2')
    const field = () => page.document.querySelector<HTMLInputElement>('.title-field')
    await page.until(() => field() && page.document.activeElement === field())
    assert.equal(field()!.value, 'Session 1')
    field()!.value = 'Another'
    page.key(field()!, 'Escape')
    await page.until(() => !field())
    assert.equal(page.document.activeElement, search())
    await page.send('history/editTitle', { agentId: 'a', sessionId: '2' })
    await page.until(() => field()?.value === 'Session 2')
    field()!.value = 'Mine'
    page.key(field()!, 'Enter')
    await page.until(() => named.length === 1)
    assert.deepEqual(named, [['2', 'Mine']])
    assert.deepEqual(acts, [])
  })

  it('shows archived sessions only with the filter', async () => {
    await show([row('1'), row('2', { archived: true, canArchive: true })])
    await page.until(() => titles().length === 1)
    const all = page.document.querySelector<HTMLElement>('[aria-label="Include Archived Sessions"]')!
    all.click()
    await page.until(() => titles().length === 2)
    page.document.querySelector<HTMLElement>('[title^="Unarchive"]')!.click()
    await page.until(() => acts.length === 1)
    assert.equal(acts[0]!.action, 'unarchive')
    assert.deepEqual(structuredClone(page.kept.state), {
      history: { text: '', here: false, archived: true, group: undefined, preview: false },
    })
  })

  it("provides the context of a session's menu to VS Code", async () => {
    await show([row('1', { canFork: true, elsewhere: 'running' })])
    await page.until(() => titles().length === 1)
    const reported = page.document.querySelector<HTMLElement>('.history-row')!.dataset.vscodeContext!
    const context = JSON.parse(reported)
    assert.equal(context.parleySessionId, '1')
    assert.equal(context.parleyCanFork, true)
    assert.equal(context.parleyCanDelete, false)
    assert.match(page.document.body.textContent!, /Running elsewhere/)
  })

  it("doesn't mention saved conversations that use little of the allowed space", async () => {
    await show([row('1', {})], { storage: { used: 100_000, max: 1_000_000_000 }, search: {} })
    await page.until(() => page.document.querySelectorAll('.history-row').length === 1)
    assert.doesNotMatch(page.document.body.textContent!, /Saved conversations/)
  })

  it('says how much space is used', async () => {
    await show([row('1', {})], {
      storage: { used: 34_200_000, max: 1_000_000_000 },
      search: {},
    })
    const { document } = page
    await page.until(() => document.querySelectorAll('.history-row').length === 1)
    assert.match(document.body.textContent!, /Saved conversations: 34\.2 of 1,000 MB/)
    const button = [...document.querySelectorAll('button')].find(one => one.textContent === 'Change Limit')
    let shown = 0
    page.hear('history/openSizeSetting', () => {
      shown += 1
    })
    button!.click()
    await page.until(() => shown === 1)
  })

  it('deletes by keyboard and mouse, and selects the session in the same position', async () => {
    const rows = ['1', '2', '3', '4'].map(id => row(id, { canDelete: true }))
    await show(rows)
    await page.until(() => titles().length === 4)
    page.key(search(), 'ArrowDown')
    page.key(search(), 'Delete')
    await page.until(() => acts.length === 1)
    await show([], { removed: [{ agentId: 'a', sessionId: '2' }] })
    await page.until(() => active() === 'Session 3')
    const trash = page.document.querySelectorAll<HTMLElement>('.history-actions .codicon-trash')
    trash[2]!.closest<HTMLElement>('.icon-button')!.click()
    await page.until(() => acts.length === 2)
    assert.deepEqual(
      acts.map(act => [act.action, act.sessionId]),
      [
        ['delete', '2'],
        ['delete', '4'],
      ],
    )
  })

  it('selects several sessions with the mouse and keys, and acts on all of them', async () => {
    const many: Array<[string, string[]]> = []
    page.hear('history/actOnMany', ({ action, sessions }) => {
      many.push([action, sessions.map(({ sessionId }) => sessionId)])
    })
    const can = { canDelete: true, canArchive: true }
    await show(Array.from({ length: 5 }, (_, i) => row(String(i + 1), can)))
    await page.until(() => titles().length === 5)
    const rowOf = (number: number) =>
      [...page.document.querySelectorAll<HTMLElement>('.history-row')][number - 1]!
    const press = (number: number, more: MouseEventInit) => {
      for (const type of ['pointerdown', 'click'])
        rowOf(number).dispatchEvent(new page.window.MouseEvent(type, { bubbles: true, button: 0, ...more }))
    }
    const chosen = () =>
      [...page.document.querySelectorAll('.chosen .session-title')].map(({ textContent }) => textContent)
    const bar = () => page.document.querySelector('.history-bar')
    const click = (label: string) => bar()!.querySelector<HTMLElement>(`[aria-label^="${label}"]`)!.click()
    const sessions = (...numbers: number[]) => numbers.map(number => `Session ${number}`)

    press(2, { ctrlKey: true })
    press(4, { metaKey: true })
    await page.until(() => chosen().length === 2)
    assert.deepEqual(chosen(), sessions(2, 4))
    assert.equal(bar()?.querySelector('.history-bar-text')?.textContent, '2 sessions selected')
    assert.equal(page.document.querySelectorAll('[aria-selected=true]').length, 2)
    press(4, { ctrlKey: true })
    await page.until(() => chosen().length === 1)
    // from the last one that was pressed
    press(2, { shiftKey: true })
    await page.until(() => chosen().length === 3)
    assert.deepEqual(chosen(), sessions(2, 3, 4))
    click('Archive')
    await page.until(() => many.length === 1)
    assert.deepEqual(chosen(), [])

    press(1, { ctrlKey: true })
    press(1, { ctrlKey: true })
    await page.until(() => bar() === null)
    page.key(search(), 'ArrowDown', { shiftKey: true })
    page.key(search(), 'ArrowDown', { shiftKey: true })
    await page.until(() => chosen().length === 3)
    page.key(search(), 'ArrowUp', { shiftKey: true })
    await page.until(() => chosen().length === 2)
    assert.deepEqual(chosen(), sessions(1, 2))
    page.key(search(), 'Delete')
    await page.until(() => many.length === 2)

    page.key(search(), 'a', { ctrlKey: true })
    await page.until(() => chosen().length === 5)
    page.key(search(), 'Escape')
    await page.until(() => chosen().length === 0)
    page.key(search(), 'a', { ctrlKey: true })
    await page.until(() => chosen().length === 5)
    // an arrow key selects one again
    page.key(search(), 'ArrowDown')
    await page.until(() => chosen().length === 0)
    assert.deepEqual(many, [
      ['archive', ['2', '3', '4']],
      ['delete', ['1', '2']],
    ])
    assert.deepEqual(acts, [])
  })

  it('says what was deleted, and brings it back by mouse or Ctrl+Z', async () => {
    let undone = 0
    page.hear('history/undoDeletion', () => {
      undone += 1
    })
    const note = () => page.document.querySelector('.history-deleted .history-bar-text')?.textContent
    const one = { agentName: 'Able', title: 'One', deletesCopy: false }
    const copy = { agentName: 'Sparse', title: 'Two', deletesCopy: true }
    await show([row('1')], { deleted: [one] })
    await page.until(() => note() === 'Deleted “One”.')
    page.document.querySelector<HTMLElement>('.history-deleted button')!.click()
    await page.until(() => undone === 1)
    await show([row('1')], { deleted: [copy] })
    await page.until(() => note() === "Deleted Parley's copy of “Two”. Sparse keeps its own.")
    page.key(search(), 'z', { ctrlKey: true })
    await page.until(() => undone === 2)
    await show([row('1')], { deleted: [one, copy] })
    await page.until(() => note() === "2 sessions deleted. Agents that weren't asked keep their own copies.")
    await show([row('1')])
    await page.until(() => note() === undefined)
    page.key(search(), 'z', { ctrlKey: true })
    // a text of the search is edited, not the list
    await show([row('1')], { deleted: [one] })
    await page.until(() => note() !== undefined)
    search().value = 'Session'
    search().dispatchEvent(new page.window.Event('input', { bubbles: true }))
    page.key(search(), 'z', { ctrlKey: true })
    page.key(search(), 'Enter')
    await page.until(() => acts.length === 1)
    assert.equal(undone, 2)
  })

  it('explains why the list is empty', async () => {
    await show([], { trusted: false })
    await page.until(() => page.document.querySelector('.history-nothing'))
    assert.match(page.document.body.textContent!, /until you trust/)
  })
})
