import * as l10n from '@vscode/l10n'
import type { Agent } from '../../acp/agent.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import type {
  AgentChoice,
  Card,
  ConversationHead,
  PendingRequestNote,
  QueuedNote,
  RewindNote,
} from '../../bridge/conversation.ts'
import { attachedItems } from '../../common/draft.ts'
import type { Prompt } from '../../conversation/prompts/prompt.ts'
import { isQueued } from '../../conversation/prompts/prompt-states.ts'
import { type RewindNotice, rewindsOf } from '../../conversation/rewinds.ts'
import { type Running, runningWork } from '../../conversation/running-work.ts'
import type { Session } from '../../conversation/session.ts'
import type { SessionState } from '../../conversation/state.ts'
import { agentBefore } from '../../sessions/continuation.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { attemptOf } from '../../sessions/opening-states.ts'
import type { PermissionRules } from '../../sessions/permission-rules/permission-rules.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { titleOf } from '../../sessions/session-title.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import { defaultsById } from '../../sessions/start-options.ts'
import type { AgentDefaults } from '../agents/agent-defaults.ts'
import type { AgentEnvironments } from '../agents/agent-environments.ts'
import { agentOffers } from '../agents/agent-offers.ts'
import { cardFor, environmentCard, lostOptionsCard, settingsCard, withWayBack } from '../cards/cards.ts'
import type { OptionMemory } from '../storage/option-memory.ts'
import type { WindowWorktrees } from '../window-worktrees.ts'
import type { RecentSessions } from './recent-sessions.ts'

const NO_PROMPT = { image: false, audio: false, embeddedContext: false }
const NONE: never[] = []

export interface HeadSources {
  controller: ConversationController
  agents: AgentDirectory
  optionMemory: OptionMemory
  agentDefaults: Pick<AgentDefaults, 'of'>
  accounts: Accounts
  installs: InstallManager
  sessions: Pick<RecentSessions, 'list'>
  worktrees: Pick<WindowWorktrees, 'of' | 'hasRepository'>
  environments: Pick<AgentEnvironments, 'note' | 'isOutdated' | 'slowTool'>
  ruleMessages: { rules: Pick<PermissionRules, 'allowances'> }
  /** whether the page shows the session switcher */
  isSwitching?: boolean
}

