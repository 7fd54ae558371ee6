/**
 * The states of a prompt and of its queue, and every transition between the states. A transition that isn't in these tables is a defect and
 * throws an error.
 */

/**
 * The state of a prompt:
 * - `sending`: the prompt left the composer. Its agent starts or asks for a sign-in, or the prompt's content is being read.
 * - `queued`: ready to be sent; waits for the prompts and the turn before it.
 * - `next`: the user selected *Stop and Send Now*: sent next, however the running turn ends.
 * - `steering`: the user selected *Send Now*, and the agent was asked to add the prompt to the running turn. The prompt is shown in the
 *   conversation. No turn starts before the agent has answered; other prompts may be added meanwhile.
 * - `sent`: the agent has the prompt, which is no longer in the queue.
 * - `awaitingSignIn`: the agent refuses the prompt until the user signs in. The prompt is shown in the conversation, not in the queue.
 * - `refused`: the prompt can't be sent; the user is told the reason. Goes back to the composer with the prompts after it.
 * - `returned`: goes back to the composer: to be edited, or because its agent, its session or its window is gone.
 * - `removed`: the user removed the prompt, or the composer has it.
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
 * An event that changes the state of a prompt:
 * - `prepare`: the prompt's content is known.
 * - `refuse`: the content couldn't be created, no session could be opened, or a prompt before this one was refused.
 * - `return`: the user edits the prompt, or its session or agent is gone.
 * - `remove`: the user removes the prompt, or another window has it.
 * - `sendNow`: the user wants the prompt to be sent next, and stops the turn.
 * - `steer`: the agent is asked to add the prompt to the running turn.
 * - `notTaken`: the agent didn't add the prompt to the turn, or didn't answer before the turn was over.
 * - `wait`: the user stopped the turn, or wants another prompt to be sent next.
 * - `send`: the agent gets the prompt, or reported that it has the prompt.
 * - `requireSignIn`: the agent refused the prompt because the user isn't signed in.
 * - `signIn`: the user signed in.
 * - `giveUp`: the user continued without signing in: the refused prompt stays in the conversation.
 * - `moveToComposer`: the composer has the prompt.
 * - `leave`: the prompt's session continues in another window, which sends the prompt.
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

/** The state of a queue. `paused`: no prompt is sent before the user resumes the queue or sends another prompt, which then goes first. */
export type QueueState = 'running' | 'paused'

/**
 * An event that changes the state of a queue:
 * - `stop`: the user stopped the turn.
 * - `fail`: a turn failed and no prompt is `next`, an agent didn't answer whether it took a prompt, or the prompt that resumed the queue
 *   was refused.
 * - `resume`: the user resumed the queue, or sent a prompt now.
 * - `enqueue`: the user sent another prompt.
 */
export type QueueEvent = 'stop' | 'fail' | 'resume' | 'enqueue'

export const QUEUE_TRANSITIONS: Readonly<Record<QueueState, Readonly<Record<QueueEvent, QueueState>>>> = {
  running: { stop: 'paused', fail: 'paused', resume: 'running', enqueue: 'running' },
  paused: { stop: 'paused', fail: 'paused', resume: 'running', enqueue: 'running' },
}

/**
 * Returns the state after an event.
 * @throws if a prompt in this state can't have this event
 */
export function nextState(state: PromptState, event: PromptEvent): PromptState {
  const next = PROMPT_TRANSITIONS[state][event]
  if (next === undefined) throw new Error(`A prompt that is ${state} has no transition ${event}.`)
  return next
}

/** Whether a prompt in this state is sent when its turn comes. */
export function isQueued(state: PromptState): boolean {
  return state === 'queued' || state === 'next'
}

/** Whether a prompt in this state returns to the composer. */
export function isReturned(state: PromptState): boolean {
  return state === 'returned' || state === 'refused'
}
