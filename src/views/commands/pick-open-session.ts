import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { HistoryItem, HistoryList } from '../../sessions/listing/history-list.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import {
  INDICATOR_ORDER,
  type SessionIndicator,
  type SessionIndicators,
} from '../../sessions/session-indicators.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { titleOf } from '../../sessions/session-title.ts'

const ICONS: Record<SessionIndicator, string> = {
  waiting: 'bell-dot',
  running: 'sync~spin',
  failed: 'error',
  done: 'pass',
  idle: 'comment-discussion',
}
/** Sessions of the history that are offered besides. */
const RECENT = 20

export type PickedSession = { open: OpenSession } | { item: HistoryItem }

export interface OpenSessionSources {
  manager: Pick<SessionManager, 'list' | 'find'>
  indicators: Pick<SessionIndicators, 'of'>
  history: Pick<HistoryList, 'items'>
}

/** Lets a person choose among the sessions that are open in this window, and the last ones of the history. */
export async function pickOpenSession(sources: OpenSessionSources): Promise<PickedSession | undefined> {
  const { manager, indicators, history } = sources
  const open = manager
    .list()
    .map(one => ({ open: one, indicator: indicators.of(one) }))
    .sort(
      (a, b) =>
        INDICATOR_ORDER.indexOf(a.indicator) - INDICATOR_ORDER.indexOf(b.indicator) ||
        (b.open.session.state.updatedAt ?? 0) - (a.open.session.state.updatedAt ?? 0),
    )
    .map(({ open, indicator }) => ({
      label: `$(${ICONS[indicator]}) ${titleOf(open.session) || l10n.t('Untitled session')}`,
      description: [open.agentName, wordOf(indicator)].filter(Boolean).join(' · '),
      session: { open },
    }))
  const recent = history
    .items()
    .filter(item => !manager.find(item.agentId, item.sessionId) && (item.canResume || item.canLoad))
    .sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))
    .slice(0, RECENT)
    .map(item => ({
      label: `$(history) ${item.title?.trim() || l10n.t('Untitled session')}`,
      description: item.agentName,
      session: { item },
    }))
  if (open.length + recent.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('There are no sessions to open.'))
    return undefined
  }
  const separator = (label: string) => ({
    label,
    kind: vscode.QuickPickItemKind.Separator,
    session: undefined,
  })
  const items = [
    ...(open.length > 0 ? [separator(l10n.t('Open in This Window')), ...open] : []),
    ...(recent.length > 0 ? [separator(l10n.t('Recent')), ...recent] : []),
  ]
  const chosen = await vscode.window.showQuickPick(items, {
    title: l10n.t('Open Session'),
    placeHolder: l10n.t('Select a session'),
    matchOnDescription: true,
  })
  return chosen?.session
}

function wordOf(indicator: SessionIndicator): string {
  switch (indicator) {
    case 'waiting':
      return l10n.t('needs your answer')
    case 'running':
      return l10n.t('running')
    case 'failed':
      return l10n.t('failed')
    case 'done':
      return l10n.t('done')
    case 'idle':
      return ''
  }
}
