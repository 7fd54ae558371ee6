/** A file as people and agents write it in prose: a path, and perhaps a place in it. */
export interface FileReference {
  path: string
  /** 1-based */
  line?: number
  column?: number
}

const place =
  /^(.*?)(?::(\d{1,7})(?::(\d{1,7})|-\d{1,7})?|#L(\d{1,7})(?:C(\d{1,7}))?(?:-L?\d{1,7}(?:C\d{1,7})?)?)?$/s
const withExtension = /^[^\s"'`<>|*?=(){}[\];,]*[^\s"'`<>|*?=(){}[\];,/\\.:]\.[A-Za-z][A-Za-z0-9]{0,9}$/
/** Files without an extension that everyone knows; with a line or a folder before them. */
const named =
  /(?:^|[\\/])(?:Makefile|Dockerfile|Gemfile|Rakefile|Justfile|LICENSE|CODEOWNERS|\.gitignore|\.env)$/

/**
 * Reads `src/a.ts`, `src/a.ts:12`, `a.ts:12:3`, `/abs/a.ts#L12-L20`, `C:\a.ts:4`, `file:///abs/a.ts`. A bare `a.ts`
 * counts only with a line, since `object.property` looks the same. Anything else is `undefined`.
 */
export function fileReference(text: string): FileReference | undefined {
  if (text.length > 400) return undefined
  const isAddress = /^file:\/\/(?:localhost)?\//i.test(text)
  const plain = isAddress ? decodedPath(text) : text
  if (plain === undefined || /^[a-z][a-z0-9+.-]+:\/\//i.test(plain)) return undefined
  const match = place.exec(plain)
  if (!match) return undefined
  const path = match[1]!
  const line = Number(match[2] ?? match[4] ?? 0)
  const column = Number(match[3] ?? match[5] ?? 0)
  const drive = /^[A-Za-z]:[\\/]/.test(path) ? path.slice(2) : path
  if (!isAddress && !withExtension.test(drive) && !named.test(drive)) return undefined
  if (line > 0) return column > 0 ? { path, line, column } : { path, line }
  return /[\\/]/.test(path) ? { path } : undefined
}

/** The path of a file's address, with the place behind it. */
function decodedPath(address: string): string | undefined {
  try {
    const path = decodeURIComponent(address.replace(/^file:\/\/(?:localhost)?/i, ''))
    return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path
  } catch {
    return undefined
  }
}
