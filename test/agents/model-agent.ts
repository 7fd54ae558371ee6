import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { isContextFull } from '../../src/conversation/context-full.ts'
import type { SessionState } from '../../src/conversation/state.ts'
import { FakeEditorFeatures } from '../support/fake-editor-features.ts'
import { writeToolFiles } from '../support/tool-workspace.ts'
import {
  messageTexts as allMessageTexts,
  assertSettled,
  entriesOfKind,
  findPermission,
  findToolCall,
  HELLO,
  waitForState,
} from './expect.ts'
import type { AgentName } from './install.ts'
import { EDITOR_CALLS } from './mock-model/scenarios.ts'
import { AgentRig, reject, type Variant } from './rig.ts'

/** How an agent differs from others. */
export interface Facts {
  name: AgentName
  variant?: Variant & { name: string }
  /** The negotiated protocol version; 1 by default. */
  version?: 1 | 2
  /** Whether it asks before it edits; true by default. */
  asksToEdit?: boolean
  /** Whether the client writes the files; true by default. */
  writesThroughClient?: boolean
  /** Whether it can write a file in a folder that doesn't exist; true by default. */
  createsFolders?: boolean
  /** Whether canceling a turn ends its commands; true by default. Otherwise they end with the agent. */
  endsCommands?: boolean
  /** The status of a tool call whose command exits with a code other than 0. */
  failedCommand?: 'completed' | 'failed'
  /** Whether the model can call MCP tools; true by default. Otherwise the agent only starts the server. */
  callsServers?: boolean
  /** Whether its other models are the mock model, too; true by default. Otherwise they are those of its service. */
  hasOtherModels?: boolean
  /** The messages that it adds to the conversation by itself. */
  banner?: RegExp
  /** How a turn ends after a rejected edit: the agent stops, or the model continues. */
  afterReject: 'cancelled' | 'end_turn'
  /** Whether commands run in a terminal of the client. Otherwise the agent runs them. */
  usesTerminals: boolean
  can: { load: boolean; resume: boolean; list: boolean; close: boolean }
  /** Called between the end of a process and a load in the next one. */
  beforeLoad?: (home: string) => void
}

