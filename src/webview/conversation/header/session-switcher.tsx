import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ConversationHead } from '../../../bridge/conversation.ts'
import type { PageCommand } from '../../../bridge/conversation-messages.ts'
import type { HistoryRow } from '../../../bridge/history.ts'
import { t } from '../../l10n.ts'
import { lazyWithStyles } from '../../ui/lazy.tsx'
import { Menu, type MenuChoice } from '../../ui/menu.tsx'
import { useApp } from '../context.ts'

const SessionRow = lazyWithStyles(() => import('../../ui/session-row.tsx').then(module => module.SessionRow))

interface SessionSwitcherProps {
  anchor: RefObject<HTMLElement | null>
  onRename: () => void
  onClose: () => void
}

/** A menu of sessions that run, wait or were used last, and of actions for the current one. */
export function SessionSwitcher({ anchor, onRename, onClose }: SessionSwitcherProps) {
  const { host, store } = useApp()
  const head = store.head.value
  useEffect(() => {
    host.send('conversation/switcher', { isOpen: true })
    return () => host.send('conversation/switcher', { isOpen: false })
  }, [host])
  const order = useRef<string[]>([])
  if (!head) return null
  const sessions = inOrder(head.sessions ?? [], order.current)
  order.current = sessions.map(choiceValue)
  const choices = head.sessions ? toChoices(head, sessions) : NONE
  return (
    <Menu
      anchor={anchor}
      label={t('Switch Session')}
      class="switcher"
      choices={choices}
      current={currentOf(head)}
      onChoose={value => {
        const row = sessions.find(row => choiceValue(row) === value)
        if (row) host.send('conversation/openSession', { agentId: row.agentId, sessionId: row.sessionId })
        else if (value === RENAME) onRename()
        else {
          const command = choices.find(choice => choice.value === value)?.command
          if (command) host.send('conversation/command', { command })
        }
      }}
      onClose={onClose}
    />
  )
}

const RENAME = 'rename'
const NONE: readonly SessionChoice[] = []

/** A choice of the menu. `command`: the command that the choice runs, if it's neither a session nor *Rename*. */
type SessionChoice = MenuChoice & { command?: PageCommand }

function toChoices(head: ConversationHead, sessions: readonly HistoryRow[]): SessionChoice[] {
  const folder = hasFolders(sessions)
  const rows = sessions.map(row => ({
    value: choiceValue(row),
    name: row.title,
    group: t('Sessions'),
    content: <SessionRow row={row} icon={iconOf(head, row.agentId)} folder={folder} />,
  }))
  const run = (command: PageCommand, icon: string, name: string, group: string) => ({
    ...{ value: command, command, icon, name, group },
  })
  return [
    ...rows,
    run('parley.openHistory', 'history', t('Show All'), t('Sessions')),
    run('parley.newSession', 'add', t('New Session'), t('Sessions')),
    ...(head.sessionId === undefined
      ? []
      : [{ value: RENAME, icon: 'edit', name: t('Rename Session… (F2)'), group: t('This session') }]),
  ]
}

/** Returns the value that identifies a session among the choices of the menu. */
function choiceValue({ agentId, sessionId }: Pick<HistoryRow, 'agentId' | 'sessionId'>): string {
  return JSON.stringify([agentId, sessionId])
}

function currentOf({ agent, sessionId }: ConversationHead): string | undefined {
  return agent && sessionId !== undefined ? choiceValue({ agentId: agent.agentId, sessionId }) : undefined
}

/** Sorts sessions in the order that the open menu first had, so that no row moves under the pointer. New rows are last. */
function inOrder(sessions: readonly HistoryRow[], order: readonly string[]): HistoryRow[] {
  const rankOf = (row: HistoryRow) => {
    const rank = order.indexOf(choiceValue(row))
    return rank < 0 ? order.length : rank
  }
  return [...sessions].sort((a, b) => rankOf(a) - rankOf(b))
}

/** Whether the sessions are in different folders, so that each row names its folder. */
export function hasFolders(sessions: readonly HistoryRow[]): boolean {
  return new Set(sessions.map(({ cwd }) => cwd)).size > 1
}

export function iconOf(head: ConversationHead, agentId: string): string | undefined {
  return head.agents.find(agent => agent.agentId === agentId)?.icon
}
