import assert from 'node:assert/strict'
import { pickOpenSession } from '../../../src/app/commands/pick-session.ts'
import type { OtherSession } from '../../../src/app/window-sessions.ts'
import type { PickItem, Workbench } from '../../../src/app/workbench.ts'

type Sources = Parameters<typeof pickOpenSession>[0]
type Open = ReturnType<Sources['sessionsHere']['list']>[number]

function openSession(agentName: string, prompt?: string): Open {
  const message = (text: string) => ({ kind: 'message', role: 'user', blocks: [{ type: 'text', text }] })
  const state = { entries: prompt === undefined ? [{ kind: 'notice' }] : [message(prompt)] }
  return { agentName, session: { state, conversation: {} } } as unknown as Open
}

const nothing = () => ({ dispose() {} })

/** A list that the user closes at once. */
class ClosedPicker {
  items: readonly PickItem[] = []
  activeItems: readonly PickItem[] = []
  readonly #show: (items: readonly PickItem[]) => void
  #hide = () => {}

  constructor(show: (items: readonly PickItem[]) => void) {
    this.#show = show
  }
  onDidAccept = nothing
  onDidHide = (listener: () => void) => {
    this.#hide = listener
    return nothing()
  }
  show() {
    this.#show(this.items)
    this.#hide()
  }
  dispose() {}
}

describe('the list of sessions to open', () => {
  let lists: Array<readonly PickItem[]> = []
  let told: string[] = []
  const dialogs = {
    createPicker: () => new ClosedPicker(items => lists.push(items)),
    info: async (text: string) => void told.push(text),
  }
  const workbench = { dialogs, language: 'en-US' } as unknown as Workbench

  beforeEach(() => {
    lists = []
    told = []
  })

  async function listed(
    open: Array<[Open, 'side-bar' | 'tab' | undefined]>,
    past: object[] = [],
    elsewhere: OtherSession[] = [],
    agents: object[] = [],
  ) {
    await pickOpenSession({
      workbench,
      manager: { find: () => undefined },
      sessionsHere: { list: () => open.map(([one]) => one) },
      indicators: { of: () => 'idle', onDidChange: nothing },
      windows: { own: async () => [], others: () => elsewhere, onDidChange: nothing },
      hosts: { list: async () => agents as never },
      history: { items: () => past as ReturnType<Sources['history']['items']> },
      surfaceOf: one => open.find(([other]) => other === one)?.[1],
    })
    return (lists[0] ?? [])
      .filter(({ isSeparator }) => !isSeparator)
      .map(({ label, description }) => `${label.replace(/\$\(.*?\) /, '')}: ${description}`)
  }

  it("leaves out sessions that were never used and aren't shown", async () => {
    const open: Array<[Open, undefined]> = [
      [openSession('Claude'), undefined],
      [openSession('Codex', 'Fix the build'), undefined],
      [openSession('Claude'), undefined],
    ]
    assert.deepEqual(await listed(open), ['Fix the build: Codex'])
    lists = []
    assert.deepEqual(await listed(open.filter(([one]) => one.agentName === 'Claude')), [])
    assert.deepEqual(told, ['There are no sessions to open.'])
  })

  it('shows the place of a session without a title', async () => {
    assert.deepEqual(
      await listed([
        [openSession('Claude'), 'side-bar'],
        [openSession('Claude'), 'tab'],
        [openSession('Claude', 'Fix the build'), 'tab'],
      ]),
      [
        'Untitled session: Claude · in the side bar',
        'Untitled session: Claude · in an editor tab',
        'Fix the build: Claude',
      ],
    )
  })

  it('distinguishes open sessions with the same title by their places and times', async () => {
    const at = (hour: number) => {
      const open = openSession('Claude', 'Fix the build')
      open.session.state.updatedAt = new Date(2026, 6, 1, hour).getTime()
      return open
    }
    const [first, second] = await listed([
      [at(9), 'tab'],
      [at(10), undefined],
    ])
    assert.match(first ?? '', /^Fix the build: Claude · 7\/1\/2026, 10:00/)
    assert.match(second ?? '', /^Fix the build: Claude · in an editor tab · 7\/1\/2026, 9:00/)
  })

  it('distinguishes earlier sessions without a title by their times', async () => {
    const past = (day: number) => ({
      agentId: 'a',
      agentName: 'Claude',
      sessionId: String(day),
      canLoad: true,
      updatedAt: new Date(2026, 6, day, 12).getTime(),
    })
    const [first, second] = await listed([], [past(1), past(2)])
    assert.match(first ?? '', /^Untitled session: Claude · 7\/2\/2026/)
    assert.match(second ?? '', /^Untitled session: Claude · 7\/1\/2026/)
  })

  it('begins with what waits, runs or ended in any window, and shows no icons of others', async () => {
    const other = (indicator: OtherSession['indicator'], title: string, more = {}): OtherSession => ({
      ...{ agentId: 'a', agentName: 'Claude', sessionId: title, title, indicator, cwd: '/home/me/project' },
      window: { name: '1-a' },
      ...more,
    })
    const agent = { id: 'x', tag: { agentId: 'b', name: 'Codex', workspace: '' }, cwd: '/two', since: 0 }
    const rows = await listed(
      [[openSession('Codex', 'Fix the build'), undefined]],
      [],
      [
        other('done', 'ended'),
        other('running', '$(bell) runs', {
          branch: 'main',
          line: 'Reading\u200b files',
          cost: { amount: 1.5, currency: 'USD' },
        }),
        other('waiting', 'waits'),
      ],
      [
        { ...agent, isAttached: false, hasExited: false },
        { ...agent, isAttached: true, hasExited: false },
      ],
    )
    assert.deepEqual(rows, [
      'waits: Needs your answer · Claude · in another window',
      '$ (bell) runs: Running · Claude · in another window',
      'ended: Done · Claude · in another window',
      'Codex: Running in the background',
      'Fix the build: Codex',
    ])
    const detail = lists[0]?.find(({ label }) => label.includes('runs'))?.detail ?? ''
    assert.match(detail, /^project \(main\) · Reading.* files · \$1\.50$/)
    const headings = lists[0]?.filter(({ isSeparator }) => isSeparator).map(({ label }) => label)
    assert.deepEqual(headings, ['Active', 'Open in This Window'])
  })
})
