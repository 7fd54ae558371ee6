import assert from 'node:assert/strict'
import { assertSettled, HELLO, messageTexts } from './expect.ts'
import { AgentRig } from './rig.ts'

/** Agents as users run them: installed with npm, started with the installed command, in folders with any name. */
for (const name of ['gemini', 'codex'] as const) {
  describe(`${name}, with the command that npm installs`, () => {
    let rig: AgentRig
    before(async function () {
      this.timeout(300_000)
      rig = await AgentRig.create(name, { name: `${name}-command`, byCommand: true })
      await rig.startScenario('turns')
    })
    after(() => rig?.close())

    it('starts, and responds in a folder with spaces and quotes in its name', async () => {
      const open = await rig.create()
      assert.equal(open.plan.setup.cwd, rig.workspace)
      assert.deepEqual(await rig.promptScenario(open, 'hello'), { type: 'ended', stopReason: 'end_turn' })
      assert.equal(messageTexts(open.session.state).at(-1), HELLO)
      assert.deepEqual(messageTexts(open.session.state, 'user'), [`please [[hello ${rig.workspace}]]`])
      assertSettled(open.session.state)
    })

    it('leaves no process behind, and starts again', async () => {
      await rig.restart()
      assert.deepEqual(rig.processes(), [])
      await rig.running()
    })
  })
}
