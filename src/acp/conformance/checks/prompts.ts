import { access } from 'node:fs/promises'
import { join } from 'node:path'
import * as l10n from '@vscode/l10n'
import { isRecord } from '../../../common/is-record.ts'
import { CANCELLED, type Frame } from '../agent-under-test.ts'
import { CheckFailed, NotChecked } from '../check-outcome.ts'
import type { ConformanceCheck } from '../conformance-check.ts'
import {
  type ConformanceRun,
  PERMISSION_FILE,
  sessionOf,
  type Turn,
  updateOf,
  updatesIn,
} from '../conformance-run.ts'

const PROMPT_PAGE = { 1: 'prompt-turn', 2: 'prompt-lifecycle' }
const section = (name: string) => ({ 1: `${PROMPT_PAGE[1]}#${name}`, 2: `${PROMPT_PAGE[2]}#${name}` })

/** The kinds of updates that show that the agent works on a prompt. */
const WORK = /^(agent_(message|thought)(_chunk)?|tool_call(_update|_content_chunk)?|plan(_update)?)$/

export const prompts: ConformanceCheck[] = [
  {
    id: 'prompt',
    group: 'prompts',
    title: () => l10n.t('Answers a prompt and says why the turn ended'),
    rule: () => l10n.t('The agent must report the stop reason when the turn has ended.'),
    section: section('stop-reasons'),
    prompts: true,
    run: async run => {
      const { stopReason, frames } = await run.turn()
      if (stopReason !== 'end_turn')
        throw new CheckFailed(
          l10n.t('The turn ended with the stop reason {0}.', String(JSON.stringify(stopReason))),
        )
      if (!updatesIn(frames).some(isWork)) throw new CheckFailed(l10n.t('The turn had no answer.'))
    },
  },
  {
    id: 'update-sessions',
    group: 'prompts',
    title: () => l10n.t('Sends updates with the ID of the session'),
    rule: () => l10n.t('Each session/update has the ID of the session that it belongs to.'),
    section: section('3-agent-reports-output'),
    prompts: true,
    run: async run => {
      const { frames, sessionId } = await finishTurn(run)
      const updates = updatesIn(frames)
      // A subagent's session is announced in an update, so its id is known.
      const known = new Set<unknown>(run.sessions)
      for (const update of updates) for (const id of idsIn(updateOf(update))) known.add(id)
      const stray = updates.find(update => !known.has(sessionOf(update)))
      if (stray)
        throw new CheckFailed(
          l10n.t(
            'An update has the session ID {0}, which no session has.',
            String(JSON.stringify(sessionOf(stray))),
          ),
        )
      if (!updates.some(update => sessionOf(update) === sessionId))
        throw new CheckFailed(l10n.t('No update has the ID of the prompted session.'))
    },
  },
  {
    id: 'message-ids',
    group: 'prompts',
    title: () => l10n.t('Gives each message an ID'),
    rule: () =>
      l10n.t(
        "The chunks of a message have the same ID, which no other message has. The prompt's message has the ID in the answer.",
      ),
    section: section('3-agent-reports-output'),
    only: 2,
    prompts: true,
    run: async run => {
      const { frames, messageId } = await finishTurn(run)
      const roles = new Map<unknown, string>()
      for (const update of updatesIn(frames).map(updateOf)) {
        const role = messageRole(update.sessionUpdate)
        if (role === undefined) continue
        if (typeof update.messageId !== 'string')
          throw new CheckFailed(l10n.t('A message has no ID: {0}.', String(update.sessionUpdate)))
        const earlier = roles.get(update.messageId)
        if (earlier !== undefined && earlier !== role)
          throw new CheckFailed(l10n.t('Two messages have the ID {0}.', update.messageId))
        roles.set(update.messageId, role)
      }
      if (typeof messageId !== 'string')
        throw new CheckFailed(l10n.t('The answer to session/prompt has no message ID.'))
      if (roles.get(messageId) !== 'user')
        throw new CheckFailed(l10n.t("No update has the prompt's message with the ID {0}.", messageId))
    },
  },
]

