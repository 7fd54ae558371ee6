import type { Signal } from '@preact/signals'
import type {
  McpAgentRow,
  McpServerRow,
  McpSessionRow,
  McpSessionServer,
  McpSourceRow,
  McpState,
} from '../../bridge/mcp.ts'
import type { McpMessages } from '../../bridge/mcp-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { plural, t } from '../l10n.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { LiveRegion } from '../ui/live-region.tsx'

type Host = HostClient<McpMessages>
type BridgeStatus = NonNullable<McpSessionServer['bridge']>
type BridgeState = BridgeStatus['state']

interface McpViewProps {
  state: Signal<McpState | undefined>
  host: Host
}

/** The whole MCP Servers page. */
export function McpView({ state, host }: McpViewProps) {
  const now = state.value
  if (!now) return <main class="agents" />
  const { trusted, sources, agents } = now
  return (
    <main class="agents">
      <div class="mcp-title">
        <h1>{t('MCP Servers')}</h1>
        <Button disabled={!trusted} onClick={() => host.send('mcp/add')}>
          {t('Add Server…')}
        </Button>
        <IconButton icon="refresh" label={t('Refresh')} onClick={() => host.send('mcp/refresh')} />
      </div>
      {!trusted && (
        <p class="agents-note quiet">
          <Icon name="workspace-untrusted" />
          <span>
            {t("MCP servers defined in the workspace aren't passed to agents until you trust the workspace.")}
          </span>
        </p>
      )}
      {sources.map(source => (
        <Source key={source.id} source={source} trusted={trusted} host={host} />
      ))}
      {sources.every(({ servers }) => servers.length === 0) && (
        <p class="quiet">
          {t(
            'No MCP servers are configured. Parley looks in its settings, in mcp.json of your profile, and in .vscode/mcp.json and .mcp.json of each folder.',
          )}
        </p>
      )}
      {sources.length > 1 && (
        <p class="quiet">
          {t('If several places define a server with the same name, the first one applies.')}
        </p>
      )}
      <h2 class="mcp-group">{t('Open sessions')}</h2>
      {agents.length === 0 && <p class="quiet">{t('No session is open.')}</p>}
      {agents.map(agent => (
        <Agent key={agent.agentId} agent={agent} host={host} />
      ))}
      <LiveRegion />
    </main>
  )
}

function Source({ source, trusted, host }: { source: McpSourceRow; trusted: boolean; host: Host }) {
  const { id, label, kind, isOff, problems, servers } = source
  return (
    <section aria-label={label}>
      <div class="mcp-place">
        <h2 dir="auto">{label}</h2>
        {isOff && <span class="agent-tag">{t('Off')}</span>}
        <IconButton
          icon={kind === undefined ? 'gear' : 'go-to-file'}
          label={kind === undefined ? t('Open Settings') : t('Open {0}', label)}
          onClick={() => host.send('mcp/open', { source: id })}
        />
        {kind !== undefined && (
          <Switch
            isOn={!isOff}
            name={label}
            title={t('Applies to all files of this kind')}
            onSwitch={on => host.send('mcp/switchSource', { kind, on })}
          />
        )}
      </div>
      {problems.map(problem => (
        <p key={problem} class="agents-note">
          <Icon name="warning" class="agents-warning" />
          <span dir="auto">{problem}</span>
        </p>
      ))}
      <ul class="agents-list">
        {servers.map(server => (
          <Server key={server.key} server={server} trusted={trusted} host={host} />
        ))}
      </ul>
    </section>
  )
}

