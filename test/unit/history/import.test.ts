import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { SessionImporter } from '../../../src/app/history/import-sessions.ts'
import type { Dialogs } from '../../../src/app/workbench.ts'
import { MAX_IMPORTED_ENTRIES, MAX_IMPORTED_TERMINALS } from '../../../src/common/limits.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import type { SavedConversation } from '../../../src/conversation/replay/restore-state.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { LocalSessions } from '../../../src/history/local-sessions.ts'
import { conversationLines, type ExportedSession } from '../../../src/history/protocol-lines.ts'
import { ProtocolReader } from '../../../src/history/protocol-reader.ts'
import { readLines } from '../../../src/history/read-lines.ts'
import { SessionDeletions } from '../../../src/sessions/listing/session-deletions.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { until } from '../../support/until.ts'
import { eventSequences } from '../conversation/arbitrary-updates.ts'
import { keptOf } from './kept-of.ts'

const session: ExportedSession = {
  ...{ agentId: 'a', agentName: 'Agent', sessionId: 's', cwd: '/work', additionalDirectories: [] },
  ...{ title: 'Fix the parser', createdAt: 1, updatedAt: 2 },
}
const said = (...texts: string[]): SavedConversation => ({
  entries: texts.map(
    (text, position): Entry => ({
      ...{ kind: 'message', id: `e${position}`, turn: 1 + (position >> 1) },
      role: position % 2 === 0 ? 'user' : 'agent',
      blocks: [{ type: 'text', text }],
    }),
  ),
  terminals: [],
  head: {},
})
const fileText = (...all: Array<[SavedConversation, Partial<ExportedSession>]>) =>
  all
    .flatMap(([kept, about]) => [...conversationLines(kept, { ...session, ...about }, new SecretRegistry())])
    .join('\n')

