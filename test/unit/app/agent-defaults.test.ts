import assert from 'node:assert/strict'
import type { SettingLayer } from '../../../src/agents/setting-layers.ts'
import { AgentDefaults } from '../../../src/app/agents/agent-defaults.ts'
import type { Settings } from '../../../src/app/workbench.ts'
import { Emitter } from '../../../src/common/event.ts'

describe('the default options in the settings', () => {
  let written: unknown[]
  let accepted: unknown[]
  let errors: string[]
  const defaults = (user: unknown, workspace?: unknown) => {
    const layers: SettingLayer[] = [
      { scope: 'default', value: {} },
      ...(user === undefined ? [] : [{ scope: 'user', value: user } as const]),
      ...(workspace === undefined ? [] : [{ scope: 'workspace', value: workspace } as const]),
    ]
    return new AgentDefaults({
      catalog: { defaultOptions: () => ({ chosen: { mode: 'plan' }, ofUser: {} }) },
      source: { layers: () => layers, onDidChange: new Emitter<void>().event },
      settings: {
        update: async (name: string, value: unknown, scope: string) => {
          written.push([name, value, scope])
        },
      } as unknown as Settings,
      consent: { acceptDefault: async (...of) => accepted.push(of) },
      dialogs: { error: async text => void errors.push(text) },
    })
  }

  beforeEach(() => {
    written = []
    accepted = []
    errors = []
  })

  it('make an entry for an agent that has none', async () => {
    await defaults(undefined).set('demo', 'mode', 'plan')
    await defaults({ other: { command: 'x' } }, { other: {} }).set('demo', 'web', true)
    assert.deepEqual(written, [
      ['agents', { demo: { defaultOptions: { mode: 'plan' } } }, 'user'],
      ['agents', { other: { command: 'x' }, demo: { defaultOptions: { web: true } } }, 'user'],
    ])
    assert.deepEqual(accepted, [])
  })

  it('are where the entry is, and the user has agreed to those of the workspace', async () => {
    const user = { mine: { command: 'x', defaultOptions: { mode: 'ask' } } }
    await defaults(user).set('mine', 'mode', 'plan')
    await defaults(user, { mine: { env: {} } }).set('mine', 'mode', 'plan')
    assert.deepEqual(written, [
      ['agents', { mine: { command: 'x', defaultOptions: { mode: 'plan' } } }, 'user'],
      ['agents', { mine: { env: {}, defaultOptions: { mode: 'plan' } } }, 'workspace'],
    ])
    assert.deepEqual(accepted, [['mine', 'mode', 'plan']])
  })

  it('are removed where they are, with what is empty then', async () => {
    const user = { mine: { command: 'x', defaultOptions: { mode: 'ask', model: 'a' } } }
    await defaults(user, { mine: { env: {} } }).set('mine', 'mode', undefined)
    await defaults(user, { mine: { defaultOptions: { mode: 'b' } } }).set('mine', 'mode', undefined)
    await defaults({ demo: { defaultOptions: { mode: 'ask' } } }).set('demo', 'mode', undefined)
    assert.deepEqual(written, [
      ['agents', { mine: { command: 'x', defaultOptions: { model: 'a' } } }, 'user'],
      ['agents', undefined, 'workspace'],
      ['agents', undefined, 'user'],
    ])
    assert.deepEqual(accepted, [])
  })

  it('are all written when several are set at once, also after one that can not be written', async () => {
    let value: unknown = {}
    const agents = new AgentDefaults({
      catalog: { defaultOptions: () => ({ chosen: {}, ofUser: {} }) },
      source: { layers: () => [{ scope: 'user', value }], onDidChange: new Emitter<void>().event },
      settings: {
        update: async (_: string, next: unknown) => {
          await new Promise(setImmediate)
          if (JSON.stringify(next).includes('full')) throw new Error('The disk is full.')
          value = next
        },
      } as unknown as Settings,
      consent: { acceptDefault: async () => {} },
      dialogs: { error: async text => void errors.push(text) },
    })
    const all = [agents.set('demo', 'mode', 'plan'), agents.set('demo', 'model', 'full')]
    await Promise.all([...all, agents.set('demo', 'web', true), agents.set('other', 'mode', 'ask')])
    const demo = { defaultOptions: { mode: 'plan', web: true } }
    assert.deepEqual(value, { demo, other: { defaultOptions: { mode: 'ask' } } })
    assert.deepEqual(errors, ['The disk is full.'])
  })

  it('leave the agents in their order, in which they are listed', async () => {
    await defaults({ one: { command: 'x' }, two: { command: 'y' } }).set('one', 'mode', 'plan')
    const [[, value]] = written as [[string, object]]
    assert.deepEqual(Object.keys(value), ['one', 'two'])
  })

  it('keep what is wrong in the settings, which is said', async () => {
    for (const wrong of ['x', [], { mine: 5 }, { mine: { command: 'x', defaultOptions: 'plan' } }])
      await defaults(wrong).set('mine', 'mode', 'plan')
    assert.deepEqual(written, [])
    assert.deepEqual([...new Set(errors)], ["Can't save the default: parley.agents isn't valid."])
    assert.equal(errors.length, 4)
  })

  it('may have any name', async () => {
    await defaults(undefined).set('__proto__', 'constructor', 'x')
    const [[, value]] = written as [[string, object]]
    assert.equal(JSON.stringify(value), '{"__proto__":{"defaultOptions":{"constructor":"x"}}}')
  })
})
