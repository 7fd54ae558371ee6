import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { TurnCancelled } from './pace.ts'
import type { ToolCall, ToolCallChange } from './tool-call.ts'
import type { Turn } from './turn.ts'

/**
 * Asks before a tool call is run, unless the mode or a standing answer has settled it.
 *
 * @param topic what "always" would be about: `edit` or `run`
 * @param subject what the person is shown besides the title: the diff, the command
 * @returns whether it may run; a rejected call has been marked as failed
 */
export async function mayRun(
  turn: Turn,
  call: ToolCall,
  topic: 'edit' | 'run',
  subject: ToolCallChange = {},
): Promise<boolean> {
  const standing = turn.session.standing.get(topic)
  const free = topic === 'edit' && turn.session.settings.mode === 'edit'
  if (standing === 'allow' || (free && standing === undefined)) return true
  if (standing === 'reject') {
    await call.fail('Not done: you chose never to allow this in this session.', subject.content ?? [])
    return false
  }
  const things = topic === 'edit' ? 'edits' : 'commands'
  const chosen = await choose(turn, call, subject, [
    { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'allow-all', name: `Allow all ${things} in this session`, kind: 'allow_always' },
    { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    { optionId: 'reject-all', name: `Reject all ${things} in this session`, kind: 'reject_always' },
  ])
  if (chosen === 'allow-all') turn.session.standing.set(topic, 'allow')
  if (chosen === 'reject-all') turn.session.standing.set(topic, 'reject')
  if (chosen === 'allow' || chosen === 'allow-all') return true
  await call.fail('Rejected.', subject.content ?? [])
  return false
}

/** The option the person chose. Their cancelling the question cancels the turn. */
export async function choose(
  turn: Turn,
  call: ToolCall,
  subject: ToolCallChange,
  options: PermissionOption[],
): Promise<string> {
  turn.check()
  let response: RequestPermissionResponse
  try {
    response = await turn.client.request(
      'session/request_permission',
      {
        sessionId: turn.session.id,
        toolCall: { toolCallId: call.id, ...call.start, status: 'pending', ...subject },
        options,
      },
      { cancellationSignal: turn.signal, stopWaitingOnCancel: true },
    )
  } catch (error) {
    turn.check()
    throw error
  }
  turn.check()
  if (response.outcome.outcome !== 'selected') throw new TurnCancelled()
  return response.outcome.optionId
}
