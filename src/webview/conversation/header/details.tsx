import type { ConversationHead, EnvironmentNote } from '../../../bridge/conversation.ts'
import type { RootsPlan } from '../../../common/roots-plan.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { AgentIcon, Icon } from '../../ui/icon.tsx'
import { worktreeText } from '../../ui/worktree-text.ts'
import { useApp } from '../context.ts'
import { accountCommand } from './account-command.ts'

interface SessionDetailsProps {
  head: ConversationHead
  state: string
}

/** The details of the session: its agent, its folders, and the MCP servers that were passed to it. */
export function SessionDetails({ head, state }: SessionDetailsProps) {
  const { host } = useApp()
  return (
    <div class="details-content">
      <div class="details-head">
        <AgentIcon icon={head.agent?.icon} />
        <strong>{head.agent?.name}</strong>
        <span class="quiet">{state}</span>
      </div>
      {head.program && <p class="quiet">{head.program}</p>}
      {head.account && <Account account={head.account} />}
      {head.systemPrompt && <p class="quiet">{systemPromptNote(head.systemPrompt)}</p>}
      {head.roots && <Roots roots={head.roots} worktree={head.worktree} />}
      {head.environment && <ProjectEnvironment environment={head.environment} />}
      {head.agent && <McpServers servers={head.mcpServers} />}
      {head.editorTools && <EditorTools isOn={head.editorTools.isOn} />}
      {head.sessionId && (
        <section>
          <h2>{t('Session')}</h2>
          <div class="details-row">
            <code class="details-id truncate" title={head.sessionId}>
              {head.sessionId}
            </code>
            <IconButton
              icon="copy"
              label={t('Copy Session ID')}
              onClick={() => host.send('conversation/copy', { text: head.sessionId! })}
            />
          </div>
        </section>
      )}
    </div>
  )
}

function systemPromptNote(note: NonNullable<ConversationHead['systemPrompt']>): string {
  switch (note) {
    case 'appended':
      return t("Your system prompt is added to the agent's.")
    case 'overrides':
      return t("Your system prompt replaces the agent's.")
    case 'not-taken':
      return t("This agent doesn't support custom system prompts.")
  }
}

function Account({ account }: { account: NonNullable<ConversationHead['account']> }) {
  const { host } = useApp()
  const command = accountCommand(account)
  return (
    <div class="details-account">
      <span>{account.text}</span>
      {command && (
        <button
          type="button"
          class="link-button"
          onClick={() => host.send('conversation/command', { command })}
        >
          {command === 'parley.signOut' ? t('Sign Out') : t('Sign In…')}
        </button>
      )}
    </div>
  )
}

function Roots({ roots, worktree }: Pick<ConversationHead, 'worktree'> & { roots: RootsPlan }) {
  const { host } = useApp()
  return (
    <section>
      <h2>{t('Folders')}</h2>
      <div class="details-row" title={roots.cwd}>
        <Icon name={roots.scratch ? 'beaker' : 'folder-opened'} />
        <span class="truncate">{roots.cwdLabel}</span>
        <span class="quiet">{roots.scratch ? t('private scratch folder') : t('working directory')}</span>
      </div>
      {worktree && (
        <>
          <div class="details-row details-branch" title={worktreeText(worktree)}>
            <Icon name="git-branch" />
            <span class="truncate">{worktree.branch ?? worktreeText(worktree)}</span>
          </div>
          <button
            type="button"
            class="link-button"
            onClick={() => host.send('conversation/command', { command: 'parley.worktree' })}
          >
            {t('Worktree…')}
          </button>
        </>
      )}
      {roots.scratch && (
        <p class="quiet">{t('No folder is open. The agent works in a private scratch folder.')}</p>
      )}
      {roots.cwdRemark && <p class="quiet">{roots.cwdRemark}</p>}
      {roots.additional.map(folder => (
        <div key={folder.path} class="details-row" title={folder.path}>
          <Icon name="folder" />
          <span class="truncate">{folder.label}</span>
          <span class="quiet">{folder.added ? t('added from this window') : t('accessible')}</span>
        </div>
      ))}
      {roots.unseen.map(folder => (
        <div key={folder.label} class="details-row details-missing">
          <Icon name="eye-closed" label={t('Not visible to the agent')} />
          <span class="truncate">{folder.label}</span>
          <span class="quiet details-reason">{folder.reason}</span>
        </div>
      ))}
    </section>
  )
}

/** The names of the session's environment variables, without the values, which may be secrets. */
function ProjectEnvironment({ environment }: { environment: EnvironmentNote }) {
  return (
    <section>
      <h2>{t('Environment')}</h2>
      {environment.tools.map(({ tool, names }) => (
        <div key={tool} class="details-row">
          <Icon name="symbol-variable" />
          <span class="truncate">{tool}</span>
          <span class="quiet details-reason">{names.join(', ')}</span>
        </div>
      ))}
      {environment.agentFolder !== undefined && (
        <p class="quiet">
          {t('For commands in terminals. The agent itself started in {0}.', environment.agentFolder)}
        </p>
      )}
    </section>
  )
}

function McpServers({ servers }: { servers: ConversationHead['mcpServers'] }) {
  const { host } = useApp()
  return (
    <section>
      <h2>{t('MCP servers')}</h2>
      {servers.map(server => (
        <div
          key={server.key ?? server.name}
          class={`details-row${server.passed ? '' : ' details-missing'}`}
          title={server.source}
        >
          <Icon
            // a passed server isn't necessarily connected
            name={server.passed ? 'server' : 'circle-slash'}
            label={
              server.isBridged
                ? t('Bridged to the agent')
                : server.passed
                  ? t('Passed to the agent')
                  : t('Not passed to the agent')
            }
          />
          <span class="truncate">{server.name}</span>
          <span class="quiet">{server.type}</span>
          {server.reason && <span class="quiet details-reason">{server.reason}</span>}
        </div>
      ))}
      <button
        type="button"
        class="link-button"
        onClick={() => host.send('conversation/command', { command: 'parley.showMcpServers' })}
      >
        {t('Manage MCP Servers')}
      </button>
    </section>
  )
}

/** Whether the agent may use the editor tools in this session. */
function EditorTools({ isOn }: { isOn: boolean }) {
  const { host } = useApp()
  return (
    <section>
      <h2>{t('Editor tools')}</h2>
      <div class={`details-row${isOn ? '' : ' details-missing'}`}>
        <Icon name="tools" />
        <span class="truncate">{isOn ? t('On for this session') : t('Off for this session')}</span>
        <button
          type="button"
          class="link-button"
          onClick={() => host.send('conversation/editorTools', { isOn: !isOn })}
        >
          {isOn ? t('Turn Off') : t('Turn On')}
        </button>
      </div>
    </section>
  )
}
