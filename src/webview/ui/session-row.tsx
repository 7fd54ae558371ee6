import type { ComponentChildren } from 'preact'
import type { HistoryRow } from '../../bridge/history.ts'
import { needsAnswerText } from '../../conversation/requests/pending-text.ts'
import { t } from '../l10n.ts'
import { now } from './clock.ts'
import { AgentIcon } from './icon.tsx'
import { longTime, shortTime } from './session-dates.ts'
import { worktreeText } from './worktree-text.ts'

interface SessionRowProps {
  row: HistoryRow
  /** the agent's icon */
  icon: string | undefined
  /** whether to show the folder, because the list has sessions of several folders */
  folder: boolean
  /** replaces the title */
  title?: ComponentChildren
  /** buttons after the second line */
  actions?: ComponentChildren
  /** a third line */
  third?: ComponentChildren
}

/** The content of a row in any list of sessions: the agent's icon, title and state; agent, folder and time. */
export function SessionRow({ row, icon, folder, title, actions, third }: SessionRowProps) {
  const state = title ? undefined : describeState(row)
  return (
    <>
      <span class="session-icon" aria-hidden="true">
        <span class="session-glyph">
          <AgentIcon icon={icon} />
        </span>
        <span class={`dot dot-${dotClass(row)}`} />
      </span>
      <span class="session-text" title={sessionTooltip(row)}>
        <span class="session-line">
          {title || (
            <span class={`session-title truncate${row.untitled ? ' untitled' : ''}`} dir="auto">
              {row.title}
            </span>
          )}
          {state && <span class={`session-state truncate state-${dotClass(row)}`}>{state}</span>}
        </span>
        <span class="session-line">
          <span class="session-about truncate">
            <span class="session-agent">{row.agentName}</span>
            <span class="session-rest">{describeRest(row, folder)}</span>
          </span>
          {actions}
        </span>
        {third}
      </span>
    </>
  )
}

/** Returns the rest of the second line, after the agent's name. */
function describeRest(row: HistoryRow, folder: boolean): string {
  const other = row.inWindow ? t('in another window') : describeElsewhere(row)
  const elsewhere = row.open ? undefined : (other ?? describeUnlisted(row))
  return [
    row.worktree ? shortWorktree(row.worktree) : folder && (row.here ? row.folder : t('in {0}', row.folder)),
    row.updatedAt !== undefined && shortTime(row.updatedAt, now.value),
    elsewhere,
  ]
    .filter(Boolean)
    .map(part => ` · ${part}`)
    .join('')
}

/** Returns the worktree's name and branch, without a branch that Parley created for the worktree. */
function shortWorktree(worktree: NonNullable<HistoryRow['worktree']>): string {
  return worktree.branch === `parley/${worktree.name}` ? worktree.name : worktreeText(worktree)
}

/** The tooltip of a session: everything that the row may truncate. */
export function sessionTooltip(row: HistoryRow): string {
  const saved = row.elsewhere === 'saved' ? t('Stored by {0}', row.agentName) : undefined
  const former = row.formerTitles?.length ? t('Earlier titles: {0}', row.formerTitles.join(', ')) : undefined
  const time = row.updatedAt === undefined ? undefined : longTime(row.updatedAt)
  const worktree = row.worktree && t('Worktree {0}', worktreeText(row.worktree))
  return [row.title, former, row.agentName, worktree, row.cwd, time, saved ?? unlistedTooltip(row)]
    .filter(Boolean)
    .join('\n')
}

function dotClass(row: HistoryRow): string {
  if (row.activity === 'running') return 'running'
  if (row.activity === 'requires_action') return 'waiting'
  if (row.ended) return row.ended === 'done' ? 'done' : 'failed'
  return row.open ? 'idle' : 'closed'
}

function describeState(row: HistoryRow): string | undefined {
  if (row.activity === 'running') return t('Running')
  if (row.activity === 'requires_action') return needsAnswerText(t)
  if (row.ended === 'failed') return t('Failed')
  if (row.ended === 'done') return t('Done')
  if (row.ended === 'interrupted') return t('Interrupted')
  if (row.shown) return t('Open here')
  return row.archived ? t('Archived') : undefined
}

/** Describes where a session that isn't open here is, as reported by its agent. */
function describeElsewhere(row: HistoryRow): string | undefined {
  switch (row.elsewhere) {
    case 'running':
      return t('Running elsewhere')
    case 'requires_action':
      return t('Needs an answer elsewhere')
    case 'open':
      return t('Open elsewhere')
    default:
      return undefined
  }
}

/** Says briefly that the agent's list doesn't contain a session. */
function describeUnlisted({ unlisted }: HistoryRow): string | undefined {
  if (!unlisted) return undefined
  return unlisted === 'saved' ? t('Only in Parley') : t('Not listed by its agent')
}

function unlistedTooltip({ unlisted, agentName }: HistoryRow): string | undefined {
  if (!unlisted) return undefined
  return unlisted === 'saved'
    ? t("{0} doesn't list this session; it may have been deleted elsewhere. Parley has a copy.", agentName)
    : t("{0} doesn't list this session; it may have been deleted elsewhere. Parley has no copy.", agentName)
}
