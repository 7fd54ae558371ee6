import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useId, useState } from 'preact/hooks'
import {
  type ComparedAgent,
  type ComparedFile,
  type ComparedFiles,
  type CompareState,
  type Comparison,
  isBusy,
  type RunState,
} from '../../bridge/compare.ts'
import type { CompareMessages } from '../../bridge/compare-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { dateFormat, formatDuration, formatNumber, formatSeconds, plural, t } from '../l10n.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { AgentIcon, Icon } from '../ui/icon.tsx'
import { announce, LiveRegion } from '../ui/live-region.tsx'

type Host = HostClient<CompareMessages>
type Files = ReadonlyMap<number, ComparedFiles>

interface CompareViewProps {
  state: ReadonlySignal<CompareState | undefined>
  files: ReadonlySignal<Files>
  host: Host
}

/** The whole page that compares agents, with a card for each agent. */
export function CompareView({ state, files, host }: CompareViewProps) {
  const [picked, setPicked] = useState<readonly number[]>([])
  const shown = state.value
  if (!shown) return <main class="compare" />
  const { comparison } = shown
  if (!comparison)
    return (
      <main class="compare">
        <h1>{t('Compare Agents')}</h1>
        <p class="quiet">
          {t(
            'There are no comparisons. To start one, write a prompt and run Parley: Send to Several Agents….',
          )}
        </p>
        <LiveRegion />
      </main>
    )
  const { agents, trusted } = comparison
  const known = files.value
  const comparable = [...agents.keys()].filter(agent => hasChanges(known.get(agent)))
  const chosen = picked.filter(agent => comparable.includes(agent))
  const pair = comparable.length === 2 ? comparable : chosen
  /** Selects or deselects an agent. When a third agent is selected, the first one is deselected. */
  const pick = (agent: number, on: boolean) =>
    setPicked([...chosen.filter(one => one !== agent), ...(on ? [agent] : [])].slice(-2))
  return (
    <main class="compare">
      <div class="compare-top">
        <div class="compare-title">
          <h1 dir="auto">{comparison.title || t('Compare Agents')}</h1>
          <p class="quiet">
            {t('From {0}', comparison.from)} ·{' '}
            {dateFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(comparison.at)}
          </p>
        </div>
        <div class="compare-buttons" role="toolbar" aria-label={t('All agents')}>
          {comparable.length > 1 && (
            <Button
              icon="diff-multiple"
              disabled={!trusted || pair.length !== 2}
              title={pair.length === 2 ? undefined : t('Select two agents to compare')}
              onClick={() =>
                host.send('compare/compareTwo', { id: comparison.id, agents: [pair[0]!, pair[1]!] })
              }
            >
              {comparable.length === 2 ? t('Compare Both') : t('Compare Selected')}
            </Button>
          )}
          {agents.filter(isBusy).length > 1 && (
            <Button icon="debug-stop" onClick={() => host.send('compare/stopAll', { id: comparison.id })}>
              {t('Stop All')}
            </Button>
          )}
          {comparison.hasOthers && (
            <IconButton
              icon="history"
              label={t('Show Comparison…')}
              onClick={() => host.send('compare/choose')}
            />
          )}
        </div>
      </div>
      {!trusted && (
        <p class="compare-note quiet">
          <Icon name="workspace-untrusted" />
          <span>{t('Changes are shown once you trust the workspace.')}</span>
        </p>
      )}
      <ul class="compare-agents" aria-label={t('Agents')}>
        {agents.map((agent, at) => (
          <AgentCard
            // their order never changes
            key={at}
            at={at}
            agent={agent}
            comparison={comparison}
            files={known}
            {...(comparable.length > 2 &&
              comparable.includes(at) && {
                picked: chosen.includes(at),
                onPick: (on: boolean) => pick(at, on),
              })}
            host={host}
          />
        ))}
      </ul>
      <LiveRegion />
    </main>
  )
}

interface AgentCardProps {
  at: number
  agent: ComparedAgent
  comparison: Comparison
  files: Files
  picked?: boolean
  onPick?: (on: boolean) => void
  host: Host
}

