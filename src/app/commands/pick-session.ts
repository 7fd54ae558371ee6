import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { HostedAgentInfo } from '../../acp/start-hosted.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { formatCost } from '../../common/format-cost.ts'
import { sessionKey } from '../../common/session-key.ts'
import { visible, withoutIcons } from '../../common/visible.ts'
import { needsAnswerText } from '../../conversation/requests/pending-text.ts'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import {
  INDICATOR_ORDER,
  type SessionIndicator,
  type SessionIndicators,
} from '../../sessions/session-indicators.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { titleOf } from '../../sessions/session-title.ts'
import type { WatchedSessions } from '../../sessions/watch-sessions.ts'
import type { OtherSession, SessionSummary, WindowSessions } from '../window-sessions.ts'
import type { PickItem, Workbench } from '../workbench.ts'

const ICONS: Record<SessionIndicator, string> = {
  waiting: 'bell-dot',
  running: 'sync~spin',
  failed: 'error',
  done: 'pass',
  idle: 'comment-discussion',
}
/** The maximum number of sessions from the history that the list also offers. */
const RECENT = 20

export type PickedSession =
  | { open: OpenSession }
  | { item: HistoryItem }
  | { other: OtherSession }
  | { background: HostedAgentInfo }

interface OpenSessionSources {
  workbench: Workbench
  manager: Pick<SessionManager, 'find'>
  /** The sessions that this window opened or shows. */
  sessionsHere: Pick<WatchedSessions, 'list'>
  indicators: Pick<SessionIndicators, 'of' | 'onDidChange'>
  history: Pick<HistoryList, 'items'>
  /** The active sessions of all windows. */
  windows: Pick<WindowSessions, 'own' | 'others' | 'onDidChange'>
  /** The agents in the agent hosts. */
  hosts: { list(): Promise<HostedAgentInfo[]> }
  /** Returns where a session is shown, if anywhere. */
  surfaceOf: (open: OpenSession) => 'side-bar' | 'tab' | undefined
}

type SessionItem = PickItem & { session?: PickedSession }

/**
 * Lets the user choose a session: sessions of all windows that run, wait, or ended without being seen, then the other open sessions of this
 * window, then the latest ones of the history. The list is updated while it's open.
 */
export async function pickOpenSession(sources: OpenSessionSources): Promise<PickedSession | undefined> {
  const { windows, indicators } = sources
  const { dialogs } = sources.workbench
  const first = await sessionItems(sources)
  if (first.length === 0) {
    void dialogs.info(l10n.t('There are no sessions to open.'))
    return undefined
  }
  const owned = new DisposableStore()
  const picker = owned.add(dialogs.createPicker<SessionItem>())
  Object.assign(picker, {
    title: l10n.t('Open Session'),
    placeholder: l10n.t('Select a session'),
    items: first,
    matchOnDescription: true,
    matchOnDetail: true,
  })
  const update = async () => {
    const items = await sessionItems(sources)
    if (owned.isDisposed || JSON.stringify(items.map(shownOf)) === JSON.stringify(picker.items.map(shownOf)))
      return
    const active = picker.activeItems[0]?.session
    picker.items = items
    const same = items.find(({ session }) => session && active && keyOf(session) === keyOf(active))
    if (same) picker.activeItems = [same]
  }
  owned.add(windows.onDidChange(() => void update()))
  owned.add(indicators.onDidChange(() => void update()))
  try {
    return await new Promise<PickedSession | undefined>(resolve => {
      owned.add(
        picker.onDidAccept(item => {
          if (!item?.session) return
          resolve(item.session)
          picker.hide()
        }),
      )
      owned.add(picker.onDidHide(() => resolve(undefined)))
      picker.show()
    })
  } finally {
    owned.dispose()
  }
}

function shownOf({ label, description, detail }: PickItem): unknown {
  return [label, description, detail]
}

function keyOf(session: PickedSession): string {
  if ('open' in session) return session.open.key
  if ('item' in session) return sessionKey(session.item.agentId, session.item.sessionId)
  if ('other' in session) return sessionKey(session.other.agentId, session.other.sessionId)
  return session.background.id
}

