import { deferred } from '../common/async.ts'
import { type Disposable, type DisposableStore, toDisposable } from '../common/disposable.ts'
import { sessionOfKey } from '../common/session-key.ts'
import { recordedTitle, titleOf } from '../sessions/session-title.ts'
import { appCommands } from './app-commands.ts'
import type { AppServices } from './app-services.ts'
import { EditorChanges } from './changes/editor-changes.ts'
import { EditorDecisions } from './changes/editor-decisions.ts'
import { CommitMessages } from './commands/commit-message.ts'
import { titleBarCommands } from './commands/session-commands.ts'
import { type ActivePrompt, activePrompt } from './conversation/active-prompt.ts'
import { type AgentLines, followAgentLines } from './conversation/agent-lines.ts'
import type { PlanSource } from './conversation/plan-documents.ts'
import type { ChatTools } from './mcp/chat-tools.ts'
import { createPages, type Pages } from './pages.ts'
import type { Platform } from './platform.ts'

type AppCommand = keyof ReturnType<typeof appCommands> | keyof ReturnType<typeof titleBarCommands>

/**
 * The models and commands behind the editor's own views of Parley: the counterpart of {@link Workbench}. Arguments and results are plain
 * data, which the other side may receive later as a copy. The exceptions are event listeners, disposables, `AbortSignal`s, and views with
 * the messages of their pages.
 */
export interface EditorServices {
  readonly changes: Omit<EditorChanges, 'scope' | 'positions' | 'dispose'>
  readonly decisions: Omit<EditorDecisions, 'dispose'>
  /** The commands that don't need VS Code's API, for the conversation in which the user invoked them. They check their arguments. */
  readonly commands: Readonly<Record<AppCommand, (...args: unknown[]) => Promise<unknown>>>
  /**
   * Must be called when a command of the editor begins, for the conversation in which the user invoked it. Disposing the result ends the
   * command.
   */
  beginCommand(): Disposable
  readonly plans: PlanSource
  readonly pages: Pages
  readonly chatTools: Pick<ChatTools, 'open'>
  readonly prompt: ActivePrompt
  readonly commitMessages: Pick<CommitMessages, 'generate'>
  /** Reports which lines agents read and edit from now on. */
  followAgentLines(listener: (lines: AgentLines) => void): Disposable
  /** Resolves after disposal, when all processes have exited or when the process guard is about to end the remaining ones. */
  processesEnded(): Promise<void>
}

export function createEditorServices(
  platform: Platform,
  app: AppServices,
  own: DisposableStore,
): EditorServices {
  const { workbench, storage, log } = platform
  const { agents, chatTools, decisions, manager, nameOf, plans, records, runners, surfaces, tracker } = app
  const changes = own.add(
    new EditorChanges({
      tracker,
      changesOf: key => manager.changesOf(key),
      titleOf(key) {
        const { agentId, sessionId } = sessionOfKey(key)
        const open = manager.find(agentId, sessionId)
        return (
          (open ? titleOf(open.session) : recordedTitle(records.get(agentId, sessionId))) || nameOf(agentId)
        )
      },
      onDidChangeTitles: manager.onDidChange,
    }),
  )
  const handlers = appCommands(platform, app)
  const all = { ...handlers, ...titleBarCommands(surfaces, app.sideBar, app.tabs, handlers) }
  const undo = { workbench, tracker, decisions, sessions: manager }
  return {
    changes,
    decisions: own.add(new EditorDecisions({ ...undo, changes })),
    ...{ chatTools, plans },
    commands: Object.fromEntries(
      Object.entries<(...args: unknown[]) => unknown>(all).map(([id, run]) => [
        id,
        (...args: unknown[]) => surfaces.run(() => run(...args)),
      ]),
    ) as EditorServices['commands'],
    beginCommand() {
      const { promise, resolve } = deferred()
      void surfaces.run(() => promise)
      return toDisposable(resolve)
    },
    pages: createPages(app),
    prompt: activePrompt(surfaces),
    commitMessages: new CommitMessages({
      ...{ workbench, surfaces, agents, records, log },
      runner: runners.get,
      globalStorage: storage.globalFolder,
    }),
    followAgentLines: listener => followAgentLines(manager, listener),
    processesEnded: () => app.guard.closed,
  }
}
