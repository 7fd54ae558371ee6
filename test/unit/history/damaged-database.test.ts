/** Databases of which pages are lost: each page of a real one, one by one. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { StorageTrouble } from '../../../src/history/database.ts'
import { LocalSessions } from '../../../src/history/local-sessions.ts'
import { ChangesOnDisk, databaseOf } from '../../support/changes-on-disk.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
const PAGE = 4096
const CONVERSATIONS = 10
const ENTRIES = 8
const spoils: Record<string, (page: Buffer) => void> = {
  zeros: page => page.fill(0),
  'random bytes': page => randomBytes(page.length).copy(page),
}

function entry(position: number, text: string): { position: number; entry: Entry } {
  const role = position % 2 === 0 ? 'user' : 'agent'
  return {
    position,
    entry: { kind: 'message', id: `e${position}`, turn: 1, role, blocks: [{ type: 'text', text }] },
  }
}

describe('a database with a damaged page', () => {
  const test = sqlite ? it : it.skip
  let directory = ''
  let problems: string[]
  const open: Array<{ dispose(): void }> = []
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-damaged-'))
    problems = []
  })
  afterEach(() => {
    close()
    rmSync(directory, { recursive: true, force: true })
  })
  const close = () => {
    for (const one of open.splice(0)) one.dispose()
  }
  const opened = <T extends { dispose(): void }>(one: T): T => {
    open.push(one)
    return one
  }
  const trouble = () => new StorageTrouble(message => void problems.push(message))
  const conversations = (file: string) => opened(new ConversationStorage({ file, trouble: trouble() }))
  const sessions = (file: string) => opened(new LocalSessions({ file, trouble: trouble() }))
  const textOf = (one: number, at: number) => `${one}/${at} ${'word '.repeat(at * at * 20)}`
  const more = (one: number, at: number) => ` appended ${one} ${at}`

  /** Conversations, some with entries that take several pages, with appended text, terminals and separate copies. */
  function fill(file: string): void {
    const { transcripts } = conversations(file)
    for (let one = 0; one < CONVERSATIONS; one++)
      for (let at = 0; at < ENTRIES; at++)
        transcripts.write('agent', `s${one}`, {
          ...{ replace: false, entries: [entry(at, textOf(one, at))] },
          texts: at > 0 ? [{ position: at - 1, block: 0, text: more(one, at - 1) }] : [],
          terminals: at === 0 ? [{ terminalId: `t${one}`, output: 'x'.repeat(9000), truncated: false }] : [],
          head: { title: `Title ${one}` },
          said: { hostedId: '0123456789abcdef', frame: at },
        })
    close()
  }

  /** Damages each page, and passes the damaged file to `look`. */
  function eachPage(file: string, spoil: (page: Buffer) => void, look: (page: number) => void): void {
    const whole = readFileSync(file)
    for (let page = 0; page < whole.length / PAGE; page++) {
      const bytes = Buffer.from(whole)
      spoil(bytes.subarray(page * PAGE, (page + 1) * PAGE))
      for (const name of readdirSync(directory)) rmSync(path.join(directory, name))
      writeFileSync(file, bytes)
      problems = []
      look(page + 1)
      close()
    }
  }

  for (const [name, spoil] of Object.entries(spoils))
    test(`of conversations loses only what was in the page (${name})`, () => {
      const file = path.join(directory, 'conversations.db')
      fill(file)
      let damages = 0
      let lost = 0
      let incomplete = 0
      eachPage(file, spoil, page => {
        let { transcripts } = conversations(file)
        // a window that finds the damage reads again
        for (let one = 0; one < CONVERSATIONS; one++) transcripts.read('agent', `s${one}`)
        const write = { replace: false, entries: [entry(0, 'new')], terminals: [] }
        const isWritten = transcripts.write('agent', 'new', write) || transcripts.write('agent', 'new', write)
        assert.ok(isWritten, `page ${page}`)
        close()
        ;({ transcripts } = conversations(file))
        let [complete, partial] = [0, 0]
        for (let one = 0; one < CONVERSATIONS; one++) {
          const kept = transcripts.read('agent', `s${one}`)
          if (kept) partial += 1
          const texts = kept?.entries.map(shown)
          const expected = Array.from({ length: ENTRIES }, (_, at) =>
            at < ENTRIES - 1 ? textOf(one, at) + more(one, at) : textOf(one, at),
          )
          if (JSON.stringify(texts) === JSON.stringify(expected)) complete += 1
          // nothing is in another place
          for (const [at, text] of texts?.entries() ?? [])
            if (text !== 'damaged') assert.ok(expected[at]!.startsWith(text), `page ${page}: ${one}/${at}`)
        }
        lost = Math.max(lost, CONVERSATIONS - partial)
        incomplete = Math.max(incomplete, CONVERSATIONS - complete)
        const aside = readdirSync(directory).filter(one => one.includes('.damaged-'))
        assert.ok(!aside.some(one => one.includes('-new')), aside.join())
        if (aside.length === 0) return
        damages += 1
        assert.equal(problems.length, 1, `page ${page}: ${problems.join('\n')}`)
        const [, count, of] = /could read (\d+) of (\d+) conversations/.exec(problems[0]!) ?? []
        // the damage may be found only after the new one was written
        const most = partial + (transcripts.read('agent', 'new') ? 1 : 0)
        assert.ok(Number(count) >= partial - 1 && Number(count) <= most, `page ${page}: ${problems[0]}`)
        assert.ok(Number(of) >= Number(count) && Number(of) <= CONVERSATIONS + 1)
        assert.ok(problems[0]!.includes(path.join(directory, aside.find(one => /\d$/.test(one))!)))
      })
      assert.ok(damages > 20, `${damages}`)
      assert.ok(lost <= 1, `${lost} of ${CONVERSATIONS} conversations are lost with a page`)
      assert.ok(incomplete > 0, 'what is in the page is lost')
    })

  for (const [name, spoil] of Object.entries(spoils))
    test(`of changes by agents loses only those that were in the page, and no content of the others (${name})`, async () => {
      const FILES = 30
      const changes = () => opened(new ChangesOnDisk(directory))
      const changed = (path: string, text: string) => ({
        ...{ path, text, segments: [1] },
        attributes: [{ value: { type: 'absent' as const }, by: 'user' as const, seq: 0 }],
      })
      const expected = (i: number) => changed(`/w/${'folder/'.repeat(i)}`, `${i}\n`)
      const undone = (i: number) => ({ before: expected(i), after: changed(`/w/${i}`, `undone ${i}\n`) })
      const all = changes()
      for (let i = 0; i < FILES; i++) all.save(expected(i).path, expected(i))
      for (let i = 0; i < FILES; i++) await all.addUndone({ id: `u${i % 3}`, at: Date.now() }, [undone(i)])
      await all.flushed()
      close()
      const file = databaseOf(directory)
      cpSync(path.join(directory, 'contents'), path.join(directory, 'kept'), { recursive: true })
      const whole = readFileSync(file)
      for (let page = name === 'zeros' ? 0 : 1; page < whole.length / PAGE; page += 2) {
        const bytes = Buffer.from(whole)
        spoil(bytes.subarray(page * PAGE, (page + 1) * PAGE))
        for (const one of readdirSync(directory))
          if (one !== 'kept') rmSync(path.join(directory, one), { recursive: true })
        cpSync(path.join(directory, 'kept'), path.join(directory, 'contents'), { recursive: true })
        writeFileSync(file, bytes)
        // the damage is found by one of them
        for (let window = 0; window < 3; window++) {
          const found = changes()
          await found.load().catch(() => {})
          await found.loadUndone().catch(() => {})
          found.save('/w/new', changed('/w/new', `${window}`))
          await found.flushed()
          close()
        }
        const found = changes()
        const files = await found.load()
        const lost = FILES + 1 - files.length
        assert.ok(lost < 20, `page ${page + 1}: ${lost} files are lost`)
        for (const one of files.filter(({ path }) => path !== '/w/new'))
          assert.deepEqual(one, expected(Number(one.text)))
        const left = (await found.loadUndone()).flatMap(({ files }) => files)
        assert.ok(left.length > FILES - 20, `page ${page + 1}: ${FILES - left.length} undone files are lost`)
        for (const one of left) assert.deepEqual(one, undone(Number(one.before.text)))
        close()
      }
    })

  for (const [name, spoil] of Object.entries(spoils))
    test(`of sessions loses only those that were in the page (${name})`, () => {
      const file = path.join(directory, 'sessions.db')
      const all = sessions(file)
      for (let i = 0; i < 200; i++) {
        all.opened('agent', {
          ...{ sessionId: `s${i}`, cwd: `/w/${'folder/'.repeat(i % 20)}`, title: `Title ${i}` },
          additionalDirectories: [],
        })
        all.addUsage({
          ...{ agentId: 'agent', sessionId: `s${i}`, day: '2026-11-27', currency: 'USD', cost: 0.5, mark: i },
          ...{ totalTokens: 1, inputTokens: 1, outputTokens: 0 },
        })
      }
      all.agentRuns('agent', { list: true, load: true, resume: true })
      const place = { isRemote: true, pathMappings: [{ localRoot: '/w', remoteRoot: '/srv' }] }
      const span = (i: number) => ({
        ms: i,
        limit: { steps: {}, limits: { cost: i + 1 }, warned: {}, stopped: {} },
      })
      // placed sessions have spans, too
      for (let i = 0; i < 200; i++) {
        const id = { agentId: 'far', sessionId: `s${i}` }
        all.opened('far', { sessionId: id.sessionId, cwd: '/w', additionalDirectories: [], place })
        all.putSpan(id, span(i))
      }
      close()
      let damages = 0
      eachPage(file, spoil, page => {
        const found = sessions(file)
        const list = found.list('agent')
        for (const { sessionId, title } of list) assert.equal(title, `Title ${sessionId.slice(1)}`)
        assert.ok(list.length > 140, `page ${page}: ${list.length}`)
        const far = found.list('far')
        const spans = far.map(({ sessionId }) => found.span('far', sessionId))
        for (const [i, { sessionId, ...one }] of far.entries()) {
          if (one.place) assert.deepEqual(one.place, place)
          if (spans[i]) assert.deepEqual(spans[i], span(Number(sessionId.slice(1))))
        }
        const without = [far.filter(one => !one.place).length, spans.filter(one => !one).length]
        assert.ok(Math.min(...without) === 0 && Math.max(...without) < 80, `page ${page}: ${without}`)
        found.opened('agent', { sessionId: 'new', cwd: '/w', additionalDirectories: [] })
        assert.ok(found.get('agent', 'new'))
        if (!readdirSync(directory).some(one => one.includes('.damaged-'))) return
        damages += 1
        assert.equal(problems.length, 1)
        assert.match(problems[0]!, new RegExp(`could read ${list.length + far.length} of \\d+ sessions`))
      })
      assert.ok(damages > 5, `${damages}`)
    })

  test('of conversations has what is only in its log', () => {
    const source = path.join(directory, 'source.db')
    fill(source)
    const { transcripts } = conversations(source)
    assert.ok(transcripts.read('agent', 's0'))
    transcripts.write('agent', 's0', { replace: false, entries: [entry(ENTRIES, 'last')], terminals: [] })
    const file = path.join(directory, 'conversations.db')
    for (const part of ['', '-wal']) copyFileSync(source + part, file + part)
    close()
    const bytes = readFileSync(file)
    bytes.fill(0, 0, PAGE)
    writeFileSync(file, bytes)
    // the header of the database is in the log, too, unless that is lost
    const texts = conversations(file).transcripts.read('agent', 's0')?.entries.map(shown)
    assert.equal(texts?.at(-1), 'last')
    assert.ok(existsSync(file))
  })
})

function shown(one: Entry): string {
  if (one.kind === 'unknown') return one.updateKind
  return one.kind === 'message' && one.blocks[0]?.type === 'text' ? one.blocks[0].text : '?'
}
