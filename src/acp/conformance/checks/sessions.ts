import * as l10n from '@vscode/l10n'
import { isRecord } from '../../../common/is-record.ts'
import type { AgentUnderTest, Frame } from '../agent-under-test.ts'
import { CheckFailed, NotOffered } from '../check-outcome.ts'
import type { ConformanceCheck } from '../conformance-check.ts'
import { type ConformanceRun, sessionOf, updateOf, updatesIn } from '../conformance-run.ts'

/** The name of a capability that has checks. */
type Capability = Parameters<ConformanceRun['can']>[0]

async function offered(run: ConformanceRun, name: Capability): Promise<void> {
  await run.agent()
  if (!run.can(name)) throw new NotOffered()
}

export const newSessions: ConformanceCheck[] = [
  {
    id: 'session-new',
    group: 'sessions',
    title: () => l10n.t('Creates sessions'),
    rule: () => l10n.t('The agent must answer session/new with a session ID.'),
    section: 'session-setup#creating-a-session',
    run: async run => {
      await run.session()
    },
  },
  {
    id: 'session-ids',
    group: 'sessions',
    title: () => l10n.t('Gives each session its own ID'),
    rule: () => l10n.t('The agent must answer session/new with a unique session ID.'),
    section: 'session-setup#session-id',
    run: async run => {
      const [first, second] = [await run.session(), await run.newSession()]
      if (first === second) throw new CheckFailed(l10n.t('Two sessions have the same ID.'))
    },
  },
  {
    id: 'session-list',
    group: 'sessions',
    title: () => l10n.t('Lists sessions'),
    rule: () => l10n.t('The answer to session/list has an array of sessions, each with its own ID.'),
    section: 'session-list#listing-sessions',
    run: async run => {
      await offered(run, 'list')
      const ids = await listed(run)
      if (new Set(ids).size !== ids.length)
        throw new CheckFailed(l10n.t('Two sessions in the list have the same ID.'))
    },
  },
]

/** Resolves to the ids on the first page of the session list. */
async function listed(run: ConformanceRun): Promise<unknown[]> {
  const result = await run.ask('session/list', { cwd: run.options.folder })
  const { sessions } = isRecord(result) ? result : {}
  if (!Array.isArray(sessions)) throw new CheckFailed(l10n.t('The answer to session/list has no sessions.'))
  return sessions.map(session => (isRecord(session) ? session.sessionId : undefined))
}

export const openedSessions: ConformanceCheck[] = [
  {
    id: 'session-load',
    group: 'sessions',
    title: () => l10n.t('Replays a conversation in order, before it answers'),
    rule: () =>
      l10n.t(
        'The agent must replay the whole conversation as updates, and answer when all of them were sent.',
      ),
    section: { 1: 'session-setup#loading-sessions', 2: 'session-setup#resuming-sessions' },
    prompts: true,
    run: async run => {
      const [method, name] =
        run.version === 1 ? (['session/load', 'load'] as const) : (['session/resume', 'resume'] as const)
      await offered(run, name)
      const params = run.version === 1 ? {} : { replayFrom: { type: 'start' } }
      const { before, after } = await reopen(run, method, params)
      const [user, agent] = [position(before, 'user'), position(before, 'agent')]
      const late = position(after, 'user') >= 0 || position(after, 'agent') >= 0
      if (late) throw new CheckFailed(l10n.t('The agent answered before it had replayed the conversation.'))
      if (user < 0) throw new CheckFailed(l10n.t("The agent didn't replay the prompt."))
      if (agent < 0) throw new CheckFailed(l10n.t("The agent didn't replay its answer."))
      if (agent < user) throw new CheckFailed(l10n.t('The agent replayed its answer before the prompt.'))
      checkState(run, before)
    },
  },
  {
    id: 'session-resume',
    group: 'sessions',
    title: () => l10n.t('Resumes a session without a replay'),
    rule: () => l10n.t('The agent must not replay the conversation before it answers session/resume.'),
    section: 'session-setup#resuming-sessions',
    prompts: true,
    run: async run => {
      await offered(run, 'resume')
      const { before } = await reopen(run, 'session/resume', {})
      if (position(before, 'user') >= 0 || position(before, 'agent') >= 0)
        throw new CheckFailed(l10n.t('The agent replayed the conversation, although nothing asked for it.'))
      checkState(run, before)
    },
  },
  {
    id: 'session-fork',
    group: 'sessions',
    title: () => l10n.t('Forks a session (unreleased)'),
    rule: () => l10n.t('The answer to session/fork has the ID of a new session.'),
    section: { 1: 'draft/session-setup', 2: 'session-setup' },
    prompts: true,
    run: async run => {
      await offered(run, 'fork')
      const sessionId = await run.promptedSession()
      const result = await run.ask('session/fork', { sessionId, ...run.setup })
      const fork = isRecord(result) ? result.sessionId : undefined
      if (typeof fork !== 'string' || fork === '')
        throw new CheckFailed(l10n.t('The answer to session/fork has no session ID.'))
      if (run.sessions.has(fork)) throw new CheckFailed(l10n.t('The fork has the ID of another session.'))
      run.sessions.add(fork)
    },
  },
  {
    id: 'session-close',
    group: 'sessions',
    title: () => l10n.t('Closes sessions'),
    rule: () => l10n.t('An agent with this capability must free what belongs to the session, and answer.'),
    section: { 1: 'session-setup', 2: 'session-setup' },
    run: async run => {
      await offered(run, 'close')
      await run.ask('session/close', { sessionId: await run.newSession() })
    },
  },
  {
    id: 'session-delete',
    group: 'sessions',
    title: () => l10n.t('Deletes sessions'),
    rule: () => l10n.t("A deleted session isn't listed anymore."),
    section: 'session-list#listing-sessions',
    prompts: true,
    run: async run => {
      await offered(run, 'delete')
      const sessionId = await run.promptedSession()
      await run.ask('session/delete', { sessionId })
      if (run.can('list') && (await listed(run)).includes(sessionId))
        throw new CheckFailed(l10n.t('The deleted session is still listed.'))
    },
  },
]

/** Opens the conversation in a new process. Resolves to the session's updates before the answer and shortly after it. */
async function reopen(
  run: ConformanceRun,
  method: string,
  params: object,
): Promise<{ before: Frame[]; after: Frame[]; agent: AgentUnderTest }> {
  const sessionId = await run.promptedSession()
  const agent = await run.restart()
  const from = agent.frames.length
  await run.ask(method, { sessionId, ...run.setup, ...params }, agent)
  const answer = agent.frames.findIndex(({ answers }) => answers === method)
  await agent.quiet(run.options.times.quiet)
  const of = (frames: Frame[]) => updatesIn(frames).filter(frame => sessionOf(frame) === sessionId)
  return { before: of(agent.frames.slice(from, answer)), after: of(agent.frames.slice(answer)), agent }
}

/** Returns the index of the first message of a role; -1 if there is none. */
function position(updates: readonly Frame[], role: 'user' | 'agent'): number {
  const kinds = [`${role}_message`, `${role}_message_chunk`]
  return updates.findIndex(update => kinds.includes(String(updateOf(update).sessionUpdate)))
}

function checkState({ version }: ConformanceRun, before: readonly Frame[]): void {
  if (version === 1 || before.some(update => updateOf(update).sessionUpdate === 'state_update')) return
  throw new CheckFailed(l10n.t('The agent sent no state_update before it answered session/resume.'))
}
