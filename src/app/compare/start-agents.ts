import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import { deferred, KeyedQueue } from '../../common/async.ts'
import { type Draft, EMPTY_DRAFT, isEmptyDraft, joinDrafts } from '../../common/draft.ts'
import { CancelledError, isCancelled, messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { Attachment } from '../../conversation/attachment.ts'
import { createWorktree, freeName, nameFrom } from '../../editor/worktrees/create-worktree.ts'
import { findWorktree, openRepository } from '../../editor/worktrees/repository.ts'
import { isSignInAsked } from '../../sessions/failures.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { settingOf } from '../workbench.ts'
import { directoryIn, runSetup, setupCommand } from '../worktrees/new-session-in-worktree.ts'
import type { CompareOptions } from './compare-options.ts'
import { draftKeyOf, type ParticipantId } from './comparisons.ts'

/** Creates worktrees one after the other, because Git locks a repository meanwhile. */
const making = new KeyedQueue()

/**
 * Creates and prepares a worktree for an agent of a comparison, starts a session there and sends the prompt through the session's queue.
 * Resolves when the session has the prompt. Rejects if the agent can't be started; the prompt then stays queued, so that the user can
 * retry. `setup` is the command that prepares worktrees, if there is one and it may run.
 */
export async function startAgent(
  options: CompareOptions,
  participantId: ParticipantId,
  draft: Draft<Attachment>,
  setup: string | undefined,
): Promise<void> {
  const { comparisons, queues } = options
  const begun = comparisons.begin(participantId)
  if (!begun) return
  const { agentId } = comparisons.at(participantId)!
  const opened = openSession(options, participantId, draft, setup, begun.signal)
  const taken = deferred()
  const queue = queues.of(draftKeyOf(participantId))
  const prepare = async () => {
    try {
      const content = await queues.contentOf(draft, await opened)
      if (begun.signal.aborted) throw new CancelledError(l10n.t('The agent was stopped.'))
      taken.resolve()
      return content
    } catch (error) {
      taken.reject(error)
      throw error
    }
  }
  queue.enqueue({ id: randomUUID(), draft }, prepare, { agentId, composer: EMPTY_DRAFT })
  try {
    await taken.promise
  } catch (error) {
    const at = Date.now()
    if (isCancelled(error) || begun.signal.aborted) comparisons.apply(participantId, { type: 'stop' })
    else {
      const needsSignIn = isSignInAsked(error)
      comparisons.apply(participantId, { type: 'fail', reason: messageOf(error), needsSignIn, at })
    }
    throw error
  } finally {
    begun.end()
  }
}

async function openSession(
  options: CompareOptions,
  participantId: ParticipantId,
  draft: Draft<Attachment>,
  setup: string | undefined,
  signal: AbortSignal,
): Promise<OpenSession> {
  const { comparisons, starter } = options
  const { agentId, agentName } = comparisons.at(participantId)!
  const cwd = await prepareWorktree(options, participantId, draft, setup, signal)
  comparisons.step(participantId, l10n.t('Starting {0}…', agentName))
  const open = await starter.create(agentId, signal, {}, { cwd, queue: draftKeyOf(participantId) })
  comparisons.sessionStarted(participantId, open)
  return open
}

/** Resolves to the session's directory in the agent's worktree. Creates the worktree if there is none. */
async function prepareWorktree(
  options: CompareOptions,
  participantId: ParticipantId,
  draft: Draft<Attachment>,
  setup: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { comparisons, workbench, worktrees } = options
  const known = comparisons.at(participantId)!
  const { from } = comparisons.get(participantId.id)!
  let made = known.worktree && (await findWorktree(known.worktree.path).catch(() => undefined))
  if (!made) {
    comparisons.step(participantId, l10n.t('Creating the worktree…'))
    const folder = settingOf(workbench, 'worktrees.folder')
    const repository = await openRepository(from.top)
    const { worktree, notes } = await making.run(repository.common, async () => {
      if (signal.aborted) throw new CancelledError()
      const name = await freeName(repository, folder, worktreeName(draft.text, known.agentName))
      return createWorktree(repository, { name, from: from.commit, folder })
    })
    comparisons.worktreeMade(participantId, { path: worktree.path, name: worktree.name })
    void worktrees.refresh()
    if (notes.length > 0) void workbench.dialogs.info(notes.map(plainMessage).join(' '))
    made = worktree
  }
  if (signal.aborted) throw new CancelledError()
  if (setup !== undefined) {
    comparisons.step(participantId, l10n.t('Running the setup command…'))
    const problem = await runSetup(workbench, setup, made.path, made.name, signal)
    if (problem !== undefined && !signal.aborted) throw new Error(problem)
  }
  if (signal.aborted) throw new CancelledError()
  return directoryIn(made.path, from.within)
}

/** Returns a name for a worktree. Both parts are shortened. */
function worktreeName(text: string, agentName: string): string {
  return `${nameFrom(text)}-${Array.from(nameFrom(agentName)).slice(0, 15).join('')}`.replace(/-+$/, '')
}

/** Moves the prompt of an agent that couldn't be started from its queue to the draft with the same key. Returns the prompt. */
function takeUnsent({ queues, drafts }: CompareOptions, participantId: ParticipantId): Draft<Attachment> {
  const key = draftKeyOf(participantId)
  const queue = queues.of(key)
  const { returned } = queue
  const draft = joinDrafts(...returned.map(one => one.draft), drafts.get(key))
  queue.movedToComposer(
    returned.map(({ id }) => id),
    draft,
  )
  return draft
}

/** Retries the start of an agent that couldn't be started. */
export async function retryAgent(options: CompareOptions, participantId: ParticipantId): Promise<void> {
  const draft = takeUnsent(options, participantId)
  if (isEmptyDraft(draft)) throw new Error(l10n.t('The prompt is empty.'))
  await startAgent(options, participantId, draft, await setupCommand(options))
}

/** Starts an agent in a conversation tab of its own, which shows how to sign in and then sends the prompt. */
export async function startInTab(options: CompareOptions, participantId: ParticipantId): Promise<void> {
  const { comparisons, drafts, tabs } = options
  const { agentId, worktree } = comparisons.at(participantId)!
  const draft = takeUnsent(options, participantId)
  if (!worktree || isEmptyDraft(draft)) return retryAgent(options, participantId)
  const found = await findWorktree(worktree.path).catch(() => undefined)
  const cwd = found
    ? await directoryIn(found.path, comparisons.get(participantId.id)!.from.within)
    : await makeAgain(options, participantId, draft)
  if (cwd === undefined) return
  const controller = tabs.open(undefined)
  const started = controller.opener.start(agentId, {
    cwd,
    begun: open => comparisons.sessionStarted(participantId, open),
  })
  controller.prompts.enqueue(controller.key, { id: randomUUID(), draft })
  // removes the draft only now, when the queue has stored the prompt
  drafts.set(draftKeyOf(participantId), EMPTY_DRAFT)
  await started
}

/**
 * Prepares the worktree like `prepareWorktree`, but for an agent that failed before and still counts as failed afterward. Resolves to
 * `undefined` if the agent is already being started.
 */
async function makeAgain(
  options: CompareOptions,
  participantId: ParticipantId,
  draft: Draft<Attachment>,
): Promise<string | undefined> {
  const { comparisons } = options
  const setup = await setupCommand(options)
  let { reason = '' } = comparisons.at(participantId)!.run
  const begun = comparisons.begin(participantId)
  if (!begun) return undefined
  try {
    return await prepareWorktree(options, participantId, draft, setup, begun.signal)
  } catch (error) {
    if (!begun.signal.aborted) reason = messageOf(error)
    throw error
  } finally {
    comparisons.apply(participantId, { type: 'fail', reason, needsSignIn: true, at: Date.now() })
    begun.end()
  }
}
