/** A problem that a language found in a file. */
export interface Problem {
  /** as a person names the file */
  file: string
  /** 1-based */
  line: number
  severity: 'error' | 'warning' | 'info' | 'hint'
  message: string
  /** who found it, and its code: `ts(2304)` */
  source?: string
}

/** More are counted, not listed. */
const MOST = 300
const RANK = { error: 0, warning: 1, info: 2, hint: 3 }

/** Problems as text for a model, the errors first; empty when there are none. */
export function problemsText(problems: readonly Problem[]): string {
  const sorted = [...problems].sort(
    (a, b) => RANK[a.severity] - RANK[b.severity] || a.file.localeCompare(b.file) || a.line - b.line,
  )
  const lines = sorted
    .slice(0, MOST)
    .map(
      ({ file, line, severity, message, source }) =>
        `${file}:${line}: ${severity}: ${message.replace(/\s*\n\s*/g, ' ')}${source ? ` [${source}]` : ''}`,
    )
  if (sorted.length > MOST) lines.push(`… and ${sorted.length - MOST} more`)
  return lines.join('\n')
}
