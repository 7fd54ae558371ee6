import * as l10n from '@vscode/l10n'
import { CancelledError, UnavailableError } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { commitChanges, commitMessageIn, commitMessagePrompt } from '../../editor/commit-changes.ts'
import { ensureScratchFolder } from '../../editor/roots.ts'
import { askInHiddenSession, type HiddenSessionOptions } from '../../sessions/hidden-session.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { AgentRunner } from '../../sessions/runners/agent-runner.ts'
import { showFailureOrSignIn } from '../ask-agent.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import type { Workbench } from '../workbench.ts'

export interface CommitMessageOptions {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  runner: (agentId: string) => AgentRunner
  records: HiddenSessionOptions['records']
  /** The directory of Parley's own files. */
  globalStorage: string
  log: Logger
  workbench: Pick<Workbench, 'dialogs' | 'editors' | 'isTrusted'>
}

/**
 * *Generate Commit Message*: the agent of the conversation, or else the default agent, describes the staged changes, or all changes if
 * nothing is staged. The message goes to the input of Source Control. The agent works in a folder that belongs to Parley, so that nothing
 * that the repository configures for agents runs.
 */
export class CommitMessages {
  readonly #options: CommitMessageOptions
  /** the roots of repositories with a message in progress */
  readonly #busy = new Set<string>()

  constructor(options: CommitMessageOptions) {
    this.#options = options
  }

  /** Generates a message. `begun` is the text that the user has already written in the input of the repository. */
  async generate(root: string, begun: string): Promise<void> {
    const { surfaces, agents, runner, workbench } = this.#options
    if (!workbench.isTrusted)
      throw new UnavailableError(l10n.t("Agents don't start until you trust this workspace."))
    if (this.#busy.has(root))
      throw new UnavailableError(l10n.t('A commit message is already being generated.'))
    this.#busy.add(root)
    try {
      const agentId = await agentFor(surfaces, agents)
      const changes = await commitChanges(root)
      if (!changes) throw new UnavailableError(l10n.t('There are no changes to commit.'))
      const text = commitMessagePrompt(changes, begun.trim())
      const { controller } = surfaces.active
      await showFailureOrSignIn(
        workbench.dialogs,
        agentId,
        (id, then) => controller.signIn.offer(id, then),
        async () => {
          const { name } = runner(agentId)
          const message = commitMessageIn(await this.#ask(agentId, name, text))
          if (message === '') throw new Error(l10n.t("{0} didn't write a commit message.", name))
          await workbench.editors.writeCommitMessage(root, begun, message)
        },
      )
    } finally {
      this.#busy.delete(root)
    }
  }

  /** Resolves to the agent's answer. Rejects with `CancelledError` if the user cancels. */
  #ask(agentId: string, agentName: string, text: string): Promise<string> {
    const title = plainMessage(l10n.t('{0} is writing a commit message…', agentName))
    const { workbench, runner, globalStorage } = this.#options
    return new Promise((resolve, reject) => {
      const asked = workbench.dialogs.progress(
        { title, where: 'notification', cancellable: true },
        async (_, signal) => {
          try {
            const cwd = await ensureScratchFolder(globalStorage)
            resolve(
              await askInHiddenSession(text, { ...this.#options, runner: runner(agentId), cwd }, signal),
            )
          } catch (error) {
            reject(signal.aborted ? new CancelledError() : error)
          }
        },
      )
      asked.catch(reject)
    })
  }
}

async function agentFor(surfaces: ConversationSurfaces, agents: AgentDirectory): Promise<string> {
  const current = surfaces.active.controller.agentId
  if (current !== undefined) return current
  await agents.ready()
  const agentId = agents.defaultAgentId()
  if (agentId !== undefined) return agentId
  // the conversation shows the available agents, or the problem with the default agent
  await surfaces.active.reveal()
  throw new UnavailableError(agents.defaultProblem()?.message ?? l10n.t('Choose an agent first.'))
}
