/** A file as people and agents write it in prose: a path, and perhaps a line. */
export interface FileReference {
  path: string
  /** 1-based */
  line?: number
}

const lineSuffix = /^(.*?)(?::(\d{1,7})(?:[:-]\d{1,7})?|#L(\d{1,7})(?:-L?\d{1,7})?)?$/s
const withExtension = /^[^\s"'`<>|*?=(){}[\];,]*[^\s"'`<>|*?=(){}[\];,/\\.:]\.[A-Za-z][A-Za-z0-9]{0,9}$/

/**
 * Reads `src/a.ts`, `src/a.ts:12`, `a.ts:12:3`, `/abs/a.ts#L12-L20`, `C:\a.ts:4`. A bare `a.ts` counts only with a line,
 * since `object.property` looks the same. Anything else is `undefined`.
 */
export function fileReference(text: string): FileReference | undefined {
  if (text.length > 400 || /^[a-z][a-z0-9+.-]+:\/\//i.test(text)) return undefined
  const match = lineSuffix.exec(text)
  if (!match) return undefined
  const path = match[1]!
  const line = Number(match[2] ?? match[3] ?? 0)
  const drive = /^[A-Za-z]:[\\/]/.test(path) ? path.slice(2) : path
  if (!withExtension.test(drive)) return undefined
  if (line > 0) return { path, line }
  return /[\\/]/.test(path) ? { path } : undefined
}
