/**
 * The states of a prompt and of its queue, and every transition between them. A transition that isn't in these tables is a defect, and
 * throws.
 */

/**
 * - `sending`: it left the composer. Its agent starts, asks for a sign-in, or its content is being read.
 * - `queued`: ready to send; waits for the prompts and the turn before it.
 * - `next`: the user selected *Stop and Send Now*: sent next, however the running turn ends.
 * - `steering`: the user selected *Send Now* and the agent was asked to add it to the running turn. It's shown in the
 *   conversation. No turn starts before the agent has answered; other prompts may be added meanwhile.
 * - `sent`: the agent has it. It is no longer in the queue.
 * - `awaitingSignIn`: the agent refused it until the user signs in. It is shown in the conversation, not in the queue.
 * - `refused`: it can't be sent, for a reason that the user is told. Goes back to the composer with the prompts after it.
 * - `returned`: goes back to the composer: to be edited, or because its agent, its session or its window is gone.
 * - `removed`: the user removed it, or the composer has it.
 */
export type PromptState =
  | 'sending'
  | 'queued'
  | 'next'
  | 'steering'
  | 'sent'
  | 'awaitingSignIn'
  | 'refused'
  | 'returned'
  | 'removed'

/**
 * - `prepare`: its content is known.
 * - `refuse`: its content couldn't be created, no session could be opened, or a prompt before it was refused.
 * - `return`: the user edits it, or its session or agent is gone.
 * - `remove`: the user removes it, or another window has it.
 * - `sendNow`: the user wants it to be sent next, and stops the turn.
 * - `steer`: the agent is asked to add it to the running turn.
 * - `notTaken`: the agent didn't add it to the turn, or didn't answer before the turn was over.
 * - `wait`: the user stopped the turn, or wants another prompt to be sent next.
 * - `send`: the agent gets it, or reported that it has it.
 * - `requireSignIn`: the agent refused it because the user isn't signed in.
 * - `signIn`: the user signed in.
 * - `giveUp`: the user continued without signing in: the refused prompt stays in the conversation.
 * - `moveToComposer`: the composer has it.
 * - `leave`: its session goes on in another window, which sends it.
 */
export type PromptEvent =
  | 'prepare'
  | 'refuse'
  | 'return'
  | 'remove'
  | 'sendNow'
  | 'steer'
  | 'notTaken'
  | 'wait'
  | 'send'
  | 'requireSignIn'
  | 'signIn'
  | 'giveUp'
  | 'moveToComposer'
  | 'leave'

export const PROMPT_TRANSITIONS: Readonly<
  Record<PromptState, Readonly<Partial<Record<PromptEvent, PromptState>>>>
> = {
  sending: { prepare: 'queued', refuse: 'refused', return: 'returned', leave: 'removed' },
  queued: {
    ...{ sendNow: 'next', steer: 'steering', send: 'sent' },
    ...{ return: 'returned', remove: 'removed', leave: 'removed' },
  },
  next: { wait: 'queued', send: 'sent', return: 'returned', remove: 'removed', leave: 'removed' },
  steering: { notTaken: 'queued', send: 'sent', return: 'returned', leave: 'removed' },
  sent: { requireSignIn: 'awaitingSignIn' },
  awaitingSignIn: { signIn: 'queued', return: 'returned', giveUp: 'removed' },
  refused: { moveToComposer: 'removed' },
  returned: { moveToComposer: 'removed' },
  removed: {},
}

/** - `paused`: no prompt is sent before the user resumes the queue or sends another prompt, which then goes first. */
export type QueueState = 'running' | 'paused'

/**
 * - `stop`: the user stopped the turn.
 * - `fail`: a turn failed and no prompt is `next`, an agent didn't answer whether it took a prompt, or the prompt that resumed the queue was refused.
 * - `resume`: the user resumed the queue, or sent a prompt now.
 * - `enqueue`: the user sent another prompt.
 */
export type QueueEvent = 'stop' | 'fail' | 'resume' | 'enqueue'

export const QUEUE_TRANSITIONS: Readonly<Record<QueueState, Readonly<Record<QueueEvent, QueueState>>>> = {
  running: { stop: 'paused', fail: 'paused', resume: 'running', enqueue: 'running' },
  paused: { stop: 'paused', fail: 'paused', resume: 'running', enqueue: 'running' },
}

/** Throws if a prompt in this state can't have this event. */
export function nextState(state: PromptState, event: PromptEvent): PromptState {
  const next = PROMPT_TRANSITIONS[state][event]
  if (next === undefined) throw new Error(`A prompt that is ${state} has no transition ${event}.`)
  return next
}

/** Whether the prompt is sent when its turn comes. */
export function isQueued(state: PromptState): boolean {
  return state === 'queued' || state === 'next'
}

/** Whether the prompt returns to the composer. */
export function isReturned(state: PromptState): boolean {
  return state === 'returned' || state === 'refused'
}
