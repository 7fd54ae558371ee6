import { useState } from 'preact/hooks'
import type { AgentChoice, ConversationHead } from '../../bridge/conversation.ts'
import type { PageCommand } from '../../bridge/conversation-messages.ts'
import { t } from '../l10n.ts'
import { Choice } from '../ui/choice.tsx'
import { AgentIcon, Icon } from '../ui/icon.tsx'
import { lazyWithStyles } from '../ui/lazy.tsx'
import { Cards } from './cards.tsx'
import type { Draft } from './composer/draft.ts'
import { SendingPrompts } from './composer/outgoing.tsx'
import { useApp } from './context.ts'
import { moveFocus } from './navigation/keys.ts'

const Offers = lazyWithStyles(() => import('./agent-offers.tsx').then(module => module.Offers))
const StartSessions = lazyWithStyles(() =>
  import('./start-sessions.tsx').then(module => module.StartSessions),
)

/** The view without a session: the available agents, the folder, and how to start. */
export function Empty({ head, draft }: { head: ConversationHead; draft: Draft }) {
  const real = head.agents.filter(agent => agent.source !== 'demo')
  const demo = head.agents.filter(agent => agent.source === 'demo')
  const sessions = head.sessions ?? []
  // in Restricted Mode, agents weren't searched
  const untrusted = head.cards.some(({ id }) => id === 'untrusted')
  const signIn = head.cards.some(({ choices, busy }) => busy || (choices && choices.length > 0))
  // an unavailable default agent has a card that says what to do
  const hasDefault = head.defaultAgentId !== undefined || head.cards.some(({ id }) => id === 'default-agent')
  const needsAgent = real.length === 0 && !hasDefault
  const installs = (head.offers ?? []).filter(
    ({ asking, running, failed }) => !hasDefault || asking || running || failed,
  )
  const offers = untrusted ? real.length > 0 : head.agents.length > 0
  return (
    <div class="empty" tabIndex={-1}>
      <div class="empty-content">
        <h1 class="visually-hidden">{t('New session')}</h1>
        <Cards />
        <SendingPrompts head={head} draft={draft} />
        {signIn && offers && (
          // collapsed to one line, so that it stays in view below the card
          <details class="fold">
            <summary>{t('Start with Another Agent')}</summary>
            <Agents agents={[...real, ...demo]} defaultAgentId={head.defaultAgentId} />
          </details>
        )}
        {sessions.length > 0 && <StartSessions head={head} sessions={sessions} />}
        {!untrusted && head.looking && real.length === 0 && (
          <p class="quiet" role="status">
            {t('Looking for agents on this machine…')}
          </p>
        )}
        {offers && !signIn && (real.length > 0 || !head.looking) && (
          <section aria-labelledby="empty-agents">
            <h2 id="empty-agents" class="empty-title">
              {needsAgent && sessions.length === 0 ? t('Set Up an Agent') : t('Start with an agent')}
            </h2>
            {needsAgent && !head.cards.some(({ id }) => id === 'no-agent') && (
              <p class="quiet">
                {installs.length > 0
                  ? t('Install Claude Code, Codex, Gemini CLI or another ACP agent, or try the demo.')
                  : t('Add an agent in settings, or try the demo.')}
              </p>
            )}
            {installs.length > 0 && <Offers offers={installs} />}
            <Agents agents={[...real, ...demo]} defaultAgentId={head.defaultAgentId} />
          </section>
        )}
        {(offers || head.cards.length === 0) && (
          <div class="empty-links">
            {sessions.length === 0 && (
              <CommandLink command="parley.openHistory" icon="history" text={t('Open Session History')} />
            )}
            <CommandLink command="parley.manageAgents" icon="extensions" text={t('Manage Agents')} />
            <CommandLink command="parley.openSettings" icon="gear" text={t('Add Agent in Settings')} />
          </div>
        )}
        {head.roots && (
          <p class="empty-place quiet" title={head.roots.cwd}>
            <Icon name={head.roots.scratch ? 'beaker' : 'folder-opened'} />
            <span>
              {head.roots.scratch
                ? t('No folder is open. The agent works in a private scratch folder.')
                : t('Working directory: {0}', head.roots.cwdLabel)}
            </span>
          </p>
        )}
      </div>
    </div>
  )
}

