import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import path from 'node:path'
import { describeModelAgent } from './model-agent.ts'

describeModelAgent(
  {
    name: 'gemini',
    afterReject: 'end_turn',
    usesTerminals: false,
    can: { load: true, resume: false, list: false, close: false },
    beforeLoad: ageSessions,
  },
  rig => {
    it('mode: edits without asking when allowed', async () => {
      const open = await rig().create()
      const option = open.session.state.configOptions.find(({ category }) => category === 'mode')
      assert.ok(option?.type === 'select' && option.currentValue === 'default')
      await open.session.optionChanges.set(option.id, 'autoEdit')
      await rig().promptScenario(open, 'edit')
      assert.equal(rig().questions.length, 0)
      assert.equal(readFileSync(rig().file('hello.txt'), 'utf8'), 'first line\nhello ACP\nlast line\n')
    })
  },
)

/**
 * The agent names session files after the minute in which they started. A process that loads a session in the same
 * minute overwrites its file, and finds nothing to load. This makes the files older, instead of waiting for a minute.
 */
function ageSessions(home: string): void {
  const folder = path.join(home, '.gemini', 'tmp', 'workspace', 'chats')
  for (const name of readdirSync(folder)) {
    const older = name.replace(/^session-\d{4}/, 'session-2020')
    renameSync(path.join(folder, name), path.join(folder, older))
  }
}
