import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { scaledRuns } from '../../support/property-tests.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')

type Step =
  | { type: 'open' | 'take' | 'force' | 'close' | 'crash' | 'turn' | 'poll'; window: number }
  | { type: 'sleep' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constantFrom('open', 'take', 'force', 'close', 'crash', 'poll'),
    window: fc.nat(2),
  }),
  { weight: 2, arbitrary: fc.record({ type: fc.constant('turn' as const), window: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant({ type: 'sleep' as const }) },
)

/** A window with only the relevant parts of the extension: shows the conversation and writes each turn. */
class TestWindow {
  #store: ConversationStorage
  readonly #make: () => ConversationStorage
  entries: Entry[] | undefined
  #needsWhole = false

  constructor(make: () => ConversationStorage) {
    this.#make = make
    this.#store = this.#begin()
  }

  #begin(): ConversationStorage {
    const store = this.#make()
    store.leases.onDidRequest(() => this.close())
    // writes what remains, then closes the conversation
    store.leases.onDidLose(() => this.close())
    return store
  }

  get store(): ConversationStorage {
    return this.#store
  }

  open(how: 'open' | 'take' | 'force'): void {
    if (this.entries) return
    if (!this.#store.leases.acquire('a', 's')) {
      if (how === 'open') return
      if (how === 'take') {
        this.#store.leases.request('a', 's')
        return
      }
      this.#store.leases.seize('a', 's')
    }
    this.entries = [...(this.#store.transcripts.read('a', 's')?.entries ?? [])]
  }

  turn(n: number): boolean {
    if (!this.entries) return false
    const turn = Math.max(0, ...this.entries.map(entry => entry.turn)) + 1
    for (const [role, text] of [
      ['user', 'go on'],
      ['agent', `the answer number ${n}`],
    ] as const) {
      const id = `e${this.entries.length}`
      this.entries.push({ kind: 'message', id, turn, role, blocks: [{ type: 'text', text }] })
    }
    this.#write(this.entries.length - 2)
    return true
  }

  #write(from: number): void {
    const all = (this.entries ?? []).map((entry, position) => ({ position, entry }))
    const written = (replace: boolean) =>
      this.#store.transcripts.write('a', 's', {
        replace,
        entries: replace ? all : all.slice(from),
        terminals: [],
      })
    this.#needsWhole = !(written(this.#needsWhole) || written(true))
    assert.equal(this.#needsWhole, false)
  }

  close(): void {
    if (!this.entries) return
    this.entries = undefined
    this.#store.leases.release('a', 's')
  }

  /** Crashes, so that its leases stay in the file. */
  crash(file: string): void {
    this.#store.transcripts.has('a', 's')
    const db = new sqlite!.DatabaseSync(file)
    const rows = ['windows', 'leases'].map(
      table => [table, db.prepare(`SELECT * FROM ${table}`).all()] as const,
    )
    this.#store.dispose()
    for (const [table, all] of rows)
      for (const row of all) {
        const values = Object.values(row) as string[]
        db.prepare(`REPLACE INTO ${table} VALUES (${values.map(() => '?')})`).run(...values)
      }
    db.close()
    this.entries = undefined
    this.#needsWhole = false
    this.#store = this.#begin()
  }
}

describe('a session in several windows (property)', () => {
  before(function () {
    if (!sqlite) this.skip()
  })

  it('never loses an answered turn, whatever each window does', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 3, maxLength: 25 }), steps => {
        const directory = mkdtempSync(path.join(tmpdir(), 'parley-windows-'))
        const file = path.join(directory, 'conversations.db')
        let now = 1_000_000
        const windows = [0, 1, 2].map(
          () => new TestWindow(() => new ConversationStorage({ file, now: () => now, clock: () => now })),
        )
        try {
          const answered: string[] = []
          for (const one of steps) {
            if (one.type === 'sleep') {
              now += 30_000
              continue
            }
            const window = windows[one.window]!
            if (one.type === 'turn') {
              if (window.turn(answered.length)) answered.push(`the answer number ${answered.length}`)
            } else if (one.type === 'close') window.close()
            else if (one.type === 'crash') window.crash(file)
            else if (one.type === 'poll') window.store.leases.poll()
            else window.open(one.type)
          }
          const last = new ConversationStorage({ file })
          const texts = (last.transcripts.read('a', 's')?.entries ?? []).flatMap(entry =>
            entry.kind === 'message' && entry.role === 'agent' && entry.blocks[0]?.type === 'text'
              ? [entry.blocks[0].text]
              : [],
          )
          last.dispose()
          assert.deepEqual([...texts].sort(), [...answered].sort(), 'each answer once')
        } finally {
          for (const window of windows) window.store.dispose()
          rmSync(directory, { recursive: true, force: true })
        }
      }),
      { numRuns: scaledRuns(60) },
    )
  })
})
