import { strict as assert } from 'node:assert'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SessionExporter } from '../../../src/app/history/export-sessions.ts'
import type { PickItem, Workbench } from '../../../src/app/workbench.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { writeWhole } from '../../../src/common/whole-files.ts'
import type { SavedConversation } from '../../../src/conversation/replay/restore-state.ts'
import { ProtocolReader } from '../../../src/history/protocol-reader.ts'
import type { HistoryItem } from '../../../src/sessions/listing/history-item.ts'

const said = (text: string): SavedConversation => ({
  entries: [
    { kind: 'message', id: 'e0', turn: 1, role: 'user', blocks: [{ type: 'text', text }] },
    { kind: 'message', id: 'e1', turn: 1, role: 'agent', blocks: [{ type: 'text', text: 'Done' }] },
  ],
  terminals: [],
  head: {},
})
const items = ['s', 't', 'u', 'unsaved'].map(sessionId => ({
  ...{ agentId: sessionId === 't' ? 'b' : 'a', agentName: sessionId === 't' ? 'Bee' : 'Ada', sessionId },
  ...{ cwd: '/work', title: `Title of ${sessionId}`, open: false, archived: false, pinned: false },
})) as unknown as HistoryItem[]

describe('Export All Conversations', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'parley-export-'))
    file = path.join(folder, 'all.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs it; `choose`: the label of the picked item, `cancelAt`: the number of conversations after which to cancel. */
  async function run({
    choose = 'All Conversations',
    cancelAt = Number.POSITIVE_INFINITY,
    target = file,
  } = {}) {
    const told: string[] = []
    const cancel = new AbortController()
    let count = 0
    const workbench = {
      dialogs: {
        pick: async (list: readonly PickItem[]) => list.find(({ label }) => label === choose),
        saveFile: async () => ({ name: path.basename(target), path: target }),
        progress: (_: unknown, work: (report: () => void, signal: AbortSignal) => Promise<void>) =>
          work(() => {
            count += 1
            if (count === cancelAt) cancel.abort()
          }, cancel.signal),
        info: async (text: string) => void told.push(text),
        showStatus: (text: string) => void told.push(text),
      },
    } as unknown as Workbench
    const exporter = new SessionExporter({
      workbench,
      records: { get: () => undefined },
      transcripts: {
        read: (_, sessionId) => (sessionId === 'unsaved' ? undefined : said(`In ${sessionId}`)),
        byAge: () => [
          ['a', 's'],
          ['b', 't'],
          ['a', 'u'],
        ],
      },
      manager: { find: () => undefined },
      history: { find: () => undefined, items: () => items },
      secrets: new SecretRegistry(),
    })
    await exporter.exportAll()
    return told.join()
  }

  const exported = () => {
    const reader = new ProtocolReader(Date.now())
    const lines = readFileSync(file, 'utf8').split('\n')
    const all = [...lines.map(line => reader.push(line)), reader.end()]
    assert.deepEqual(reader.skipped, { lines: 0, entries: 0, newer: 0 })
    return all.flatMap(one => (one ? [`${one.session.agentName}: ${one.session.title}`] : []))
  }

  it('writes all saved conversations to one file', async () => {
    assert.equal(await run(), '3 conversations exported to all.jsonl.')
    assert.deepEqual(exported(), ['Ada: Title of s', 'Bee: Title of t', 'Ada: Title of u'])
    assert.deepEqual(readdirSync(folder), ['all.jsonl'])
  })

  it('writes those of an agent', async () => {
    assert.equal(await run({ choose: 'Bee' }), '1 conversation exported to all.jsonl.')
    assert.deepEqual(exported(), ['Bee: Title of t'])
  })

  it('leaves the file as it was if it is canceled', async () => {
    writeFileSync(file, 'before')
    assert.equal(await run({ cancelAt: 2 }), 'Export canceled')
    assert.equal(readFileSync(file, 'utf8'), 'before')
    assert.deepEqual(readdirSync(folder), ['all.jsonl'])
  })

  it('says why the file could not be written', async () => {
    await assert.rejects(
      run({ target: path.join(folder, 'missing', 'all.jsonl') }),
      /^UnavailableError: all.jsonl wasn't written: ENOENT/,
    )
  })

  it('says that a session was deleted while the file was chosen', async () => {
    let kept: SavedConversation | undefined = said('In s')
    const written: string[] = []
    const exporter = new SessionExporter({
      workbench: {
        dialogs: {
          async saveFile() {
            kept = undefined
            return { name: 's.md', write: async (text: string) => void written.push(text) }
          },
        },
      } as unknown as Workbench,
      records: { get: () => undefined },
      transcripts: { read: () => kept, byAge: () => [] },
      manager: { find: () => undefined },
      history: { find: () => items[0], items: () => items },
      secrets: new SecretRegistry(),
    })
    await assert.rejects(
      exporter.exportSession({ agentId: 'a', sessionId: 's' }),
      /^UnavailableError: The session was deleted meanwhile. Nothing was exported./,
    )
    assert.deepEqual(written, [])
  })

  it('leaves nothing of a file that could not be completed', async () => {
    async function* lines() {
      yield 'x'.repeat(2_000_000)
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    }
    await assert.rejects(writeWhole(file, lines(), { isUsers: true }), { code: 'ENOSPC' })
    assert.deepEqual(readdirSync(folder), [])
  })
})