async function sessionItems(sources: OpenSessionSources): Promise<SessionItem[]> {
  const { manager, sessionsHere, indicators, history, surfaceOf, windows, hosts } = sources
  const { language } = sources.workbench
  const [own, agents] = await Promise.all([windows.own(), hosts.list().catch(() => [])])
  const working = [
    ...own.map(({ open, summary }) => ({ summary, session: { open }, where: surfaceName(surfaceOf(open)) })),
    ...windows
      .others()
      .map(other => ({ summary: other, session: { other }, where: l10n.t('in another window') })),
  ]
    .sort(
      (a, b) =>
        INDICATOR_ORDER.indexOf(a.summary.indicator) - INDICATOR_ORDER.indexOf(b.summary.indicator) ||
        (b.summary.at ?? 0) - (a.summary.at ?? 0),
    )
    .map(({ summary, session, where }) => ({ ...summaryItem(summary, where, language), session }))
  const shown = new Set(working.map(({ session }) => keyOf(session)))
  const background = agents
    .filter(({ isAttached, hasExited }) => !isAttached && !hasExited)
    .map(agent => ({
      label: `$(server-process) ${plain(agent.tag.name)}`,
      description: l10n.t('Running in the background'),
      detail: [plain(agent.cwd), l10n.t('since {0}', new Date(agent.since).toLocaleString(language))].join(
        ' · ',
      ),
      session: { background: agent },
    }))
  const open = sessionsHere
    .list()
    .map(one => ({ open: one, title: titleOf(one.session), surface: surfaceOf(one) }))
    // an unused session that isn't displayed would look like a new one
    .filter(
      ({ open, title, surface }) =>
        !shown.has(open.key) &&
        (title || surface || open.session.state.entries.some(({ kind }) => kind === 'message')),
    )
    .sort((a, b) => (b.open.session.state.updatedAt ?? 0) - (a.open.session.state.updatedAt ?? 0))
    .map(({ open, title, surface }, _, all) => ({
      label: `$(${ICONS[indicators.of(open)]}) ${plain(title ?? '') || l10n.t('Untitled session')}`,
      description: [
        open.agentName,
        ...(title && all.every(other => other.open === open || other.title !== title)
          ? []
          : [surfaceName(surface), timeOf(open.session.state, language)]),
      ]
        .filter(Boolean)
        .join(' · '),
      session: { open },
    }))
  const recent = history
    .items()
    .filter(item => !manager.find(item.agentId, item.sessionId) && (item.canResume || item.canLoad))
    .filter(item => !shown.has(sessionKey(item.agentId, item.sessionId)))
    .sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))
    .slice(0, RECENT)
    .map(item => ({
      label: `$(history) ${plain(item.title ?? '') || l10n.t('Untitled session')}`,
      description: [item.agentName, timeOf(item, language)].filter(Boolean).join(' · '),
      session: { item },
    }))
  const group = (label: string, items: SessionItem[]): SessionItem[] =>
    items.length > 0 ? [{ label, isSeparator: true }, ...items] : []
  return [
    ...group(l10n.t('Active'), [...working, ...background]),
    ...group(l10n.t('Open in This Window'), open),
    ...group(l10n.t('Recent'), recent),
  ]
}

/** Returns an item with two lines: the title and the state; then the folder, the last line, the time and the cost. */
function summaryItem(summary: SessionSummary, where: string, language: string): PickItem {
  const { title, indicator, agentName, cwd, branch, line, at, cost } = summary
  const facts = [
    plain(path.basename(cwd) || cwd) + (branch === undefined ? '' : ` (${plain(branch)})`),
    line === undefined ? '' : plain(line),
    at === undefined ? '' : new Date(at).toLocaleTimeString(language, { timeStyle: 'short' }),
    cost === undefined ? '' : formatCost(cost, language),
  ]
  return {
    label: `$(${ICONS[indicator]}) ${plain(title ?? '') || l10n.t('Untitled session')}`,
    description: [wordOf(indicator), plain(agentName), where].filter(Boolean).join(' · '),
    detail: facts.filter(Boolean).join(' · '),
  }
}

/** Returns text of agents, or of other windows' files, without icons and with invisible characters made visible. */
function plain(text: string): string {
  return withoutIcons(visible(text).trim())
}

function timeOf({ updatedAt }: Pick<HistoryItem, 'updatedAt'>, language: string): string {
  return updatedAt === undefined ? '' : new Date(updatedAt).toLocaleString(language)
}

function surfaceName(surface: 'side-bar' | 'tab' | undefined): string {
  if (surface === undefined) return ''
  return surface === 'tab' ? l10n.t('in an editor tab') : l10n.t('in the side bar')
}

function wordOf(indicator: SessionIndicator): string {
  switch (indicator) {
    case 'waiting':
      return needsAnswerText(l10n.t)
    case 'running':
      return l10n.t('Running')
    case 'failed':
      return l10n.t('Failed')
    case 'done':
      return l10n.t('Done')
    case 'idle':
      return ''
  }
}
