/**
 * The search of conversations among 1,000,000 messages: how long it takes to index and to search them, and the same with
 * bare SQLite; and how long it takes from a key to results, through the thread that searches. Prints times and ratios,
 * and fails above the limits. Needs `npm run build` first.
 *
 *   npm run bench -- search
 *
 * PARLEY_BENCH_MESSAGES: another number of messages.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { silentLogger } from '../../src/common/logger.ts'
import { parseSearch } from '../../src/common/search-query.ts'
import { SecretRegistry } from '../../src/common/secrets.ts'
import type { Entry } from '../../src/conversation/state.ts'
import { ConversationStorage } from '../../src/history/conversation-storage.ts'
import { openDatabase } from '../../src/history/database.ts'
import { SearchClient } from '../../src/history/search/search-client.ts'
import { SearchIndex } from '../../src/history/search/search-index.ts'
import { extraWords, matchExpression } from '../../src/history/search/search-words.ts'

const MESSAGES = Number(process.env.PARLEY_BENCH_MESSAGES ?? 1_000_000)
const IN_A_SESSION = 200
const WORDS = 40
const VOCABULARY = 30_000
/** Most times of the work with bare SQLite, which finds the same texts, but neither ranks them nor marks the words. */
const MAX_INDEX_RATIO = 3.5
const MAX_SEARCH_RATIO = 20
/** The 95th percentile from a key to results, in milliseconds. */
const MAX_KEY_MS = 50

const sqlite = process.getBuiltinModule('node:sqlite')
const script = path.join(process.env.PARLEY_BENCH_FOLDER!, '../../dist/search-worker.js')
if (!existsSync(script)) throw new Error('Run `npm run build` first.')

/** Always the same numbers from 0 to 1. */
let seed = 7
const random = () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}
const syllables = [
  'ba',
  'ke',
  'li',
  'mo',
  'nu',
  'ra',
  'se',
  'ti',
  'vo',
  'zu',
  'par',
  'ser',
  'tok',
  'len',
  'qui',
]
/** Like words of prose: a few are in most messages, and most are in a few. */
const vocabulary = Array.from({ length: VOCABULARY }, (_, i) => {
  let word = ''
  for (let rest = i + 7; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length]
  return word
})
const word = () => vocabulary[Math.floor(VOCABULARY ** random()) - 1]!
const text = () => Array.from({ length: WORDS }, word).join(' ')

