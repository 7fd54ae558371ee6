/** A query of History's search: words, "phrases" and filters such as `agent:codex` or `after:2026-11-01`. */
export interface SearchQuery {
  terms: SearchTerm[]
  /** each must be part of the agent's name or id, or equal the name or id */
  agents: SearchTerm[]
  /**
   * each must be part of the path of the session's folder, or consist of whole folder names in that path; an absolute path must equal the
   * folder's path
   */
  folders: SearchTerm[]
  /** each must be part of the path of a file in the session */
  files: string[]
  /** the session must be in each of these states; unknown states are ignored */
  states: string[]
  /** milliseconds since the epoch: only sessions that were used at or after this time */
  after?: number
  /** milliseconds since the epoch: only sessions that were used before this time */
  before?: number
}

export interface SearchTerm {
  /** the text without case and accents */
  text: string
  /** Whether the text must end at the end of a word, or be a whole name. Otherwise, names that contain the text also match. */
  whole: boolean
}

const FILTERS: Readonly<Record<string, 'agents' | 'folders' | 'files' | 'states'>> = {
  agent: 'agents',
  folder: 'folders',
  file: 'files',
  is: 'states',
}

/** Matches a word, a phrase or a filter. */
const PART = /(?:(\p{L}+):)?(?:"([^"]*)("?)|([^\s"]+))/gu

/** Parses the typed query. A filter that is incomplete, or whose date is invalid, has no effect. */
export function parseSearch(text: string, now: number): SearchQuery {
  const query: SearchQuery = { terms: [], agents: [], folders: [], files: [], states: [] }
  for (const match of text.matchAll(PART)) {
    const [all, name = '', phrase, closed, word = ''] = match
    const key = name.toLowerCase()
    const value = phrase ?? word
    const filter = Object.hasOwn(FILTERS, key) ? FILTERS[key] : undefined
    if (filter) {
      const text = fold(value.trim())
      if (text === '') continue
      if (filter === 'agents' || filter === 'folders') query[filter].push({ text, whole: closed === '"' })
      else query[filter].push(text)
    } else if (key === 'after' || key === 'before') {
      const day = parseDay(value.trim(), now)
      if (day !== undefined) query[key] = day
    } else {
      const folded = fold(phrase === undefined ? all : name === '' ? phrase : `${name}:${phrase}`)
      const term = folded.replace(/\s+/g, ' ').trim()
      if (term !== '') query.terms.push({ text: term, whole: closed === '"' })
    }
  }
  return query
}

/** Whether a session passes the filters of a query; doesn't check files and text, which are in the session's conversation. */
export function matchesFilters(
  { agents, folders, after, before }: SearchQuery,
  {
    agentId,
    agentName,
    cwd,
    updatedAt = 0,
  }: { agentId: string; agentName: string; cwd: string; updatedAt?: number },
): boolean {
  if (after !== undefined && updatedAt < after) return false
  if (before !== undefined && updatedAt >= before) return false
  if (agents.length > 0) {
    const names = [fold(agentName), fold(agentId)]
    if (!agents.every(({ text, whole }) => names.some(name => (whole ? name === text : name.includes(text)))))
      return false
  }
  if (folders.length === 0) return true
  const folder = fold(cwd)
  return folders.every(({ text, whole }) => (whole ? hasParts(folder, text) : folder.includes(text)))
}

/** Whether `parts` follow each other in the path. An absolute `parts` must be the whole path. */
function hasParts(path: string, parts: string): boolean {
  const plain = (text: string) => `/${text.replaceAll('\\', '/').replace(/^\/+|\/+$/g, '')}/`
  return /^(?:[\\/]|[a-z]:)/.test(parts) ? plain(path) === plain(parts) : plain(path).includes(plain(parts))
}

/**
 * The query with this value for the filter; without the filter if there is no value, or if the value can't be written. Everything else that
 * was typed stays.
 * @param isReplaced which of the filter's values (in lower case) are replaced; all by default
 */
