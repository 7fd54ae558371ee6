import { useCallback, useRef, useState } from 'preact/hooks'
import type { ConversationHead } from '../../../bridge/conversation.ts'
import type { PageCommand } from '../../../bridge/conversation-messages.ts'
import { AGENT_ICON } from '../../../common/agent-icon.ts'
import { t } from '../../l10n.ts'
import { AgentIcon, Icon } from '../../ui/icon.tsx'
import { Menu, type MenuChoice } from '../../ui/menu.tsx'
import { useApp } from '../context.ts'
import { accountCommand } from './account-command.ts'

interface AgentSwitcherProps {
  head: ConversationHead
  agent: NonNullable<ConversationHead['agent']>
}

/** A button for the session's agent, with a menu of commands for this agent, and of other agents to start a session with. */
export function AgentSwitcher({ head, agent }: AgentSwitcherProps) {
  const { host, store, work } = useApp()
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const choices = open ? toChoices(head, agent, work.following.value, store.total.value > 0) : []
  return (
    <>
      <button
        ref={button}
        type="button"
        class="header-agent"
        aria-haspopup="listbox"
        aria-expanded={open}
        title={t('{0}\nSwitch Agent', agent.name)}
        onClick={() => setOpen(!open)}
      >
        <AgentIcon icon={agent.icon} />
        <span class="header-agent-name truncate">{agent.name}</span>
        <Icon name="chevron-down" class="header-chevron" />
      </button>
      {open && (
        <Menu
          anchor={button}
          label={t('Switch Agent')}
          choices={choices}
          onChoose={value => {
            if (value.startsWith(AGENT))
              host.send('conversation/start', { agentId: value.slice(AGENT.length) })
            else if (value.startsWith(NEXT))
              host.send('conversation/continueWith', { agentId: value.slice(NEXT.length) })
            else {
              const command = choices.find(choice => choice.value === value)?.command
              if (command) host.send('conversation/command', { command })
            }
          }}
          onClose={close}
        />
      )}
    </>
  )
}

/** The prefixes of choices that start a session with an agent (`AGENT`) or continue this session (`NEXT`); the agent's ID follows. */
const AGENT = 'agent:'
const NEXT = 'next:'

/** A choice of the menu. `command`: the command that a choice without these prefixes runs. */
type SwitcherChoice = MenuChoice & { command?: PageCommand }

function toChoices(
  { agents, account, canFork, sessionId }: ConversationHead,
  { agentId, name }: NonNullable<ConversationHead['agent']>,
  isFollowing: boolean,
  hasEntries: boolean,
): SwitcherChoice[] {
  const start = agents.map(agent => ({
    value: `${AGENT}${agent.agentId}`,
    name: agent.name,
    icon: agent.icon ?? AGENT_ICON,
    group: t('New session with'),
  }))
  const run = (command: PageCommand, icon: string, label: string, group: string) => ({
    ...{ value: command, command, name: label, icon, group },
  })
  const follow = run(
    'parley.followAgent',
    isFollowing ? 'eye' : 'eye-closed',
    isFollowing ? t('Stop Following Agent in Editor') : t('Follow Agent in Editor'),
    name,
  )
  const canContinue = hasEntries && sessionId !== undefined
  const next = agents
    .filter(agent => canContinue && agent.agentId !== agentId)
    .map(agent => ({
      value: `${NEXT}${agent.agentId}`,
      name: t('Continue with {0}', agent.name),
      icon: agent.icon ?? AGENT_ICON,
      group: t('This conversation'),
    }))
  const change = accountCommand(account)
  return [
    ...start,
    ...(canFork || canContinue
      ? [run('parley.continueSession', 'repo-forked', t('Fork or Continue Session…'), name)]
      : []),
    ...(sessionId === undefined ? [] : [follow]),
    run('parley.restartAgent', 'debug-restart', t('Restart Agent'), name),
    run('parley.showAgentLog', 'output', t('Show Agent Log'), name),
    ...(change === 'parley.signOut' ? [run(change, 'sign-out', t('Sign Out…'), name)] : []),
    ...(change === 'parley.signIn' ? [run(change, 'sign-in', t('Sign In…'), name)] : []),
    ...next,
    run('parley.manageAgents', 'extensions', t('Manage Agents'), t('All agents')),
  ]
}
