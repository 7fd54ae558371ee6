import { WireSession } from '../wire/session.ts'
import type { UpdateSinkV2 } from './terminal.ts'
import { TerminalText } from './terminal-text.ts'

export class SessionV2 extends WireSession implements UpdateSinkV2 {
  readonly terminals = new TerminalText()

  override resetTerminals(): void {
    this.terminals.clearAll()
  }
}
