import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { Session } from '../../../src/conversation/session.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { LocalSessions } from '../../../src/history/local-sessions.ts'
import { redactedStore } from '../../../src/sessions/open-session.ts'
import { TranscriptRecorder } from '../../../src/sessions/transcript-recorder.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')

describe('no secret that Parley holds is in the database', () => {
  let directory: string
  beforeEach(function () {
    if (!sqlite) this.skip()
    directory = mkdtempSync(path.join(tmpdir(), 'parley-held-'))
  })
  afterEach(() => directory && rmSync(directory, { recursive: true, force: true }))

  const secrets = fc
    .string({ minLength: 8, maxLength: 30, unit: fc.constantFrom(...'abcXYZ019-_.~"\\/+=%&é') })
    .filter(text => new Set(text).size > 4)
  const texts = (secret: string) => [
    secret,
    JSON.stringify(secret),
    encodeURIComponent(secret),
    Buffer.from(`a${secret}`).toString('base64'),
  ]

  function hold(secret: string): SecretRegistry {
    const held = new SecretRegistry()
    held.add(secret)
    return held
  }

  function assertAbsent(secret: string, ...more: string[]): void {
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(each =>
      each.isFile(),
    )
    assert.ok(files.length > 0)
    const read = files.map(each => readFileSync(path.join(each.parentPath, each.name), 'utf8'))
    for (const text of [...read, ...more]) {
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
        assert.ok(!text.includes(form), `${form} is kept`)
      }
      for (const run of text.match(/[\w+/]{6,}={0,2}/g) ?? []) {
        assert.ok(!Buffer.from(run, 'base64').toString().includes(secret), `${run} is kept`)
      }
    }
  }

  it('of sessions, with titles, names and system prompts', () => {
    fc.assert(
      fc.property(secrets, fc.nat(3), (secret, form) => {
        const said = texts(secret)[form]!
        const file = path.join(directory, 'sessions.db')
        const records = () => new LocalSessions({ file, secrets: hold(secret) })
        const sessions = records()
        const place = { cwd: '/w', additionalDirectories: ['/lib'] }
        sessions.opened('a', {
          sessionId: 'one',
          ...place,
          title: `Use ${said}`,
          systemPrompt: { mode: 'append', text: `The key is ${said}.` },
        })
        sessions.touched('a', 'one', `Renamed to ${said}`)
        sessions.touched('a', 'one', 'Plain')
        sessions.noted('a', { sessionId: 'two', cwd: '/w', title: said }, { givenTitle: `My ${said}` })
        sessions.agentRuns('a', { name: `Agent ${said}`, list: true, load: true, resume: false })
        sessions.touched('a', 'two', said)
        assert.equal(sessions.get('a', 'two')?.formerTitles, undefined, 'the same title')
        const shown = JSON.stringify([sessions.list('a'), sessions.agent('a')])
        sessions.dispose()
        const again = records()
        const one = again.get('a', 'one')
        // an incomplete prompt would be worse than none
        assert.deepEqual([one?.title, one?.systemPrompt, one?.cwd], ['Plain', undefined, '/w'])
        assert.match(one?.formerTitles?.[0] ?? '', /^Use .*•••/)
        const stored = JSON.stringify([again.list('a'), again.agent('a')])
        again.dispose()
        assertAbsent(secret, shown, stored)
        rmSync(file)
      }),
      { numRuns: scaledRuns(25) },
    )
  })

  it('of the sessions to restore after a reload', () => {
    fc.assert(
      fc.property(secrets, fc.nat(3), (secret, form) => {
        const kept = new Map<string, unknown>()
        const all = { get: <T>(key: string) => kept.get(key) as T, set: kept.set.bind(kept) }
        const store = redactedStore(all, hold(secret))
        const reference = { agentId: 'a', sessionId: 's', cwd: '/w', title: `Use ${texts(secret)[form]}` }
        store.set('last', reference)
        store.set('tabs', { one: reference })
        store.set('none', undefined)
        assert.ok(!JSON.stringify([...kept]).includes(JSON.stringify(reference.title).slice(5, -1)))
        assert.match(store.get<typeof reference>('last')?.title ?? '', /^Use .*•••/)
        assert.equal(store.get<Record<string, typeof reference>>('tabs')?.one?.cwd, '/w')
      }),
    )
  })

  it('of conversations, even if it arrives in pieces that are written one by one', () => {
    const cuts = fc.array(fc.nat(40), { maxLength: 4 })
    fc.assert(
      fc.property(secrets, fc.nat(3), cuts, fc.boolean(), (secret, form, where, isOver) => {
        const said = `It is ${texts(secret)[form]}, see?`
        const file = path.join(directory, 'conversations.db')
        const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
        const session = new Session({ agent: new FakeAgent(), sessionId: 's', setup, phase: 'ready' })
        const storage = new ConversationStorage({ file, secrets: hold(secret) })
        const { transcripts } = storage
        const recorder = new TranscriptRecorder('a', session, transcripts)
        const pieces = [0, ...where.toSorted((a, b) => a - b), said.length]
          .map((from, i, all) => said.slice(from, all[i + 1] ?? from))
          .filter(piece => piece !== '')
        session.receive({ type: 'state', state: 'running' })
        session.receive({ type: 'terminal', terminal: { terminalId: 't', command: said } })
        for (const text of pieces) {
          session.receive({ type: 'message_chunk', role: 'agent', content: { type: 'text', text } })
          session.receive({ type: 'terminal_output', terminalId: 't', text })
          recorder.flush()
          // rejected changes are written as a whole conversation
          recorder.flush()
        }
        if (isOver) session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
        recorder.dispose()
        const kept = JSON.stringify(transcripts.read('a', 's'))
        assert.match(kept, /see\?/)
        storage.dispose()
        assertAbsent(secret, kept)
        rmSync(file)
      }),
      { numRuns: scaledRuns(60) },
    )
  })
})
