import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Entry } from '../../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../../src/history/conversation-storage.ts'
import { AgentHostProgram } from '../../../support/agent-host-program.ts'
import { script } from '../../../support/contracts/running-process.ts'
import { SmallDisk } from '../../../support/small-disk.ts'
import { until } from '../../../support/until.ts'
import {
  type Hosting,
  hostedWindows,
  MemoryTranscripts,
  type SessionsFixture,
  sendPrompt,
} from '../sessions-fixture.ts'

/** The steps of a turn, for each of which the agent waits until its file is there. */
const STEPS = ['chunk', 'tool call', 'permission', 'answer', 'done', 'end'] as const
type Step = 'start' | (typeof STEPS)[number]

const AGENT = `
  const fs = require('node:fs')
  const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
  const update = (sessionId, update) => send({ method: 'session/update', params: { sessionId, update } })
  const say = (sessionId, text) =>
    update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
  let answered
  const turn = async (id, { sessionId, prompt: [{ text: gates }] }) => {
    const step = async name => {
      while (!fs.existsSync(gates + '/' + name)) await new Promise(resolve => setTimeout(resolve, 5))
    }
    await step('chunk')
    for (let i = 0; i < 20; i++) say(sessionId, i + '.')
    await step('tool call')
    const toolCall = { toolCallId: 'c', title: 'Works', kind: 'execute', status: 'pending' }
    update(sessionId, { sessionUpdate: 'tool_call', ...toolCall })
    await step('permission')
    const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }]
    send({ id: 'ask', method: 'session/request_permission', params: { sessionId, toolCall, options } })
    const { outcome } = await new Promise(resolve => { answered = resolve })
    say(sessionId, outcome.optionId + '.')
    await step('done')
    update(sessionId, { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed' })
    for (let i = 20; i < 40; i++) say(sessionId, i + '.')
    await step('end')
    send({ id, result: { stopReason: 'end_turn' } })
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params, result } = JSON.parse(line)
    if (id === 'ask') answered(result)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
    if (method === 'session/new') send({ id, result: { sessionId: 's1' } })
    if (method === 'session/prompt') void turn(id, params)
  })
`

/** The conversations on a real disk, of the window that opened last. */
class StoredTranscripts extends MemoryTranscripts {
  #storage: ConversationStorage | undefined
  open(file: string): void {
    this.close()
    this.#storage = new ConversationStorage({ file })
    this.#storage.leases.acquire('one', 's1')
  }
  close(): void {
    this.#storage?.dispose()
    this.#storage = undefined
  }
  override write(...args: Parameters<MemoryTranscripts['write']>) {
    this.#storage!.leases.acquire('one', 's1')
    return this.#storage!.transcripts.write(...args)
  }
  override read = (agentId: string, sessionId: string) => this.#storage!.transcripts.read(agentId, sessionId)
  override readEnd = (...args: Parameters<MemoryTranscripts['readEnd']>) =>
    this.#storage!.transcripts.readEnd(...args)
  override revision = (agentId: string, sessionId: string) =>
    this.#storage!.transcripts.revision(agentId, sessionId)
}

