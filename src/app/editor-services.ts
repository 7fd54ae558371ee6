import type { Disposable } from '../common/disposable.ts'
import type { AppServices } from './app-services.ts'
import { CommitMessages } from './commands/commit-message.ts'
import { type ActivePrompt, activePrompt } from './conversation/active-prompt.ts'
import { type AgentLines, followAgentLines } from './conversation/agent-lines.ts'
import type { PlanSource } from './conversation/plan-documents.ts'
import type { Platform } from './platform.ts'

/**
 * What the editor's own views of Parley show, and what their commands do: the other direction of `Workbench`. Arguments and results are
 * plain data, of which the other side may get a copy, later, besides event listeners, disposables and `AbortSignal`s.
 */
export interface EditorServices {
  readonly plans: PlanSource
  readonly prompt: ActivePrompt
  readonly commitMessages: Pick<CommitMessages, 'generate'>
  /** Tells which lines agents read and edit from now on. */
  followAgentLines(listener: (lines: AgentLines) => void): Disposable
}

export function createEditorServices(
  { workbench, storage, log }: Platform,
  { agents, manager, plans, records, runners, surfaces }: AppServices,
): EditorServices {
  return {
    plans,
    prompt: activePrompt(surfaces),
    commitMessages: new CommitMessages({
      ...{ workbench, surfaces, agents, records, log },
      runner: runners.get,
      globalStorage: storage.globalFolder,
    }),
    followAgentLines: listener => followAgentLines(manager, listener),
  }
}
