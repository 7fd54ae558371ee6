import type { FileChange } from '../../acp/model.ts'
import { fieldName } from '../../common/field-name.ts'
import { isRecord } from '../../common/is-record.ts'

/** The fields of a `ToolCallEntry` that reading its input needs. */
interface EditingTool {
  title: string
  toolName?: string
  toolKind: string
  rawInput?: unknown
}

/** A tool's input: the replaced parts of a file, or the whole text to write to it. */
type EditInput = { path: string } & ({ parts: Replaced[] } | { text: string })
interface Replaced {
  oldText: string
  newText: string
}

/** Names of input fields, as {@link fieldName} returns them. */
const PATHS = 'path filepath absolutepath targetfile filename file'.split(' ')
const OLD_AND_NEW = [
  ['oldstring', 'newstring'],
  ['oldstr', 'newstr'],
  ['oldtext', 'newtext'],
  ['oldcontent', 'newcontent'],
  ['before', 'after'],
] as const
const TEXTS = 'content contents filetext filecontent'.split(' ')
/** Input fields that don't affect the written text. If a tool has other fields, a diff may not show all of its effects. */
const OTHERS = new Set(
  'replaceall expectedreplacements allowmultiple instruction instructions description explanation purpose reason summary tooldescription toolusepurpose modifiedbyuser aiproposedcontent overwrite encoding'.split(
    ' ',
  ),
)
/** Names of fields that select one of a tool's actions. */
const ACTIONS = new Set('command operation action variant type mode'.split(' '))
const WRITES =
  /^(?:(?:str|search(?:and)?)?replace|(?:multi)?edit|write|create|update|overwrite|rewrite|modify)(?:file)?$/
const SAYS_EDIT = /\b(?:multi ?edit|edit|write|create|replace|update|overwrite|modify)\b/i
/** Matches `content` that is a list of replacements instead of a text, as in some tools. */
const SEARCH_BLOCK = /^<{5,} ?SEARCH/m
/** Maximum length of input that is read; longer input is shown unchanged. Characters. */
const MAX_TEXT = 1_000_000
const MAX_FIELDS = 20
const MAX_PARTS = 200

/**
 * Returns the parts of a file that a tool call replaces, for agents that report only the tool's input: `{file_path, old_string,
 * new_string}` (Claude Code, Gemini CLI, Grok), `{filePath, oldString, newString}` (OpenCode), `{path, old_str, new_str}`, `{path, before,
 * after}`, or several in `edits`. Empty for any other input.
 */
export function replacedParts(tool: EditingTool): FileChange[] {
  const input = readInput(tool)
  if (!input || !('parts' in input)) return []
  const { path, parts } = input
  return parts.map(part => ({ operation: 'modify', path, ...part }))
}

/** Returns the whole text that a tool call writes to a file: `{file_path, content}`, or a replacement of an empty text. */
export function writtenText(tool: EditingTool): { path: string; text: string } | undefined {
  const input = readInput(tool)
  return input && 'text' in input ? input : undefined
}

function readInput({ title, toolName, toolKind, rawInput }: EditingTool): EditInput | undefined {
  const fields = isRecord(rawInput) ? fieldsOf(rawInput) : undefined
  if (!fields) return undefined
  const variant = fields.get('variant')
  const name = toolName || (typeof variant === 'string' ? variant : title)
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[^a-z\d]+/gi, ' ')
  const isEdit =
    toolKind === 'edit' || toolKind === 'write' || (toolKind === 'other' && SAYS_EDIT.test(words))
  const path = take(fields, PATHS)
  if (!isEdit || typeof path !== 'string' || path.trim() === '' || /^[a-z][\w+.-]+:\/\//i.test(path))
    return undefined
  const list = fields.get('edits')
  fields.delete('edits')
  const text = take(fields, TEXTS)
  const part = takePart(fields)
  if (!isOnlyOthers(fields)) return undefined
  if ([list, text, part].filter(one => one !== undefined).length !== 1) return undefined
  if (typeof text === 'string')
    return text.length > MAX_TEXT || SEARCH_BLOCK.test(text) ? undefined : { path, text }
  const parts = part ? [part] : partsOf(list)
  if (!parts) return undefined
  const [first] = parts
  if (parts.length === 1 && first?.oldText === '') return { path, text: first.newText }
  const isShown = parts.every(({ oldText, newText }) => oldText !== '' && oldText !== newText)
  const length = parts.reduce((sum, { oldText, newText }) => sum + oldText.length + newText.length, 0)
  return isShown && length <= MAX_TEXT ? { path, parts } : undefined
}

/** Returns the input's fields by normalized name; `undefined` if there are too many fields, or two with the same name. */
function fieldsOf(input: Record<string, unknown>): Map<string, unknown> | undefined {
  const fields = new Map<string, unknown>()
  for (const key in input) {
    const name = fieldName(key)
    if (fields.has(name) || fields.size >= MAX_FIELDS) return undefined
    if (input[key] !== undefined) fields.set(name, input[key])
  }
  return fields
}

/** Removes and returns the first of these fields. If another of these fields remains, the input counts as unreadable. */
function take(fields: Map<string, unknown>, names: readonly string[]): unknown {
  const name = names.find(one => fields.has(one))
  const value = name === undefined ? undefined : fields.get(name)
  if (name !== undefined) fields.delete(name)
  return value
}

function takePart(fields: Map<string, unknown>): Replaced | undefined {
  for (const [before, after] of OLD_AND_NEW) {
    const [oldText, newText] = [fields.get(before), fields.get(after)]
    if (typeof newText !== 'string' || (typeof oldText !== 'string' && oldText !== null)) continue
    fields.delete(before)
    fields.delete(after)
    return { oldText: oldText ?? '', newText }
  }
  return undefined
}

function partsOf(list: unknown): Replaced[] | undefined {
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_PARTS) return undefined
  const parts = list.map(one => {
    const fields = isRecord(one) ? fieldsOf(one) : undefined
    const part = fields && takePart(fields)
    return fields && isOnlyOthers(fields) ? part : undefined
  })
  return parts.every(part => part !== undefined) ? parts : undefined
}

function isOnlyOthers(fields: ReadonlyMap<string, unknown>): boolean {
  for (const [name, value] of fields) {
    if (OTHERS.has(name) || value === null) continue
    if (!ACTIONS.has(name) || typeof value !== 'string' || !WRITES.test(fieldName(value))) return false
  }
  return true
}
