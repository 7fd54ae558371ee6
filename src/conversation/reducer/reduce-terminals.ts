import type { TerminalPatch } from '../../acp/model.ts'
import type { TerminalState } from '../state-base.ts'
import { patchField, type Step } from '../step.ts'

/** Creates or updates a terminal. `truncated`: earlier output is already lost. */
export function terminalUpsert(step: Step, patch: TerminalPatch & { truncated?: boolean }): void {
  const terminal = terminalOf(step, patch.terminalId)
  patchField(terminal, 'command', patch.command)
  patchField(terminal, 'cwd', patch.cwd)
  patchField(terminal, 'exit', patch.exit)
  patchField(terminal, 'size', patch.size)
  patchField(terminal, 'canCancel', patch.canCancel)
  // only the session that reported the terminal as cancelable can be asked to stop it
  if (patch.canCancel) patchField(terminal, 'within', step.state.within ?? null)
  if (patch.output !== undefined) {
    const output = patch.output ?? ''
    terminal.output = tail(output, TERMINAL_KEEP)
    terminal.truncated = terminal.output.length < output.length
  }
  if (patch.truncated !== undefined) terminal.truncated ||= patch.truncated
  step.changes.push({ type: 'terminal', terminalId: patch.terminalId })
}

/** Appends output to a terminal, of which only the last part is stored. */
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

/** Maximum length of the stored output of a terminal, in UTF-16 units (about 1 MiB of plain text). */
export const TERMINAL_KEEP = 1024 * 1024

/** How far a cut searches for the start of a line before it cuts within a line, in UTF-16 units. */
const LINE_SEARCH = 64 * 1024

/**
 * Returns the end of `text`, at most `length` UTF-16 units: from the start of a line if one is near, and never from the middle of a
 * surrogate pair.
 */
export function tail(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.length - length
  if (text.charCodeAt(start - 1) === NEWLINE) return text.slice(start)
  const newline = text.indexOf('\n', start)
  // At a line break at the end of the text, a cut would leave nothing.
  if (newline !== -1 && newline - start < LINE_SEARCH && newline + 1 < text.length)
    return text.slice(newline + 1)
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start)
}

/**
 * Appends `more` to `text`, up to `keep` UTF-16 units. A longer text is cut to half of `keep`, so that cuts are rare and the cost of
 * appending doesn't depend on the length of the earlier text.
 */
export function appendBounded(
  text: string,
  more: string,
  keep = TERMINAL_KEEP,
): { text: string; cut: boolean } {
  if (text.length + more.length <= keep) return { text: text + more, cut: false }
  const half = Math.floor(keep / 2)
  const end = more.length >= half ? tail(more, half) : tail(text + more, half)
  return { text: end, cut: true }
}

const NEWLINE = 10

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
