/** Applies code blocks of a conversation in the editor: finds their language, and how they change a file. */
import { applyPatch } from 'diff'
import { lineEnd, withLineEnd } from './text.ts'

/** VS Code's ids of languages, by other names that code fences have for them. */
const ids: Readonly<Record<string, string>> = {
  bash: 'shellscript',
  bat: 'bat',
  'c++': 'cpp',
  'c#': 'csharp',
  cc: 'cpp',
  cjs: 'javascript',
  cmd: 'bat',
  console: 'shellscript',
  cs: 'csharp',
  cts: 'typescript',
  docker: 'dockerfile',
  ex: 'elixir',
  fish: 'shellscript',
  fs: 'fsharp',
  'f#': 'fsharp',
  golang: 'go',
  gql: 'graphql',
  h: 'c',
  hpp: 'cpp',
  hs: 'haskell',
  htm: 'html',
  js: 'javascript',
  json5: 'jsonc',
  jsx: 'javascriptreact',
  kt: 'kotlin',
  make: 'makefile',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  objc: 'objective-c',
  objectivec: 'objective-c',
  patch: 'diff',
  pl: 'perl',
  ps1: 'powershell',
  pwsh: 'powershell',
  py: 'python',
  python3: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'shellscript',
  shell: 'shellscript',
  shellsession: 'shellscript',
  svg: 'xml',
  tex: 'latex',
  toml: 'toml',
  ts: 'typescript',
  tsx: 'typescriptreact',
  vb: 'vb',
  yml: 'yaml',
  zsh: 'shellscript',
}

/** Returns the language id for the name in a code fence; `undefined` if VS Code doesn't know the language. */
export function languageId(name: string, known: readonly string[]): string | undefined {
  const wanted = name.trim().toLowerCase()
  if (wanted === '') return undefined
  const id = ids[wanted] ?? wanted
  return known.find(one => one.toLowerCase() === id) ?? known.find(one => one.toLowerCase() === wanted)
}

export interface CodeTarget {
  /** 1-based first and last line that the code replaces; absent if the code doesn't name lines */
  from?: number
  to?: number
  /** offsets of the selection, if the file is open in the active editor; equal if only the cursor is there */
  selection?: { start: number; end: number }
}

/**
 * Returns the whole new text. The code replaces the lines that it names, else the selection, else the part of the file between the code's
 * first and last line, else the whole file if the code contains most of it or there is no cursor. Otherwise, the code is inserted before
 * the cursor's line. Returns `undefined` if a patch doesn't apply.
 */
export function proposedText(
  current: string,
  code: string,
  language: string,
  place: CodeTarget,
): string | undefined {
  const end = lineEnd(current) ?? '\n'
  const text = withLineEnd(code.replace(/\n+$/, ''), end)
  if (/^(?:diff|patch)$/i.test(language)) {
    const result = patched(current, code)
    if (result !== undefined || /^(?:@@|---) /m.test(code)) return result
  }
  const lines = current.split(/\r?\n/)
  const { from, to, selection } = place
  if (from !== undefined && to !== undefined && from <= to && from <= lines.length)
    return replaceLines(lines, from - 1, Math.min(to, lines.length), text, end)
  if (selection && selection.start < selection.end)
    return current.slice(0, selection.start) + text + current.slice(selection.end)
  const newLines = text.split(end)
  const found = enclosed(lines, newLines)
  if (found)
    return replaceLines(lines, found.from, found.to, indented(newLines, lines[found.from]!).join(end), end)
  if (!selection || holdsMost(newLines, lines))
    return current === '' || /\r?\n$/.test(current) ? text + end : text
  const at = current.slice(0, selection.start).split(/\r?\n/).length - 1
  return replaceLines(lines, at, at, text, end)
}

function patched(current: string, patch: string): string | undefined {
  try {
    const result = applyPatch(current, patch)
    return result === false ? undefined : result
  } catch {
    return undefined
  }
}

/** Replaces lines by a text. `from` is the first line, `to` the line after the last, both 0-based. */
function replaceLines(lines: readonly string[], from: number, to: number, text: string, end: string): string {
  return [...lines.slice(0, from), text, ...lines.slice(to)].join(end)
}

/** Returns the part of the file from the code's first line to its last, if each of these lines occurs once. */
function enclosed(
  lines: readonly string[],
  code: readonly string[],
): { from: number; to: number } | undefined {
  const filled = code.map(line => line.trim()).filter(line => line !== '')
  const first = filled[0]
  const last = filled.at(-1)
  if (first === undefined || last === undefined || filled.length < 2) return undefined
  const starts = positions(lines, first)
  if (starts.length !== 1) return undefined
  const from = starts[0]!
  const indent = indentOf(lines[from]!)
  // a last line like `}` occurs often: use the occurrence with the indentation of the first line
  const ends = positions(lines, last).filter(at => at > from)
  const shift =
    indentOf(code.findLast(line => line.trim() !== '')!).length -
    indentOf(code.find(line => line.trim() !== '')!).length
  const to = ends.find(at => indentOf(lines[at]!).length - indent.length === shift)
  return to === undefined ? undefined : { from, to: to + 1 }
}

function positions(lines: readonly string[], text: string): number[] {
  return lines.flatMap((line, at) => (line.trim() === text ? [at] : []))
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)![0]
}

/** Returns the code, indented like the line that its first line replaces. */
function indented(code: readonly string[], like: string): string[] {
  const first = code.find(line => line.trim() !== '') ?? ''
  const more = indentOf(like).slice(indentOf(first).length)
  if (!indentOf(like).startsWith(indentOf(first)) || more === '') return [...code]
  return code.map(line => (line === '' ? line : more + line))
}

function holdsMost(code: readonly string[], lines: readonly string[]): boolean {
  const has = new Set(code.map(line => line.trim()))
  const filled = lines.filter(line => line.trim() !== '')
  return filled.filter(line => has.has(line.trim())).length * 2 >= filled.length
}
