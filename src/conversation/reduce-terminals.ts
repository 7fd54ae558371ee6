import type { TerminalPatch } from '../acp/model.ts'
import type { Step } from './books.ts'
import { appendBounded, TERMINAL_KEEP, tail } from './bounded-text.ts'
import type { TerminalState } from './state.ts'

/** `truncated`: output before what is given was lost already. */
export function terminalUpsert(step: Step, patch: TerminalPatch & { truncated?: boolean }): void {
  const terminal = terminalOf(step, patch.terminalId)
  put(terminal, 'command', patch.command)
  put(terminal, 'cwd', patch.cwd)
  put(terminal, 'exit', patch.exit)
  put(terminal, 'size', patch.size)
  put(terminal, 'canCancel', patch.canCancel)
  if (patch.output !== undefined) {
    const output = patch.output ?? ''
    terminal.output = tail(output, TERMINAL_KEEP)
    terminal.truncated = terminal.output.length < output.length
  }
  if (patch.truncated !== undefined) terminal.truncated ||= patch.truncated
  step.changes.push({ type: 'terminal', terminalId: patch.terminalId })
}

/** Appends output; only its last part is kept. */
export function terminalOutput(step: Step, terminalId: string, text: string): void {
  const known = step.state.terminals.has(terminalId)
  if (known && text === '') return
  const terminal = terminalOf(step, terminalId)
  const { text: output, cut } = appendBounded(terminal.output, text)
  terminal.output = output
  terminal.truncated ||= cut
  step.changes.push(
    known && !cut ? { type: 'terminal_output', terminalId, text } : { type: 'terminal', terminalId },
  )
}

function terminalOf(step: Step, terminalId: string): TerminalState {
  const { terminals } = step.state
  let terminal = terminals.get(terminalId)
  if (!terminal) {
    terminal = { terminalId, output: '', truncated: false }
    terminals.set(terminalId, terminal)
  }
  return terminal
}

function put<K extends keyof TerminalState>(
  terminal: TerminalState,
  key: K,
  value: TerminalState[K] | null | undefined,
): void {
  if (value === null) delete terminal[key]
  else if (value !== undefined) terminal[key] = value
}