/** What is on a machine. */
class Machine {
  readonly storage: ConversationStorage
  readonly records: LocalSessions
  readonly secrets = new SecretRegistry()
  deletions = new SessionDeletions()
  readonly told: string[] = []
  max = 0
  /** Called once something was imported. */
  onReport = (_cancel: () => void) => {}
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'parley-import-'))

  constructor() {
    const { secrets } = this
    this.storage = new ConversationStorage({ file: this.storageFile, secrets })
    this.records = new LocalSessions({ file: path.join(this.#folder, 'sessions.db'), secrets })
  }

  get storageFile(): string {
    return path.join(this.#folder, 'conversations.db')
  }

  async import(...contents: Array<string | Uint8Array>): Promise<string> {
    const files = contents.map((content, i) => {
      const file = path.join(this.#folder, `${i}.jsonl`)
      writeFileSync(file, content)
      return file
    })
    const tell = async (text: string) => {
      this.told.push(text)
      return undefined
    }
    const dialogs = {
      openFiles: async () => files,
      progress: async (_: unknown, work: (report: () => void, signal: AbortSignal) => Promise<unknown>) => {
        const abort = new AbortController()
        await work(() => this.onReport(() => abort.abort()), abort.signal)
      },
      info: tell,
      warn: tell,
    } as unknown as Dialogs
    const importer = new SessionImporter({
      workbench: { dialogs, execute: async () => {} },
      records: this.records,
      transcripts: this.storage.transcripts,
      history: { recordsChanged() {} },
      deletions: this.deletions,
      storage: () => ({ used: 0, max: this.max }),
    })
    await importer.importFiles()
    return this.told.at(-1) ?? ''
  }

  texts(sessionId = 's'): string[] {
    const kept = this.storage.transcripts.read('a', sessionId)
    return (kept?.entries ?? []).map(entry =>
      entry.kind === 'message' && entry.blocks[0]?.type === 'text' ? entry.blocks[0].text : '?',
    )
  }

  dispose(): void {
    this.deletions.dispose()
    this.storage.dispose()
    this.records.dispose()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

;(process.getBuiltinModule('node:sqlite') ? describe : describe.skip)('an import of conversations', () => {
  let machine: Machine
  beforeEach(() => {
    machine = new Machine()
  })
  afterEach(() => machine.dispose())

  it('on an empty machine gives the same conversation', async () => {
    let number = 0
    await fc.assert(
      fc.asyncProperty(eventSequences, async events => {
        const kept = keptOf(events)
        if (kept.entries.length === 0) return
        const sessionId = `s${++number}`
        await machine.import(fileText([kept, { sessionId }]))
        const { transcripts } = machine.storage
        const read = transcripts.read('a', sessionId)
        assert.deepEqual(read?.entries, kept.entries)
        const byId = <T extends { terminalId: string }>(list: readonly T[]) =>
          [...list].sort((a, b) => (a.terminalId < b.terminalId ? -1 : 1))
        assert.deepEqual(byId(read?.terminals ?? []), byId(kept.terminals))
        const { agentName: _, ...record } = { ...session, sessionId }
        assert.deepEqual(machine.records.get('a', sessionId), { ...record, imported: true })
      }),
      { numRuns: scaledRuns(40) },
    )
  })

  it('lets other work run while long conversations are compared', async () => {
    const long = said(...Array.from({ length: 6000 }, (_, i) => `Text number ${i} of many`))
    const { transcripts } = machine.storage
    await transcripts.add('a', 's', long)
    let turns = 0
    let next = setImmediate(function count() {
      turns += 1
      next = setImmediate(count)
    })
    const result = await transcripts.add('a', 's', long)
    clearImmediate(next)
    assert.equal(result, 'same')
    assert.ok(turns > 10, `${turns}`)
  })

  it('takes no access to more folders from a file', async () => {
    await machine.import(fileText([said('Fix it', 'Done'), { additionalDirectories: ['/'] }]))
    assert.deepEqual(machine.records.get('a', 's')?.additionalDirectories, [])
    const relative = fileText([said('Hello', 'Hi'), { sessionId: 't', cwd: '..' }])
    assert.match(await machine.import(relative), /^The files contain no conversations/)
  })

  it('knows that the folder is from a file until an agent has opened the session', async () => {
    await machine.import(fileText([said('Fix it', 'Done'), { cwd: '/' }]))
    machine.records.noted('a', { sessionId: 's', cwd: '/' }, { pinned: true })
    machine.records.touched('a', 's', 'Another title')
    assert.equal(machine.records.get('a', 's')?.imported, true)
    machine.records.opened('a', { sessionId: 's', cwd: '/', additionalDirectories: [] })
    assert.equal(machine.records.get('a', 's')?.imported, undefined)
    await machine.import(fileText([said('Fix it', 'Done', 'Thanks'), { cwd: '/' }]))
    assert.equal(machine.records.get('a', 's')?.imported, undefined)
  })

  it('takes no more entries and terminals than a conversation may have', () => {
    const [entries, terminals] = [MAX_IMPORTED_ENTRIES + 2, MAX_IMPORTED_TERMINALS + 3]
    const kept = { ...said('Fix it'), terminals: [{ terminalId: 't', output: '', truncated: false }] }
    const lines = [...conversationLines(kept, session, new SecretRegistry())]
    const [head = '', terminal = '', entry = ''] = ['/conversation"', '/terminal"', '"entry":0'].map(part =>
      lines.find(line => line.includes(part)),
    )
    const reader = new ProtocolReader(5)
    reader.push(head.replace(/"counts":\{[^}]*\}/, '"counts":{}'))
    for (let i = 0; i < entries; i++) reader.push(entry.replace('"entry":0', `"entry":${i}`))
    for (let i = 0; i < terminals; i++) reader.push(terminal.replace('"t"', `"t${i}"`))
    const { conversation } = reader.end() ?? {}
    assert.equal(conversation?.entries.length, MAX_IMPORTED_ENTRIES)
    assert.equal(conversation?.terminals.length, MAX_IMPORTED_TERMINALS)
    assert.deepEqual(reader.skipped, { lines: 0, entries: 5, newer: 0 })
  })

  it('pauses while it reads, so that it can be canceled', async () => {
    const long = said(...Array.from({ length: 300 }, (_, i) => `Message ${i}`))
    machine.onReport = cancel => setImmediate(cancel)
    const after = said('Bye', 'Bye')
    await machine.import(
      fileText([said('Hello', 'Hi'), {}], [long, { sessionId: 't' }], [after, { sessionId: 'u' }]),
    )
    assert.deepEqual([machine.texts(), machine.texts('t')], [['Hello', 'Hi'], []])
  })

  it('leaves what is here already', async () => {
    const text = fileText([said('Fix it', 'Done'), {}], [said('Hello', 'Hi'), { sessionId: 't' }])
    assert.equal(await machine.import(text), 'Imported: 2 conversations.')
    assert.equal(await machine.import(text), 'Already saved: 2 conversations.')
    assert.deepEqual(machine.texts(), ['Fix it', 'Done'])
    assert.deepEqual(machine.texts('t'), ['Hello', 'Hi'])
  })

  it('merges another conversation of the same session, in either order', async () => {
    const short = fileText([said('Fix it', 'Done'), {}])
    const long = fileText([said('Fix it', 'Done', 'And the test', 'Written'), {}])
    await machine.import(short)
    assert.equal(await machine.import(long), 'Merged with saved conversations: 1 conversation.')
    assert.deepEqual(machine.texts(), ['Fix it', 'Done', 'And the test', 'Written'])
    assert.equal(await machine.import(short, long), 'Already saved: 2 conversations.')
  })

  it('never replaces the conversation that is open', async () => {
    const { transcripts, leases } = machine.storage
    leases.acquire('a', 's')
    const entries = said('Mine', 'Yes').entries.map((entry, position) => ({ position, entry }))
    assert(transcripts.write('a', 's', { replace: true, entries, terminals: [], head: {} }))
    await machine.import(fileText([said('Theirs', 'No'), {}]))
    const next: Entry = { ...said('More').entries[0]!, id: 'e2', turn: 2 }
    assert(
      transcripts.write('a', 's', {
        ...{ replace: false, entries: [{ position: 2, entry: next }], terminals: [] },
      }),
    )
    leases.release('a', 's')
    assert.deepEqual(machine.texts().sort(), ['Mine', 'More', 'No', 'Theirs', 'Yes'])
  })

  it('brings back a session that the user has deleted a moment ago', async () => {
    const file = fileText([said('A', 'B'), {}])
    await machine.import(file)
    const item = { ...session, deletesCopy: true }
    const { leases, transcripts } = machine.storage
    leases.acquire('a', 's')
    machine.deletions.mark([{ item, reserved: { dispose: () => leases.release('a', 's') } }])
    assert.equal(await machine.import(file), 'Already saved: 1 conversation.')
    assert.equal(machine.deletions.has('a', 's'), false)
    // too late: what is saved is being deleted
    machine.deletions = new SessionDeletions(1)
    const expired: unknown[] = []
    machine.deletions.onDidExpire(items => expired.push(...items))
    machine.deletions.mark([{ item, reserved: { dispose() {} } }])
    await until(() => expired.length > 0)
    assert.equal(await machine.import(file), "Couldn't be saved: 1 conversation.")
    transcripts.forget('a', 's')
    machine.deletions.ended(item)
    assert.equal(await machine.import(file), 'Imported: 1 conversation.')
    assert.deepEqual(machine.texts(), ['A', 'B'])
  })

  it('keeps a session that another window is about to delete', async () => {
    const file = fileText([said('A', 'B'), {}])
    await machine.import(file)
    const other = new ConversationStorage({ file: machine.storageFile, secrets: machine.secrets })
    const remove = () => {
      assert(other.leases.acquire('a', 's'))
      return other.transcripts.copies('a', 's')
    }
    for (const [text, told] of [
      [file, 'Already saved: 1 conversation.'],
      [fileText([said('A', 'B', 'C'), {}]), 'Merged with saved conversations: 1 conversation.'],
    ] as const) {
      const copies = remove()
      assert.equal(await machine.import(text), told)
      assert.notDeepEqual(other.transcripts.copies('a', 's'), copies)
      assert(other.transcripts.forget('a', 's', copies))
      assert.deepEqual(machine.texts().slice(0, 2), ['A', 'B'])
      other.leases.release('a', 's')
    }
    assert.deepEqual(machine.texts(), ['A', 'B', 'C'])
    other.dispose()
  })

  it('stores no secret that is known here, and knows what it stored', async () => {
    machine.secrets.add('hunter2hunter2')
    const text = fileText([said('It is hunter2hunter2', 'Thanks'), {}])
    await machine.import(text)
    assert.deepEqual(machine.texts(), ['It is •••', 'Thanks'])
    assert.equal(await machine.import(text), 'Already saved: 1 conversation.')
  })

  it('reports skipped parts, and keeps complete ones', async () => {
    const whole = fileText([said('Fix it', 'Done'), {}])
    assert.equal(
      await machine.import(whole.slice(0, whole.lastIndexOf('\n') - 20)),
      'Imported: 1 conversation. 1 damaged or missing part was left out.',
    )
    assert.deepEqual(machine.texts(), ['Fix it'])
    assert.equal(
      await machine.import('{"a":1}\nno JSON\n'),
      'The files contain no conversations exported by Parley.',
    )
    assert.equal(
      await machine.import(whole.replace('"format":1', '"format":9')),
      'From a newer version of Parley, not imported: 1 conversation.',
    )
    machine.max = 100
    assert.equal(
      await machine.import(fileText([said('a', 'b'), { sessionId: 'large' }])),
      "Not imported, because they'd exceed parley.history.maximumSize: 1 conversation.",
    )
  })

  it('of any bytes loses nothing that is saved', async () => {
    await machine.import(fileText([said('Fix it', 'Done'), {}]))
    const whole = Buffer.from(fileText([said('Fix it', 'Done', 'Why?', 'So'), {}]))
    const damaged = fc
      .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 30 })
      .map(changes => {
        const bytes = Buffer.from(whole)
        for (const [at, byte] of changes) bytes[at] = byte
        return bytes
      })
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, fc.uint8Array({ maxLength: 300 })), async bytes => {
        await machine.import(bytes)
        const texts = machine.texts()
        assert(texts.includes('Fix it') && texts.includes('Done'), texts.join('|'))
      }),
      { numRuns: scaledRuns(60) },
    )
  })
})

