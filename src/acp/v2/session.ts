import { WireSession } from '../wire/session.ts'
import { TerminalText } from './terminal-text.ts'
import type { UpdateSinkV2 } from './update.ts'

export class SessionV2 extends WireSession implements UpdateSinkV2 {
  readonly terminals = new TerminalText()
}
