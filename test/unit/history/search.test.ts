import { strict as assert } from 'node:assert'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { fold, matchesFilters, parseSearch, valuesIn, withFilter } from '../../../src/common/search-query.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { NewerDatabaseError } from '../../../src/history/database.ts'
import { SearchIndex } from '../../../src/history/search/search-index.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')

const said = (role: 'user' | 'agent', text: string): Entry => ({
  kind: 'message',
  id: `${role} ${text.slice(0, 20)}`,
  turn: 1,
  role,
  blocks: [{ type: 'text', text }],
})
const tool = (title: string, file: string, command?: string): Entry => ({
  kind: 'tool_call',
  id: `tool ${title}`,
  turn: 1,
  toolCallId: title,
  title,
  toolKind: 'execute',
  status: 'completed',
  content: [{ type: 'content', content: { type: 'text', text: 'outputword' } }],
  locations: [{ path: file }],
  canCancel: false,
  ...(command !== undefined && { rawInput: { command } }),
})

describe('the search of conversations', () => {
  if (!sqlite) return
  let directory: string
  let storage: ConversationStorage
  let index: SearchIndex
  let now: number
  let follows: boolean
  const secrets = new SecretRegistry()
  const file = () => path.join(directory, 'search.db')
  const open = () => new SearchIndex({ sqlite, file: file(), conversations: path.join(directory, 'c.db') })

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-search-'))
    now = 1_000_000
    storage = new ConversationStorage({ file: path.join(directory, 'c.db'), now: () => now, secrets, sqlite })
    index = open()
    follows = true
    storage.transcripts.onDidWrite(written => follows && index.written(written))
    storage.transcripts.onDidDelete(({ agentId, sessionId }) => follows && index.deleted(agentId, sessionId))
  })
  afterEach(() => {
    index.close()
    storage.dispose()
    rmSync(directory, { recursive: true, force: true })
  })

  function keep(sessionId: string, entries: Entry[], from = 0, agentId = 'a'): void {
    now += 1000
    storage.transcripts.write(agentId, sessionId, {
      replace: from === 0,
      entries: entries.map((entry, i) => ({ position: from + i, entry })),
      terminals: [],
    })
  }
  const settle = () => {
    while (index.work(5));
  }
  function hits(text: string, sessions?: string[]) {
    settle()
    const run = index.search({
      query: parseSearch(text, now),
      ...(sessions && { sessions: new Set(sessions) }),
    })
    while (!run.isDone) run.step(5)
    return run.hits()
  }
  const found = (text: string, sessions?: string[]) => hits(text, sessions).map(hit => hit.sessionId)

  it('finds prompts, answers, titles of tools, commands and files, but no output', () => {
    keep('one', [
      said('user', 'Fix the flaky parser test'),
      said('agent', 'I look at the **tokenizer** first.'),
      tool('Run the tests', '/work/src/colorTable.ts', 'npm test -- --grep unstable'),
    ])
    for (const text of ['flaky', 'tokeni', 'Run the', 'grep unstable', 'colorTable.ts', 'colort', 'table'])
      assert.deepEqual(found(text), ['one'], text)
    for (const text of ['outputword', 'laky', 'parser missing']) assert.deepEqual(found(text), [], text)
  })

  it('marks each match in an excerpt, and names the entry', () => {
    keep('one', [said('user', `${'before '.repeat(40)}the Flaky\n\nparser ${'after '.repeat(80)}`)])
    const [hit] = hits('flaky pars')
    assert.equal(hit?.entry, 'user before before before')
    assert.equal(hit?.count, 1)
    assert.deepEqual([hit?.excerpt[1], hit?.excerpt[2], hit?.excerpt[3]], ['Flaky', ' ', 'pars'])
    assert.match(hit!.excerpt[0]!, /^….*the $/)
    assert.match(hit!.excerpt.at(-1)!, /^er after.*…$/)
  })

  it('finds words by their beginnings, and phrases as they are', () => {
    keep('one', [said('user', 'resume the parsing of parser.test.ts')])
    keep('two', [said('user', 'the test of the parser')])
    assert.deepEqual(found('pars test'), ['one', 'two'])
    assert.deepEqual(found('parser.test'), ['one'])
    assert.deepEqual(found('"test of the"'), ['two'])
    assert.deepEqual(found('"test of the pars'), ['two'])
    assert.deepEqual(found('"pars"'), [])
    assert.deepEqual(found('"the parsing"'), ['one'])
  })

  it('finds the newest messages with a long beginning of a word, in many or few of those with its first letters', () => {
    const every = (step: number) => (i: number) => i % step === 0
    for (const has of [every(1), every(2), every(50), (i: number) => i < 30, (i: number) => i > 1300]) {
      const entries = Array.from({ length: 1500 }, (_, i): Entry => {
        const text = has(i) ? 'parsing числовой' : 'parser числовая'
        return { ...said('agent', `${text} ${i}`), id: `e${i}` }
      })
      keep('s', entries)
      const all = entries.filter((_, i) => has(i)).length
      for (const query of ['parsin', '"parsing"', 'числовой', 'parsi числовой'])
        assert.equal(hits(query)[0]?.count, Math.min(all, 400), query)
      assert.deepEqual(found('parsinger'), [])
      const run = index.search({ query: parseSearch('parsin', now) })
      while (!run.isDone) run.step(5)
      assert.equal(run.isLimited, all >= 400, 'it says that older ones were left out')
      assert.equal(hits('parsin')[0]?.entry, `e${entries.findLastIndex((_, i) => has(i))}`)
    }
  })

  it('finds parts of names, and words with and without accents', () => {
    keep('one', [said('agent', 'In flakyParserTest and HTMLTokenizer, a Résumé für Ωμέγα')])
    for (const text of ['parserte', 'test', 'tokenizer', 'resume', 'résumé', 'fur', 'ωμέγα', 'FLAKYPARSER'])
      assert.deepEqual(found(text), ['one'], text)
    assert.equal(hits('resume')[0]?.excerpt[1], 'Résumé')
  })

  it('finds Chinese, Japanese, Korean and Thai text of any length', () => {
    keep('zh', [said('user', '请修复解析器的测试,使用API测试数据')])
    keep('ja', [said('agent', 'パーサーのテストを直しました。')])
    keep('ko', [said('agent', '파서 테스트를 고쳤습니다')])
    keep('th', [said('agent', 'แก้ไขการทดสอบตัวแยกวิเคราะห์')])
    for (const text of ['测', '测试', '解析器', 'api', 'API测试', '"测试数据"'])
      assert.deepEqual(found(text), ['zh'], text)
    for (const text of ['テスト', 'テストを直', 'パ']) assert.deepEqual(found(text), ['ja'], text)
    for (const text of ['테스트', '스트를', '고쳤']) assert.deepEqual(found(text), ['ko'], text)
    assert.deepEqual(found('ทดสอบ'), ['th'])
    assert.deepEqual(found('试测'), [])
    assert.equal(hits('解析器')[0]?.excerpt[1], '解析器')
  })

  it('finds sessions by their files, alone and together with text', () => {
    keep('one', [said('user', 'rename it'), tool('Edit', '/work/src/planets.js')])
    keep('two', [said('user', 'rename it'), tool('Edit', '/work/src/moons.js')])
    assert.deepEqual(found('file:planets'), ['one'])
    assert.deepEqual(found('file:planets rename'), ['one'])
    assert.deepEqual(found('rename file:js file:moons'), ['two'])
    assert.deepEqual(found('file:mars rename'), [])
  })

  it('ranks prompts before tools, phrases before scattered words, and the newest first', () => {
    keep('scattered', [said('user', 'the parser, and much later: a test')])
    keep('phrase', [said('user', 'the parser test')])
    keep('tool', [tool('parser test', '/x')])
    assert.deepEqual(found('parser test'), ['phrase', 'scattered', 'tool'])
    keep('newer', [said('user', 'the parser test')])
    assert.equal(found('parser test')[0], 'newer')
  })

  it('searches only the wanted sessions', () => {
    keep('one', [said('user', 'parser')])
    keep('two', [said('user', 'parser')], 0, 'b')
    assert.deepEqual(found('parser', ['b/two']), ['two'])
  })

  it('follows a conversation as it grows and changes, and reads only what was written', () => {
    keep('one', [said('user', 'first'), said('agent', 'second')])
    settle()
    keep('one', [said('agent', 'third')], 2)
    assert.equal(index.remaining, 0)
    assert.deepEqual(found('third'), ['one'])
    storage.transcripts.write('a', 'one', {
      replace: false,
      entries: [],
      texts: [{ position: 2, block: 0, text: ' and appended' }],
      terminals: [],
    })
    assert.equal(index.remaining, 0)
    assert.deepEqual(found('"third and appended"'), ['one'])
    keep('one', [said('user', 'replaced')])
    assert.deepEqual([...found('replaced'), ...found('second')], ['one'])
  })

  it('indexes what an earlier version stored, the newest first, and goes on where it was stopped', () => {
    index.close()
    rmSync(file())
    follows = false
    for (let i = 0; i < 30; i++)
      keep(
        `s${i}`,
        Array.from({ length: 50 }, (_, at) => said('user', `word${i} number${at}`)),
      )
    index = open()
    index.refresh()
    assert.equal(index.remaining, 30)
    while (index.remaining > 15) index.work(0)
    const newest = found('word29')
    index.close()
    index = open()
    index.refresh()
    assert.ok(index.remaining <= 15)
    assert.deepEqual(newest, ['s29'])
    for (let i = 0; i < 30; i++) assert.deepEqual(found(`"word${i}" number49`), [`s${i}`])
    const order = found('number7')
    assert.deepEqual(order.slice(0, 3), ['s29', 's28', 's27'])
  })

  it('keeps nothing of a deleted conversation on disk, and no secret', () => {
    secrets.add('hunter2secret')
    keep('kept', [said('user', 'something else')])
    keep('gone', [said('user', 'unforgettableword hunter2secret'), said('agent', 'unforgettableword')])
    assert.deepEqual(found('unforgettable'), ['gone'])
    assert.deepEqual(found('hunter2'), [])
    storage.transcripts.forget('a', 'gone')
    assert.deepEqual(found('unforgettable'), [])
    assert.deepEqual(found('something'), ['kept'])
    const onDisk = () =>
      readdirSync(directory)
        .filter(name => name.startsWith('search'))
        .map(name => readFileSync(path.join(directory, name), 'latin1'))
        .join('')
    assert.ok(onDisk().includes('something'))
    for (const word of ['unforgettable', 'forgettableword', 'hunter2'])
      assert.ok(!onDisk().includes(word), word)
  })

  it('notices at the next start what was deleted and written in the meantime', () => {
    keep('gone', [said('user', 'unforgettable')])
    keep('grown', [said('user', 'first')])
    settle()
    index.close()
    follows = false
    storage.transcripts.forget('a', 'gone')
    keep('grown', [said('user', 'second')], 1)
    index = open()
    index.refresh()
    assert.deepEqual([...found('unforgettable'), ...found('second')], ['grown'])
  })

  it('makes a damaged index again, and leaves one of a newer version alone', () => {
    keep('one', [said('user', 'parser')])
    settle()
    index.close()
    writeFileSync(file(), 'no database at all'.repeat(1000))
    index = open()
    index.refresh()
    assert.deepEqual(found('parser'), ['one'])
    assert.deepEqual(
      readdirSync(directory).filter(name => name.includes('damaged')),
      [],
    )
    index.close()
    const db = new sqlite.DatabaseSync(file())
    db.exec('PRAGMA user_version = 99')
    db.close()
    assert.throws(open, NewerDatabaseError)
    rmSync(file())
    index = open()
  })
})

