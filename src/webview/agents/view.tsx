import type { Signal } from '@preact/signals'
import type { AgentRow, AgentsState } from '../../views/bridge/agents.ts'
import type { AgentsMessages } from '../../views/bridge/agents-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { plural, t } from '../l10n.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { announce, LiveRegion } from '../ui/live-region.tsx'
import { AgentView } from './agent.tsx'

interface AgentsViewProps {
  state: Signal<AgentsState | undefined>
  /** kept through a reload */
  search: Signal<string>
  host: HostClient<AgentsMessages>
}

/** The whole Manage Agents page. */
export function AgentsView({ state, search, host }: AgentsViewProps) {
  const now = state.value
  if (!now) return <main class="agents" />
  const found = now.rows.filter(row => matches(row, search.value))
  const setText = (text: string) => {
    search.value = text
    announce(plural(now.rows.filter(row => matches(row, text)).length, '1 agent', '{0} agents'))
  }
  const sections: Array<[AgentRow['section'], string]> = [
    ['installed', t('Installed')],
    ['found', t('Found on This Machine')],
    ['settings', t('From Settings')],
    ['registry', t('In the Registry')],
  ]
  return (
    <main class="agents">
      <h1>{t('Manage Agents')}</h1>
      <div class="agents-search">
        <div class="search-box">
          <Icon name="search" />
          <input
            type="text"
            aria-label={t('Search agents')}
            placeholder={t('Search agents')}
            spellcheck={false}
            value={search.value}
            onInput={event => setText(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key !== 'Escape' || event.isComposing || search.value === '') return
              event.preventDefault()
              setText('')
            }}
          />
          {search.value !== '' && <IconButton icon="close" label={t('Clear')} onClick={() => setText('')} />}
        </div>
        <IconButton
          icon="refresh"
          label={t('Refresh')}
          disabled={now.refreshing}
          onClick={() => host.send('manageAgents/refresh')}
        />
      </div>
      <Notes state={now} />
      {sections.map(([section, title]) => (
        <Section
          key={section}
          title={title}
          rows={found.filter(row => row.section === section)}
          trusted={now.trusted}
          host={host}
        />
      ))}
      {found.length === 0 && !now.refreshing && (
        <p class="quiet">
          {search.value === '' ? t('No agents are known.') : t('No agents match “{0}”.', search.value)}
        </p>
      )}
      <LiveRegion />
    </main>
  )
}

function Notes({ state }: { state: AgentsState }) {
  return (
    <>
      {!state.trusted && (
        <p class="quiet">
          <Icon name="workspace-untrusted" />{' '}
          {t("Restricted Mode: agents don't start and can't be installed until you trust this workspace.")}
        </p>
      )}
      {state.refreshing && (
        <p class="quiet" role="status">
          {t('Reading the agent registry…')}
        </p>
      )}
      {state.problem !== undefined && (
        <p role="alert">
          <Icon name="warning" /> <span dir="auto">{state.problem}</span>
        </p>
      )}
      {!state.registryOn && <p class="quiet">{t('The agent registry is turned off in the settings.')}</p>}
    </>
  )
}

interface SectionProps {
  title: string
  rows: readonly AgentRow[]
  trusted: boolean
  host: HostClient<AgentsMessages>
}

function Section({ title, rows, trusted, host }: SectionProps) {
  if (rows.length === 0) return null
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="quiet">{rows.length}</span>
      </h2>
      <ul class="agents-list">
        {rows.map(row => (
          <AgentView
            key={row.key}
            row={row}
            trusted={trusted}
            act={action => host.send('manageAgents/act', { action, key: row.key })}
          />
        ))}
      </ul>
    </section>
  )
}

/** Every word is somewhere in what the row shows. */
function matches({ name, description, agentId, registryId, source }: AgentRow, text: string): boolean {
  const all = [name, description, agentId, registryId, source].join(' ').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => all.includes(word))
}
