import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SearchQuery } from '../../common/search-query.ts'
import { sessionKey } from '../../common/session-key.ts'
import { sessionIdOf } from '../transcript-rows.ts'
import { DocumentKind } from './search-documents.ts'
import {
  findTerm,
  LONGEST_INDEXED_PREFIX,
  matchExpression,
  searchable,
  type TermPattern,
  type TextRange,
  termPattern,
} from './search-words.ts'

/** A search ends once it has found this number of messages, starting with the newest, so that any search is fast. */
const MAX_MESSAGES = 400
/** Number of places that are marked for each term. */
const MAX_MARKS = 20
/** Lengths of an excerpt before and after the first match. Characters. */
const BEFORE = 16
const AFTER = 200

export interface SearchWork {
  query: Pick<SearchQuery, 'terms' | 'files'>
  /** keys of the sessions to search; absent: all sessions */
  sessions?: ReadonlySet<string>
}

/** A session that contains the searched text. */
export interface SearchHit {
  agentId: string
  sessionId: string
  /** the id of the entry that matches best */
  entry: string
  /** a part of the entry's text: every second element is a match */
  excerpt: string[]
  /** the number of matching entries, at most the number of searched messages */
  count: number
}

interface Found {
  session: FoundSession
  entry: string
  marks: Marks
  count: number
  score: number
  position: number
  /** the excerpt, created when the result is shown */
  excerpt?: string[]
}

interface FoundSession {
  agentId: string
  sessionId: string
  key: string
}

const WEIGHTS: Readonly<Record<number, number>> = {
  [DocumentKind.prompt]: 3,
  [DocumentKind.answer]: 2,
  [DocumentKind.tool]: 1,
  [DocumentKind.file]: 0.5,
}

type Row = Record<string, unknown>

const FIND = `SELECT d.id, d.conversation, d.position, d.kind, d.entry, d.text
  FROM words w JOIN documents d ON d.id = w.rowid WHERE words MATCH ? AND w.rowid < ? ORDER BY w.rowid DESC`

/**
 * Number of messages that are read before checking whether enough of them match. For a word's beginning that is longer than the indexed
 * prefixes, SQLite first reads all messages with the indexed prefix, which is slow if there are many. So such messages are read step by
 * step, as long as enough of them match.
 */
const READ_AT_ONCE = 250
/** The share of the read messages that must match. */
const MIN_MATCHING = 1 / 5

/** A search through the index, the newest messages first, in steps of limited time. */
export class SearchRun {
  readonly #db: DatabaseSync
  readonly #work: SearchWork
  readonly #patterns: TermPattern[]
  readonly #found = new Map<string, Found>()
  readonly #sessions = new Map<number, FoundSession>()
  #sessionOf: StatementSync | undefined
  /** the conversations that contain all searched files */
  #withFiles: Set<number> | undefined
  #rows: Iterator<Row> | undefined
  readonly #steps: Iterator<void>
  #matches = 0
  #isComplete = false
  isDone = false

  constructor(db: DatabaseSync, work: SearchWork) {
    this.#db = db
    this.#work = work
    this.#patterns = work.query.terms.map(termPattern)
    this.#steps = this.#search()
  }

  /** Searches for about `ms` milliseconds. */
  step(ms: number): void {
    const until = performance.now() + ms
    while (!this.isDone && performance.now() < until) this.isDone = this.#steps.next().done === true
    if (!this.isDone) return
    this.#isComplete = this.#matches < MAX_MESSAGES
    this.end()
  }

