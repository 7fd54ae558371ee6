import * as z from 'zod'
import type { SessionUpdate, TerminalPatch } from '../model.ts'
import { anything, isRecord, type Json, maybeText } from '../wire/lenient.ts'
import { readCanCancel } from '../wire/tool-call.ts'
import { dropped, parse, type UpdateSink } from '../wire/update.ts'
import type { TerminalText } from './terminal-text.ts'

export interface UpdateSinkV2 extends UpdateSink {
  readonly terminals: TerminalText
}

export const terminalSchema = z.object({
  terminalId: z.string(),
  command: maybeText,
  cwd: maybeText,
  output: anything,
  exitStatus: anything,
  size: anything,
  capabilities: anything,
})
export const outputSchema = z.object({ data: z.string() })
export const exitSchema = z.object({ exitCode: anything, signal: maybeText })
export const sizeSchema = z.object({ cols: z.number().int().positive(), rows: z.number().int().positive() })
export const outputChunkSchema = z.object({ terminalId: z.string(), data: z.string() })

/** `terminal_update`: absent keeps, `null` clears, a value replaces. */
export function readTerminal(raw: Json, sink: UpdateSinkV2): SessionUpdate | undefined {
  const wire = parse(terminalSchema, raw, sink)
  if (!wire) return undefined
  const { terminalId, output, exitStatus, size } = wire
  const terminal: TerminalPatch = { terminalId }
  for (const key of ['command', 'cwd'] as const) {
    if (wire[key] !== undefined) terminal[key] = wire[key]
  }
  if (output === null) {
    sink.terminals.clear(terminalId)
    terminal.output = null
  } else if (output !== undefined) {
    const data = outputSchema.safeParse(output).data?.data
    const text = data === undefined ? undefined : sink.terminals.replace(terminalId, data)
    if (text === undefined) sink.report('output is malformed')
    else terminal.output = text
  }
  if (exitStatus === null) terminal.exit = null
  else if (isRecord(exitStatus)) {
    // The object alone says that the command ended.
    const { exitCode, signal } = exitSchema.parse(exitStatus)
    terminal.exit = { exitCode: typeof exitCode === 'number' ? exitCode : null, signal: signal ?? null }
  }
  if (size === null) terminal.size = null
  else {
    const known = sizeSchema.safeParse(size).data
    if (known) terminal.size = known
  }
  const canCancel = readCanCancel(wire.capabilities)
  if (canCancel !== undefined) terminal.canCancel = canCancel
  return { type: 'terminal', terminal }
}

/** `terminal_output_chunk` */
export function readTerminalOutput(raw: Json, sink: UpdateSinkV2): SessionUpdate | undefined {
  const chunk = parse(outputChunkSchema, raw, sink)
  if (!chunk) return undefined
  const { terminalId } = chunk
  const text = sink.terminals.append(terminalId, chunk.data)
  return text === undefined
    ? dropped(sink, 'data is not base64')
    : { type: 'terminal_output', terminalId, text }
}