export const cancellation: ConformanceCheck[] = [
  {
    id: 'cancel',
    group: 'cancellation',
    title: () => l10n.t('Stops a turn that is canceled'),
    rule: () => l10n.t('The agent must end a canceled turn with the stop reason "cancelled".'),
    section: section('cancellation'),
    prompts: true,
    run: async run => {
      const sessionId = await run.newSession()
      const { long } = run.options.prompts
      const turn = await run.prompt(sessionId, long, async (agent, from) => {
        await agent.find(
          frame => isEnd(frame) || (isSessionUpdate(frame, sessionId) && isWork(frame)),
          from,
          run.options.times.output,
        )
        if (agent.frames.slice(from).some(isEnd))
          throw new NotChecked(l10n.t('The turn ended before it could be canceled.'))
        agent.notify('session/cancel', { sessionId })
      })
      checkCancelled(turn)
    },
  },
  {
    id: 'cancel-permission',
    group: 'cancellation',
    title: () => l10n.t('Stops a turn that waits for a permission, without doing what it asked for'),
    rule: () =>
      l10n.t(
        'When a turn is canceled, its pending permission requests are answered as cancelled, and the agent must end the turn with the stop reason "cancelled".',
      ),
    section: section('cancellation'),
    prompts: true,
    run: async run => {
      const sessionId = await run.newSession()
      const { permission } = run.options.prompts
      const turn = await run.prompt(sessionId, permission, async (agent, from) => {
        agent.holds = method => method === 'session/request_permission'
        const found = await agent.find(
          frame => isEnd(frame) || frame.message.method === 'session/request_permission',
          from,
          run.options.times.turn,
        )
        agent.holds = () => false
        if (!found) agent.notify('session/cancel', { sessionId })
        if (!found || isEnd(found)) throw new NotChecked(l10n.t('The agent asked for no permission.'))
        agent.notify('session/cancel', { sessionId })
        agent.answer(found.message.id, CANCELLED)
      })
      checkCancelled(turn)
      const isThere = await access(join(run.options.folder, PERMISSION_FILE)).then(
        () => true,
        () => false,
      )
      if (isThere) throw new CheckFailed(l10n.t('The agent created the file although nothing allowed it.'))
    },
  },
]

async function finishTurn(run: ConformanceRun): Promise<Turn> {
  try {
    return await run.turn()
  } catch {
    throw new NotChecked(l10n.t('The first prompt failed.'))
  }
}

const isWork = (frame: Frame) => WORK.test(String(updateOf(frame).sessionUpdate))
const isSessionUpdate = (frame: Frame, sessionId: string) =>
  frame.message.method === 'session/update' && sessionOf(frame) === sessionId

/** Whether a frame reports the end of the turn. Version 1 reports it in the response to the prompt. */
function isEnd(frame: Frame): boolean {
  const { result, error } = frame.message
  if (frame.answers === 'session/prompt')
    return error !== undefined || (isRecord(result) && result.stopReason !== undefined)
  const update = updateOf(frame)
  return update.sessionUpdate === 'state_update' && update.state === 'idle' && update.stopReason !== undefined
}

function checkCancelled({ stopReason }: Turn): void {
  if (stopReason !== 'cancelled')
    throw new CheckFailed(
      l10n.t('The canceled turn ended with the stop reason {0}.', String(JSON.stringify(stopReason))),
    )
}

function messageRole(kind: unknown): string | undefined {
  return /^(user_message|agent_message|agent_thought)(_chunk)?$/.exec(String(kind))?.[1]?.split('_')[0]
}

/** Returns all session ids in an update, at any depth. */
function idsIn(value: unknown): unknown[] {
  if (!isRecord(value)) return Array.isArray(value) ? value.flatMap(idsIn) : []
  return Object.entries(value).flatMap(([key, part]) => [
    ...(/sessionId$/i.test(key) ? [part] : []),
    ...idsIn(part),
  ])
}
