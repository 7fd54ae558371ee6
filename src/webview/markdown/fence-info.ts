/** The text after a fence: the language of its code, and the file that the code is for, if named. */
export interface FenceInfo {
  /** the language as written; empty if none is named */
  language: string
  path?: string
  /** 1-based first and last line of the file that the code replaces */
  from?: number
  to?: number
}

const range = /^(\d{1,7}):(\d{1,7}):(.+)$/
const pathLike = /^(?:[A-Za-z]:)?[^\s:"'`<>|*?=,;(){}]*[^\s:"'`<>|*?=,;(){}./\\]\.[A-Za-z][A-Za-z0-9]{0,9}$/
const attribute = /\b(?:title|file|filename|path)\s*[=:]\s*(?:"([^"]+)"|'([^']+)'|([^\s"'},]+))/i

/**
 * Reads `ts`, `ts title="src/a.ts"`, `ts src/a.ts`, `ts:src/a.ts`, `src/a.ts`, `12:30:src/a.ts` (lines of a file) and
 * `{.python}`, as agents write them.
 */
export function fenceInfo(info: string): FenceInfo {
  const words = info.trim().split(/[\s,{]+/)
  const word = words.find(Boolean) ?? ''
  const lines = range.exec(word)
  if (lines) {
    const path = lines[3]!
    return { language: fileExtension(path), path, from: Number(lines[1]), to: Number(lines[2]) }
  }
  const named = attribute.exec(info)
  const path = named?.[1] ?? named?.[2] ?? named?.[3]
  const colon = /^([A-Za-z][\w+#-]*):(.+)$/.exec(word)
  if (colon && pathLike.test(colon[2]!)) return { language: colon[1]!, path: colon[2]! }
  if (/[\\/]/.test(word) && pathLike.test(word)) return { language: fileExtension(word), path: word }
  const language = named && word.startsWith(named[0].split(/[=:]/)[0]!) ? fileExtension(path!) : plain(word)
  const next = words.filter(Boolean)[1]
  const second = next !== undefined && pathLike.test(next) ? next : undefined
  const file = path ?? second
  return file === undefined ? { language } : { language, path: file.slice(0, 1000) }
}

function plain(word: string): string {
  return word.replace(/^\.|\}$/g, '').slice(0, 40)
}

function fileExtension(path: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(path)?.[1] ?? ''
}

/** For longer fences, only the lines near the visible part are in the page. Characters. */
const LONG_FENCE = 16_384

/** The start of a fence, up to its code. */
export const FENCE_OPENING = /^(?:[ \t]*\n)* {0,3}(?:`{3,64}|~{3,64})([^\n]*)\n/

/** Whether a block is a fence so long that only a part should be in the page. */
export function isLongFence(block: { type: string; source: string } | undefined): boolean {
  return block?.type === 'fence' && block.source.length > LONG_FENCE && FENCE_OPENING.test(block.source)
}
