import * as vscode from 'vscode'
import { CancelledError, messageOf, UnavailableError } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { ALL_COMMANDS, type CommandHandlers } from '../ids.ts'

/**
 * Registers every command. The handlers are loaded by the first command that runs. A handler that
 * throws is reported to the user and in the log, unless the user canceled; its command then returns `undefined`. An
 * {@link UnavailableError} is shown as information.
 */
export function registerCommands(log: Logger, handlers: () => Promise<CommandHandlers>): vscode.Disposable {
  const registered = ALL_COMMANDS.map(command =>
    vscode.commands.registerCommand(command, async (...args: unknown[]) => {
      try {
        return await (await handlers())[command](...args)
      } catch (error) {
        if (error instanceof CancelledError) return undefined
        if (error instanceof UnavailableError) {
          void vscode.window.showInformationMessage(plainMessage(error.message))
          return undefined
        }
        log.error(`${command}: ${messageOf(error)}`)
        void vscode.window.showErrorMessage(plainMessage(messageOf(error)))
        return undefined
      }
    }),
  )
  return vscode.Disposable.from(...registered)
}
