import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ConfigOption } from '../../src/acp/model.ts'
import { assertSettled, entriesOfKind, findPermission, HELLO, messageTexts, waitForState } from './expect.ts'
import { describeModelAgent } from './model-agent.ts'

/**
 * codex-acp runs commands and edits files itself, in a sandbox. It supports both versions of the protocol; in its
 * read-only mode it asks before it edits.
 */
export function describeCodex(version: 1 | 2): void {
  for (const mode of ['default', 'read-only'] as const) {
    const readOnly = mode === 'read-only'
    describeModelAgent(
      {
        name: 'codex',
        variant: {
          name: `codex-v${version}${readOnly ? '-read-only' : ''}`,
          protocol: version === 2 ? 'latest' : 'stable',
          env: readOnly ? { INITIAL_AGENT_MODE: mode } : {},
        },
        version,
        asksToEdit: readOnly,
        // in v2, its read-only mode refuses MCP tools without asking
        callsServers: !(readOnly && version === 2),
        writesThroughClient: false,
        // the user allowed the file, but not its missing folder
        createsFolders: !readOnly,
        failedCommand: 'failed',
        endsCommands: false,
        banner: /^Warning: Model metadata/,
        afterReject: 'cancelled',
        usesTerminals: true,
        can: { load: true, resume: true, list: true, close: true },
      },
      rig => {
        const optionOf = (options: ConfigOption[], category: string) => {
          const option = options.find(known => known.category === category)
          assert.ok(option?.type === 'select', category)
          return option
        }

        it('plan: shows its plan', async () => {
          const open = await rig().create()
          await rig().promptScenario(open, 'plan')
          const [plan] = open.session.state.plans
          assert.deepEqual(
            plan?.entries.map(({ content, status }) => [content, status]),
            [
              ['Look around', 'completed'],
              // the agent left it in progress when its turn ended
              ['Do the work', 'pending'],
              ['Check it', 'pending'],
            ],
          )
        })

        it('options: offers each one once', async () => {
          const { session } = await rig().create()
          const ids = session.state.configOptions.map(({ id }) => id)
          assert.deepEqual(ids, [...new Set(ids)])
          for (const category of ['mode', 'model']) {
            const same = session.state.configOptions.filter(option => option.category === category)
            assert.equal(same.length, 1, JSON.stringify(same))
          }
          assert.equal(
            optionOf(session.state.configOptions, 'mode').currentValue,
            readOnly ? 'read-only' : 'agent',
          )
        })

        it('mode: asks for permission in one mode, and not in another', async () => {
          const open = await rig().create()
          const { session } = open
          const option = optionOf(session.state.configOptions, 'mode')
          await session.optionChanges.set(option.id, readOnly ? 'agent' : 'read-only')
          await rig().promptScenario(open, 'edit')
          if (readOnly) assert.deepEqual(entriesOfKind(session.state, 'permission'), [])
          else assert.equal(findPermission(session.state).outcome?.type, 'selected')
        })

        it('steer: adds a prompt to the running turn', async () => {
          const open = await rig().create()
          const { session } = open
          const turn = rig().promptScenario(open, 'gate')
          const isRunning = () =>
            rig()
              .processes()
              .some(({ command }) => command.includes('[ -e go ]'))
          await rig().waitFor('the command', isRunning)
          const steered = session.prompt([{ type: 'text', text: `please [[hello ${rig().workspace}]]` }])
          assert.equal(session.turns.steer(session.turns.queue.queued[0]!.id), true)
          const added = () => entriesOfKind(session.state, 'message').filter(({ steering }) => steering)
          await waitForState(session, () => added()[0]?.steering === 'injected')
          writeFileSync(rig().file('go'), '')
          assert.deepEqual(await turn, { type: 'ended', stopReason: 'end_turn' })
          assert.deepEqual(await steered, { type: 'ended', stopReason: 'end_turn' })
          assert.deepEqual([added().length, session.state.turn], [1, 1])
          assert.equal(messageTexts(session.state).at(-1), HELLO)
          assert.equal(
            entriesOfKind(session.state, 'message').filter(({ role }) => role === 'user').length,
            2,
          )
          assertSettled(session.state)
          assert.equal(session.turns.canSteer, false)
        })

        it('usage: reports the context usage', async () => {
          const open = await rig().create()
          await rig().promptScenario(open, 'hello')
          assert.equal(open.session.state.usage?.used, 1050)
          assert.ok((open.session.state.usage?.size ?? 0) > 1050)
        })

        it('close: can load the session again', async () => {
          const open = await rig().create()
          await rig().promptScenario(open, 'hello')
          await open.session.close()
          const again = await rig().reopen('load', open.session.sessionId)
          assert.equal(again.session.state.turn, 1)
          assert.ok(messageTexts(again.session.state).join('').includes('mock'))
          if (version === 1) return
          const asked = rig().sent('session/resume').at(-1)?.message as
            | { params: { replayFrom?: unknown } }
            | undefined
          assert.deepEqual(asked?.params.replayFrom, { type: 'start' })
        })

        it("delegate: shows a subagent's work", async () => {
          const open = await rig().create()
          const { session } = open
          const subagent = () => entriesOfKind(session.state, 'subagent')[0]
          await rig().promptScenario(open, 'delegate')
          await waitForState(session, () => subagent()?.state?.activity === 'idle')
          assert.equal(subagent()?.state?.stopReason, 'end_turn')
          assert.match(subagent()?.description ?? '', /\[\[edit /)
          const within = subagent()?.sessionId
          // the agent's notice about the mock model can arrive at any time
          const its = session.state.entries.filter(
            entry => entry.within === within && entry.kind !== 'notice',
          )
          assert.deepEqual(
            its.map(entry => (entry.kind === 'tool_call' ? `${entry.toolKind} ${entry.status}` : entry.kind)),
            [
              'message',
              'read completed',
              'message',
              'edit completed',
              ...(readOnly ? ['permission'] : []),
              'message',
            ],
          )
          assert.equal(readFileSync(rig().file('hello.txt'), 'utf8'), 'first line\nhello ACP\nlast line\n')
          // none of the session's own messages is missing
          const own = session.state.entries.filter(entry => entry.within === undefined)
          assert.deepEqual(messageTexts({ ...session.state, entries: own }), [
            'Somebody else does it.',
            'Handed over.',
          ])
          assertSettled(session.state)
        })

        if (version === 2) {
          it('wire: contains only what v2 defines', async () => {
            const open = await rig().create()
            await rig().promptScenario(open, 'edit')
            await rig().promptScenario(open, 'shell')
            const kinds = new Set(
              rig()
                .received('session/update')
                .map(({ message }) => (message as { params: { update: { sessionUpdate: string } } }).params)
                .map(({ update }) => update.sessionUpdate),
            )
            for (const kind of ['state_update', 'terminal_update', 'tool_call_update', 'notice']) {
              assert.ok(kinds.has(kind), `${kind} among ${[...kinds]}`)
            }
            assert.ok(!kinds.has('tool_call'))
            const diffs = entriesOfKind(open.session.state, 'tool_call')
              .flatMap(({ content }) => content)
              .filter(item => item.type === 'diff')
            assert.equal(diffs[0]?.patch?.format, 'git_patch')
          })
        }
      },
    )
  }
}
