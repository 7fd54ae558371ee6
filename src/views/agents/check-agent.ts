import * as l10n from '@vscode/l10n'
import { type Agent, AgentStartError } from '../../acp/agent.ts'
import { messageOf } from '../../common/errors.ts'
import type { AgentHost } from '../../sessions/hosts/agent-host.ts'
import type { AgentCheck } from '../bridge/agents.ts'
import { startCard } from '../cards/start-card.ts'

/** Starts an agent, or asks the one that runs, and says in plain words what it can do or why it can't be used. */
export async function checkAgent(host: AgentHost): Promise<AgentCheck> {
  try {
    const { agent } = await host.ensure()
    return { ok: true, summary: summaryOf(agent), details: capabilitiesOf(agent) }
  } catch (error) {
    if (!(error instanceof AgentStartError)) return { ok: false, summary: messageOf(error), details: [] }
    const { title, text, details = [] } = startCard('check', host.name, error.failure)
    return { ok: false, summary: `${title}. ${text}`, details }
  }
}

function summaryOf({ info, protocolVersion }: Agent): string {
  const program = [info.title ?? info.name, info.version].filter(Boolean).join(' ')
  return l10n.t('{0} started and uses ACP version {1}.', program, protocolVersion)
}

function capabilitiesOf({ capabilities, authMethods }: Agent): AgentCheck['details'] {
  const { load, resume, list, fork, prompt, mcp, logout, providers, systemPrompt } = capabilities
  const able = (pairs: Array<[boolean | undefined, string]>) =>
    pairs.flatMap(([can, words]) => (can ? [words] : [])).join(', ') || l10n.t('none')
  return [
    {
      label: l10n.t('Sessions'),
      text: able([
        [load, l10n.t('load')],
        [resume, l10n.t('resume')],
        [list, l10n.t('list')],
        [fork, l10n.t('fork')],
      ]),
    },
    {
      label: l10n.t('Prompts'),
      text: able([
        [true, l10n.t('text')],
        [prompt.image, l10n.t('images')],
        [prompt.audio, l10n.t('audio')],
        [prompt.embeddedContext, l10n.t('embedded files')],
      ]),
    },
    {
      label: l10n.t('MCP servers'),
      text: able([
        [mcp.stdio, 'stdio'],
        [mcp.http, 'HTTP'],
        [mcp.sse, 'SSE'],
      ]),
    },
    {
      label: l10n.t('Other'),
      text: able([
        [providers, l10n.t('provider configuration')],
        [systemPrompt !== undefined, l10n.t('system prompt')],
        [logout, l10n.t('sign-out')],
      ]),
    },
    {
      label: l10n.t('Ways to sign in'),
      text: authMethods.map(({ name }) => name).join(', ') || l10n.t('none'),
    },
  ]
}