/** Returns all that a view shows of a conversation besides its entries. */
export function buildHead(sources: HeadSources): ConversationHead {
  const { controller, agents, optionMemory, agentDefaults, accounts } = sources
  const { current, phase, agentId, agentName } = controller
  const agent = agentId === undefined ? undefined : agents.get(agentId)
  const session = current?.session
  const state = session?.state
  const shown = state ?? controller.opener.end?.conversation
  const { isRemote } = session?.agent.capabilities ?? {}
  // rules allow nothing for an agent on another machine
  const offered = isRemote ? NONE : sources.ruleMessages.rules.allowances()
  const environment = current && sources.environments.note(current.agentId, current.plan.setup.cwd)
  const worktree = current && sources.worktrees.of(current.plan.setup.cwd)
  return {
    phase,
    progress: progressOf(sources),
    key: controller.key,
    keyBefore: controller.keyBefore,
    agent: agentId === undefined ? undefined : { agentId, name: agentName ?? agentId, icon: agent?.icon },
    program: programOf(session?.agent),
    sessionId: session?.sessionId,
    account:
      agentId === undefined || agent?.source === 'demo'
        ? undefined
        : {
            ...accounts.describe(agentId),
            // the sign-in methods are known only while the agent runs; otherwise `session.agent` is a placeholder
            ...(phase === 'ready' && session?.agent.authMethods.length === 0 && { hasNoSignIn: true }),
          },
    canFork: phase === 'ready' && session?.agent.capabilities.fork === true,
    title: (session && titleOf(session)) ?? titleOfAttempt(controller),
    activity: state?.activity ?? 'idle',
    pendingRequests: session ? pendingNotes(session) : NONE,
    unconfirmed: state?.unconfirmed,
    ...(current && { running: runningIn(current) }),
    turnStartedAt: state?.turnStartedAt,
    rewinds: shown ? rewindsOf(shown).map(notice => noteOfRewind(shown, notice)) : NONE,
    ...(current && phase === 'ready' && wayBack(current, agents)),
    queue: controller.prompts.queue.prompts.flatMap(noteOf),
    queuePaused: controller.prompts.queue.isPaused,
    ...(session?.turns.canSteer && { canSteer: true }),
    ...(sources.worktrees.hasRepository &&
      controller.trusted &&
      agents.list().length > 1 && { canSendTo: true }),
    ...(session && session.turns.cancelState !== 'none' && { stopping: true }),
    roots: current?.plan.roots,
    ...(worktree && { worktree }),
    systemPrompt: current?.plan.systemPrompt,
    ...(environment && { environment }),
    mcpServers: current?.plan.mcpServers ?? NONE,
    ...(current?.plan.editorTools && { editorTools: { isOn: current.plan.editorTools.isOn } }),
    ...(current &&
      phase === 'ready' &&
      offered.length > 0 && { allowance: { allowed: current.allowance.allowed, offered } }),
    plans: shown ? [...shown.plans] : NONE,
    configOptions: state ? [...state.configOptions] : NONE,
    pendingOptions: session ? session.optionChanges.ids : NONE,
    rememberedOptions: agentId === undefined ? {} : optionMemory.of(agentId),
    defaultOptions:
      agentId === undefined || !state ? {} : defaultsById(state.configOptions, agentDefaults.of(agentId)),
    commands: state?.commands ?? NONE,
    usage: shown?.usage,
    limit: current?.limiter?.note,
    ...(state?.suggestion !== undefined && { suggestion: state.suggestion }),
    prompt: session?.agent.capabilities.prompt ?? NO_PROMPT,
    cards: cardsOf(sources),
    agents: choicesOf(agents, accounts),
    defaultAgentId: agents.defaultAgentId(),
    ...beginning(sources),
  }
}

function wayBack(current: OpenSession, agents: AgentDirectory): Pick<ConversationHead, 'goBack'> {
  const back = agentBefore(current, agents)
  return back ? { goBack: { agentName: back.agent.name, entryId: back.notice } } : {}
}

function choicesOf(agents: AgentDirectory, accounts: Accounts): AgentChoice[] {
  return agents
    .list()
    .map(agent => (agent.source === 'demo' ? agent : { ...agent, account: accounts.describe(agent.agentId) }))
}

/** Returns the agents to show without a session, and the list of sessions. */
function beginning({
  controller: {
    phase,
    trusted,
    opener: { state },
  },
  agents,
  installs,
  sessions,
  isSwitching = false,
}: HeadSources): Pick<ConversationHead, 'sessions' | 'offers' | 'looking' | 'noAgent' | 'preparing'> {
  const listed = (isSwitching || (phase === 'empty' && trusted)) && {
    sessions: trusted ? sessions.list() : NONE,
  }
  if (phase !== 'empty' || !trusted) return { ...listed }
  if (!agents.isSearched()) return { ...listed, looking: true }
  return {
    ...listed,
    offers: agentOffers(agents, installs),
    ...(state.type === 'preparing'
      ? { preparing: state.agentName }
      : agents.defaultAgentId() === undefined && { noAgent: true }),
  }
}

/** Returns a rewind with the positions of its entries. `entries` are all entries, or only those from position `first` on. */
function noteOfRewind(
  { entries, first = 0 }: Pick<SessionState, 'entries'> & { first?: number },
  notice: RewindNotice,
): RewindNote {
  const { id, rewind } = notice
  const end = entries.lastIndexOf(notice)
  let [from, to] = [0, end]
  // a binary search, since entries are in the order of their turns
  while (from < to) {
    const middle = (from + to) >> 1
    if (entries[middle]!.turn < rewind.from) from = middle + 1
    else to = middle
  }
  return { ...rewind, id, first: first + from, end: first + end }
}

