import * as l10n from '@vscode/l10n'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { ConversationHead } from '../bridge/conversation.ts'
import { cardFor } from '../cards.ts'

const NO_PROMPT = { image: false, audio: false, embeddedContext: false }
const NONE: never[] = []

/** Everything a view shows of a conversation besides its entries. */
export function buildHead(controller: ConversationController, agents: AgentDirectory): ConversationHead {
  const { current, phase, agentId } = controller
  const agent = agentId === undefined ? undefined : agents.get(agentId)
  const session = current?.session
  const state = session?.state
  return {
    phase,
    progress: progressOf(controller, agent?.name ?? agentId),
    key: controller.key,
    agent: agentId === undefined ? undefined : { agentId, name: agent?.name ?? agentId, icon: agent?.icon },
    sessionId: session?.id,
    title: state?.title,
    activity: state?.activity ?? 'idle',
    turnStartedAt: state?.turnStartedAt,
    queued: session?.queued.length ?? 0,
    roots: current?.plan.roots,
    mcpServers: current?.plan.mcpServers ?? NONE,
    plans: state?.plans ?? NONE,
    configOptions: state?.configOptions ?? NONE,
    pendingOptions: session ? [...session.pendingOptions] : NONE,
    commands: state?.commands ?? NONE,
    usage: state?.usage,
    prompt: session?.agent.capabilities.prompt ?? NO_PROMPT,
    cards: [...controller.failures].map(([id, failure]) => cardFor(id, failure)),
    agents: agents.list(),
    defaultAgentId: agents.defaultAgentId(),
  }
}

function progressOf(controller: ConversationController, name: string | undefined): string | undefined {
  if (controller.phase === 'loading') return l10n.t('Loading the conversation…')
  if (controller.phase !== 'starting') return undefined
  const agent = name ?? l10n.t('the agent')
  switch (controller.attempt?.type) {
    case 'load':
      return l10n.t('Loading a session of {0}…', agent)
    case 'resume':
      return l10n.t('Resuming a session of {0}…', agent)
    default:
      return l10n.t('Starting {0}…', agent)
  }
}
