import * as l10n from '@vscode/l10n'
import type { QueuedPrompt } from '../../conversation/turn.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { sessionTitle } from '../../sessions/session-title.ts'
import type { Card, ConversationHead, QueuedNote } from '../bridge/conversation.ts'
import { cardFor, settingsCard } from '../cards.ts'

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
    keyBefore: controller.keyBefore,
    agent: agentId === undefined ? undefined : { agentId, name: agent?.name ?? agentId, icon: agent?.icon },
    sessionId: session?.sessionId,
    title: state && sessionTitle(state),
    activity: state?.activity ?? 'idle',
    turnStartedAt: state?.turnStartedAt,
    queue: session?.queued.map(noteOf) ?? NONE,
    queueHeld: session?.queueHeld ?? false,
    roots: current?.plan.roots,
    mcpServers: current?.plan.mcpServers ?? NONE,
    plans: state ? [...state.plans] : NONE,
    configOptions: state ? [...state.configOptions] : NONE,
    pendingOptions: session ? session.pendingOptions : NONE,
    commands: state?.commands ?? NONE,
    usage: state?.usage,
    prompt: session?.agent.capabilities.prompt ?? NO_PROMPT,
    cards: cardsOf(controller, agents),
    agents: agents.list(),
    defaultAgentId: agents.defaultAgentId(),
  }
}

function noteOf({ id, content }: QueuedPrompt): QueuedNote {
  const texts = content.flatMap(block => (block.type === 'text' ? [block.text] : []))
  return { id, text: texts.join('\n'), attachments: content.length - texts.length }
}

function progressOf(controller: ConversationController, name: string | undefined): string | undefined {
  if (controller.phase === 'loading') return l10n.t('Loading the conversation…')
  if (controller.phase !== 'starting') return undefined
  const agent = name ?? l10n.t('the agent')
  switch (controller.attempt?.type) {
    case 'load':
    case 'restore':
      return l10n.t('Loading a session of {0}…', agent)
    case 'fork':
      return l10n.t('Forking a session of {0}…', agent)
    case 'resume':
      return l10n.t('Resuming a session of {0}…', agent)
    default:
      return l10n.t('Starting {0}…', agent)
  }
}

/** What stands in the way at all, then what failed. */
function cardsOf(controller: ConversationController, agents: AgentDirectory): Card[] {
  const failed = [...controller.failures].map(([id, failure]) => cardFor(id, failure))
  if (!controller.trusted) return [cardFor('untrusted', { type: 'untrusted' })]
  const problems = controller.phase === 'empty' ? agents.problems() : []
  return problems.length > 0 ? [settingsCard(problems), ...failed] : failed
}
