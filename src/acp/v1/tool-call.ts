import { z } from 'zod'
import type { FileChange, SessionUpdate, ToolCallContent, ToolCallLocation, ToolCallPatch } from '../model.ts'
import { given, readBlock } from '../wire/content.ts'
import {
  anything,
  isRecord,
  type Json,
  maybeList,
  maybeText,
  problemOf,
  type Report,
} from '../wire/lenient.ts'

export const toolCallSchema = z.object({
  toolCallId: z.string(),
  title: maybeText,
  name: maybeText,
  kind: maybeText,
  status: maybeText,
  content: anything,
  locations: anything,
  rawInput: anything,
  rawOutput: anything,
})

/** A `tool_call` or `tool_call_update`: both are upserts here. `null` and absent both leave a field as it was. */
export function readToolCall(raw: unknown, report: Report): ToolCallPatch | undefined {
  const parsed = toolCallSchema.safeParse(raw)
  if (!parsed.success) {
    report(problemOf(parsed.error))
    return undefined
  }
  const wire = parsed.data
  const patch: ToolCallPatch = { toolCallId: wire.toolCallId }
  if (typeof wire.title === 'string') patch.title = wire.title
  if (typeof wire.name === 'string') patch.name = wire.name
  if (typeof wire.kind === 'string') patch.kind = wire.kind
  if (typeof wire.status === 'string') patch.status = wire.status
  const content = maybeList(wire.content, readContent, report, 'content')
  if (content) patch.content = content
  const locations = maybeList(wire.locations, readLocation, report, 'locations')
  if (locations) patch.locations = locations
  if (wire.rawInput !== undefined && wire.rawInput !== null) patch.rawInput = wire.rawInput
  if (wire.rawOutput !== undefined && wire.rawOutput !== null) patch.rawOutput = wire.rawOutput
  return patch
}

export const diffSchema = z.object({
  path: z.string(),
  oldText: maybeText,
  newText: z.string(),
  _meta: anything,
})
export const terminalSchema = z.object({ terminalId: z.string() })

function readContent(raw: unknown): ToolCallContent | undefined {
  if (!isRecord(raw)) return undefined
  return readKnownContent(raw) ?? { type: 'unknown', kind: typeof raw.type === 'string' ? raw.type : '', raw }
}

function readKnownContent(raw: Json): ToolCallContent | undefined {
  switch (raw.type) {
    case 'content': {
      const content = readBlock(raw.content)
      return content && { type: 'content', content }
    }
    case 'diff': {
      const diff = diffSchema.safeParse(raw).data
      return diff && { type: 'diff', changes: [readChange(diff)] }
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
      // A content block without its wrapper.
      const content = readBlock(raw)
      return content && content.type !== 'unknown' ? { type: 'content', content } : undefined
    }
    default:
      return undefined
  }
}

function readChange(diff: z.output<typeof diffSchema>): FileChange {
  const { path, newText } = diff
  // A new file's old text is null, empty or absent; some agents say what they do beside it.
  const kind = isRecord(diff._meta) ? diff._meta.kind : undefined
  if (kind === 'delete') return { operation: 'delete', path, oldText: diff.oldText ?? '', newText }
  if (kind === 'add' || !diff.oldText) return { operation: 'add', path, newText }
  return { operation: 'modify', path, oldText: diff.oldText, newText }
}

export const locationSchema = z.object({ path: z.string().min(1), line: anything })

function readLocation(raw: unknown): ToolCallLocation | undefined {
  const location = locationSchema.safeParse(raw).data
  if (!location) return undefined
  const { line } = location
  return {
    path: location.path,
    ...(typeof line === 'number' && Number.isInteger(line) && line >= 1 ? { line } : {}),
  }
}

const terminalInfo = z.object({ terminal_id: z.string(), cwd: maybeText, command: maybeText })
const terminalData = z.object({ terminal_id: z.string(), data: z.string() })
const terminalExit = z.object({ terminal_id: z.string(), exit_code: anything, signal: maybeText })

type TerminalUpdate = Extract<SessionUpdate, { type: 'terminal' | 'terminal_output' }>

/**
 * Terminals of the agent's own, which it tells of in a tool call's `_meta`: `terminal_info`, `terminal_output` or
 * `terminal_output_delta` (both add to the output), `terminal_exit`. A convention, in no specification.
 */
export function readTerminalMeta(meta: unknown): TerminalUpdate[] {
  if (!isRecord(meta)) return []
  const updates: TerminalUpdate[] = []
  const info = terminalInfo.safeParse(meta.terminal_info).data
  if (info) {
    updates.push({
      type: 'terminal',
      terminal: {
        terminalId: info.terminal_id,
        ...given('cwd', info.cwd),
        ...given('command', info.command),
      },
    })
  }
  for (const raw of [meta.terminal_output, meta.terminal_output_delta]) {
    const output = terminalData.safeParse(raw).data
    if (output) updates.push({ type: 'terminal_output', terminalId: output.terminal_id, text: output.data })
  }
  const exit = terminalExit.safeParse(meta.terminal_exit).data
  if (exit) {
    const exitCode = typeof exit.exit_code === 'number' ? exit.exit_code : null
    updates.push({
      type: 'terminal',
      terminal: { terminalId: exit.terminal_id, exit: { exitCode, signal: exit.signal ?? null } },
    })
  }
  return updates
}
