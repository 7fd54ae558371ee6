import assert from 'node:assert/strict'
import { missingLocalSettings } from '../../../src/agents/local-settings.ts'

/** The global state, which local and remote windows share. */
function sharedState() {
  const values = new Map<string, unknown>()
  return {
    get: <T>(key: string) => values.get(key) as T | undefined,
    set: (key: string, value: unknown) => void values.set(key, structuredClone(value)),
  }
}

describe('local settings in remote windows', () => {
  const local = { agents: { mine: { command: 'secret' }, other: {} }, mcpServers: {}, systemPrompt: 'Hello' }
  const look = (state: ReturnType<typeof sharedState>, remote: string | undefined, values: object) =>
    missingLocalSettings({
      state,
      remote,
      userValue: name => (values as Record<string, unknown>)[name],
    })

  it('are reported once per machine, unless they have a value there', () => {
    const state = sharedState()
    assert.deepEqual(look(state, undefined, local), [])
    const missing = ['parley.agents › other', 'parley.mcpServers']
    assert.deepEqual(look(state, 'ssh one', { agents: { mine: {} } }), missing)
    assert.deepEqual(look(state, 'ssh one', { agents: { mine: {} } }), [])
    assert.deepEqual(look(state, 'ssh two', {}), ['parley.agents › mine', ...missing])
  })

  it("aren't reported if all are set there, but are if one is added later", () => {
    const state = sharedState()
    look(state, undefined, { mcpServers: {} })
    assert.deepEqual(look(state, 'ssh', { mcpServers: {} }), [])
    look(state, undefined, { mcpServers: {}, permissionRules: [] })
    assert.deepEqual(look(state, 'ssh', { mcpServers: {} }), ['parley.permissionRules'])
  })

  it('are forgotten when the local settings no longer contain them', () => {
    const state = sharedState()
    look(state, undefined, local)
    look(state, undefined, {})
    assert.deepEqual(look(state, 'ssh', {}), [])
  })

  it('are reported even if the stored state is damaged', () => {
    const state = sharedState()
    state.set('localMachineSettings', { not: 'a list' })
    state.set('toldOfLocalSettings', 7)
    assert.deepEqual(look(state, 'ssh', {}), [])
  })
})
