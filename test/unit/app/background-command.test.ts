import assert from 'node:assert/strict'
import type { HostedAgentInfo, OtherHost } from '../../../src/acp/start-hosted.ts'
import { backgroundCommand } from '../../../src/app/commands/background-command.ts'
import { toDisposable } from '../../../src/common/disposable.ts'

type Item = { label: string; description?: string; detail?: string }

const info = (more: Partial<HostedAgentInfo>): HostedAgentInfo => ({
  id: 'one',
  // none has it
  pid: 2 ** 22 + 1,
  command: 'agent',
  cwd: '/work',
  tag: { agentId: 'a', name: 'Agent', workspace: '' },
  sessions: ['s'],
  attachments: 1,
  since: 2,
  isAttached: false,
  hasExited: false,
  ...more,
})

type Step = 'accept' | 'stop'

interface Options {
  agents: HostedAgentInfo[]
  /** the hosts of other versions */
  others?: OtherHost[]
  /** what the user does with which item, one after the other */
  steps?: Array<[Step, number]>
  /** the sessions of this window, by their ids, with their activity */
  own?: Record<string, string>
  /** the sessions of another window, with their indicator */
  elsewhere?: Record<string, string>
  /** whether the user confirms */
  answer?: boolean
}

/** Runs the command. Returns what was listed each time, what was opened, and what was asked or said. */
async function run({ agents, others = [], steps = [], own = {}, elsewhere = {}, answer = true }: Options) {
  const listed: Item[][] = []
  const opened: object[] = []
  const said: string[] = []
  let hide = () => {}
  const does: Record<Step, (item: Item) => void> = { accept: () => {}, stop: () => {} }
  const next = () => {
    const [step, at] = steps.shift() ?? []
    if (step === undefined || at === undefined) hide()
    else does[step](listed.at(-1)![at]!)
  }
  const on = (register: () => void) => {
    register()
    return toDisposable(() => {})
  }
  const picker = {
    set items(items: Item[]) {
      listed.push(items)
      if (listed.length > 1 && items.length > 0) queueMicrotask(next)
    },
    onDidAccept: (listener: (item: Item) => void) =>
      on(() => {
        does.accept = listener
      }),
    onDidPressButton: (listener: (button: undefined, item: Item) => void) =>
      on(() => {
        does.stop = item => listener(undefined, item)
      }),
    onDidHide: (listener: () => void) =>
      on(() => {
        hide = listener
      }),
    show: next,
    hide: () => hide(),
    dispose() {},
  }
  const left = [...agents]
  const ended = { left, others: [...others] }
  const commands = backgroundCommand({
    hosts: {
      list: async () => [...left],
      end: async (id: string) =>
        void left.splice(
          left.findIndex(one => one.id === id),
          1,
        ),
      others: async () => [...ended.others],
      endOther: async (pid: number) =>
        void ended.others.splice(
          ended.others.findIndex(one => one.pid === pid),
          1,
        ),
    },
    records: { get: () => ({ title: 'Hello', givenTitle: 'Fix the bug' }) },
    manager: {
      find: (_: string, id: string) =>
        own[id] === undefined ? undefined : { id, isBusy: false, session: { state: { activity: own[id] } } },
    },
    windows: {
      refresh() {},
      others: () =>
        Object.entries(elsewhere).map(([sessionId, indicator]) => ({ agentId: 'a', sessionId, indicator })),
    },
    open: async (session: object) => void opened.push(session),
    workbench: {
      dialogs: {
        createPicker: () => picker,
        info: async (text: string) => void said.push(text),
        confirm: async (text: string, { detail = '' }: { detail?: string }, button: string) => {
          said.push(`${text} ${detail}`)
          // the list stays, so that the next step follows
          if (!answer) queueMicrotask(next)
          return answer ? button : undefined
        },
      },
      language: 'en',
    },
  } as unknown as Parameters<typeof backgroundCommand>[0])
  await commands['parley.showBackgroundSessions']()
  return { listed, opened, said, left: left.map(({ id }) => id), others: ended.others }
}

