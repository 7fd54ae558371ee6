import type { ComponentChildren } from 'preact'
import type { AgentRow } from '../../views/bridge/agents.ts'
import type { AgentAction } from '../../views/bridge/agents-messages.ts'
import { t } from '../l10n.ts'
import { Button } from '../ui/button.tsx'
import { AgentIcon, Icon } from '../ui/icon.tsx'
import { InstallFailure, InstallProgress } from '../ui/install-state.tsx'

interface AgentViewProps {
  row: AgentRow
  trusted: boolean
  act: (action: AgentAction) => void
}

/** One agent: what it is, where it comes from, its state, and what can be done with it. */
export function AgentView({ row, trusted, act }: AgentViewProps) {
  const { name, description, icon, version, update, isDefault, isRunning, running, failed } = row
  const facts = [row.source, row.license, row.agentId && row.account].filter(Boolean).join(' · ')
  return (
    <li class="agent">
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
      {row.plan !== undefined && (row.section === 'registry' || update !== undefined) && (
        <div class="agent-facts quiet">{row.plan}</div>
      )}
      {running && <InstallProgress name={name} running={running} />}
      {failed && !running && <InstallFailure failed={failed} />}
      <div class="agent-buttons">
        <Actions row={row} trusted={trusted} act={act} />
      </div>
      <CheckResult row={row} />
    </li>
  )
}

function Tag({ children }: { children: ComponentChildren }) {
  return <span class="agent-tag">{children}</span>
}

function Actions({ row, trusted, act }: AgentViewProps) {
  const { name, agentId, registryId, running, failed, update, section, isDefault } = row
  const one = (action: AgentAction, words: string, more: { primary?: boolean; disabled?: boolean } = {}) => (
    <Button
      key={action}
      label={`${words}: ${name}`}
      primary={more.primary}
      disabled={more.disabled}
      onClick={() => act(action)}
    >
      {words}
    </Button>
  )
  const locked = { disabled: !trusted }
  if (running) return one('cancel', t('Cancel'))
  return (
    <>
      {section === 'registry' && one('install', failed ? t('Retry') : t('Install'), locked)}
      {update !== undefined &&
        one('install', failed ? t('Retry') : t('Update'), { primary: true, ...locked })}
      {agentId !== undefined && (
        <>
          {one('newSession', t('New Session'), locked)}
          {one('check', row.checking ? t('Checking…') : t('Check'), {
            disabled: !trusted || row.checking === true,
          })}
          {!isDefault && one('setDefault', t('Set as Default'))}
          {one('signIn', t('Sign In'), locked)}
          {one('signOut', t('Sign Out'), locked)}
          {row.isRunning && one('restart', t('Restart'), locked)}
          {one('showLog', t('Show Log'))}
          {one('configure', t('Configure'))}
        </>
      )}
      {section === 'installed' && registryId !== undefined && one('remove', t('Remove'), locked)}
      {row.hasRepository && one('openRepository', t('Repository'))}
    </>
  )
}

function CheckResult({ row: { check } }: { row: AgentRow }) {
  if (!check) return null
  return (
    <div class="agent-check" role="status">
      <div>
        <Icon name={check.ok ? 'pass' : 'error'} class={check.ok ? 'agent-pass' : 'offer-error'} />{' '}
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
