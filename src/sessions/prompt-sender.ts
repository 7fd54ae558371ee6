import * as l10n from '@vscode/l10n'
import type { ContentBlock } from '../acp/model.ts'
import { deferred } from '../common/async.ts'
import type { Draft } from '../common/draft.ts'
import type { Attachment, StoredPrompt } from '../conversation/attachment.ts'
import type { Prompt } from '../conversation/prompts/prompt.ts'
import type { EnqueueOptions, PromptQueue } from '../conversation/prompts/prompt-queue.ts'
import type { DisplayedSession } from './displayed-session.ts'
import type { Failures } from './failures.ts'
import type { OpenSession } from './open-session.ts'
import { attemptOf } from './opening-states.ts'
import { notOpened, type PromptQueues } from './prompt-queues.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import type { SessionManager } from './session-manager.ts'
import type { SessionOpener } from './session-opener.ts'
import type { SignInFlow } from './sign-in/sign-in-flow.ts'

interface PromptSenderOptions {
  queues: PromptQueues
  displayed: DisplayedSession
  opener: SessionOpener
  signIn: SignInFlow
  failures: Failures
  manager: Pick<SessionManager, 'openSessions'>
  runner: (agentId: string) => AgentRunner
  trusted: () => boolean
}

/**
 * Sends the prompts of a conversation view. A prompt waits for a session that is being opened. If there is no session,
 * one is started with the default agent; if the agent ended, it is restarted. A prompt that can't be sent goes back to
 * the composer.
 */
export class PromptSender {
  readonly #options: PromptSenderOptions
  #nextChange = deferred()

  constructor(options: PromptSenderOptions) {
    this.#options = options
  }

  /** The queue of the displayed conversation. */
  get queue(): PromptQueue {
    return this.#options.queues.of(this.#options.displayed.key)
  }

  /** Queues a prompt for the conversation with this key. */
  enqueue(key: string, prompt: StoredPrompt, options?: Pick<EnqueueOptions, 'composer' | 'joins'>): void {
    const { opener } = this.#options
    const queue = this.#findQueue(key)
    const { agentId } = opener
    queue.enqueue(prompt, queued => this.#prepareContent(queue, queued), {
      ...(queue === this.queue && agentId !== undefined && { agentId }),
      ...options,
    })
  }

  /** Notes that the composer with this key has put returned prompts into its draft. */
  movedToComposer(key: string, ids: readonly string[], draft: Draft<Attachment>): void {
    this.#findQueue(key).movedToComposer(ids, draft)
  }

  /** Returns a prompt that isn't sent, or was removed from the queue, to the composer with this key. */
  giveBack(key: string, prompt: StoredPrompt, reason?: string): void {
    this.#findQueue(key).addReturned([prompt], reason)
  }

  /** Whether prompts wait for the session that is being opened. */
  get isSending(): boolean {
    return this.queue.prompts.some(({ state }) => state === 'sending')
  }

  /** Called when the view starts a session with this agent. Prompts that wait for another agent return to the composer. */
  agentChosen(agentId: string): void {
    const { queues, displayed, runner } = this.#options
    queues.of(displayed.newKey).agentChosen(agentId, other => notFor(runner(other).name))
  }

  /** Called when the view starts a session while prompts wait for another agent, which has this name. */
  agentReplaced(agentName: string): void {
    this.queue.agentReplaced(notFor(agentName))
  }

  /** Called when the view changed: waiting prompts check again whether they can be sent. */
  viewChanged(): void {
    const change = this.#nextChange
    this.#nextChange = deferred()
    change.resolve()
  }

  /** Returns the queue for a key. A page may still use the key from before its session was started. */
  #findQueue(key: string): PromptQueue {
    const { queues, displayed } = this.#options
    return queues.of(key === displayed.keyBefore ? displayed.key : key)
  }

  async #prepareContent(queue: PromptQueue, prompt: Prompt): Promise<ContentBlock[]> {
    const { queues, runner, signIn, failures } = this.#options
    const open = await this.#waitForSession(queue, prompt)
    const { agentId, session } = open
    if (prompt.agentId !== undefined && prompt.agentId !== agentId)
      throw new Error(notFor(runner(prompt.agentId).name))
    const content = await queues.contentOf(prompt.draft, open)
    if (session.turns.queue !== queue || session.phase !== 'ready')
      throw new Error(l10n.t('The conversation has changed. Try again.'))
    if (this.queue === queue && signIn.isAskedForPrompts) queue.giveUpSignIn()
    failures.drop('sign-in')
    failures.drop('option')
    return content
  }

  /** Resolves to the session of a queue once the session is ready. Another session may be displayed by then. */
  async #waitForSession(queue: PromptQueue, prompt: Prompt): Promise<OpenSession> {
    const { opener, displayed, manager, trusted } = this.#options
    if (this.queue === queue) {
      if (!this.#opensSession) await this.#ensureSession()
      // another attempt may have started meanwhile
      while (prompt.state === 'sending' && this.queue === queue && this.#opensSession)
        await (opener.pending ?? this.#nextChange.promise)
    }
    if (this.queue !== queue) {
      const open = manager.openSessions.sessionOf(queue)
      if (open?.session.phase === 'ready') return open
      throw notOpened()
    }
    const open = displayed.current
    if (!open && !trusted())
      throw new Error(l10n.t("Agents don't start in Restricted Mode. Trust this workspace first."))
    if (!open || opener.phase !== 'ready') throw notOpened()
    return open
  }

  /** Whether a session is being opened, or will be opened once the user has signed in. */
  get #opensSession(): boolean {
    const { opener, signIn } = this.#options
    return opener.pending !== undefined || signIn.isAskedForSession
  }

  /** Starts a session if there is none; reopens a session whose agent ended, if the agent supports that. */
  async #ensureSession(): Promise<void> {
    const { opener, displayed } = this.#options
    const failed = attemptOf(opener.state)
    if (!displayed.current) return failed ? opener.retry(failed) : opener.start()
    const again = opener.phase === 'ended' ? displayed.continuation() : undefined
    if (again) await opener.retry(again)
  }
}

/** Returns why a prompt returns to the composer when another agent is chosen. */
function notFor(agentName: string): string {
  return l10n.t("The prompt was written for {0}, so it wasn't sent.", agentName)
}
