export interface FilterableRow {
  title: string
  /** absolute path */
  cwd: string
  agentName?: string
  sessionId?: string
  formerTitles?: readonly string[]
}

export interface RowFilter {
  /** Words that must all be found, in any order, ignoring case and accents. */
  text?: string
  /** Only sessions whose `cwd` is this folder or inside of it. */
  folder?: string
}

/** The rows that pass the filter, in their order. */
export function filterRows<T extends FilterableRow>(rows: readonly T[], filter: RowFilter): T[] {
  const words = fold(filter.text ?? '')
    .split(/\s+/)
    .filter(word => word !== '')
  const { folder } = filter
  return rows.filter(row => {
    if (folder && !isWithin(row.cwd, folder)) return false
    if (words.length === 0) return true
    const text = fold(
      `${row.title}\n${row.cwd}\n${row.agentName ?? ''}\n${row.sessionId ?? ''}\n${row.formerTitles?.join('\n') ?? ''}`,
    )
    return words.every(word => text.includes(word))
  })
}

/** Whether a path is a folder or inside of it, with either separator; the case of a drive letter is ignored. */
export function isWithin(path: string, folder: string): boolean {
  const [inner, outer] = [normalize(path), normalize(folder)]
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}

function normalize(path: string): string {
  const slashed = path.replaceAll('\\', '/').replace(/^[a-zA-Z]:/, drive => drive.toLowerCase())
  return slashed.length > 1 ? slashed.replace(/\/+$/, '') || '/' : slashed
}

function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
