import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { OpenSession } from '../../src/sessions/open-session.ts'
import { assertSettled, entriesOfKind, findToolCall, messageTexts, waitForState } from './expect.ts'
import { AgentRig, reject } from './rig.ts'

/** The bundled agent is the first that many users see, so it has to show everything, in both versions. */
for (const version of [1, 2]) {
  describe(`demo in v${version}, through Parley`, () => {
    let rig: AgentRig
    before(async () => {
      rig = await AgentRig.create('demo', {
        name: `demo-v${version}`,
        protocol: version === 2 ? 'latest' : 'stable',
      })
    })
    after(() => rig?.close())
    beforeEach(async function () {
      await rig.resetWorkspace()
      await rig.startScenario(this.currentTest?.title.split(':')[0]?.replaceAll(' ', '-') ?? 'unnamed')
    })

    const prompt = ({ session }: Pick<OpenSession, 'session'>, text: string) =>
      session.prompt([{ type: 'text', text }])

    it('start: supports every session capability', async () => {
      const { agent } = await rig.running()
      assert.equal(agent.protocolVersion, version)
      assert.equal(agent.info.title, 'Demo Agent')
      const { load, resume, list, close, delete: remove, additionalDirectories } = agent.capabilities
      assert.ok(load && resume && list && close && remove && additionalDirectories)
    })

    it('tour: thinks, plans, reads, edits, runs', async () => {
      const open = await rig.create()
      assert.deepEqual(await prompt(open, 'look at my project'), { type: 'ended', stopReason: 'end_turn' })
      const { state } = open.session
      assert.equal(state.title, 'look at my project')
      assert.ok(messageTexts(state, 'thought').length > 0)
      assert.deepEqual(new Set(state.plans[0]?.entries.map(({ status }) => status)), new Set(['completed']))
      assert.equal(findToolCall(state, ({ toolKind }) => toolKind === 'read').status, 'completed')
      const edit = findToolCall(state, ({ toolKind }) => toolKind === 'edit')
      assert.equal(edit.status, 'completed')
      const diff = edit.content.find(content => content.type === 'diff')
      assert.ok(diff)
      if (version === 2) assert.match(diff.patch?.text ?? '', /^diff --git \//)
      assert.match(readFileSync(rig.file('README.md'), 'utf8'), /The demo agent was here: 1 visit/)
      const run = findToolCall(state, ({ toolKind }) => toolKind === 'execute')
      const [terminal] = state.terminals.values()
      assert.deepEqual(run.content, [{ type: 'terminal', terminalId: terminal?.terminalId }])
      assert.equal(terminal?.exit?.exitCode, 0)
      assert.match(terminal?.output ?? '', /hello\.txt/)
      assert.equal(rig.questions.length, 2)
      assert.ok(state.usage && state.usage.used > 0)
      assert.ok(state.commands.some(({ name, hint }) => name === 'slow' && hint === 'seconds'))
      assertSettled(state)
    })

    it('reject: reports it and continues', async () => {
      rig.answerPolicy = reject
      const open = await rig.create()
      assert.deepEqual(await prompt(open, 'tour'), { type: 'ended', stopReason: 'end_turn' })
      assert.match(messageTexts(open.session.state).join(''), /You rejected the edit/)
      assert.equal(readFileSync(rig.file('README.md'), 'utf8'), '# Sample\n')
    })

    it('cancel: stops slow work and a command', async () => {
      const open = await rig.create()
      for (const text of ['/slow 3600', '/run sleep 300']) {
        const turn = prompt(open, text)
        const { turn: number } = open.session.state
        await waitForState(open.session, state =>
          entriesOfKind(state, 'tool_call').some(
            call => call.turn === number && call.status === 'in_progress',
          ),
        )
        rig.cancel(open)
        assert.deepEqual(await turn, { type: 'ended', stopReason: 'cancelled' }, text)
        const stopped = entriesOfKind(open.session.state, 'tool_call').filter(call => call.turn === number)
        assert.deepEqual(
          stopped.map(call => call.status),
          ['cancelled'],
        )
        assertSettled(open.session.state)
      }
      await rig.waitFor('the end of the command', () =>
        rig.processes().every(({ command }) => !command.includes('sleep 300')),
      )
    })

    it('mode: edits without asking when allowed', async () => {
      const open = await rig.create()
      await open.session.optionChanges.set('mode', 'edit')
      await prompt(open, '/edit hello.txt')
      assert.equal(rig.questions.length, 0)
      assert.match(readFileSync(rig.file('hello.txt'), 'utf8'), /The demo agent was here/)
    })

    it('load: shows the same conversation in a new process', async () => {
      const open = await rig.create()
      await prompt(open, 'tour')
      await rig.restart()
      const { session } = await rig.reopen('load', open.session.sessionId)
      const [before, after] = [open.session.state, session.state]
      for (const role of ['user', 'agent', 'thought'] as const) {
        assert.equal(messageTexts(after, role).join(''), messageTexts(before, role).join(''))
      }
      const calls = (state: typeof after) =>
        entriesOfKind(state, 'tool_call').map(({ title, toolKind, status }) => ({ title, toolKind, status }))
      assert.deepEqual(calls(after), calls(before))
      assert.deepEqual(after.plans, before.plans)
      assert.deepEqual(await prompt({ session }, '/help'), { type: 'ended', stopReason: 'end_turn' })
      assertSettled(after)
    })

    it('resume and list: continues without a replay', async () => {
      const open = await rig.create()
      await prompt(open, '/think of this session')
      await rig.restart()
      const resumed = await rig.reopen('resume', open.session.sessionId)
      assert.deepEqual(entriesOfKind(resumed.session.state, 'message'), [])
      for (const words of [
        '/help',
        '/media',
        '/markdown',
        '/notice',
        '/compact',
        '/fail',
        '/plan',
        '/where',
      ]) {
        await prompt(resumed, words)
      }
      const { agent } = await rig.running()
      const { sessions } = await agent.listSessions({ cwd: rig.workspace })
      assert.equal(sessions[0]?.sessionId, open.session.sessionId)
      assert.equal(sessions[0]?.title, '/think of this session')
      await agent.deleteSession(open.session.sessionId)
      const left = await agent.listSessions({ cwd: rig.workspace })
      assert.ok(!left.sessions.some(({ sessionId }) => sessionId === open.session.sessionId))
    })
  })
}
