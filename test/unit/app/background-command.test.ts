import assert from 'node:assert/strict'
import type { HostedAgentInfo } from '../../../src/acp/start-hosted.ts'
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

/** Runs the command and accepts the items at these positions, one after the other. Returns what was listed each time. */
async function run(agents: HostedAgentInfo[], ...accepted: number[]): Promise<Item[][]> {
  return runBeside([], agents, ...accepted)
}

/** The same with the process ids of hosts of other versions. */
async function runBeside(
  others: number[],
  agents: HostedAgentInfo[],
  ...accepted: number[]
): Promise<Item[][]> {
  const listed: Item[][] = []
  let hide = () => {}
  let accept = (_: Item | undefined) => {}
  const next = () => {
    const at = accepted.shift()
    if (at === undefined) hide()
    else accept(listed.at(-1)![at])
  }
  const picker = {
    set items(items: Item[]) {
      listed.push(items)
      if (listed.length > 1 && items.length > 0) queueMicrotask(next)
    },
    onDidAccept: (listener: typeof accept) => {
      accept = listener
      return toDisposable(() => {})
    },
    onDidPressButton: () => toDisposable(() => {}),
    onDidHide: (listener: () => void) => {
      hide = listener
      return toDisposable(() => {})
    },
    show: next,
    hide: () => hide(),
    dispose() {},
  }
  const left = [...agents]
  const commands = backgroundCommand({
    hosts: {
      list: async () => [...left],
      end: async (id: string) =>
        void left.splice(
          left.findIndex(one => one.id === id),
          1,
        ),
      others: async () => [...others],
      endOther: async (pid: number) => void others.splice(others.indexOf(pid), 1),
    },
    records: { get: () => ({ title: 'Hello', givenTitle: 'Fix the bug' }) },
    workbench: {
      dialogs: {
        createPicker: () => picker,
        info: async (text: string) => void listed.push([{ label: text }]),
      },
      language: 'en',
    },
  } as unknown as Parameters<typeof backgroundCommand>[0])
  await commands['parley.showBackgroundSessions']()
  return listed
}

describe('Show Background Sessions', () => {
  it('lists every agent that runs outside of windows, the oldest first, with its sessions', async () => {
    const [items] = await run([
      info({ since: 3, isAttached: true, sessions: [] }),
      info({ pid: process.pid, since: 1 }),
    ])
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

  it('stops those that are selected until none is left', async () => {
    const both = [info({}), info({ id: 'two', since: 3 })]
    const listed = await run(both, 0, 0)
    assert.deepEqual(
      listed.map(({ length }) => length),
      [2, 1, 0],
    )
  })

  it('lists and stops hosts of other versions', async () => {
    const listed = await runBeside([41, 42], [info({})], 1, 0)
    assert.deepEqual(
      listed.map(items => items.map(({ description }) => description)),
      [['Fix the bug', 'Process 41', 'Process 42'], ['Fix the bug', 'Process 42'], ['Process 42']],
    )
    assert.equal(listed[0]![1]!.label, '$(server-process) Agents of another version of Parley')
  })

  it('says if there is none', async () => {
    assert.deepEqual(await run([]), [[{ label: 'No agents are kept running.' }]])
  })
})
