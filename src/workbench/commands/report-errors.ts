import * as vscode from 'vscode'
import { CancelledError, messageOf, UnavailableError } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'

/**
 * Runs a command, or loads what runs it. Errors are logged and shown to the user, unless the user canceled; then this
 * resolves to `undefined`. An {@link UnavailableError} is shown as information.
 */
export async function reportErrors(command: string, log: Logger, run: () => unknown): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof CancelledError) return undefined
    const text = plainMessage(messageOf(error))
    if (error instanceof UnavailableError) void vscode.window.showInformationMessage(text)
    else {
      log.error(`${command}: ${messageOf(error)}`)
      void vscode.window.showErrorMessage(text)
    }
    return undefined
  }
}