function AgentCard({ at, agent, comparison, files, picked, onPick, host }: AgentCardProps) {
  const id = useId()
  const own = files.get(at)
  const participantId = { id: comparison.id, agent: at }
  const { name, state, reason, line, worktree } = agent
  return (
    <li class="compare-agent" aria-labelledby={id}>
      <div class="compare-head">
        <AgentIcon icon={agent.icon} />
        <h2 id={id} dir="auto">
          {name}
        </h2>
        {own?.applied && (
          <span class="agent-tag">{own.applied === 'all' ? t('Applied') : t('Applied, changed since')}</span>
        )}
        {onPick && (
          <label class="compare-pick">
            <input
              type="checkbox"
              checked={picked}
              aria-label={t('Select {0} to compare', name)}
              onChange={event => onPick(event.currentTarget.checked)}
            />
            <span>{t('Compare')}</span>
          </label>
        )}
      </div>
      <div class={`compare-state compare-${state}`}>
        <StateIcon state={state} />
        {state === 'waiting' ? (
          <button type="button" class="link-button" onClick={() => host.send('compare/open', participantId)}>
            {stateText(state)}
          </button>
        ) : (
          <span>{stateText(state)}</span>
        )}
        <Facts agent={agent} />
      </div>
      {reason && (
        <p class="compare-reason failed" dir="auto">
          {reason}
        </p>
      )}
      {line && (
        <p class="compare-line quiet" dir="auto" title={line}>
          {line}
        </p>
      )}
      {worktree && own && (
        <Changes own={own} at={at} agent={agent} files={files} comparison={comparison} host={host} />
      )}
      <Actions at={at} agent={agent} own={own} comparison={comparison} files={files} host={host} />
    </li>
  )
}

/** A copy of the component of the conversation's page: a shared module would make that page's first load larger. */
function DiffCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="diff-counts">
      {added > 0 && <span class="added">+{formatNumber(added)}</span>}
      {removed > 0 && <span class="removed">−{formatNumber(removed)}</span>}
    </span>
  )
}

