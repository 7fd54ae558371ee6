import type { AgentChoice, ConversationHead } from '../../views/bridge/conversation.ts'
import { t } from '../l10n.ts'
import { AgentIcon, Icon } from '../ui/icon.tsx'
import { Cards } from './cards.tsx'
import { useApp } from './context.ts'

/** Before there is a session: which agents there are, where one would work, how to begin. */
export function Empty({ head }: { head: ConversationHead }) {
  const real = head.agents.filter(agent => agent.source !== 'demo')
  const demo = head.agents.filter(agent => agent.source === 'demo')
  const { host } = useApp()
  return (
    <div class="empty" tabIndex={-1}>
      <div class="empty-content">
        <h1 class="visually-hidden">{t('New session')}</h1>
        <Cards />
        {head.agents.length > 0 && (
          <section aria-labelledby="empty-agents">
            <h2 id="empty-agents" class="empty-title">
              {real.length > 0 ? t('Start with an agent') : t('No agent found on this machine')}
            </h2>
            {real.length === 0 && (
              <p class="quiet">
                {t(
                  'Install an agent that speaks the Agent Client Protocol, or add your own in the settings.',
                )}
              </p>
            )}
            <ul class="agents">
              {real.map(agent => (
                <Agent key={agent.agentId} agent={agent} isDefault={agent.agentId === head.defaultAgentId} />
              ))}
              {demo.map(agent => (
                <Agent key={agent.agentId} agent={agent} isDefault={false} />
              ))}
            </ul>
          </section>
        )}
        {(head.agents.length > 0 || head.cards.length === 0) && (
          <div class="empty-links">
            <button type="button" class="link-button" onClick={() => host.run('parley.openHistory')}>
              <Icon name="history" /> {t('Continue an earlier session')}
            </button>
            <button type="button" class="link-button" onClick={() => host.run('parley.openSettings')}>
              <Icon name="gear" /> {t('Add an agent in the settings')}
            </button>
          </div>
        )}
        {head.roots && (
          <p class="empty-place quiet" title={head.roots.cwd}>
            <Icon name={head.roots.scratch ? 'beaker' : 'folder-opened'} />{' '}
            {head.roots.scratch
              ? t('No folder is open: the agent gets a private scratch folder.')
              : t('Works in {0}', head.roots.cwdLabel)}
          </p>
        )}
      </div>
    </div>
  )
}

function Agent({ agent, isDefault }: { agent: AgentChoice; isDefault: boolean }) {
  const { host } = useApp()
  return (
    <li>
      <button type="button" class="agent" onClick={() => host.start(agent.agentId)}>
        <AgentIcon icon={agent.icon} />
        <span class="agent-text">
          <span class="agent-name">{agent.source === 'demo' ? t('Try the demo agent') : agent.name}</span>
          <span class="agent-description">{agent.description ?? sourceText(agent)}</span>
        </span>
        {isDefault && <span class="agent-default">{t('default')}</span>}
      </button>
    </li>
  )
}

function sourceText(agent: AgentChoice): string {
  switch (agent.source) {
    case 'settings':
      return t('From your settings')
    case 'preset':
      return t('Found on this machine')
    case 'demo':
      return t('Needs no account')
  }
}
