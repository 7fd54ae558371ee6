import * as vscode from 'vscode'
import { CancelledError, messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'

/** Registers a command. One that fails says so to the person and in the log, unless they gave it up, and answers nothing. */
export function registerCommand<Args extends unknown[]>(
  log: Logger,
  id: string,
  run: (...args: Args) => unknown,
): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (...args: Args) => {
    try {
      return await run(...args)
    } catch (error) {
      if (error instanceof CancelledError) return undefined
      log.error(`${id}: ${messageOf(error)}`)
      void vscode.window.showErrorMessage(plainMessage(messageOf(error)))
      return undefined
    }
  })
}
