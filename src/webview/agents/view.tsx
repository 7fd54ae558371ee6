import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useCallback, useRef, useState } from 'preact/hooks'
import type { AgentRow, AgentsState } from '../../bridge/agents.ts'
import type { AgentAction, AgentsMessages } from '../../bridge/agents-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { plural, t } from '../l10n.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { AgentIcon, Icon } from '../ui/icon.tsx'
import { InstallConfirmation, InstallFailure, InstallProgress } from '../ui/install-state.tsx'
import { announce, LiveRegion } from '../ui/live-region.tsx'
import { Menu, type MenuChoice } from '../ui/menu.tsx'
import { useAgentKeys } from './agent-keys.ts'

interface AgentsViewProps {
  state: Signal<AgentsState | undefined>
  /** kept across reloads */
  search: Signal<string>
  host: HostClient<AgentsMessages>
}

/** The whole Manage Agents page. */
export function AgentsView({ state, search, host }: AgentsViewProps) {
  const now = state.value
  if (!now) return <main class="agents" />
  return <Page now={now} search={search} host={host} />
}

interface PageProps extends Omit<AgentsViewProps, 'state'> {
  now: AgentsState
}

function Page({ now, search, host }: PageProps) {
  const page = useRef<HTMLElement>(null)
  const onKeyDown = useAgentKeys(page)
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
    <main ref={page} class="agents" onKeyDown={onKeyDown}>
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
          {search.value === '' ? t('No agents found.') : t('No agents match “{0}”.', search.value)}
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
        <p class="agents-note quiet">
          <Icon name="workspace-untrusted" />
          <span>
            {t("Restricted Mode: agents don't start and can't be installed until you trust this workspace.")}
          </span>
        </p>
      )}
      {state.refreshing && state.registryOn && (
        <p class="quiet" role="status">
          {t('Reading the agent registry…')}
        </p>
      )}
      {state.problem !== undefined && (
        <p class="agents-note" role="alert">
          <Icon name="warning" class="agents-warning" />
          <span dir="auto">{state.problem}</span>
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
            confirm={question => host.send('manageAgents/confirmInstall', { key: row.key, question })}
          />
        ))}
      </ul>
    </section>
  )
}

/** Whether the row's text contains every word. */
function matches({ name, description, agentId, registryId, source }: AgentRow, text: string): boolean {
  const all = [name, description, agentId, registryId, source].join(' ').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => all.includes(word))
}

interface AgentViewProps {
  row: AgentRow
  trusted: boolean
  act: (action: AgentAction) => void
  /** Confirms the question with this id. */
  confirm: (question: number) => void
}

/** An agent: its description, source, state and buttons. */
function AgentView({ row, trusted, act, confirm }: AgentViewProps) {
  const { name, description, icon, version, update, isDefault, isRunning, asking, running, failed } = row
  const facts = [row.source, row.license, row.account?.text].filter(Boolean).join(' · ')
  return (
    <li
      class={`agent${row.section === 'registry' ? ' agent-wide' : ''}`}
      data-agent={row.registryId ?? row.agentId}
    >
      <div class="agent-head">
        <AgentIcon icon={icon} />
        <h3 dir="auto">{name}</h3>
        {version !== undefined && <span class="quiet">{version}</span>}
        {update !== undefined && <Tag>{t('Update: {0}', update)}</Tag>}
        {isDefault && <Tag>{t('Default')}</Tag>}
        {isRunning && <Tag>{t('Running')}</Tag>}
      </div>
      {description !== '' && <div dir="auto">{description}</div>}
      <div class="agent-facts quiet">{facts}</div>
      {row.command !== undefined && (
        <div class="agent-facts quiet">
          {t('Command:')} <code>{row.command}</code>
        </div>
      )}
      {row.server !== undefined && (
        <div class="agent-facts quiet">
          {t('Server:')} <code>{row.server}</code>
        </div>
      )}
      {row.folder !== undefined && row.folder !== '' && (
        <div class="agent-facts quiet">
          {t('Folder:')} <code>{row.folder}</code>
        </div>
      )}
      {row.problem !== undefined && (
        <div class="agents-note">
          <Icon name="warning" class="agents-warning" />
          <span dir="auto">{row.problem}</span>
        </div>
      )}
      {row.plan !== undefined && !asking && (row.section === 'registry' || update !== undefined) && (
        <div class="agent-facts quiet">{row.plan}</div>
      )}
      {running && <InstallProgress name={name} running={running} />}
      {failed && !running && <InstallFailure failed={failed} />}
      {asking ? (
        <InstallConfirmation name={name} asking={asking} onRun={confirm} onCancel={() => act('cancel')} />
      ) : (
        <div class="agent-buttons">
          <Actions row={row} trusted={trusted} act={act} />
        </div>
      )}
      <CheckResult row={row} />
    </li>
  )
}

