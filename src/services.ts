import * as l10n from '@vscode/l10n'
import { createAppServices } from './app/app-services.ts'
import { createEditorServices } from './app/editor-services.ts'
import type { CommandHandlers } from './app/ids.ts'
import { reportErrors } from './app/report-errors.ts'
import { loadOnce } from './common/async.ts'
import { type Disposable, DisposableStore } from './common/disposable.ts'
import { messageOf } from './common/errors.ts'
import { PathRules } from './editor/path-rules.ts'
import { configureTexts, createPlatform, type PlatformOptions } from './workbench/platform.ts'
import { createViewEntries } from './workbench/webviews/panels.ts'
import { createWorkbenchServices } from './workbench/workbench-services.ts'

const rules = new PathRules()

export type Services = ReturnType<typeof createServices>

/**
 * Creates and connects the services: those that VS Code provides, those that run without VS Code, and those that only VS Code shows. Loaded
 * and called once, when the first view is shown or the first command runs.
 */
export function createServices(options: PlatformOptions) {
  const { own, carry = given => given, carryBack = given => given } = options
  configureTexts()
  const platform = createPlatform(options, () => shown.changeEditors)
  const { workbench, log } = platform
  const carried = carry(platform)
  const app = createAppServices(carried, own)
  const editor = carryBack(createEditorServices(carried, app, own))
  const shown = createWorkbenchServices(platform, editor, own)

  const terminalAgents = loadOnce(async () => {
    const created = own.add(new DisposableStore())
    try {
      const { createTerminalAgents } = await import('./workbench/tools/terminal-agents.ts')
      await createTerminalAgents(options.context, platform, created)
    } catch (error) {
      own.release(created)
      const names = 'Claude Code, Gemini CLI'
      throw new Error(l10n.t("{0} in terminals can't use the editor: {1}", names, messageOf(error)))
    }
  })
  const all: CommandHandlers = { ...editor.commands, ...shown.commands }
  /** Whether VS Code's own objects may be among its arguments. */
  const isOfWorkbench = (id: string) => Object.hasOwn(shown.commands, id)
  const commands = Object.fromEntries(
    Object.entries(all).map(([id, run]) => [
      id,
      (...args: unknown[]) =>
        reportErrors(workbench.dialogs, id, log, () =>
          isOfWorkbench(id) ? during(editor.beginCommand(), () => run(...args)) : run(...args.map(plainData)),
        ),
    ]),
  ) as CommandHandlers
  return {
    ...createViewEntries(editor.pages, options.context.extensionUri),
    commands,
    chatTools: editor.chatTools,
    /** Starts the servers for agents in terminals, which then follow the settings by themselves. */
    terminalAgents,
    /** Agents' changes of this window's files. */
    changes: editor.changes,
    /** Equal for different spellings of a path. */
    keyOf: (path: string) => rules.key(path),
    /** Resolves after disposal, once all processes have exited or the process guard is about to end the rest. */
    processesEnded: editor.processesEnded,
  }
}

async function during(begun: Disposable, run: () => unknown): Promise<unknown> {
  try {
    return await run()
  } finally {
    begun.dispose()
  }
}

/** What is plain data in an argument of a command: VS Code also passes objects of its own, such as the URI of an editor. */
function plainData(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? undefined : value
  if (Array.isArray(value)) return value.map(plainData)
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainData(one)]))
}
