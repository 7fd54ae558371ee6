import assert from 'node:assert/strict'
import { describeModelAgent } from './model-agent.ts'

describeModelAgent(
  {
    name: 'grok',
    afterReject: 'cancelled',
    usesTerminals: true,
    // its model has to search for MCP tools first
    callsServers: false,
    hasOtherModels: false,
    can: { load: true, resume: true, list: true, close: true },
  },
  rig => {
    it('plan: shows its plan', async () => {
      const open = await rig().create()
      await rig().promptScenario(open, 'plan')
      const [plan] = open.session.state.plans
      assert.deepEqual(
        plan?.entries.map(({ content }) => content),
        ['Look around', 'Do the work', 'Check it'],
      )
      assert.equal(plan?.entries[0]?.status, 'completed')
      assert.equal(plan?.entries[2]?.status, 'pending')
    })

    it('title: names the session', async () => {
      const open = await rig().create()
      await rig().promptScenario(open, 'hello')
      assert.ok(open.session.state.title)
    })

    it('model: changes with the legacy method', async () => {
      const open = await rig().create()
      const option = open.session.state.configOptions.find(({ category }) => category === 'model')
      assert.ok(option?.type === 'select' && option.currentValue === 'mock')
      const other = option.choices.find(({ value }) => value !== 'mock')?.value ?? ''
      await open.session.optionChanges.set(option.id, other)
      const changed = open.session.state.configOptions.find(({ id }) => id === option.id)
      assert.equal(changed?.type === 'select' && changed.currentValue, other)
      await open.session.optionChanges.set(option.id, 'mock')
      assert.deepEqual(await rig().promptScenario(open, 'hello'), { type: 'ended', stopReason: 'end_turn' })
    })

    it('close: can load the session again', async () => {
      const open = await rig().create()
      await rig().promptScenario(open, 'hello')
      await open.session.close()
      const again = await rig().reopen('load', open.session.sessionId)
      assert.equal(again.session.state.turn, 1)
    })
  },
)