function Tag({ children }: { children: ComponentChildren }) {
  return <span class="agent-tag">{children}</span>
}

function Actions({ row, trusted, act }: Omit<AgentViewProps, 'confirm'>) {
  const { name, agentId, running, failed, update, section } = row
  const signedIn = row.account?.signedIn
  const one = (action: AgentAction, words: string, more: { primary?: boolean; disabled?: boolean } = {}) => (
    <Button
      key={action}
      class={`act-${action}`}
      label={`${words}: ${name}`}
      primary={more.primary}
      disabled={more.disabled}
      onClick={() => act(action)}
    >
      {words}
    </Button>
  )
  const locked = { disabled: !trusted }
  const startable = { disabled: !trusted || row.problem !== undefined }
  if (running) return one('cancel', t('Cancel'))
  return (
    <>
      {section === 'registry' && one('install', failed ? t('Retry') : t('Install'), locked)}
      {update !== undefined &&
        one('install', failed ? t('Retry') : t('Update'), { primary: true, ...locked })}
      {agentId !== undefined && (
        <>
          {one('newSession', t('New Session'), startable)}
          {one('check', row.checking ? t('Checking…') : t('Check'), startable)}
          {signedIn === false && one('signIn', t('Sign In'), startable)}
        </>
      )}
      <MoreActions name={name} choices={moreActions(row, trusted)} act={act} />
    </>
  )
}

/** Returns the rarely used actions; in Restricted Mode, without actions that run the agent. */
function moreActions(row: AgentRow, trusted: boolean): Action[] {
  const { agentId, registryId, section, isDefault, isRunning, hasRepository, folder, problem } = row
  const signedIn = row.account?.signedIn
  const canStart = trusted && problem === undefined
  const choices: Action[] = []
  if (agentId !== undefined) {
    if (!isDefault) choices.push({ value: 'setDefault', name: t('Set as Default'), icon: 'star' })
    if (canStart && signedIn === undefined)
      choices.push({ value: 'signIn', name: t('Sign In'), icon: 'sign-in' })
    if (canStart && signedIn !== false)
      choices.push({ value: 'signOut', name: t('Sign Out'), icon: 'sign-out' })
    if (trusted && isRunning) choices.push({ value: 'restart', name: t('Restart'), icon: 'debug-restart' })
    if (canStart)
      choices.push({ value: 'checkConformance', name: t('Check Conformance…'), icon: 'checklist' })
    if (row.canAddAccount) choices.push({ value: 'addAccount', name: t('Add Account…'), icon: 'person-add' })
    choices.push({ value: 'showLog', name: t('Show Log'), icon: 'output' })
    choices.push({ value: 'configure', name: t('Configure'), icon: 'gear' })
  }
  if (folder) choices.push({ value: 'showFolder', name: t('Show Folder'), icon: 'folder-opened' })
  if (folder !== undefined)
    choices.push({ value: 'removeAccount', name: t('Remove Account…'), icon: 'trash' })
  if (hasRepository) choices.push({ value: 'openRepository', name: t('Repository'), icon: 'repo' })
  if (trusted && section === 'installed' && registryId !== undefined)
    choices.push({ value: 'remove', name: t('Remove'), icon: 'trash' })
  return choices
}

type Action = MenuChoice & { value: AgentAction; icon: string }

interface MoreActionsProps {
  name: string
  choices: readonly Action[]
  act: (action: AgentAction) => void
}

function MoreActions({ name, choices, act }: MoreActionsProps) {
  const anchor = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const [first, ...others] = choices
  if (!first) return null
  if (others.length === 0)
    return (
      <IconButton
        class={`act-${first.value}`}
        icon={first.icon}
        label={`${first.name}: ${name}`}
        onClick={() => act(first.value)}
      />
    )
  const label = `${t('More Actions')}: ${name}`
  return (
    <>
      <IconButton
        buttonRef={anchor}
        class="act-more"
        icon="ellipsis"
        label={label}
        expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && (
        <Menu
          anchor={anchor}
          label={label}
          choices={choices}
          onChoose={action => act(action as AgentAction)}
          onClose={close}
        />
      )}
    </>
  )
}

function CheckResult({ row: { check } }: { row: AgentRow }) {
  if (!check) return null
  return (
    <div class="agent-check" role="status">
      <div class="agents-note">
        <Icon name={check.ok ? 'pass' : 'error'} class={check.ok ? 'agent-pass' : 'offer-error'} />
        <span dir="auto">{check.summary}</span>
      </div>
      {check.details.length > 0 && (
        <dl>
          {check.details.map(({ label, text }) => (
            <div key={label} class="agent-detail">
              <dt class="quiet">{label}</dt>
              <dd dir="auto">{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}
