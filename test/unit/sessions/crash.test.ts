import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Entry } from '../../../src/conversation/state.ts'
import type { TranscriptChanges } from '../../../src/history/transcript-rows.ts'
import { appendText } from '../../../src/history/transcript-schema.ts'
import { bundlePrograms } from '../../support/bundle-program.ts'
import { until } from '../../support/until.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'

const CRASHES = 5
/** Milliseconds, without the time in which the process couldn't run. */
const TEXT_MS = 100
const TOOL_CALL_MS = 10

interface Received {
  cpu: number
  time: number
  length?: number
  toolCallId?: string
  answered?: string
}

describe('a conversation whose process is killed during a turn', () => {
  const folder = useTemporaryFolder()

  it('has all answers, all tool calls, and all text but that of the last 100 ms', async () => {
    await bundlePrograms(folder(), { turn: 'test/fixtures/recorded-turn.ts' })
    let recorded = 0
    for (let crash = 0; crash < CRASHES; crash++) {
      const [journal, log] = ['journal', 'log'].map(name => path.join(folder(), `${name}-${crash}`)) as [
        string,
        string,
      ]
      const args = [path.join(folder(), 'turn.mjs'), journal, log]
      const turn = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
      const exited = once(turn, 'exit')
      // different moments of the recorder's interval
      await until(() => existsSync(log) && statSync(log).size > 16_000 + crash * 2600, 'the turn')
      turn.kill('SIGKILL')
      await exited

      const received = linesOf<Received>(log)
      const entries = entriesOf(linesOf<TranscriptChanges>(journal))
      const end = received.at(-1)!
      const age = (of: Received | undefined) => (of ? Math.min(end.cpu - of.cpu, end.time - of.time) : 0)
      const blocks = entries.flatMap(entry => (entry?.kind === 'message' ? entry.blocks : []))
      const text = blocks.map(block => (block.type === 'text' ? block.text : '')).join('')
      const lostText = received.find(({ length }) => length !== undefined && length > text.length)
      assert.ok(age(lostText) <= TEXT_MS, `${age(lostText)} ms of text`)
      const toolCalls = new Set(entries.map(entry => entry?.kind === 'tool_call' && entry.toolCallId))
      const lostCall = received.find(({ toolCallId }) => toolCallId && !toolCalls.has(toolCallId))
      assert.ok(age(lostCall) <= TOOL_CALL_MS, `${lostCall?.toolCallId}, ${age(lostCall)} ms`)
      const answered = new Set(
        entries.map(entry => entry?.kind === 'permission' && entry.outcome !== undefined && entry.title),
      )
      assert.deepEqual(
        received.flatMap(one => (one.answered && !answered.has(one.answered) ? one.answered : [])),
        [],
      )
      recorded += answered.size
    }
    assert.ok(recorded >= CRASHES, 'answers were recorded')
  })
})

function linesOf<T>(file: string): T[] {
  // the last line may be half of one
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map(line => JSON.parse(line) as T)
}

function entriesOf(writes: readonly TranscriptChanges[]): Array<Entry | undefined> {
  let all: Array<Entry | undefined> = []
  for (const { replace, entries, texts = [] } of writes) {
    if (replace) all = []
    for (const { position, entry } of entries) all[position] = entry
    for (const { position, block, text } of texts) appendText(all[position], block, text)
  }
  return all
}