const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-bench-search-'))
const file = (name: string) => path.join(folder, name)
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
let failed = false
function report(what: string, value: number, most: number, unit = ''): void {
  failed ||= value > most
  console.log(`  ${what}: ${value.toFixed(2)}${unit} (at most ${most}${unit})`)
}
const percentile = (times: number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!

const storage = new ConversationStorage({
  file: file('conversations.db'),
  secrets: new SecretRegistry(),
  sqlite,
})
const { transcripts } = storage
const said = (position: number): { position: number; entry: Entry } => ({
  position,
  entry: {
    ...{ kind: 'message', id: `m${position}`, turn: 1 + (position >> 1) },
    role: position % 2 === 0 ? 'user' : 'agent',
    blocks: [{ type: 'text', text: text() }],
  },
})
for (let i = 0; i < MESSAGES; i += IN_A_SESSION) {
  const entries = Array.from({ length: Math.min(IN_A_SESSION, MESSAGES - i) }, (_, position) =>
    said(position),
  )
  transcripts.write(`agent ${i % 3}`, `s${i}`, { replace: true, entries, terminals: [] })
}
console.log(`${MESSAGES.toLocaleString('en')} messages of ${WORDS} words in sessions of ${IN_A_SESSION}`)

function timed(work: () => void): number {
  const begun = performance.now()
  work()
  return performance.now() - begun
}

const index = new SearchIndex({ sqlite, file: file('search.db'), conversations: file('conversations.db') })
const indexing = timed(() => {
  index.refresh()
  while (index.work(1000));
})
index.close()

const bare = openDatabase({
  sqlite,
  file: file('bare.db'),
  migrations: [
    `CREATE TABLE documents (id INTEGER PRIMARY KEY, text TEXT NOT NULL, extra TEXT NOT NULL) STRICT;
     CREATE VIRTUAL TABLE words USING fts5 (
       text, extra, content = 'documents', content_rowid = 'id', detail = none, prefix = '1 2 3 4',
       tokenize = 'unicode61 remove_diacritics 2'
     );`,
  ],
  onDamage: () => {},
})
seed = 7
const texts = Array.from({ length: MESSAGES }, text)
const bareIndexing = timed(() => {
  const document = bare.prepare('INSERT INTO documents VALUES (?, ?, ?)')
  const words = bare.prepare('INSERT INTO words (rowid, text, extra) VALUES (?, ?, ?)')
  for (let i = 0; i < MESSAGES; i += IN_A_SESSION) {
    bare.exec('BEGIN')
    for (let at = i; at < Math.min(MESSAGES, i + IN_A_SESSION); at++) {
      const extra = extraWords(texts[at]!)
      document.run(at, texts[at]!, extra)
      words.run(at, texts[at]!, extra)
    }
    bare.exec('COMMIT')
  }
})
console.log(`indexed in ${seconds(indexing)}, with bare SQLite in ${seconds(bareIndexing)}`)
report('ratio', indexing / bareIndexing, MAX_INDEX_RATIO)
const megabytes = (name: string) => statSync(file(name)).size / 1_000_000
console.log(
  `  ${megabytes('search.db').toFixed(0)} MB, with bare SQLite ${megabytes('bare.db').toFixed(0)} MB, conversations ${megabytes('conversations.db').toFixed(0)} MB`,
)

const queries = [
  ...[3, 30, 300, 3000, 20_000].map(i => vocabulary[i]!),
  ...[5, 50, 500].map(i => `${vocabulary[i]} ${vocabulary[i * 2]}`),
  `"${texts[Math.floor(MESSAGES / 2)]!.split(' ').slice(3, 5).join(' ')}"`,
  'nothinglikethis',
]

const searched = new SearchIndex({ sqlite, file: file('search.db'), conversations: file('conversations.db') })
const searches: Array<{ own: number; plain: number }> = []
const find = bare.prepare(
  'SELECT d.text FROM words w JOIN documents d ON d.id = w.rowid WHERE words MATCH ? ORDER BY w.rowid DESC LIMIT 400',
)
for (let round = 0; round < 3; round++)
  for (const query of queries) {
    const parsed = parseSearch(query, 0)
    const own = timed(() => {
      const run = searched.search({ query: parsed })
      while (!run.isDone) run.step(1000)
      run.hits()
    })
    const plain = timed(() => find.all(matchExpression(parsed.terms)!))
    // the first round reads from the disk
    if (round > 0) searches.push({ own, plain })
  }
searched.close()
bare.close()
const sum = (which: 'own' | 'plain') => searches.reduce((all, one) => all + one[which], 0)
console.log(
  `searched in ${(sum('own') / searches.length).toFixed(1)} ms, with bare SQLite in ${(sum('plain') / searches.length).toFixed(1)} ms`,
)
report('ratio', sum('own') / sum('plain'), MAX_SEARCH_RATIO)

const files = { conversations: file('conversations.db'), file: file('search.db') }
const client = new SearchClient({ transcripts, script, files, log: silentLogger })
/** Until something was found, or nothing can be. */
const search = (typed: string) =>
  new Promise<number>(resolve => {
    const begun = performance.now()
    client.search(parseSearch(typed, Date.now()), undefined, (hits, isDone) => {
      if (isDone || hits.length > 0) resolve(performance.now() - begun)
    })
  })
await search(queries[0]!)
const keys: number[] = []
for (const query of queries)
  for (let length = 1; length <= query.length; length++) keys.push(await search(query.slice(0, length)))
client.dispose()
console.log(`from a key to results: ${percentile(keys, 0.5).toFixed(1)} ms (median of ${keys.length})`)
report('95th percentile', percentile(keys, 0.95), MAX_KEY_MS, ' ms')

storage.dispose()
rmSync(folder, { recursive: true })
if (failed) {
  console.error('The search is too slow.')
  process.exitCode = 1
}