/** The list of agents, a single tab stop in which the arrow keys move between the agents. */
function Agents({ agents, defaultAgentId }: { agents: AgentChoice[]; defaultAgentId: string | undefined }) {
  const [stop, setStop] = useState(defaultAgentId)
  const reachable = agents.some(agent => agent.agentId === stop) ? stop : agents[0]?.agentId
  return (
    <ul class="choices lines" onKeyDown={event => moveFocus(event, event.currentTarget, '.choice')}>
      {agents.map(agent => (
        <Agent
          key={agent.agentId}
          agent={agent}
          isDefault={agent.source !== 'demo' && agent.agentId === defaultAgentId}
          tabIndex={agent.agentId === reachable ? 0 : -1}
          onFocus={() => setStop(agent.agentId)}
        />
      ))}
    </ul>
  )
}

interface AgentProps {
  agent: AgentChoice
  isDefault: boolean
  tabIndex: number
  onFocus: () => void
}

function Agent({ agent, isDefault, tabIndex, onFocus }: AgentProps) {
  const { host, composer } = useApp()
  const name = agent.source === 'demo' ? t('Try the Demo Agent') : agent.name
  const description = agent.description ?? sourceText(agent)
  return (
    <Choice
      icon={<AgentIcon icon={agent.icon} />}
      name={name}
      about={description}
      note={agent.account?.signedIn === undefined ? undefined : agent.account.text}
      hint={agent.account?.text}
      end={isDefault && <span class="choice-end">{t('default')}</span>}
      tabIndex={tabIndex}
      onFocus={onFocus}
      onClick={() => {
        host.send('conversation/start', { agentId: agent.agentId })
        // the button disappears, so focus the composer next
        composer.current?.focus()
      }}
    />
  )
}

function sourceText(agent: AgentChoice): string {
  switch (agent.source) {
    case 'settings':
      return t('From Settings')
    case 'installed':
    case 'preset':
      return t('Installed')
    case 'demo':
      return t('No account required')
  }
}

/** An empty session: its agent, its folders, and ways to start. */
export function EmptySession({ head }: { head: ConversationHead }) {
  const { host, composer } = useApp()
  const { agent, roots, commands } = head
  // `/memory` represents `/memory show` and others that start with it
  const names = [...new Set(commands.map(command => command.name.split(' ', 1)[0]))].slice(0, 6)
  return (
    <div class="empty begin">
      <div class="empty-content">
        <section aria-labelledby="begin-agent">
          <h2 id="begin-agent" class="begin-agent">
            <AgentIcon icon={agent?.icon} />
            <span dir="auto">{agent?.name}</span>
          </h2>
          {roots && (
            <p class="quiet" title={roots.cwd}>
              {roots.scratch
                ? t('No folder is open. The agent works in a private scratch folder.')
                : t('Working directory: {0}', roots.cwdLabel)}
            </p>
          )}
          <ul class="choices">
            <Choice
              icon={<Icon name="mention" />}
              name={t('Add Context')}
              about={t('Type @ to add files, symbols and changes')}
              onClick={() => composer.current?.type('@')}
            />
            {names.length > 0 && (
              <Choice
                icon={<Icon name="symbol-event" />}
                name={t('Use Slash Commands')}
                about={names.map(name => `/${name}`).join('  ')}
                onClick={() => composer.current?.type('/')}
              />
            )}
            <Choice
              icon={<Icon name="history" />}
              name={t('Open Session History')}
              about={t('Load or resume a session')}
              onClick={() => host.send('conversation/command', { command: 'parley.openHistory' })}
            />
          </ul>
        </section>
      </div>
    </div>
  )
}

interface CommandLinkProps {
  command: PageCommand
  icon: string
  text: string
}

/** A link that runs a command. */
function CommandLink({ command, icon, text }: CommandLinkProps) {
  const { host } = useApp()
  return (
    <button type="button" class="link-button" onClick={() => host.send('conversation/command', { command })}>
      <Icon name={icon} />
      <span>{text}</span>
    </button>
  )
}