function Server({ server, trusted, host }: { server: McpServerRow; trusted: boolean; host: Host }) {
  const { key, name, type, target, isOff, needsConsent, reason } = server
  const isValid = target !== undefined
  const isRefused = server.check && 'problem' in server.check && server.check.problem === 'sign-in'
  const needsSignIn = server.needsSignIn || isRefused
  return (
    <li class={`agent agent-wide${isOff ? ' mcp-off' : ''}`}>
      <div class="agent-head">
        <Icon name="server" />
        <h3 dir="auto">{name || t('(no name)')}</h3>
        {isValid && <span class="quiet">{type}</span>}
        {isOff && <span class="agent-tag">{t('Off')}</span>}
        {needsConsent && !isOff && <span class="agent-tag">{t('Not allowed yet')}</span>}
      </div>
      {isValid && (
        <div class="agent-facts quiet">
          <code dir="ltr">{target}</code>
        </div>
      )}
      {reason !== undefined && (
        <div class="agents-note quiet">
          <Icon name={isValid ? 'circle-slash' : 'warning'} class={isValid ? '' : 'agents-warning'} />
          <span dir="auto">{reason}</span>
        </div>
      )}
      <div class="agent-buttons">
        {needsConsent && (
          <Button
            label={`${t('Allow…')}: ${name}`}
            disabled={!trusted}
            onClick={() => host.send('mcp/allow', { key })}
          >
            {t('Allow…')}
          </Button>
        )}
        {isValid && (
          <Button
            label={`${server.checking ? t('Checking…') : t('Check')}: ${name}`}
            title={t('Connects to the server once and lists its tools')}
            disabled={!trusted}
            onClick={() => host.send('mcp/check', { key })}
          >
            {server.checking ? t('Checking…') : t('Check')}
          </Button>
        )}
        {needsSignIn && (
          <Button
            label={`${t('Sign In…')}: ${name}`}
            disabled={!trusted}
            onClick={() => host.send('mcp/signIn', { key })}
          >
            {t('Sign In…')}
          </Button>
        )}
        {server.isSignedIn && (
          <Button label={`${t('Sign Out')}: ${name}`} onClick={() => host.send('mcp/signOut', { key })}>
            {t('Sign Out')}
          </Button>
        )}
        <Switch isOn={!isOff} name={name} onSwitch={on => host.send('mcp/switchServer', { key, on })} />
        {server.canRemove && (
          <Button label={`${t('Remove')}: ${name}`} onClick={() => host.send('mcp/remove', { key })}>
            {t('Remove')}
          </Button>
        )}
      </div>
      {server.check && <CheckResult check={server.check} />}
    </li>
  )
}

function CheckResult({ check }: { check: NonNullable<McpServerRow['check']> }) {
  const isOk = 'server' in check
  return (
    <div class="agent-check">
      <div class="agents-note" role="status">
        <Icon name={isOk ? 'pass' : 'error'} class={isOk ? 'agent-pass' : 'mcp-error'} />
        <span dir="auto">{isOk ? answeredText(check.server) : check.message}</span>
      </div>
      {isOk &&
        check.server.notes.map(note => (
          <div key={note} class="agents-note">
            <Icon name="warning" class="agents-warning" />
            <span dir="auto">{note}</span>
          </div>
        ))}
      {isOk && <Tools tools={check.server.tools} />}
      <Log text={check.stderr} isOpen={!isOk} />
    </div>
  )
}

