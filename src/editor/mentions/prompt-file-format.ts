/**
 * Reads the format of VS Code's prompt files: Markdown with an optional front matter, variables, and links to other files.
 * https://code.visualstudio.com/docs/copilot/customization/prompt-files
 */

import { beginning, visibleProse } from '../../common/visible.ts'
import { withoutMark } from '../text.ts'

export interface ParsedPromptFile {
  /** Absent if the prompt file is called by its file name. */
  name?: string
  description?: string
  /** a hint for the text after the prompt file's name */
  hint?: string
  /** keys of the front matter that only apply to VS Code's own chat */
  unapplied: string[]
  /** the text for the model, with line feeds as line ends */
  body: string
}

/** Keys that choose VS Code's own agent, model and tools, which agents of the protocol don't have. */
const UNAPPLIED = ['agent', 'mode', 'model', 'tools']
/** Maximum number of lines of a front matter. */
const MAX_HEADER_LINES = 500
/** Maximum length of a value that is read. Characters. */
const MAX_VALUE = 4000
/** Maximum length of a name and of a description. Characters. */
const MAX_NAME = 100
const MAX_DESCRIPTION = 1000

/** Parses any text: a front matter that isn't closed belongs to the body, and an unreadable value is ignored. */
export function parsePromptFile(source: string): ParsedPromptFile {
  const text = withoutMark(source).replace(/\r\n?/g, '\n')
  const { header, body } = split(text)
  const values = headerValues(header)
  const name = visibleName(values.get('name') ?? '')
  const description = oneLine(values.get('description') ?? '')
  const hint = oneLine(values.get('argument-hint') ?? '')
  return {
    ...(name && { name }),
    ...(description && { description }),
    ...(hint && { hint }),
    unapplied: UNAPPLIED.filter(key => values.has(key)),
    body: body.trim(),
  }
}

/** Returns a prompt file's name as typed after the slash; empty if the name has no visible characters. */
export function visibleName(text: string): string {
  // with hidden characters spelled out, the name can't be mistaken for another one
  const seen = visibleProse(beginning(text, 4 * MAX_NAME).normalize('NFC'))
  const name = seen.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
  return beginning(name.replace(/^-+|-+$/g, ''), MAX_NAME)
}

function oneLine(text: string): string {
  return beginning(text.replace(/\s+/g, ' ').trim(), MAX_DESCRIPTION)
}

function split(text: string): { header: string[]; body: string } {
  if (!/^---[ \t]*\n/.test(text)) return { header: [], body: text }
  const header: string[] = []
  let at = text.indexOf('\n') + 1
  while (at < text.length && header.length < MAX_HEADER_LINES) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end === -1 ? text.length : end)
    at = end === -1 ? text.length : end + 1
    if (/^(---|\.\.\.)[ \t]*$/.test(line)) return { header, body: text.slice(at) }
    header.push(line)
  }
  return { header: [], body: text }
}