export function withFilter(
  text: string,
  name: string,
  value: string | undefined,
  isReplaced: (value: string) => boolean = () => true,
): string {
  const names = name === 'after' ? ['after', 'before'] : [name]
  const rest = text
    .replace(PART, (part, filter = '', phrase = '', _closed, word = '') =>
      names.includes(filter.toLowerCase()) && isReplaced(fold((phrase || word).trim())) ? '' : part,
    )
    .replace(/\s+/g, ' ')
    .trim()
  const filter = value === undefined ? '' : written(name, value)
  if (filter === '') return rest
  // close an open quotation mark, since the filter would become part of the phrase
  const end = (rest.split('"').length - 1) % 2 === 0 ? '' : '"'
  return `${rest}${end} ${name}:${filter}`.trim()
}

/**
 * The value as text of a query: names of agents and folders are quoted, so that they count as a whole. Quotation marks can't be written.
 */
function written(name: string, value: string): string {
  if (name !== 'agent' && name !== 'folder') return value
  const [longest = ''] = value.split('"').sort((a, b) => b.length - a.length)
  return longest === value ? `"${value}"` : longest.replace(/^.*\s(?=\S)|\s/g, '')
}

/** The values that the text has for a filter, in lower case. */
export function valuesIn(text: string, name: string): string[] {
  const parts = [...text.matchAll(PART)].filter(([, filter = '']) => filter.toLowerCase() === name)
  return parts.map(([, , phrase, , word = '']) => fold((phrase ?? word).trim())).filter(Boolean)
}

/** The names of a session, in which the text of each term is searched. */
export interface NamedSession {
  title: string
  formerTitles?: readonly string[]
  agentName: string
  sessionId: string
  cwd: string
}

const names = new WeakMap<NamedSession, string>()

/** Whether the titles, agent, folder or id of a session match. The conversation isn't searched. */
export function matchesNames({ terms, files }: SearchQuery, session: NamedSession): boolean {
  if (files.length > 0) return false
  if (terms.length === 0) return true
  let text = names.get(session)
  if (text === undefined) {
    const { title, formerTitles = [], agentName, sessionId, cwd } = session
    text = fold([title, ...formerTitles, agentName, cwd, sessionId].join('\n'))
    names.set(session, text)
  }
  return terms.every(term => text.includes(term.text))
}

/** Whether only some sessions are searched. */
export function hasFilters({ agents, folders, after, before }: SearchQuery): boolean {
  return agents.length + folders.length > 0 || after !== undefined || before !== undefined
}

/** Whether the query searches for text or files, which can also be in conversations. */
export function hasText({ terms, files }: SearchQuery): boolean {
  return terms.length + files.length > 0
}

/** Normalizes text for comparisons: without case, and without the accents of Latin letters, as SQLite's `unicode61` tokenizer does. */
export function fold(text: string): string {
  return text
    .normalize('NFC')
    .replace(LATIN, letters => letters.normalize('NFD').replace(/[\u0300-\u036f]/g, ''))
    .toLowerCase()
}

/** Matches Latin letters with accents. */
export const LATIN = /[\u00c0-\u024f\u1e00-\u1eff]+/g

const DAY = 86_400_000

/**
 * The start of a day in milliseconds since the epoch: `2026`, `2026-11`, `2026-11-24`, `today`, `yesterday`, or `7d`, `2w`, `3m`, `1y` ago.
 * `undefined` for other texts.
 */
function parseDay(value: string, now: number): number | undefined {
  const date = /^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$/.exec(value)
  if (date) {
    const [, year, month = '1', day = '1'] = date
    const start = new Date(Number(year), Number(month) - 1, Number(day))
    // reject dates such as month 13 or June 31
    const isReal = start.getMonth() === Number(month) - 1 && start.getDate() === Number(day)
    return isReal ? start.getTime() : undefined
  }
  const today = new Date(now)
  today.setHours(0, 0, 0, 0)
  const ago = /^(\d{1,4})([dwmy])$/i.exec(value)
  if (ago) {
    const count = Number(ago[1])
    const unit = ago[2]!.toLowerCase()
    if (unit === 'd' || unit === 'w') return startOfDay(now - count * (unit === 'w' ? 7 : 1) * DAY)
    const day = today.getDate()
    today.setMonth(today.getMonth() - count * (unit === 'm' ? 1 : 12))
    // if the month has no such day, use its last day
    if (today.getDate() !== day) today.setDate(0)
    return today.getTime()
  }
  if (/^today$/i.test(value)) return today.getTime()
  return /^yesterday$/i.test(value) ? startOfDay(today.getTime() - DAY / 2) : undefined
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0)
}