describe('the lines of a file', () => {
  it('are read whatever their length', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-lines-'))
    try {
      const file = path.join(folder, 'a.jsonl')
      const long = 'x'.repeat(3_000_000)
      writeFileSync(file, `\ufeffone\n${long}\n\ntwo\n${long}`)
      const lines: Array<string | undefined> = []
      for await (const line of readLines(file, 1000, { maxMembers: 10 })) lines.push(line)
      assert.deepEqual(lines, ['one', undefined, '', 'two', undefined])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('have no more members than are read quickly, and it is told that some were cut', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-lines-'))
    try {
      const file = path.join(folder, 'a.jsonl')
      const keys = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))
      const whole = { params: { update: { rawInput: keys(2000) } }, title: 'ä'.repeat(100_000) }
      const long = { params: { update: { rawInput: keys(300_000), title: 'last' } } }
      writeFileSync(file, [whole, long, whole].map(line => JSON.stringify(line)).join('\n'))
      const lines: unknown[] = []
      let cuts = 0
      for await (const line of readLines(file, 1 << 30, { maxMembers: 5000, onCut: () => cuts++ }))
        lines.push(JSON.parse(line!))
      assert.equal(cuts, 1)
      assert.deepEqual([lines[0], lines[2]], [whole, whole])
      const { rawInput, title } = (lines[1] as typeof long).params.update
      assert.equal(title, 'last')
      assert.ok(Object.keys(rawInput).length <= 5001)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('an entry of an imported conversation', () => {
  it('has a limited number of lines', () => {
    const reader = new ProtocolReader(Date.now())
    const [head, ...lines] = [
      ...conversationLines(said('Hello', 'Hi'), { ...session, sessionId: 's' }, new SecretRegistry()),
    ]
    reader.push(head!)
    const answer = lines.findLast(line => line.includes('agent_message_chunk'))!
    for (const line of lines.slice(0, lines.indexOf(answer))) reader.push(line)
    for (let i = 0; i < 20_000; i++) reader.push(answer)
    const { entries } = reader.end()!.conversation
    assert.equal(entries.length, 2)
    const [, said2] = entries
    assert.equal(said2?.kind === 'message' && said2.blocks.length, 5000)
    assert.equal(reader.skipped.lines, 15_000)
  })
})