  /** The results so far, the best first. */
  hits(): SearchHit[] {
    return [...this.#found.values()]
      .sort((a, b) => b.score - a.score)
      .map(found => {
        const { entry, count, marks } = found
        const { agentId, sessionId } = found.session
        found.excerpt ??= cutExcerpt(marks)
        return { agentId, sessionId, entry, excerpt: found.excerpt, count }
      })
  }

  /** Whether the search ended before all messages were searched, so that older ones may match, too. */
  get isLimited(): boolean {
    return this.isDone && !this.#isComplete
  }

  end(): void {
    this.isDone = true
    this.#rows?.return?.()
    this.#rows = undefined
  }

  *#search(): Generator<void> {
    const { terms, files } = this.#work.query
    if (files.length > 0) yield* this.#searchFiles(files)
    // without search words, the matching files are the result
    if (terms.length === 0) return
    const expression = matchExpression(terms)
    if (expression === undefined) return
    const wide = matchExpression(terms, LONGEST_INDEXED_PREFIX)
    let before = Number.MAX_SAFE_INTEGER
    if (wide !== undefined && wide !== expression) {
      let read = 0
      for (const row of this.#read(wide)) {
        yield
        this.#addMessage(row)
        if (this.#matches >= MAX_MESSAGES) return
        read++
        if (read % READ_AT_ONCE > 0 || this.#matches >= read * MIN_MATCHING) continue
        before = Number(row.id)
        break
      }
      if (before === Number.MAX_SAFE_INTEGER) return
    }
    for (const row of this.#read(expression, before)) {
      yield
      this.#addMessage(row)
      if (this.#matches >= MAX_MESSAGES) return
    }
  }

  #addMessage(row: Row): void {
    if (!this.#withFiles || this.#withFiles.has(Number(row.conversation))) this.#add(row, this.#patterns)
  }

  *#searchFiles(files: readonly string[]): Generator<void> {
    const sets: Set<number>[] = []
    for (const file of files) {
      const term = { text: file, whole: false }
      const patterns = [termPattern(term)]
      const expression = matchExpression([term])
      const found = new Set<number>()
      sets.push(found)
      if (expression === undefined) continue
      for (const row of this.#read(expression)) {
        yield
        if (row.kind !== DocumentKind.file || !marksIn(String(row.text), patterns)) continue
        const conversation = Number(row.conversation)
        if (this.#work.query.terms.length === 0 && sets.slice(0, -1).every(set => set.has(conversation)))
          this.#add(row, patterns)
        found.add(conversation)
      }
    }
    const [first, ...others] = sets
    this.#withFiles = new Set([...(first ?? [])].filter(one => others.every(set => set.has(one))))
    if (this.#work.query.terms.length > 0) return
    const wanted = new Set([...this.#withFiles].map(id => this.#session(id).key))
    for (const key of this.#found.keys()) if (!wanted.has(key)) this.#found.delete(key)
  }

  /** Reads matching texts, newest first. `before`: only texts with smaller ids. */
  *#read(expression: string, before = Number.MAX_SAFE_INTEGER): Generator<Row> {
    const rows = this.#db.prepare(FIND).iterate(expression, before)
    this.#rows = rows
    try {
      for (let next = rows.next(); !next.done; next = rows.next()) yield next.value
    } finally {
      rows.return?.()
    }
  }

  #add(row: Row, patterns: readonly TermPattern[]): void {
    const session = this.#session(Number(row.conversation))
    const { key } = session
    if (this.#work.sessions && !this.#work.sessions.has(key)) return
    const marks = marksIn(String(row.text), patterns)
    if (!marks) return
    this.#matches += 1
    const position = Number(row.position)
    const score =
      (WEIGHTS[Number(row.kind)] ?? 0) + scoreMarks(marks) + 2 * (1 - this.#matches / MAX_MESSAGES)
    const known = this.#found.get(key)
    const count = known ? known.count + (known.position === position ? 0 : 1) : 1
    if (known && known.score >= score) {
      known.count = count
      return
    }
    this.#found.set(key, { session, entry: String(row.entry), marks, count, score, position })
  }

  #session(conversation: number): FoundSession {
    const known = this.#sessions.get(conversation)
    if (known) return known
    this.#sessionOf ??= this.#db.prepare('SELECT agent_id, session_id FROM conversations WHERE id = ?')
    const row = this.#sessionOf.get(conversation)
    const agentId = String(row?.agent_id)
    const sessionId = sessionIdOf([agentId, String(row?.session_id)])
    const session = { agentId, sessionId, key: sessionKey(agentId, sessionId) }
    this.#sessions.set(conversation, session)
    return session
  }
}

interface Marks {
  text: string
  /** the places of each term */
  ranges: TextRange[][]
}

/** Finds the places of all terms in the text; `undefined` if a term is missing. */
function marksIn(original: string, patterns: readonly TermPattern[]): Marks | undefined {
  const text = searchable(original)
  const ranges: TextRange[][] = []
  for (const pattern of patterns) {
    const found = findTerm(text, pattern, MAX_MARKS)
    if (found.length === 0) return undefined
    ranges.push(found)
  }
  return { text, ranges }
}

/** Rates how well a text matches. Terms that follow each other, whole words, and matches at the start of the text count more. */
function scoreMarks({ text, ranges }: Marks): number {
  let score = 0
  for (const [i, [first]] of ranges.entries()) {
    if (first && !/^[\p{L}\p{N}]/u.test(text.slice(first[1], first[1] + 2))) score += 0.5 / ranges.length
    const before = ranges[i - 1]
    if (before?.some(([, end]) => ranges[i]!.some(([start]) => start > end && start - end < 4)))
      score += 1.5 / (ranges.length - 1)
  }
  return score + (ranges[0]![0]![0] < 80 ? 0.3 : 0)
}

function cutExcerpt({ text, ranges }: Marks): string[] {
  const all = ranges.flat().sort(([a], [b]) => a - b)
  // the excerpt shows the place where most terms are close to each other
  const near = (at: number) =>
    ranges.filter(one => one.some(([start]) => start >= at && start < at + AFTER)).length
  const starts = all.map(([start]) => start)
  const best = Math.max(...starts.map(near))
  const first = starts.find(start => near(start) === best) ?? 0
  const from = cutAt(text, Math.max(0, first - BEFORE))
  const to = Math.min(text.length, first + AFTER)
  const parts: string[] = []
  let at = from
  for (const [start, end] of all) {
    if (start < at || end > to) continue
    parts.push(text.slice(at, start), text.slice(start, end))
    at = end
  }
  parts.push(text.slice(at, to))
  const lines = parts.map(part => part.normalize('NFC').replace(/\s+/g, ' '))
  lines[0] = from > 0 ? `…${lines[0]!.trimStart()}` : lines[0]!.trimStart()
  if (to < text.length) lines.push(`${lines.pop()!.trimEnd()}…`)
  return lines
}

/** The position at which to cut an excerpt: the start of a word, if one is near. */
function cutAt(text: string, at: number): number {
  if (at === 0) return 0
  const space = text.slice(at, at + BEFORE / 2).search(/\s/)
  if (space >= 0) return at + space + 1
  // never cut between the halves of a surrogate pair
  return /[\udc00-\udfff]/.test(text[at]!) ? at + 1 : at
}
