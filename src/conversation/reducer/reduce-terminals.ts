import type { TerminalPatch } from '../../acp/model.ts'
import { appendBounded, TERMINAL_KEEP, tail } from '../bounded-text.ts'
import type { TerminalState } from '../state.ts'
import { patchField, type Step } from './reducing-state.ts'

/** `truncated`: output before what is given was lost already. */
export function terminalUpsert(step: Step, patch: TerminalPatch & { truncated?: boolean }): void {
  const terminal = terminalOf(step, patch.terminalId)
  patchField(terminal, 'command', patch.command)
  patchField(terminal, 'cwd', patch.cwd)
  patchField(terminal, 'exit', patch.exit)
  patchField(terminal, 'size', patch.size)
  patchField(terminal, 'canCancel', patch.canCancel)
  // who says that it can be stopped is asked to stop it
  if (patch.canCancel) patchField(terminal, 'within', step.state.within ?? null)
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
    const { within } = step.state
    terminal = { terminalId, output: '', truncated: false, ...(within !== undefined && { within }) }
    terminals.set(terminalId, terminal)
  }
  return terminal
}