describe('what is typed into the search', () => {
  const now = new Date(2026, 10, 24, 15).getTime()
  const day = (text: string) => new Date(text).setHours(0, 0, 0, 0)

  it('consists of words, phrases and filters', () => {
    assert.deepEqual(
      parseSearch('Fix  "the parser" agent:Codex folder:"My Repo" file:a.ts is:Open x:1', now),
      {
        terms: [
          { text: 'fix', whole: false },
          { text: 'the parser', whole: true },
          { text: 'x:1', whole: false },
        ],
        agents: [{ text: 'codex', whole: false }],
        folders: [{ text: 'my repo', whole: true }],
        files: ['a.ts'],
        states: ['open'],
      },
    )
  })

  it('has whole names in quotes, and parts of them without', () => {
    const session = { agentId: 'claude-code', agentName: 'Claude Code', cwd: '/work/app2/src' }
    const finds = (text: string) => matchesFilters(parseSearch(text, now), session)
    for (const text of ['agent:claude', 'agent:"Claude Code"', 'agent:"claude-code"', 'folder:app'])
      assert.ok(finds(text), text)
    for (const text of [
      'folder:"/work/app2/src"',
      'folder:"app2/src/"',
      'folder:"\\work\\app2\\src"',
      'folder:"work"',
    ])
      assert.ok(finds(text), text)
    for (const text of ['agent:"Claude"', 'folder:"/work/app2"', 'folder:"/app2/src"', 'folder:"pp2"'])
      assert.ok(!finds(text), text)
    const onWindows = { ...session, cwd: 'C:\\Work\\app' }
    for (const [folder, isIt] of [
      ['c:/work/app/', true],
      ['C:\\work', false],
      ['work\\app', true],
    ] as const)
      assert.equal(matchesFilters(parseSearch(`folder:"${folder}"`, now), onWindows), isIt, folder)
  })

  it('gets filters, and loses them', () => {
    const typed = 'fix agent:"Old One" "the  parser" before:2025'
    assert.equal(withFilter(typed, 'agent', 'New One'), 'fix "the parser" before:2025 agent:"New One"')
    assert.equal(withFilter(typed, 'after', '7d'), 'fix agent:"Old One" "the parser" after:7d')
    assert.equal(withFilter('is:open', 'is', undefined), '')
    assert.equal(withFilter('fix folder:a', 'folder', '"'), 'fix')
    assert.equal(withFilter('say "hello', 'is', 'open'), 'say "hello" is:open')
    assert.equal(withFilter('"a" agent:"b', 'agent', 'c'), '"a" agent:"c"')
    assert.equal(withFilter('', 'folder', '/a "b" c/dd'), 'folder:c/dd')
    assert.equal(
      withFilter('is:Open x is:pinned', 'is', undefined, one => one === 'open'),
      'x is:pinned',
    )
    assert.deepEqual(valuesIn('Agent:"Claude Code" x agent:b', 'agent'), ['claude code', 'b'])
    assert.deepEqual(valuesIn('agent: is:', 'is'), [])
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), (text, value) => {
        const { terms, folders } = parseSearch(withFilter(text.replaceAll('"', ''), 'folder', value), now)
        assert.deepEqual(
          terms,
          parseSearch(withFilter(text.replaceAll('"', ''), 'folder', undefined), now).terms,
        )
        if (value.trim() === value && !value.includes('"'))
          assert.deepEqual(folders, [{ text: fold(value), whole: true }])
      }),
    )
  })

  it('has dates', () => {
    const start = (value: string) => parseSearch(`after:${value}`, now).after
    assert.equal(start('2026-11-02'), day('2026-11-02T12:00'))
    assert.equal(start('2026-11'), day('2026-11-01T12:00'))
    assert.equal(start('2026'), day('2026-01-01T12:00'))
    assert.equal(start('today'), day('2026-11-24T12:00'))
    assert.equal(start('yesterday'), day('2026-11-23T12:00'))
    assert.equal(start('7d'), day('2026-11-17T12:00'))
    assert.equal(start('1m'), day('2026-10-24T12:00'))
    const marchEnd = new Date(2026, 2, 31, 15).getTime()
    assert.equal(parseSearch('after:1m', marchEnd).after, day('2026-02-28T12:00'))
    assert.equal(parseSearch('after:1y', new Date(2028, 1, 29, 15).getTime()).after, day('2027-02-28T12:00'))
    for (const value of ['', '2026-13', '2026-06-31', 'soon']) assert.equal(start(value), undefined, value)
    assert.equal(parseSearch('before:2026-11-02 x', now).before, day('2026-11-02T12:00'))
  })
})