describe('Show Background Sessions', () => {
  it('lists every agent that runs outside of windows, the oldest first, with its sessions', async () => {
    const { listed } = await run({
      agents: [info({ since: 3, isAttached: true, sessions: [] }), info({ pid: process.pid, since: 1 })],
    })
    const [items] = listed
    assert.deepEqual(
      items!.map(({ label, description }) => [label, description]),
      [
        ['$(server-process) Agent', 'Fix the bug'],
        ['$(server-process) Agent', ''],
      ],
    )
    assert.match(items![0]!.detail!, /^no window · since .* · \d+ MB · \/work$/)
    assert.match(items![1]!.detail!, /^connected to a window · since [^·]* · \/work$/)
  })

  it('shows the session of an agent that is selected, where it is, and stops nothing', async () => {
    const agents = [info({ isAttached: true })]
    const steps = (): Array<[Step, number]> => [['accept', 0]]
    const background = await run({ agents: [info({})], steps: steps() })
    assert.deepEqual(background.opened, [{ background: info({}) }])
    const own = await run({ agents, steps: steps(), own: { s: 'running' } })
    assert.deepEqual(own.opened, [
      { open: { id: 's', isBusy: false, session: { state: { activity: 'running' } } } },
    ])
    const other = await run({ agents, steps: steps(), elsewhere: { s: 'running' } })
    assert.deepEqual(other.opened, [{ other: { agentId: 'a', sessionId: 's', indicator: 'running' } }])
    const unknown = await run({ agents: [], others: [{ pid: 41, sessions: [] }], steps: steps() })
    assert.deepEqual(unknown.opened, [])
    assert.deepEqual(unknown.said, ["They stop after their turns. This window can't connect to them."])
    for (const { left, others, said } of [background, own, other]) {
      assert.deepEqual([left, others, said], [['one'], [], []])
    }
    assert.deepEqual(unknown.others.length, 1)
  })

  it('stops those whose button is pressed until none is left', async () => {
    const agents = [info({}), info({ id: 'two', since: 3 })]
    const { listed, left } = await run({
      agents,
      steps: [
        ['stop', 0],
        ['stop', 0],
      ],
    })
    assert.deepEqual(
      listed.map(({ length }) => length),
      [2, 1, 0],
    )
    assert.deepEqual(left, [])
  })

  it('asks before it stops a turn, in any window, or where one may run', async () => {
    const agents = [info({ isAttached: true })]
    const steps = (): Array<[Step, number]> => [['stop', 0]]
    const running = 'Stop Agent? A turn is running. It ends, too.'
    const unknown = 'Stop Agent? A turn may be running. It ends, too.'
    for (const [options, asked] of [
      [{ own: { s: 'running' } }, [running]],
      [{ own: { s: 'requires_action' } }, [running]],
      [{ elsewhere: { s: 'waiting' } }, [running]],
      [{}, [unknown]],
      [{ agents: [info({})] }, [unknown]],
      [{ own: { s: 'idle' } }, []],
      [{ agents: [info({ hasExited: true })] }, []],
    ] satisfies Array<[Partial<Options>, string[]]>) {
      const { said, left } = await run({ agents, steps: steps(), answer: false, ...options })
      assert.deepEqual(said, asked)
      assert.deepEqual(left, asked.length > 0 ? ['one'] : [])
    }
    const { left } = await run({ agents, steps: steps(), own: { s: 'running' } })
    assert.deepEqual(left, [])
  })

  it('lists and stops hosts of other versions', async () => {
    const { listed, said } = await run({
      agents: [info({})],
      others: [
        { pid: 41, sessions: [{ agentId: 'one', sessionId: 's' }] },
        { pid: 42, sessions: [] },
      ],
      steps: [
        ['stop', 1],
        ['stop', 0],
      ],
    })
    assert.deepEqual(
      listed.map(items => items.map(({ description }) => description)),
      [['Fix the bug', 'Fix the bug', 'Process 42'], ['Fix the bug', 'Process 42'], ['Process 42']],
    )
    assert.equal(listed[0]![1]!.label, '$(server-process) Agents of another version of Parley')
    assert.equal(said[0], 'Stop Agents of another version of Parley? A turn may be running. It ends, too.')
  })

  it('says if there is none', async () => {
    const { listed, said } = await run({ agents: [] })
    assert.deepEqual(listed, [])
    assert.deepEqual(said, ['No agents are kept running.'])
  })
})
