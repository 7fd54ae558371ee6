import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { FileChange, ToolCallContent, ToolCallLocation, ToolCallPatch } from '../model.ts'
import { given, readBlock } from './content.ts'
import { readParent } from './extensions.ts'
import {
  anything,
  type Json,
  maybe,
  maybeAsked,
  maybeText,
  type Report,
  readList,
  validationProblem,
} from './lenient.ts'

/** The maximum length of a path, in characters. No system allows longer paths. */
const MAX_PATH = 32_768

/**
 * The schema of a tool call. `capabilities` (v2) is what the client may request for the tool call. `_meta.toolName` is the name of the tool
 * in v1 (Qwen Code).
 */
export const toolCallSchema = z.object({
  toolCallId: z.string(),
  title: maybeAsked,
  name: maybeText,
  kind: maybeText,
  status: maybeText,
  content: anything,
  locations: anything,
  rawInput: anything,
  rawOutput: anything,
  capabilities: anything,
  _meta: anything,
})

/**
 * Reads an upsert of a tool call. An absent field keeps its value. With `nulls: 'keep'` (v1), a `null` field also keeps its value; with
 * `nulls: 'clear'` (v2), `null` clears the field.
 */
export function readToolCall(
  raw: unknown,
  report: Report,
  nulls: 'keep' | 'clear' = 'keep',
): ToolCallPatch | undefined {
  const parsed = toolCallSchema.safeParse(raw)
  if (!parsed.success) {
    report(validationProblem(parsed.error))
    return undefined
  }
  const wire = parsed.data
  const clears = nulls === 'clear'
  const patch: ToolCallPatch = { toolCallId: wire.toolCallId }
  for (const key of ['title', 'name', 'kind', 'status'] as const) {
    const value = wire[key]
    if (typeof value === 'string' || (clears && value === null)) patch[key] = value
  }
  if (patch.name === undefined && isRecord(wire._meta) && typeof wire._meta.toolName === 'string')
    patch.name = wire._meta.toolName
  const content = readField(wire.content, readToolContent, report, 'content', clears)
  if (content !== undefined) patch.content = content?.flat() ?? null
  const locations = readField(wire.locations, readLocation, report, 'locations', clears)
  if (locations !== undefined) patch.locations = locations
  for (const key of ['rawInput', 'rawOutput'] as const) {
    const value = wire[key]
    if (value !== undefined && (clears || value !== null)) patch[key] = value
  }
  const canCancel = readCanCancel(wire.capabilities)
  if (canCancel !== undefined) patch.canCancel = canCancel
  const parentId = readParent(wire._meta)
  if (parentId !== undefined) patch.parentId = parentId
  return patch
}

/** Reads the `capabilities` of a tool call or a terminal. An object replaces the previous capabilities, and `null` clears them. */
export function readCanCancel(capabilities: unknown): boolean | null | undefined {
  if (capabilities === null) return null
  return isRecord(capabilities) ? isRecord(capabilities.cancel) : undefined
}

function readField<T>(
  raw: unknown,
  read: (item: unknown) => T | undefined,
  report: Report,
  what: string,
  clears: boolean,
): T[] | null | undefined {
  if (raw === null) return clears ? null : undefined
  return Array.isArray(raw) ? readList(raw, read, report, what) : undefined
}

/** The schema of a diff in v1: one file, with its whole texts or a fragment. */
export const diffSchema = z.object({
  path: z.string(),
  oldText: maybeText,
  newText: z.string(),
  _meta: anything,
})
/** The schema of a diff in v2: any number of files, with or without a patch. */
export const diffChangesSchema = z.object({
  changes: z.array(z.unknown()),
  patch: maybe(z.object({ format: z.string(), text: z.string() })),
})
export const diffChangeSchema = z.object({
  operation: z.string(),
  path: maybeText,
  oldPath: maybeText,
  fileType: maybeText,
  mimeType: maybeText,
})
export const terminalSchema = z.object({ terminalId: z.string() })

/**
 * Reads a piece of a tool call's content. A malformed piece, or a piece of an unknown kind, is kept whole. If only some changes of a diff
 * are malformed, they become a second piece.
 */
export function readToolContent(raw: unknown): ToolCallContent[] | undefined {
  if (!isRecord(raw)) return undefined
  if (raw.type === 'diff') return readDiff(raw) ?? [unknownContent(raw)]
  return [readKnownContent(raw) ?? unknownContent(raw)]
}

function unknownContent(raw: Json): ToolCallContent {
  return { type: 'unknown', kind: typeof raw.type === 'string' ? raw.type : '', raw }
}

function readKnownContent(raw: Json): ToolCallContent | undefined {
  switch (raw.type) {
    case 'content': {
      const content = readBlock(raw.content)
      return content && { type: 'content', content }
    }
    case 'terminal': {
      const terminal = terminalSchema.safeParse(raw).data
      return terminal && { type: 'terminal', terminalId: terminal.terminalId }
    }
    case 'text':
    case 'image':
    case 'audio':
    case 'resource':
    case 'resource_link': {
      // Some agents send a content block without its wrapper.
      const content = readBlock(raw)
      return content && content.type !== 'unknown' ? { type: 'content', content } : undefined
    }
    default:
      return undefined
  }
}

function readDiff(raw: Json): ToolCallContent[] | undefined {
  const diff = diffSchema.safeParse(raw).data
  if (diff) return [{ type: 'diff', changes: [readTexts(diff)] }]
  const wire = diffChangesSchema.safeParse(raw).data
  if (!wire) return undefined
  const changes: FileChange[] = []
  const malformed: unknown[] = []
  for (const one of wire.changes) {
    const change = readChange(one)
    if (change) changes.push(change)
    else malformed.push(one)
  }
  const read: ToolCallContent = { type: 'diff', changes, ...given('patch', wire.patch) }
  if (malformed.length === 0) return [read]
  // Malformed changes are kept, so that the user sees them and no permission rule allows them.
  return changes.length > 0 ? [read, unknownContent({ type: 'diff', changes: malformed })] : undefined
}

function readTexts(diff: z.output<typeof diffSchema>): FileChange {
  const { path, newText } = diff
  // The old text of a new file is null, empty or absent. Some agents report the operation in `_meta`.
  const kind = isRecord(diff._meta) ? diff._meta.kind : undefined
  if (kind === 'delete') return { operation: 'delete', path, oldText: diff.oldText ?? '', newText }
  if (kind === 'add' || !diff.oldText) return { operation: 'add', path, newText }
  return { operation: 'modify', path, oldText: diff.oldText, newText }
}

function readChange(raw: unknown): FileChange | undefined {
  const change = diffChangeSchema.safeParse(raw).data
  if (!change) return undefined
  const { operation, path, oldPath, fileType, mimeType } = change
  if (path === undefined || path === null) return undefined
  return {
    operation,
    path,
    ...given('oldPath', oldPath),
    ...given('fileType', fileType),
    ...given('mimeType', mimeType),
  }
}

export const locationSchema = z.object({ path: z.string().max(MAX_PATH).min(1), line: anything })

function readLocation(raw: unknown): ToolCallLocation | undefined {
  const location = locationSchema.safeParse(raw).data
  if (!location) return undefined
  const { line } = location
  return {
    path: location.path,
    ...(typeof line === 'number' && Number.isInteger(line) && line >= 1 ? { line } : {}),
  }
}