function Tools({ tools }: { tools: NonNullable<BridgeStatus['tools']> }) {
  if (tools.length === 0) return null
  return (
    <details class="mcp-more">
      <summary>{t('Tools')}</summary>
      <ul>
        {tools.map((tool, at) => (
          // a server may use a name twice
          <li key={`${at} ${tool.name}`} dir="auto">
            <code>{tool.name}</code> <span class="quiet">{tool.description ?? tool.title}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

function Log({ text, isOpen = false }: { text: string; isOpen?: boolean }) {
  if (text === '') return null
  return (
    <details class="mcp-more" open={isOpen}>
      <summary>{t('Log')}</summary>
      <pre dir="ltr">{text}</pre>
    </details>
  )
}

const BRIDGE_ICONS: Readonly<Record<BridgeState, [icon: string, color: string]>> = {
  waiting: ['circle-outline', ''],
  connecting: ['sync', ''],
  connected: ['pass', 'agent-pass'],
  failed: ['error', 'mcp-error'],
  ended: ['circle-slash', ''],
}

/** The state of Parley's bridge to a server. */
function Bridge({ bridge: { state, reason, tools = [], log } }: { bridge: BridgeStatus }) {
  const [icon, color] = BRIDGE_ICONS[state]
  const count = tools.length > 0 && plural(tools.length, '1 tool', '{0} tools')
  return (
    <div class="mcp-bridge">
      <div class="agents-note" role="status">
        <Icon name={icon} class={color} />
        <span dir="auto">{[bridgeText(state), reason, count].filter(Boolean).join(' · ')}</span>
      </div>
      <Tools tools={tools} />
      <Log text={log} />
    </div>
  )
}

function bridgeText(state: BridgeState): string {
  switch (state) {
    case 'waiting':
      return t("The agent hasn't started the bridge")
    case 'connecting':
      return t('Connecting…')
    case 'connected':
      return t('Connected')
    case 'failed':
      return t('Not connected')
    case 'ended':
      return t('The bridge has ended')
  }
}

function answeredText({
  name,
  version,
  tools,
}: {
  name?: string
  version?: string
  tools: unknown[]
}): string {
  const program = [name, version].filter(Boolean).join(' ') || t('The server answered')
  return `${program} · ${plural(tools.length, '1 tool', '{0} tools')}`
}

interface SwitchProps {
  isOn: boolean
  /** name of the server or session that the switch turns on and off */
  name: string
  title?: string
  onSwitch: (on: boolean) => void
}

function Switch({ isOn, name, title, onSwitch }: SwitchProps) {
  const words = isOn ? t('Turn Off') : t('Turn On')
  return (
    <Button label={`${words}: ${name}`} title={title} onClick={() => onSwitch(!isOn)}>
      {words}
    </Button>
  )
}

function Agent({ agent, host }: { agent: McpAgentRow; host: Host }) {
  const { agentId, name, isOff = false, sessions } = agent
  const words = isOff ? t('Turn On All') : t('Turn Off All')
  return (
    <>
      <div class="mcp-place">
        <h3 dir="auto">{name}</h3>
        {isOff && <span class="agent-tag">{t('Turned off for this agent')}</span>}
        <Button
          label={`${words}: ${name}`}
          title={t('Applies to all sessions of this agent')}
          onClick={() => host.send('mcp/switchAgent', { agentId, on: isOff })}
        >
          {words}
        </Button>
      </div>
      {sessions.map(session => (
        <Session key={session.key} session={session} agent={name} host={host} />
      ))}
    </>
  )
}

function Session({ session, agent, host }: { session: McpSessionRow; agent: string; host: Host }) {
  const { key, title = t('New session'), servers } = session
  return (
    <section class="mcp-session" aria-label={`${title} · ${agent}`}>
      <h4 dir="auto">{title}</h4>
      {servers.length === 0 && (
        <p class="quiet">{t('No MCP servers were configured when the session started.')}</p>
      )}
      {servers.some(({ isOutdated }) => isOutdated) && (
        <p class="agents-note" role="status">
          <Icon name="info" />
          <span>{t('Changes apply when the session is loaded again or its agent is restarted.')}</span>
        </p>
      )}
      {servers.map(server => (
        <SessionServer
          key={server.key ?? server.name}
          server={server}
          onRestart={link => host.send('mcp/restart', { link })}
          onSwitch={on => {
            if (server.key !== undefined)
              host.send('mcp/switchInSession', { session: key, key: server.key, on })
          }}
        />
      ))}
    </section>
  )
}

interface SessionServerProps {
  server: McpSessionServer
  onRestart: (link: string) => void
  onSwitch: (on: boolean) => void
}

function SessionServer({ server, onRestart, onSwitch }: SessionServerProps) {
  const { key, name, type, source, passed, reason, isOffHere, isOutdated, link, bridge } = server
  const runs = bridge && bridge.state !== 'waiting' && bridge.state !== 'ended'
  return (
    <div class="mcp-passed">
      <Icon name={passed ? 'server' : 'circle-slash'} />
      <div class="mcp-passed-text">
        <span dir="auto">{name}</span>
        <span class="quiet">
          {[type !== 'unknown' && type, source !== name && source].filter(Boolean).join(' · ')}
        </span>
        {/* a passed server isn't necessarily connected */}
        <span class="quiet">{passed ? t('Passed to the agent') : t('Not passed to the agent')}</span>
        {isOutdated && <span class="agent-tag">{t('Not applied yet')}</span>}
        {reason !== undefined && (
          <span class="quiet mcp-reason" dir="auto">
            {reason}
          </span>
        )}
        {bridge && <Bridge bridge={bridge} />}
      </div>
      <div class="agent-buttons">
        {link !== undefined && runs && (
          <Button
            label={`${t('Restart')}: ${name}`}
            title={t('Reconnects to the server. Calls in progress fail.')}
            onClick={() => onRestart(link)}
          >
            {t('Restart')}
          </Button>
        )}
        {key !== undefined && (passed || isOffHere) && (
          <Switch isOn={!isOffHere} name={name} title={t('Only for this session')} onSwitch={onSwitch} />
        )}
      </div>
    </div>
  )
}
