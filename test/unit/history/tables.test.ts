/**
 * Every table of the databases has a row here, or says why none of it is saved: what a damaged file loses, and what remains of a deleted
 * session, must not depend on whether someone thought of a new table.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { StorageTrouble } from '../../../src/history/database.ts'
import { LocalSessions } from '../../../src/history/local-sessions.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
const PAGE = 4096
const NOW = 1_790_000_000_000
const HASH = 'ab'.repeat(32)
const STATE = '"segments":[1],"attributes":[{"value":{"type":"absent"},"by":"user","seq":0}]'
const FILE = `{"path":"/w/a.ts","text":"${HASH}",${STATE}}`

type Row = Readonly<Record<string, SQLInputValue>>
const ofSession = { agent_id: 'agent', session_id: 's1' }
const inWorkspace = { workspace: 'file:///w' }

const KINDS = [
  {
    name: 'sessions',
    rows: {
      sessions: {
        ...{ ...ofSession, cwd: '/w', additional_directories: '[]', title: 'Title', created_at: NOW },
        ...{ updated_at: NOW, given_title: 'Given', archived: 0, pinned: 1, imported: 0 },
        ...{ system_prompt: '{"mode":"append","text":"Be brief."}', former_titles: '["Old"]' },
      },
      agents: { agent_id: 'agent', capabilities: '{"load":true}', name: 'Agent' },
      session_usage: {
        ...{ ...ofSession, currency: 'USD', day: '2026-11-27', mark: 1, cost: 0.5 },
        ...{ total_tokens: 3, input_tokens: 2, output_tokens: 1 },
      },
      daily_usage: {
        ...{ day: '2026-11-27', agent_id: 'agent', currency: 'USD', cost: 0.5 },
        ...{ total_tokens: 3, input_tokens: 2, output_tokens: 1 },
      },
      model_usage: {
        ...{ day: '2026-11-27', agent_id: 'agent', model: 'm' },
        ...{ total_tokens: 3, input_tokens: 2, output_tokens: 1 },
      },
      session_spans: { ...ofSession, span: '{"ms":5,"at":7}' },
      session_places: { ...ofSession, place: '{"isRemote":true,"pathMappings":[]}' },
      continued: { ...ofSession, next_agent_id: 'other', next_session_id: 's2' },
    } as Record<string, Row>,
    notSaved: { clock: 'of earlier versions' } as Record<string, string>,
    made: [] as string[],
    use(file: string) {
      const sessions = new LocalSessions({ file, trouble: new StorageTrouble(() => {}) })
      sessions.opened('first', { sessionId: 's', cwd: '/w', additionalDirectories: [] })
      sessions.list('agent')
      return { forget: () => sessions.forget('agent', 's1'), dispose: () => sessions.dispose() }
    },
  },
  {
    name: 'conversations',
    rows: {
      entries: { ...ofSession, position: 0, entry: '{"kind":"message"}' },
      texts: { ...ofSession, position: 0, block: 0, text: 'more' },
      terminals: { ...ofSession, terminal_id: 't', terminal: '{"terminalId":"t"}' },
      outputs: { ...ofSession, terminal_id: 't', text: 'output' },
      heads: { ...ofSession, head: '{"title":"Title"}' },
      options: { ...ofSession, options: '[]' },
      conversations: { ...ofSession, revision: '01234567-89ab-cdef-0123-456789abcdef', written_at: NOW },
      said: { ...ofSession, hosted_id: '0123456789abcdef', frame: 5 },
      workspaces: { ...inWorkspace, used_at: NOW, dropped: '[]', bytes: 0, counted: 0 },
      changed_files: { ...inWorkspace, file: HASH, written_at: NOW, record: FILE },
      undone_files: {
        ...{ id: 1, ...inWorkspace, undo: 'u', at: NOW, session: 's1' },
        record: `{"before":${FILE},"after":${FILE}}`,
      },
      content_uses: { ...inWorkspace, user: 'window w', hash: HASH },
      decided_files: { ...inWorkspace, id: 'd', record: '{"path":"/w/a.ts","outcome":"kept","changes":[]}' },
      unsent: {
        ...{ id: 'i', owner: '', ...inWorkspace, place: 0, kind: 'draft', conversation: 'c', entry_id: null },
        ...{ text: '{"text":"draft"}', items: 'n', at: NOW },
      },
      unsent_items: { name: 'n', items: '[1]', bytes: 3 },
    } as Record<string, Row>,
    notSaved: {
      leases: 'of windows that run, which renew them',
      windows: 'of windows that run, which renew them',
      clock: 'is set by the next window',
      contents: 'counted from the files',
      taken_over: 'windows that run ask for their texts again',
    } as Record<string, string>,
    // a conversation that was saved has another revision, and records are counted again
    made: ['revision', 'bytes', 'counted'],
    use(file: string) {
      const storage = new ConversationStorage({ file, trouble: new StorageTrouble(() => {}) })
      const { transcripts } = storage
      // a window that finds the damage reads again
      for (let i = 0; i < 2; i++) transcripts.has('agent', 's1')
      transcripts.write('first', 's', {
        replace: false,
        entries: [],
        terminals: [],
        head: { title: 'First' },
      })
      return { forget: () => transcripts.forget('agent', 's1'), dispose: () => storage.dispose() }
    },
  },
]

for (const { name, rows, notSaved, made, use } of KINDS)
  describe(`the tables of ${name}`, () => {
    const test = sqlite ? it : it.skip
    let directory = ''
    let file = ''
    beforeEach(() => {
      directory = mkdtempSync(path.join(tmpdir(), 'parley-tables-'))
      file = path.join(directory, `${name}.db`)
    })
    afterEach(() => rmSync(directory, { recursive: true, force: true }))

    const query = <T>(ask: (db: DatabaseSync) => T): T => {
      const db = new sqlite!.DatabaseSync(file)
      try {
        return ask(db)
      } finally {
        db.close()
      }
    }
    const all = (db: DatabaseSync, table: string): Row[] =>
      db.prepare(`SELECT * FROM ${table}`).all() as Row[]
    const tables = () =>
      query(db =>
        db
          .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
          .all()
          .map(row => String(row.name)),
      )
    /** A file with one row in each table. */
    const fill = () => {
      use(file).dispose()
      query(db => {
        for (const [table, row] of Object.entries(rows)) {
          const columns = Object.keys(row)
          const values = columns.map(() => '?').join(', ')
          db.prepare(`INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${values})`).run(
            ...Object.values(row),
          )
        }
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      })
    }
    const without = (row: Row) => Object.entries(row).filter(([column]) => !made.includes(column))
    const has = (db: DatabaseSync, table: string) =>
      all(db, table).some(
        row => JSON.stringify(without(row).sort()) === JSON.stringify(without(rows[table]!).sort()),
      )

    test('all have a row here, or a reason why they are not saved', () => {
      use(file).dispose()
      assert.deepEqual(tables().sort(), [...Object.keys(rows), ...Object.keys(notSaved)].sort())
      query(db => {
        for (const [table, row] of Object.entries(rows)) {
          const columns = db.prepare(`PRAGMA table_info(${table})`).all()
          assert.deepEqual(columns.map(column => String(column.name)).sort(), Object.keys(row).sort(), table)
        }
      })
    })

    test('keep their rows if the file is damaged elsewhere', () => {
      fill()
      const bytes = readFileSync(file)
      bytes.fill(0, 0, PAGE)
      writeFileSync(file, bytes)
      use(file).dispose()
      query(db => {
        const lost = Object.keys(rows).filter(table => !has(db, table))
        assert.deepEqual(lost, [])
      })
    })

    test('have nothing of a session that was deleted', () => {
      fill()
      const used = use(file)
      used.forget()
      used.dispose()
      query(db => {
        const left = tables().filter(table => all(db, table).some(row => row.session_id === 's1'))
        assert.deepEqual(left, [])
      })
    })
  })