/** Returns the keys at the start of a line, with their values as text: the part of YAML that front matters use. */
function headerValues(lines: readonly string[]): Map<string, string> {
  const values = new Map<string, string>()
  for (let at = 0; at < lines.length; at++) {
    const pair = /^([A-Za-z][\w-]{0,50}|"[\w-]{1,50}"|'[\w-]{1,50}'):(?:[ \t]+(.*))?$/.exec(lines[at]!)
    if (!pair) continue
    const more: string[] = []
    // the further lines of a value are indented
    while (at + 1 < lines.length && /^([ \t]|$)/.test(lines[at + 1]!)) more.push(lines[++at]!.trim())
    const key = pair[1]!.replace(/["']/g, '')
    if (!values.has(key)) values.set(key, scalar((pair[2] ?? '').trim(), more))
  }
  return values
}

function scalar(first: string, more: readonly string[]): string {
  if (/^[|>][+-]?\d?[+-]?([ \t]+#.*)?$/.test(first)) return more.join(first.startsWith('|') ? '\n' : ' ')
  const text = beginning([first, ...more].join(' ').trim(), MAX_VALUE)
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(text)?.[1]
  if (double !== undefined) return double.replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter)
  const single = /^'((?:[^']|'')*)'/.exec(text)?.[1]
  if (single !== undefined) return single.replace(/''/g, "'")
  if (/^["'[{&*!%@`]/.test(text)) return ''
  return text.replace(/(^|[ \t])#.*$/, '').trim()
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', 0: '' }

// ---- variables

/** An input: an answer of the user that a prompt file's text contains. */
export interface PromptInput {
  name: string
  placeholder: string
}

const VARIABLE = /\$\{(?:input:([^}:\n]{1,100})(?::([^}\n]{0,1000}))?|([A-Za-z]{1,40}))\}/g

/** Returns the inputs for which the user is asked, each once. */
export function inputsOf(body: string): PromptInput[] {
  const inputs = new Map<string, PromptInput>()
  for (const [, input, placeholder = ''] of body.matchAll(VARIABLE)) {
    const name = input?.trim()
    if (!name) continue
    const known = inputs.get(name)
    if (!known || known.placeholder === '') inputs.set(name, { name, placeholder: placeholder.trim() })
  }
  return [...inputs.values()]
}

/** Returns the variables other than inputs, each once, including unknown ones. */
export function variablesOf(body: string): string[] {
  return [...new Set([...body.matchAll(VARIABLE)].flatMap(([, , , name]) => name ?? []))]
}

/**
 * Replaces the variables in a text, but not variables within their values. Unknown variables stay, since they may be code. Returns
 * `undefined` if the text becomes longer than `max`.
 */
export function withValues(
  body: string,
  values: ReadonlyMap<string, string>,
  inputs: ReadonlyMap<string, string>,
  max: number,
): string | undefined {
  const parts: string[] = []
  let length = 0
  let at = 0
  const add = (part: string) => {
    parts.push(part)
    length += part.length
  }
  for (const match of body.matchAll(VARIABLE)) {
    const [whole, input, , name] = match
    const value = input === undefined ? values.get(name!) : inputs.get(input.trim())
    if (value === undefined) continue
    add(body.slice(at, match.index))
    add(value)
    at = match.index + whole.length
    if (length > max) return undefined
  }
  add(body.slice(at))
  return length > max ? undefined : parts.join('')
}

/**
 * Returns the values of inputs that are typed after a command's name: `name=value name="a longer value"`, up to the first other word.
 * `length`: the length of this part of the text.
 */
export function typedInputs(
  args: string,
  inputs: readonly PromptInput[],
): { values: Map<string, string>; length: number } {
  const values = new Map<string, string>()
  const known = new Set(inputs.map(({ name }) => name))
  const pair = /\s*([^\s="']{1,100})=(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'\ufffc][^\s\ufffc]*))(?=\s|$)/y
  let length = 0
  for (let match = pair.exec(args); match; match = pair.exec(args)) {
    const name = match[1]!
    if (!known.has(name)) break
    values.set(name, match[2] ?? match[3] ?? match[4] ?? '')
    length = pair.lastIndex
  }
  return { values, length }
}

// ---- links

const LINK =
  /!?\[[^\][\n]{0,500}\]\([ \t]{0,10}(?:<([^<>\n]{1,2000})>|([^()\s<>]{1,2000}))(?:[ \t][^()\n]{0,200})?\)/g
const FILE = /(?<![\w#])#file:(?:"([^"\n]{1,2000})"|'([^'\n]{1,2000})'|([^\s"'`<>()[\]{},;]{1,2000}))/g

/** Returns the paths of the files to which Markdown links and `#file:` refer, each once, in order. Ignores code. */
export function referencesOf(body: string): string[] {
  const text = withoutCode(body)
  const found = [
    ...[...text.matchAll(LINK)].map(match => ({ at: match.index, path: pathOf(match[1] ?? match[2]!) })),
    ...[...text.matchAll(FILE)].map(match => ({
      at: match.index,
      path: match[1] ?? match[2] ?? match[3]!.replace(/[.:!?]+$/, ''),
    })),
  ].sort((a, b) => a.at - b.at)
  return [...new Set(found.flatMap(({ path }) => (path ? [path] : [])))]
}

/** Returns the path of a link; `undefined` if the link isn't a path. */
function pathOf(link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]+:/i.test(link) || /^(#|\/\/|\\\\)/.test(link)) return undefined
  const path = link.replace(/[?#].*$/s, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Replaces code with spaces, so that offsets stay the same. */
function withoutCode(body: string): string {
  const lines = body.split('\n')
  let fence = ''
  for (const [i, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    const isCode = fence !== '' || mark !== undefined
    if (fence === '') fence = mark ?? ''
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = ''
    lines[i] = isCode ? ' '.repeat(line.length) : withoutSpans(line)
  }
  return lines.join('\n')
}

/** Replaces the code spans of a line with spaces. A code span ends with as many backticks as it begins with. */
function withoutSpans(line: string): string {
  if (!line.includes('`')) return line
  const runs = [...line.matchAll(/`+/g)].map(match => ({ at: match.index, length: match[0].length }))
  // the positions of the runs that haven't been passed yet, by the number of backticks
  const ends = new Map<number, number[]>()
  for (const { at, length } of [...runs].reverse()) {
    const others = ends.get(length)
    if (others) others.push(at)
    else ends.set(length, [at])
  }
  let text = ''
  let from = 0
  for (const { at, length } of runs) {
    if (at < from) continue
    const others = ends.get(length)!
    while (others.length > 0 && others.at(-1)! <= at) others.pop()
    const end = others.at(-1)
    if (end === undefined) continue
    text += line.slice(from, at) + ' '.repeat(end + length - at)
    from = end + length
  }
  return text + line.slice(from)
}
