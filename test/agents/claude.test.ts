import assert from 'node:assert/strict'
import { planOf, planOptions } from '../../src/conversation/plan-question.ts'
import type { PermissionEntry } from '../../src/conversation/state.ts'
import { assertSettled, entriesOfKind, HELLO, messageTexts, waitForState } from './expect.ts'
import { describeModelAgent } from './model-agent.ts'

/** claude-agent-acp runs commands and edits files itself. Its version 2 doesn't serve steering. */
for (const version of [1, 2] as const)
  describeModelAgent(
    {
      name: 'claude',
      variant: { name: `claude-v${version}`, protocol: version === 2 ? 'latest' : 'stable' },
      version,
      writesThroughClient: false,
      failedCommand: 'failed',
      afterReject: 'end_turn',
      usesTerminals: true,
      can: { load: true, resume: true, list: true, close: true },
    },
    rig => {
      it('rewind: a fork at a message has forgotten what came after it', async () => {
        const open = await rig().create()
        for (const scenario of ['hello', 'think', 'edit']) await rig().promptScenario(open, scenario)
        const fork = await rig().fork(open, 2)
        assert.notEqual(fork.session.sessionId, open.session.sessionId)
        assert.deepEqual(messageTexts(fork.session.state), [HELLO])
        assert.deepEqual(await rig().promptScenario(fork, 'write'), { type: 'ended', stopReason: 'end_turn' })
        // of the conversation: Claude Code asks for titles, too, without the tools
        const promptsOf = (newest: string) =>
          rig()
            .model.requests.findLast(({ scenario }) => scenario === newest)
            ?.prompts?.join('\n') ?? ''
        const prompts = promptsOf('write')
        const scenarios = [...prompts.matchAll(/\[\[(\w+) /g)].map(([, name]) => name)
        assert.deepEqual(scenarios, ['hello', 'write'])
        // the original goes on with everything
        assert.deepEqual(await rig().promptScenario(open, 'hello'), { type: 'ended', stopReason: 'end_turn' })
        assert.match(promptsOf('hello'), /\[\[think /)
        assertSettled(fork.session.state)
      })

      it('present: asks about a plan, which can be accepted or rejected', async () => {
        const open = await rig().create()
        const { session } = open
        const mode = session.state.configOptions.find(({ category }) => category === 'mode')
        await session.optionChanges.set(mode!.id, 'plan')
        let asked: PermissionEntry | undefined
        rig().answerPolicy = entry => {
          asked = entry
          return planOptions(entry).accept?.optionId
        }
        await rig().promptScenario(open, 'present')
        const tool = entriesOfKind(session.state, 'tool_call').find(
          ({ toolCallId }) => toolCallId === asked?.toolCallId,
        )
        assert.equal(tool && planOf(tool)?.trim(), '# Plan\n\n1. Look\n2. Change it')
        const { accept, reject } = planOptions(asked!)
        assert.deepEqual([accept?.kind, reject?.kind], ['allow_once', 'reject_once'])
        assertSettled(session.state)
      })

      it('steer: adds a prompt to the running turn', async () => {
        const open = await rig().create()
        const { session } = open
        assert.equal(session.agent.capabilities.steering === true, version === 1)
        if (version === 2) return
        const turn = rig().promptScenario(open, 'slow')
        await waitForState(session, state => messageTexts(state).join('').includes('tick3'))
        const steered = session.prompt([{ type: 'text', text: `please [[hello ${rig().workspace}]]` }])
        assert.equal(session.turns.steer(session.turns.queue.queued[0]!.id), true)
        const added = () => entriesOfKind(session.state, 'message').filter(({ steering }) => steering)
        await waitForState(session, () => added()[0]?.steering === 'injected')
        assert.deepEqual(await turn, { type: 'ended', stopReason: 'end_turn' })
        assert.deepEqual(await steered, { type: 'ended', stopReason: 'end_turn' })
        assert.deepEqual([added().length, session.state.turn], [1, 1])
        assert.equal(messageTexts(session.state).at(-1), HELLO)
        assertSettled(session.state)
      })
    },
  )
