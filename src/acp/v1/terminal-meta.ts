import * as z from 'zod'
import type { SessionUpdate } from '../model.ts'
import { given } from '../wire/content.ts'
import { anything, isRecord, maybeText } from '../wire/lenient.ts'

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
