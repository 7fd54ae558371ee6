import { AgentRequestError } from '../acp/agent.ts'
import { RpcCode } from '../acp/errors.ts'
import { raceAbort } from '../common/async.ts'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import { messageText, wholeMessage } from '../conversation/entries/message.ts'
import type { TurnOutcome } from '../conversation/prompts/prompt.ts'
import type { Session } from '../conversation/session.ts'
import type { SessionRecords } from './ports.ts'
import { lastAnswer } from './prompts.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import { UsageMeter, type UsageRecords } from './usage-meter.ts'

export interface HiddenSessionOptions {
  runner: AgentRunner
  records: Pick<SessionRecords, 'noted' | 'forget'> & UsageRecords
  /** The session's folder. Agents read a project's instructions and settings there. */
  cwd: string
  log: Logger
}

/**
 * Sends an agent a prompt in a hidden session and returns its answer as text. The session has no MCP servers and no
 * access to the editor, and every permission request is rejected. Afterward it's deleted, or archived if the agent can't
 * delete sessions. Rejects as `AgentRunner.ensure` and `Agent.newSession` do, with the error of the turn, and with
 * `CancelledError` when `signal` aborts, which stops the turn.
 */
export async function askInHiddenSession(
  text: string,
  options: HiddenSessionOptions,
  signal: AbortSignal,
): Promise<string> {
  const { runner, cwd } = options
  const { sessions } = await runner.ensure(signal)
  const session = await sessions.newSession({ cwd, additionalDirectories: [], mcpServers: [] }, signal)
  session.isHidden = true
  // lists of sessions may be requested at any time
  if (session.agent.capabilities.list)
    options.records.noted(runner.agentId, { sessionId: session.sessionId, cwd }, { archived: true })
  const { records } = options
  const meter = new UsageMeter({ agentId: runner.agentId, session, records, isNew: true })
  const refusing = session.onDidChange(() => refuse(session))
  try {
    const outcome = await raceAbort(session.prompt([{ type: 'text', text }]), signal)
    throwFailure(outcome)
    return lastAnswerText(session)
  } finally {
    refusing.dispose()
    meter.dispose()
    if (session.turns.isWorking) session.turns.cancel()
    void remove(session, options)
  }
}

/** Refuses the requests of a hidden session, which aren't shown. */
function refuse(session: Session): void {
  for (const request of session.requests.open) {
    if (request.kind === 'elicitation')
      session.requests.answerElicitation(request.requestId, { action: 'cancel' })
    else {
      const reject = request.options.find(({ kind }) => kind === 'reject_once')
      session.requests.answerPermission(request.requestId, reject?.optionId)
    }
  }
}

function throwFailure(outcome: TurnOutcome): void {
  if (outcome.type === 'failed') throw outcome.error
  const error = outcome.type === 'ended' ? outcome.error : undefined
  if (!error) return
  const kind = error.code === RpcCode.authRequired ? 'auth-required' : 'other'
  throw new AgentRequestError('session/prompt', kind, error)
}

function lastAnswerText({ state }: Session): string {
  const answer = lastAnswer(state)
  const message = answer && wholeMessage(state.entries, state.index.get(answer.id) ?? -1)
  return message ? messageText(message).trim() : ''
}

async function remove(session: Session, { runner, records, log }: HiddenSessionOptions): Promise<void> {
  const { agent, sessionId } = session
  try {
    await session.close()
    if (agent.capabilities.delete) {
      await agent.deleteSession(sessionId)
      records.forget(runner.agentId, sessionId)
    } else if (agent.capabilities.archive) await agent.archiveSession?.(sessionId)
  } catch (error) {
    log.debug(`The session ${sessionId} wasn't removed: ${messageOf(error)}`)
  }
}