describe('a turn during which the disk is full and the window ends', () => {
  const program = new AgentHostProgram()
  const disk = process.getBuiltinModule('node:sqlite') && SmallDisk.create(16)
  // mounting needs the rights of an administrator
  const test = disk ? it : it.skip
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-full-disk-turn-'))
  const windows: SessionsFixture[] = []
  let transcripts: StoredTranscripts
  let tries = 0
  before(() => program.build())
  afterEach(async () => {
    for (const { manager, controller } of windows.splice(0)) {
      for (const { session } of manager.list()) session.agent.dispose()
      controller.dispose()
    }
    transcripts.close()
    disk?.empty()
    for (const { id } of await program.hosts.list()) await program.hosts.end(id)
  })
  after(async () => {
    await program.end()
    disk?.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  const session = (window: SessionsFixture) => window.controller.current!.session
  const last = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }
  const open = (shared: () => SessionsFixture, file: string) => {
    transcripts.open(file)
    const window = shared()
    windows.push(window)
    return window
  }
  const restored = async (shared: () => SessionsFixture, file: string) => {
    const next = open(shared, file)
    await Promise.all([next.hosted!.start(), next.controller.opener.restore(last)])
    await until(() => next.controller.current?.session.phase === 'ready', 'the session')
    return next
  }
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `${from + i}.`).join('')
  const seen: Record<Exclude<Step, 'start'>, string> = {
    chunk: numbers(0, 20),
    'tool call': 'Works',
    permission: 'asked',
    answer: 'yes.',
    done: numbers(20, 40),
    end: '',
  }
  const whole = [numbers(0, 20), 'Works completed', 'yes', `yes.${numbers(20, 40)}`]

  const ALL: Step[] = ['start', ...STEPS]
  for (const [i, full] of ALL.entries()) {
    const how = i % 2 === 0 ? 'is closed' : 'is killed'
    const freed = (['before', 'after', 'while'] as const)[i % 3]
    const ends = i % 2 === 0 ? full : ALL[i + 1]!
    test(`is whole: full from ${full} on, the window ${how} at ${ends}, space ${freed} the next window opens`, async () => {
      tries += 1
      const name = `t${tries}`
      const state = path.join(disk!.folder, name)
      const gates = path.join(folder, name)
      mkdirSync(state)
      mkdirSync(gates)
      const file = path.join(state, 'conversations.db')
      const { args, ...agent } = script(AGENT)
      const hosting: Hosting = { program, launch: { ...agent, args: [...args] } }
      transcripts = new StoredTranscripts()
      const shared = hostedWindows(hosting, transcripts)
      let window = open(shared, file)
      await window.controller.opener.start('one')
      const take = async (step: Step) => {
        if (step === 'start') await sendPrompt(window.controller, gates)
        else if (step === 'answer') {
          const [request] = session(window).state.entries.filter(one => one.kind === 'permission')
          assert.ok(request?.kind === 'permission' && !request.outcome, 'an open request')
          session(window).requests.answerPermission(request.requestId, 'yes')
        } else writeFileSync(path.join(gates, step), '')
        if (step === 'end') await until(() => session(window).state.activity === 'idle', 'the end')
        else if (step !== 'start')
          await until(() => said(session(window).state.entries).join('\n').includes(seen[step]), step)
      }
      for (const step of ALL) {
        if (step === full) disk!.fill()
        await take(step)
        if (step !== ends) continue
        if (how === 'is closed') await window.close()
        else window.kill()
        if (freed === 'before') disk!.empty()
        window = await restored(shared, file)
        if (freed === 'while') disk!.empty()
      }
      const expected = [gates, ...whole]
      await until(() => session(window).state.activity === 'idle', 'the end')
      assert.deepEqual(said(session(window).state.entries), expected)
      disk!.empty()
      const stored = () => said(transcripts.read('one', 's1')?.entries)
      await until(
        () => stored().length === expected.length && transcripts.read('one', 's1')?.head.working === false,
        'all of it on disk',
      )
      assert.deepEqual(stored(), expected)
      await window.close()
      for (const { id } of await program.hosts.list()) await program.hosts.end(id)
      transcripts.open(file)
      assert.deepEqual(stored(), expected)
    })
  }
})

function said(entries: readonly Entry[] = []): string[] {
  return entries.flatMap(entry => {
    if (entry.kind === 'turn_end') return `ended: ${entry.stopReason}`
    if (entry.kind === 'tool_call') return `${entry.title} ${entry.status}`
    if (entry.kind === 'permission')
      return entry.outcome
        ? 'optionId' in entry.outcome
          ? String(entry.outcome.optionId)
          : JSON.stringify(entry.outcome)
        : 'asked'
    if (entry.kind !== 'message') return entry.kind
    return entry.blocks.map(block => (block.type === 'text' ? block.text : '?')).join('')
  })
}
