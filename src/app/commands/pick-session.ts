import * as l10n from '@vscode/l10n'
import { newestFirst } from '../../common/date-groups.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { HistoryItem, HistoryList } from '../../sessions/listing/history-list.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import {
  INDICATOR_ORDER,
  type SessionIndicator,
  type SessionIndicators,
} from '../../sessions/session-indicators.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { titleOf } from '../../sessions/session-title.ts'
import type { Dialogs, PickItem, Workbench } from '../workbench.ts'

type Item = PickItem & ({ item: HistoryItem } | { start: string } | { nothing: true })

/**
 * Lets the user choose a session to load or resume, by title, folder or agent. Offers to start agents that aren't
 * running, to list their sessions; the list grows as they answer.
 */
export async function pickSession(
  { dialogs, language }: Workbench,
  history: HistoryList,
  how: 'load' | 'resume',
): Promise<HistoryItem | undefined> {
  const owned = new DisposableStore()
  const picker = owned.add(dialogs.createPicker<Item>())
  picker.title = how === 'load' ? l10n.t('Load Session') : l10n.t('Resume Session')
  picker.placeholder = l10n.t('Select a session')
  picker.matchOnDescription = true
  picker.matchOnDetail = true
  const fill = () => {
    const agents = history.agents()
    picker.busy = agents.some(agent => agent.state === 'loading')
    picker.items = itemsOf(history, how, picker.busy, language)
  }
  owned.add(history.onDidChange(fill))
  fill()
  void history.refresh()
  try {
    return await new Promise<HistoryItem | undefined>(resolve => {
      owned.add(
        picker.onDidAccept(picked => {
          if (picked && 'item' in picked) resolve(picked.item)
          else if (picked && 'start' in picked) void startAgent(dialogs, history, picked.start)
        }),
      )
      owned.add(picker.onDidHide(() => resolve(undefined)))
      picker.show()
    })
  } finally {
    owned.dispose()
  }
}

async function startAgent(dialogs: Dialogs, history: HistoryList, agentId: string): Promise<void> {
  try {
    await history.start(agentId)
  } catch (error) {
    void dialogs.error(plainMessage(messageOf(error)))
  }
}

function itemsOf(history: HistoryList, how: 'load' | 'resume', busy: boolean, language: string): Item[] {
  const sessions = history
    .items()
    .filter(item => !item.archived && (how === 'load' ? item.canLoad : item.canResume && !item.open))
    .sort(newestFirst)
    .map(item => ({
      label: item.title?.trim() || l10n.t('Untitled session'),
      description: item.agentName,
      detail: [timeOf(item, language), item.cwd].filter(Boolean).join(' · '),
      item,
    }))
  const starts = history
    .agents()
    .filter(agent => agent.state === 'not-started')
    .map(agent => ({
      label: `$(debug-start) ${l10n.t('Start {0}', agent.name)}`,
      description: l10n.t('to list its sessions'),
      alwaysShow: true,
      start: agent.agentId,
    }))
  if (sessions.length + starts.length === 0 && !busy) {
    const label =
      how === 'load' ? l10n.t('There are no sessions to load.') : l10n.t('There are no sessions to resume.')
    return [{ label, nothing: true }]
  }
  const separator = { label: '', isSeparator: true, nothing: true as const }
  return starts.length > 0 ? [...sessions, separator, ...starts] : sessions
}

const ICONS: Record<SessionIndicator, string> = {
  waiting: 'bell-dot',
  running: 'sync~spin',
  failed: 'error',
  done: 'pass',
  idle: 'comment-discussion',
}
/** Number of sessions from the history that are also offered. */
const RECENT = 20

type PickedSession = { open: OpenSession } | { item: HistoryItem }

interface OpenSessionSources {
  workbench: Workbench
  manager: Pick<SessionManager, 'list' | 'find'>
  indicators: Pick<SessionIndicators, 'of'>
  history: Pick<HistoryList, 'items'>
  /** Where a session is shown, if anywhere. */
  placeOf: (open: OpenSession) => 'side-bar' | 'tab' | undefined
}

/**
 * Lets the user choose among the sessions that are open in this window and the latest ones of the history. A session that
 * was never used and isn't shown is left out: a new one is the same.
 */
export async function pickOpenSession(sources: OpenSessionSources): Promise<PickedSession | undefined> {
  const { manager, indicators, history, placeOf } = sources
  const { dialogs, language } = sources.workbench
  const open = manager
    .list()
    .map(one => ({
      open: one,
      indicator: indicators.of(one),
      title: titleOf(one.session),
      place: placeOf(one),
    }))
    .filter(({ open: { session }, indicator, title, place }) => {
      return (
        title || place || indicator !== 'idle' || session.state.entries.some(({ kind }) => kind === 'message')
      )
    })
    .sort(
      (a, b) =>
        INDICATOR_ORDER.indexOf(a.indicator) - INDICATOR_ORDER.indexOf(b.indicator) ||
        (b.open.session.state.updatedAt ?? 0) - (a.open.session.state.updatedAt ?? 0),
    )
    .map(({ open, indicator, title, place }) => ({
      label: `$(${ICONS[indicator]}) ${title || l10n.t('Untitled session')}`,
      description: [open.agentName, wordOf(indicator), title || !place ? '' : placeName(place)]
        .filter(Boolean)
        .join(' · '),
      session: { open },
    }))
  const recent = history
    .items()
    .filter(item => !manager.find(item.agentId, item.sessionId) && (item.canResume || item.canLoad))
    .sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))
    .slice(0, RECENT)
    .map(item => ({
      label: `$(history) ${item.title?.trim() || l10n.t('Untitled session')}`,
      description: [item.agentName, timeOf(item, language)].filter(Boolean).join(' · '),
      session: { item },
    }))
  if (open.length + recent.length === 0) {
    void dialogs.info(l10n.t('There are no sessions to open.'))
    return undefined
  }
  const separator = (label: string) => ({
    label,
    isSeparator: true,
    session: undefined,
  })
  const items = [
    ...(open.length > 0 ? [separator(l10n.t('Open in This Window')), ...open] : []),
    ...(recent.length > 0 ? [separator(l10n.t('Recent')), ...recent] : []),
  ]
  const chosen = await dialogs.pick(items, {
    title: l10n.t('Open Session'),
    placeholder: l10n.t('Select a session'),
    matchOnDescription: true,
  })
  return chosen?.session
}

function timeOf({ updatedAt }: HistoryItem, language: string): string {
  return updatedAt === undefined ? '' : new Date(updatedAt).toLocaleString(language)
}

function placeName(place: 'side-bar' | 'tab'): string {
  return place === 'tab' ? l10n.t('in an editor tab') : l10n.t('in the side bar')
}

function wordOf(indicator: SessionIndicator): string {
  switch (indicator) {
    case 'waiting':
      return l10n.t('Needs your answer')
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