export function pendingNotes({ requests, state }: Session): PendingRequestNote[] {
  return requests.open.map(({ requestId, id }) => ({
    requestId,
    entryId: id,
    index: state.index.get(id) ?? -1,
  }))
}

/** Returns the work besides the turn's own, while an agent has the session; `undefined` if there is none. */
export function runningIn({ session, services }: OpenSession): Running | undefined {
  if (!services) return undefined
  const running = runningWork(session.conversation.state, services.terminals.running)
  return running.work.length + running.others > 0 ? running : undefined
}

/**
 * Returns the title of a session that is being opened or couldn't be opened. The title is from the list in which the user selected the
 * session.
 */
function titleOfAttempt({ opener: { state } }: ConversationController): string | undefined {
  const attempt = attemptOf(state)
  return attempt && attempt.type !== 'new' && attempt.type !== 'fork' ? attempt.title : undefined
}

/** Returns the agent's own name with its version, and the protocol version. */
function programOf(agent: Agent | undefined): string | undefined {
  if (!agent) return undefined
  const { name, title, version } = agent.info
  const program = [title ?? name, version].filter(Boolean).join(' ')
  const spoken = l10n.t('protocol version {0}', agent.protocolVersion)
  return program === '' ? spoken : `${program} · ${spoken}`
}

function noteOf({ id, state, draft, reason }: Prompt): QueuedNote[] {
  if (state !== 'sending' && !isQueued(state)) return []
  const shown = state === 'sending' ? 'sending' : 'queued'
  const attachments = attachedItems(draft).length
  return [{ id, state: shown, text: draft.text, attachments, ...(reason !== undefined && { reason }) }]
}

function progressOf({ controller, environments }: HeadSources): string | undefined {
  const { attempt, step } = controller.opener
  if (step === undefined) return undefined
  if (step === 'loading') return l10n.t('Loading the conversation…')
  if (step === 'searching') return l10n.t('Looking for agents on this machine…')
  const { agentId, agentName: agent = l10n.t('the agent') } = controller
  const tool = agentId === undefined ? undefined : environments.slowTool(agentId)
  if (tool !== undefined) return l10n.t('Loading the environment of {0}…', tool)
  switch (attempt?.type) {
    case 'load':
    case 'restore':
      return l10n.t('Loading a session with {0}…', agent)
    case 'fork':
      return l10n.t('Forking a session with {0}…', agent)
    case 'resume':
      return l10n.t('Resuming a session with {0}…', agent)
    default:
      return l10n.t('Starting {0}…', agent)
  }
}

/** Returns the cards: first for problems that prevent any session, then for failures. */
function cardsOf({ controller, agents, installs, environments }: HeadSources): Card[] {
  const { state } = controller.opener
  const before = state.type === 'failed' ? state.before : undefined
  const failed = [...controller.failures].map(([id, failure]) => {
    const card = cardFor(id, failure, installs.isOn)
    return before ? withWayBack(card) : card
  })
  if (!controller.trusted) return [cardFor('untrusted', { type: 'untrusted' })]
  const lost = controller.phase === 'ready' ? (controller.current?.session.optionChanges.lost ?? NONE) : NONE
  if (lost.length > 0) return [...failed, lostOptionsCard(lost)]
  const { current, phase, agentName } = controller
  if (failed.length === 0 && phase === 'ready' && current && environments.isOutdated(current.agentId))
    return [environmentCard(agentName ?? current.agentName)]
  if (phase !== 'empty') return failed
  const problems = agents.problems()
  const problem = agents.defaultProblem()
  const isReported = [...controller.failures.values()].some(({ type }) => type === 'default-agent')
  return [
    ...(problems.length > 0 ? [settingsCard(problems)] : []),
    ...(problem && !isReported
      ? [cardFor('default-agent', { type: 'default-agent', problem }, installs.isOn)]
      : []),
    ...failed,
  ]
}
