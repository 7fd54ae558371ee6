import assert from 'node:assert/strict'
import { pickOpenSession } from '../../../src/app/commands/pick-session.ts'
import type { PickItem, Workbench } from '../../../src/app/workbench.ts'

type Sources = Parameters<typeof pickOpenSession>[0]
type Open = ReturnType<Sources['manager']['list']>[number]

function openSession(agentName: string, prompt?: string): Open {
  const message = (text: string) => ({ kind: 'message', role: 'user', blocks: [{ type: 'text', text }] })
  const state = { entries: prompt === undefined ? [{ kind: 'notice' }] : [message(prompt)] }
  return { agentName, session: { state } } as unknown as Open
}

describe('the list of sessions to open', () => {
  let lists: Array<readonly PickItem[]> = []
  let told: string[] = []
  const dialogs: Partial<Workbench['dialogs']> = {
    pick: async items => void lists.push(items),
    info: async text => void told.push(text),
  }
  const workbench = { dialogs, language: 'en-US' } as Workbench

  beforeEach(() => {
    lists = []
    told = []
  })

  async function listed(open: Array<[Open, 'side-bar' | 'tab' | undefined]>, past: object[] = []) {
    await pickOpenSession({
      workbench,
      manager: { list: () => open.map(([one]) => one), find: () => undefined },
      indicators: { of: () => 'idle' },
      history: { items: () => past as ReturnType<Sources['history']['items']> },
      placeOf: one => open.find(([other]) => other === one)?.[1],
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
})