/** The time in milliseconds since the epoch, updated once a second while `isTicking`. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (!isTicking) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}

function Facts({ agent: { worked, since, cost, tokens } }: { agent: ComparedAgent }) {
  const now = useNow(since !== undefined)
  const time =
    since === undefined
      ? worked > 0 && formatDuration(worked)
      : formatSeconds((worked + Math.max(0, now - since)) / 1000)
  const facts = [time, cost, tokens !== undefined && plural(tokens, '1 token', '{0} tokens')].filter(Boolean)
  return facts.length === 0 ? null : <span class="compare-facts quiet">{facts.join(' · ')}</span>
}

interface ChangesProps {
  own: ComparedFiles
  at: number
  agent: ComparedAgent
  files: Files
  comparison: Comparison
  host: Host
}

function Changes({ own, at, agent, files, comparison, host }: ChangesProps) {
  const { count, added, removed, isEarly, isGone, problem } = own
  if (isGone || problem !== undefined || count === 0)
    return (
      <p class="compare-note quiet">
        <Icon name={isGone ? 'trash' : problem === undefined ? 'file' : 'warning'} />
        <span dir="auto">
          {isGone
            ? t('The worktree was removed.')
            : (problem ?? (isEarly || isBusy(agent) ? t('No changes yet') : t('No changes')))}
        </span>
      </p>
    )
  return (
    <details class="compare-files fold" open>
      <summary>
        <span>{plural(count, '1 file', '{0} files')}</span>
        <DiffCounts added={added} removed={removed} />
      </summary>
      <ul>
        {own.files.map(file => (
          <FileRow
            key={file.path}
            file={file}
            others={otherNames(file.path, at, files, comparison)}
            onOpen={() => host.send('compare/changes', { id: comparison.id, agent: at, path: file.path })}
          />
        ))}
      </ul>
      {count > own.files.length && (
        <p class="quiet">{plural(count - own.files.length, 'and 1 more file', 'and {0} more files')}</p>
      )}
    </details>
  )
}

interface FileRowProps {
  file: ComparedFile
  others: string
  onOpen: () => void
}

function FileRow({ file: { path, kind, added, removed }, others, onOpen }: FileRowProps) {
  const slash = path.lastIndexOf('/') + 1
  const about = [path, kindText(kind), others && t('Also changed by {0}', others)].filter(Boolean)
  return (
    <li>
      <button type="button" class="compare-file" title={about.join('\n')} onClick={onOpen}>
        <Icon name={KIND_ICONS[kind]} label={kindText(kind)} />
        <span class="compare-path" dir="ltr">
          <span class="quiet compare-folder">{path.slice(0, slash)}</span>
          <span class="compare-name">{path.slice(slash)}</span>
        </span>
        {others && <Icon name="diff-multiple" class="quiet" label={t('Also changed by {0}', others)} />}
        <DiffCounts added={added ?? 0} removed={removed ?? 0} />
      </button>
    </li>
  )
}

function otherNames(path: string, at: number, files: Files, { agents }: Comparison): string {
  const others = [...files].filter(
    ([agent, own]) => agent !== at && own.files.some(file => file.path === path),
  )
  return others.map(([agent]) => agents[agent]?.name ?? '').join(', ')
}

interface ActionsProps {
  at: number
  agent: ComparedAgent
  own: ComparedFiles | undefined
  comparison: Comparison
  files: Files
  host: Host
}

function Actions({ at, agent, own, comparison, files, host }: ActionsProps) {
  const { name, state, hasSession, hasPrompt, needsSignIn } = agent
  const { trusted } = comparison
  const participantId = { id: comparison.id, agent: at }
  const button = (
    text: string,
    message: Exclude<
      keyof CompareMessages,
      'compare/ready' | 'compare/choose' | 'compare/stopAll' | 'compare/compareTwo'
    >,
    options: { primary?: boolean; needsTrust?: boolean } = {},
  ) => (
    <Button
      label={`${text}: ${name}`}
      primary={options.primary}
      disabled={options.needsTrust && !trusted}
      onClick={() => host.send(message, participantId)}
    >
      {text}
    </Button>
  )
  const busy = isBusy(agent)
  const changed = hasChanges(own)
  const needsStart = !busy && !hasSession && hasPrompt
  const canDiscardOthers =
    own?.applied !== undefined && [...files].some(([agent, one]) => agent !== at && !one.isGone)
  return (
    <div class="compare-buttons">
      {state === 'waiting' && button(t('Answer…'), 'compare/open', { primary: true })}
      {needsSignIn &&
        (hasSession || hasPrompt) &&
        button(t('Sign In…'), 'compare/signIn', { primary: true, needsTrust: true })}
      {needsStart && !needsSignIn && button(t('Retry'), 'compare/retry', { needsTrust: true })}
      {changed &&
        !busy &&
        button(t('Apply to Workspace'), 'compare/apply', { primary: !own?.applied, needsTrust: true })}
      {canDiscardOthers && button(t('Discard the Others…'), 'compare/discardOthers', { needsTrust: true })}
      {changed && button(t('Show Changes'), 'compare/changes', { needsTrust: true })}
      {hasSession && state !== 'waiting' && button(t('Open Session'), 'compare/open')}
      {busy && button(t('Stop'), 'compare/stop')}
      {!busy && own && !own.isGone && button(t('Discard…'), 'compare/discard', { needsTrust: true })}
    </div>
  )
}

function hasChanges(own: ComparedFiles | undefined): boolean {
  return own !== undefined && !own.isGone && own.count > 0
}

const ICONS: Record<RunState, string> = {
  starting: 'loading',
  working: 'sync',
  waiting: 'bell-dot',
  done: 'pass',
  failed: 'error',
  stopped: 'circle-slash',
  interrupted: 'warning',
}

function StateIcon({ state }: { state: RunState }) {
  const spins = state === 'starting' || state === 'working'
  return <Icon name={ICONS[state]} class={spins ? 'codicon-modifier-spin' : ''} />
}

function stateText(state: RunState): string {
  switch (state) {
    case 'starting':
      return t('Starting')
    case 'working':
      return t('Working')
    case 'waiting':
      return t('Needs your answer')
    case 'done':
      return t('Done')
    case 'failed':
      return t('Failed')
    case 'stopped':
      return t('Stopped')
    case 'interrupted':
      return t('Interrupted')
  }
}

const KIND_ICONS: Record<ComparedFile['kind'], string> = {
  added: 'add',
  deleted: 'trash',
  modified: 'edit',
}

function kindText(kind: ComparedFile['kind']): string {
  return kind === 'added' ? t('Added') : kind === 'deleted' ? t('Deleted') : t('Modified')
}

/** Announces to screen readers which agents have a new state. */
export function announceStates(before: Comparison | undefined, after: Comparison | undefined): void {
  const changed = after?.agents.filter(({ state }, at) => before && before.agents[at]?.state !== state) ?? []
  if (changed.length > 0)
    announce(changed.map(({ name, state }) => `${name}: ${stateText(state)}`).join('. '))
}
