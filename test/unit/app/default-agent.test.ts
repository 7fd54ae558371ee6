import assert from 'node:assert/strict'
import type { SettingLayer } from '../../../src/agents/setting-layers.ts'
import { selectDefaultAgent } from '../../../src/app/commands/pick-agent.ts'
import type { PickItem, Workbench } from '../../../src/app/workbench.ts'
import type { AgentDirectory } from '../../../src/sessions/ports.ts'

describe('the command that selects the default agent', () => {
  let values: { user?: string; workspace?: string }
  let lists: string[][]
  let folders: number

  beforeEach(() => {
    values = {}
    lists = []
    folders = 1
  })

  /** Runs it, and picks one item after the other by its label. */
  async function select(...labels: string[]) {
    const layers = () =>
      Object.entries(values).map(([scope, value]) => ({ scope, value }) as unknown as SettingLayer)
    const workbench = {
      dialogs: {
        async pick(items: readonly PickItem[]) {
          lists.push(
            items.flatMap(({ icon = '', label, description = '' }) =>
              label === '' ? [] : `${icon} ${label} ${description}`.trimStart(),
            ),
          )
          const wanted = labels.shift()
          return items.find(({ label }) => wanted !== undefined && label.includes(wanted))
        },
      },
      settingValues: { defaultAgent: values.workspace ?? values.user ?? '' },
      settings: {
        async update(_name: string, value: string | undefined, scope: 'user' | 'workspace') {
          if (value === undefined) delete values[scope]
          else values[scope] = value
        },
      },
      roots: new Array(folders).fill({}),
    } as unknown as Workbench
    const agents = {
      ready: async () => {},
      list: () => [
        { agentId: 'claude', name: 'Claude', source: 'preset' },
        { agentId: 'mine', name: 'Mine', source: 'settings', icon: 'data:image/svg+xml,x' },
      ],
    } as unknown as AgentDirectory
    await selectDefaultAgent(workbench, { layers, onDidChange: () => ({ dispose() {} }) }, agents, {
      get: () => undefined,
    })
    return values
  }

  it('shows the known agents, and which one it is now', async () => {
    values.user = 'mine'
    await select()
    assert.deepEqual(lists, [
      [
        'sparkle Claude installed',
        'data:image/svg+xml,x Mine current · settings',
        'history Most Recently Used Agent ',
        'extensions Manage Agents ',
      ],
    ])
  })

  it('asks where to save it, and does so only if a workspace is open', async () => {
    assert.deepEqual(await select('Claude'), {})
    assert.deepEqual(await select('Claude', 'Workspace'), { workspace: 'claude' })
    values = {}
    assert.deepEqual(await select('Claude', 'User'), { user: 'claude' })
    folders = 0
    assert.deepEqual(await select('Mine'), { user: 'mine' })
    assert.deepEqual(
      lists.map(({ length }) => length),
      [4, 2, 4, 2, 4, 2, 4],
    )
  })

  it("changes the workspace's value if there is one, since it overrides the user's", async () => {
    values = { user: 'mine', workspace: 'mine' }
    assert.deepEqual(await select('Claude'), { user: 'mine', workspace: 'claude' })
    assert.equal(lists.length, 1)
  })

  it('removes the value, or overrides the one of the user with an empty one', async () => {
    values = { user: 'mine' }
    assert.deepEqual(await select('Most Recently', 'Workspace'), { user: 'mine', workspace: '' })
    assert.deepEqual(await select('Most Recently'), { user: 'mine', workspace: '' })
    values = { user: 'mine' }
    assert.deepEqual(await select('Most Recently', 'User'), {})
    values = { workspace: 'mine' }
    assert.deepEqual(await select('Most Recently'), {})
  })
})
