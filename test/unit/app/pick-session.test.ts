import assert from 'node:assert/strict'
import type * as PickSession from '../../../src/workbench/commands/pick-session.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

type Sources = Parameters<typeof PickSession.pickOpenSession>[0]
type Open = ReturnType<Sources['manager']['list']>[number]

interface Line {
  label: string
  description?: string
  kind?: number
}

const SEPARATOR = -1

function openSession(agentName: string, prompt?: string): Open {
  const message = (text: string) => ({ kind: 'message', role: 'user', blocks: [{ type: 'text', text }] })
  const state = { entries: prompt === undefined ? [{ kind: 'notice' }] : [message(prompt)] }
  return { agentName, session: { state } } as unknown as Open
}

describe('the list of sessions to open', () => {
  let lists: Line[][] = []
  let told: string[] = []
  let pickOpenSession: typeof PickSession.pickOpenSession

  before(async () => {
    const api = {
      QuickPickItemKind: { Separator: SEPARATOR },
      env: { language: 'en-US' },
      window: {
        showQuickPick: async (lines: Line[]) => void lists.push(lines),
        showInformationMessage: async (text: string) => void told.push(text),
      },
    }
    const loaded = await loadWithFakeVsCode<typeof PickSession>('workbench/commands/pick-session.ts', api)
    pickOpenSession = loaded.pickOpenSession
  })

  beforeEach(() => {
    lists = []
    told = []
  })

  async function listed(open: Array<[Open, 'side-bar' | 'tab' | undefined]>, past: object[] = []) {
    await pickOpenSession({
      manager: { list: () => open.map(([one]) => one), find: () => undefined },
      indicators: { of: () => 'idle' },
      history: { items: () => past as ReturnType<Sources['history']['items']> },
      placeOf: one => open.find(([other]) => other === one)?.[1],
    })
    return (lists[0] ?? [])
      .filter(({ kind }) => kind !== SEPARATOR)
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
