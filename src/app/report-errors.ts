import { isCancelled, isUnavailable, messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import { plainMessage } from '../common/plain-message.ts'
import type { Dialogs } from './workbench.ts'

/**
 * Runs a command, or loads the code that runs it. Errors are logged and shown to the user, but not a cancellation, after which this
 * resolves to `undefined`. An {@link UnavailableError} is shown as information.
 */
export async function reportErrors(
  dialogs: Pick<Dialogs, 'info' | 'error'>,
  command: string,
  log: Logger,
  run: () => unknown,
): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    if (isCancelled(error)) return undefined
    const why = messageOf(error)
    const kind = isUnavailable(error) ? 'info' : 'error'
    if (kind === 'error') log.error(`${command}: ${why}`)
    void dialogs[kind](plainMessage(why))
  }
}
