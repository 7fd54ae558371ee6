import { WireSession } from '../wire/session.ts'
import type { UpdateSinkV1 } from './update.ts'

export class SessionV1 extends WireSession implements UpdateSinkV1 {
  readonly shownTerminals = new Set<string>()
  /** The person stopped the running turn. */
  cancelled = false

  override resetTerminals(): void {
    this.shownTerminals.clear()
  }

  offersMode(modeId: string): boolean {
    return this.options.offersMode(modeId)
  }

  mode(modeId: string): void {
    this.emit(this.options.modeChanged(modeId))
  }
}
