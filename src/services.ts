import { createAppServices } from './app/app-services.ts'
import { appCommands } from './app/commands/app-commands.ts'
import { reportErrors } from './app/commands/report-errors.ts'
import { titleBarCommands } from './app/commands/session-commands.ts'
import type { CommandHandlers } from './app/ids.ts'
import { configureTexts, createPlatform, type PlatformOptions } from './workbench/platform.ts'
import { createViewEntries } from './workbench/webviews/view-entries.ts'
import { createWorkbenchServices } from './workbench/workbench-services.ts'

export type Services = ReturnType<typeof createServices>

/**
 * Creates the services and connects them: what VS Code provides, what runs without VS Code, and what only VS Code shows.
 * Loaded and called once, when the first view is shown or the first command runs.
 */
export function createServices(options: PlatformOptions) {
  const { own } = options
  configureTexts()
  const platform = createPlatform(options, () => shown.changeEditors)
  const { workbench, log } = platform
  const app = createAppServices(platform, own)
  const shown = createWorkbenchServices(platform, app, own)

  const handlers = { ...appCommands(platform, app), ...shown.commands }
  const { sideBar, surfaces, tabs, tracker } = app
  const all: CommandHandlers = { ...handlers, ...titleBarCommands(surfaces, sideBar, tabs, handlers) }
  const commands = Object.fromEntries(
    Object.entries(all).map(([id, run]) => [
      id,
      (...args: unknown[]) =>
        reportErrors(workbench.dialogs, id, log, () => surfaces.run(() => run(...args))),
    ]),
  ) as CommandHandlers
  return {
    ...createViewEntries(app, options.context.extensionUri),
    commands,
    chatTools: app.chatTools,
    /** Tracks agents' changes of this window's files. */
    tracker,
    /** Resolves after disposal, once all processes have exited or the process guard is about to end the rest. */
    processesEnded: app.guard.closed,
  }
}