/** Tests every scenario that an agent with a model supports, with Parley's own session manager. */
export function describeModelAgent(facts: Facts, more: (rig: () => AgentRig) => void): void {
  const { asksToEdit = true, writesThroughClient = true, createsFolders = true, banner } = facts
  describe(`${facts.variant?.name ?? facts.name}, through Parley`, () => {
    let rig: AgentRig
    const messageTexts: typeof allMessageTexts = (state, role) =>
      allMessageTexts(state, role).filter(text => !banner?.test(text))
    before(async function () {
      // the agent is downloaded the first time
      this.timeout(300_000)
      rig = await AgentRig.create(facts.name, facts.variant)
      await rig.startScenario('initialize')
      await rig.running()
    })
    after(() => rig?.close())
    beforeEach(async function () {
      await rig.resetWorkspace()
      await rig.startScenario(this.currentTest?.title.split(':')[0]?.replaceAll(' ', '-') ?? 'unnamed')
    })

    const play = async (scenario: string) => {
      const open = await rig.create()
      const outcome = await rig.promptScenario(open, scenario)
      return { open, outcome, state: open.session.state }
    }
    const read = (name: string) => readFileSync(rig.file(name), 'utf8')

    it('start: reports its capabilities correctly', async () => {
      const { agent } = await rig.running()
      assert.equal(agent.protocolVersion, facts.version ?? 1)
      const { load, resume, list, close } = agent.capabilities
      assert.deepEqual({ load, resume, list, close }, facts.can)
    })

    it('hello: streams text in all writing systems as one message', async () => {
      const { outcome, state } = await play('hello')
      assert.deepEqual(outcome, { type: 'ended', stopReason: 'end_turn' })
      assert.deepEqual(messageTexts(state), [HELLO])
      assert.deepEqual(messageTexts(state, 'user'), [`please [[hello ${rig.workspace}]]`])
      assert.equal(state.turn, 1)
      assert.ok(state.commands.length > 0)
      assertSettled(state)
    })

    it('defaults: are set before the first prompt, and what the agent does not have is said once', async function () {
      if (facts.hasOtherModels === false) this.skip()
      const { configOptions } = (await rig.create()).session.state
      const others = ['mode', 'model'].flatMap(category => {
        const option = configOptions.find(one => one.type === 'select' && one.category === category)
        const other =
          option?.type === 'select' && option.choices.find(({ value }) => value !== option.currentValue)
        return other ? [[category, other.value] as const] : []
      })
      assert.ok(others.length > 0)
      rig.defaults = { ...Object.fromEntries(others), tone: 'dry' }
      try {
        const { outcome, state } = await play('hello')
        assert.deepEqual(outcome, { type: 'ended', stopReason: 'end_turn' })
        for (const [category, value] of others) {
          const option = state.configOptions.find(one => one.category === category)
          assert.equal(option?.type === 'select' && option.currentValue, value)
        }
        const said = (of: SessionState) =>
          entriesOfKind(of, 'notice').filter(({ title }) => title.includes('tone'))
        assert.equal(said(state).length, 1)
        const [set, prompt] = [/^session\/set_/, /^session\/prompt$/].map(name =>
          rig.frames.findLastIndex(({ message }) => name.test((message as { method?: string }).method ?? '')),
        )
        assert.ok(set !== -1 && set! < prompt!)
        assert.equal(said((await play('hello')).state).length, 0)
      } finally {
        rig.defaults = {}
      }
    })

    it('full: says so in a way that Parley knows', async () => {
      const { state } = await play('full')
      const end = state.entries.at(-1)
      assert.ok(end?.kind === 'turn_end' && end.error && isContextFull(end.error), JSON.stringify(end))
    })

    it('think: keeps thoughts separate from text', async () => {
      const { state } = await play('think')
      const thoughts = messageTexts(state, 'thought').join('')
      for (const part of ['Let me', 'think', 'about it.']) assert.ok(thoughts.includes(part), thoughts)
      assert.deepEqual(messageTexts(state), ['Thought and answered.'])
    })

    it('edit: changes the file when allowed', async () => {
      const { outcome, state } = await play('edit')
      assert.deepEqual(outcome, { type: 'ended', stopReason: 'end_turn' })
      assert.equal(read('hello.txt'), 'first line\nhello ACP\nlast line\n')
      assert.equal(rig.received('fs/write_text_file').length > 0, writesThroughClient)
      const call = findToolCall(state, ({ toolKind }) => toolKind === 'edit')
      assert.equal(call.status, 'completed')
      const [change] = diffsOf(state)
      assert.equal(change?.path, rig.file('hello.txt'))
      assert.match(shownDiff(state), /world[\s\S]*ACP/)
      if (asksToEdit) {
        const question = findPermission(state)
        assert.equal(question.toolCallId, call.toolCallId)
        assert.equal(question.outcome?.type, 'selected')
      } else assert.deepEqual(entriesOfKind(state, 'permission'), [])
      assert.equal(messageTexts(state).at(-1), 'Finished with hello.txt.')
      assertSettled(state)
    })

    if (asksToEdit) {
      it("reject: doesn't change the file", async () => {
        rig.answerPolicy = reject
        const { outcome, state } = await play('edit')
        assert.deepEqual(outcome, { type: 'ended', stopReason: facts.afterReject })
        assert.equal(read('hello.txt'), 'first line\nhello world\nlast line\n')
        assert.notEqual(findToolCall(state, ({ toolKind }) => toolKind === 'edit').status, 'completed')
        assertSettled(state)
      })
    }

    it('write: creates a file in a new folder', async () => {
      const { state } = await play('write')
      const call = findToolCall(state, ({ toolKind }) => toolKind === 'edit')
      if (createsFolders) assert.equal(read('notes/new.md'), '# New\n\nline two ✓\n')
      assert.equal(call.status, createsFolders ? 'completed' : 'failed')
      assert.equal(messageTexts(state).at(-1), 'Created notes/new.md.')
      assertSettled(state)
    })

    it('shell: runs an allowed command', async () => {
      const { state } = await play('shell')
      const call = findToolCall(state, ({ toolKind }) => toolKind === 'execute')
      assert.equal(call.status, facts.failedCommand ?? 'completed')
      assert.match(call.title, /echo out-line/)
      assert.equal(messageTexts(state).at(-1), 'Command finished.')
      const terminals = [...state.terminals.values()]
      assert.equal(terminals.length > 0, facts.usesTerminals)
      for (const terminal of terminals) {
        assert.equal(terminal.exit?.exitCode, 3)
        // the order of stdout and stderr is undefined
        for (const line of [/^out-line\r?\n/m, /^err-line\r?\n/m, /^.\[31mred/m]) {
          assert.match(terminal.output, line)
        }
      }
      assertSettled(state)
    })

    it('tool: calls a tool of an MCP server from Parley, in a session with a second folder', async () => {
      rig.addsFolderAndServer = true
      const open = await rig.create()
      const { state } = open.session
      // gives the agent time to start the server, as a user who is typing would
      await rig.waitFor('the server', () => existsSync(rig.mcpCallLog))
      const { params } = rig.sent('session/new').at(-1)!.message as {
        params: { mcpServers: Array<{ name: string }>; additionalDirectories?: string[] }
      }
      assert.deepEqual(
        params.mcpServers.map(({ name }) => name),
        ['probe'],
      )
      const { additionalDirectories } = (await rig.running()).agent.capabilities
      assert.deepEqual(params.additionalDirectories, additionalDirectories ? [rig.secondFolder] : undefined)
      if (facts.callsServers === false) return
      assert.deepEqual(await rig.promptScenario(open, 'tool'), { type: 'ended', stopReason: 'end_turn' })
      assert.match(readFileSync(rig.mcpCallLog, 'utf8'), /^tools\/list\n(?:.*\n)*żółć PCA\n$/)
      const call = findToolCall(state, ({ title }) => /reverse_text/.test(title))
      assert.equal(call.status, 'completed')
      assert.match(JSON.stringify([call.content, call.rawOutput]), /ACP ćłóż/)
      assert.equal(messageTexts(state).at(-1), 'Turned around.')
      assertSettled(state)
    })

    it("editor: calls every tool of the editor's own MCP server", async function () {
      if (facts.callsServers === false || !(await rig.running()).agent.capabilities.mcp.http)
        return this.skip()
      writeToolFiles(rig.workspace)
      const features = new FakeEditorFeatures(rig.workspace)
      features.tasksOfWorkspace = [{ name: 'test', source: 'npm', command: 'npm test' }]
      features.testTools = { runTests: async () => 'passed', testFailure: async () => 'none' }
      features.debug.launch = [{ name: 'Main', content: '{}', tasks: [] }]
      features.commands = [
        { terminal: 'bash', command: 'npm test', exitCode: 1, isRunning: false, output: 'failed here' },
      ]
      rig.editorFeatures = features
      const open = await rig.create()
      const { state } = open.session
      // Codex has the tools of a server only once it has connected, whatever the user sends before
      do assert.deepEqual(await rig.promptScenario(open, 'editor'), { type: 'ended', stopReason: 'end_turn' })
      while (messageTexts(state).at(-1)?.includes('There is no tool for tool'))
      assert.equal(messageTexts(state).at(-1), 'Asked the editor.')
      for (const [name] of EDITOR_CALLS) {
        const call = findToolCall(
          state,
          ({ title, toolCallId }) =>
            new RegExp(`(?:\\b|__)${name}\\b`).test(title) && !toolCallId.startsWith('vscode.'),
        )
        assert.equal(call.status, 'completed', `${name}: ${JSON.stringify([call.content, call.rawOutput])}`)
      }
      const shown = findToolCall(state, ({ toolName }) => toolName === 'vscode.rename_symbol')
      assert.equal(shown.title, 'Rename report to summary')
      assert.equal(shown.status, 'completed')
      assert.match(readFileSync(rig.file('main.ts'), 'utf8'), /function summary\(/)
      assert.equal(features.shown.length, 1)
      assert.equal(features.diffs.length, 1)
      assert.deepEqual(features.ran, ['test'])
      assertSettled(state)
    })

    it("ask: shows the editor tool's question in the conversation, and tells the model the answer, also of the next window", async function () {
      if (facts.callsServers === false || !(await rig.running()).agent.capabilities.mcp.http)
        return this.skip()
      rig.editorFeatures = new FakeEditorFeatures(rig.workspace)
      const open = await rig.create()
      const { session } = open
      for (const [count, color] of ['blue', 'red'].entries()) {
        const answer = session.onDidChange(() => {
          for (const request of session.requests.open)
            if (request.kind === 'elicitation')
              session.requests.answerElicitation(request.requestId, {
                action: 'accept',
                content: { answer: color },
              })
        })
        // Codex has the tools of a server only once it has connected, whatever the user sends before
        do assert.deepEqual(await rig.promptScenario(open, 'ask'), { type: 'ended', stopReason: 'end_turn' })
        while (messageTexts(session.state).at(-1)?.includes('There is no tool for tool'))
        answer.dispose()
        assert.equal(messageTexts(session.state).at(-1), 'Now I know.')
        const questions = entriesOfKind(session.state, 'elicitation')
        assert.equal(questions.length, count + 1)
        assert.match(JSON.stringify(questions.at(-1)), /Which color\?.*red.*blue/)
        const { results } = rig.model.requests.findLast(({ scenario }) => scenario === 'ask')!
        assert.match(results?.at(-1) ?? '', new RegExp(`The user answered: ${color}`))
        assertSettled(session.state)
        if (count === 0) await rig.reloadEditorTools(open)
      }
    })

    for (const transport of ['http', 'sse'] as const) {
      it(`bridge ${transport}: calls a tool of an MCP server as an agent that only runs commands`, async () => {
        rig.addsFolderAndServer = true
        rig.serverTransport = transport
        const open = await rig.create()
        await rig.waitFor('the server', () => existsSync(rig.mcpCallLog))
        const { params } = rig.sent('session/new').at(-1)!.message as {
          params: { mcpServers: Array<{ command?: string }> }
        }
        assert.deepEqual(
          params.mcpServers.map(({ command }) => command),
          [process.execPath],
        )
        if (facts.callsServers === false) return
        assert.deepEqual(await rig.promptScenario(open, 'tool'), { type: 'ended', stopReason: 'end_turn' })
        assert.match(readFileSync(rig.mcpCallLog, 'utf8'), /^tools\/list\n(?:.*\n)*żółć PCA\n$/)
        const call = findToolCall(open.session.state, ({ title }) => /reverse_text/.test(title))
        assert.match(JSON.stringify([call.content, call.rawOutput]), /ACP ćłóż/)
      })
    }

    it('cancel: stops a turn in the middle of a sentence', async () => {
      const open = await rig.create()
      const turn = rig.promptScenario(open, 'slow')
      await waitForState(open.session, state => messageTexts(state).join('').includes('tick3'))
      rig.cancel(open)
      assert.deepEqual(await turn, { type: 'ended', stopReason: 'cancelled' })
      assertSettled(open.session.state)
      // the agent accepts the next prompt
      assert.deepEqual(await rig.promptScenario(open, 'hello'), { type: 'ended', stopReason: 'end_turn' })
      assert.equal(messageTexts(open.session.state).at(-1), HELLO)
    })

    if (asksToEdit) {
      it('cancel question: cancels the permission request', async () => {
        rig.answerPolicy = () => undefined
        const open = await rig.create()
        const turn = rig.promptScenario(open, 'edit')
        await waitForState(open.session, state => entriesOfKind(state, 'permission').length === 1)
        rig.cancel(open)
        assert.deepEqual(await turn, { type: 'ended', stopReason: 'cancelled' })
        assert.deepEqual(findPermission(open.session.state).outcome, { type: 'cancelled' })
        assert.equal(read('hello.txt'), 'first line\nhello world\nlast line\n')
        assertSettled(open.session.state)
      })
    }

    it('cancel command: stops the command and its child processes', async () => {
      const open = await rig.create()
      const turn = rig.promptScenario(open, 'slowshell')
      const sleeping = () => rig.processes().some(({ command }) => command === 'sleep 300')
      // some agents ask first, others know that the command is harmless
      await waitForState(open.session, state => entriesOfKind(state, 'tool_call').length > 0)
      if (process.platform === 'linux') await rig.waitFor('the command', sleeping)
      rig.cancel(open)
      const outcome = await turn
      assert.equal(outcome.type, 'ended')
      if (facts.endsCommands === false) await rig.restart()
      await rig.waitFor('the end of the command', () => !sleeping())
      assertSettled(open.session.state)
    })

    it('two: keeps two concurrent sessions apart', async () => {
      const [one, two] = [await rig.create(), await rig.create()]
      await Promise.all([rig.promptScenario(one, 'hello'), rig.promptScenario(two, 'think')])
      assert.deepEqual(messageTexts(one.session.state), [HELLO])
      assert.deepEqual(messageTexts(two.session.state), ['Thought and answered.'])
    })

    if (facts.can.list) {
      it('list: lists its sessions', async () => {
        const { open } = await play('hello')
        const { agent } = await rig.running()
        const { sessions } = await agent.listSessions({ cwd: rig.workspace })
        const listed = sessions.find(({ sessionId }) => sessionId === open.session.sessionId)
        assert.equal(listed?.cwd, rig.workspace)
        assert.ok(listed?.updatedAt && Math.abs(listed.updatedAt - Date.now()) < 600_000)
      })
    }

    more(() => rig)

    // ---- scenarios that end the process, so they are last
    if (facts.can.load) {
      it('load: replays and continues the conversation in a new process', async () => {
        const { open, state } = await play('edit')
        await rig.restart()
        facts.beforeLoad?.(rig.home)
        const loaded = await rig.reopen('load', open.session.sessionId)
        const { session } = loaded
        await waitForState(session, replayed => messageTexts(replayed).at(-1) === 'Finished with hello.txt.')
        // some agents replay their instructions to the model as user messages
        const [asked = ''] = messageTexts(state, 'user')
        assert.ok(messageTexts(session.state, 'user').some(text => text.includes(asked)))
        assert.equal(messageTexts(session.state).join(''), messageTexts(state).join(''))
        const calls = entriesOfKind(session.state, 'tool_call')
        assert.deepEqual(
          calls.map(({ toolKind, status }) => [toolKind, status]),
          [
            ['read', 'completed'],
            ['edit', 'completed'],
          ],
        )
        assert.deepEqual(await rig.promptScenario(loaded, 'hello'), { type: 'ended', stopReason: 'end_turn' })
        assert.equal(messageTexts(session.state).at(-1), HELLO)
        assertSettled(session.state)
      })

      it('load unknown: reports an error and keeps running', async () => {
        const loading = rig.reopen('load', '00000000-0000-4000-8000-000000000000')
        await assert.rejects(loading, {
          name: 'AgentRequestError',
          method: facts.version === 2 ? 'session/resume' : 'session/load',
        })
      })
    }

    if (facts.can.resume) {
      it('resume: continues in a new process without a replay', async () => {
        const { open } = await play('hello')
        await rig.restart()
        const resumed = await rig.reopen('resume', open.session.sessionId)
        assert.deepEqual(entriesOfKind(resumed.session.state, 'message'), [])
        assert.deepEqual(await rig.promptScenario(resumed, 'think'), {
          type: 'ended',
          stopReason: 'end_turn',
        })
        assert.deepEqual(messageTexts(resumed.session.state), ['Thought and answered.'])
      })
    }

    it('end: leaves no process and no file behind', async () => {
      await play('shell')
      await rig.restart()
      assert.deepEqual(rig.processes(), [])
      assert.ok(!existsSync(rig.file('notes')))
    })
  })
}

/** Diffs with old and new text, or with a patch. */
function shownDiff(state: SessionState): string {
  return entriesOfKind(state, 'tool_call')
    .flatMap(({ content }) => content)
    .flatMap(item => (item.type === 'diff' ? [item] : []))
    .map(({ changes, patch }) =>
      [...changes.map(({ oldText, newText }) => `${oldText}\n${newText}`), patch?.text].join('\n'),
    )
    .join('\n')
}

function diffsOf(state: SessionState) {
  return entriesOfKind(state, 'tool_call').flatMap(({ content }) =>
    content.flatMap(item => (item.type === 'diff' ? item.changes : [])),
  )
}
