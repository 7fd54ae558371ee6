import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import { type AgentLaunch, AgentStartError } from '../../acp/agent.ts'
import { isAgentAddress } from '../../agents/agent-settings.ts'
import type { AgentDefinition, RemoteDefinition } from '../../agents/definition.ts'
import type { NetworkSettings } from '../../agents/environment.ts'
import type { LaunchEnvironment } from '../../agents/launch-environment.ts'
import { settingPath } from '../../agents/setting-problem.ts'
import { substitute, type VariableContext } from '../../agents/variables.ts'
import { isMappedRoot, type PathMapping } from '../../common/path-mapping.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { McpInputs } from '../../mcp/inputs.ts'
import type { McpInput, RemoteServerDefinition } from '../../mcp/mcp-settings.ts'
import { resolveServer } from '../../mcp/resolve-server.ts'

export interface RemoteLaunchOptions {
  environment: LaunchEnvironment
  folders: ReadonlyArray<{ name: string; path: string }>
  inputs: Pick<McpInputs, 'value' | 'forget'>
  network: NetworkSettings
  /** Is given the values of the headers, so that logs redact them. */
  secrets: SecretRegistry
}

/**
 * Resolves the address of an agent on a server in the same way as an MCP server's: each `${input:id}` in the headers is asked for once, and
 * its value is stored only for this agent and the origin of its URL.
 * @throws AgentStartError
 */
export async function resolveRemoteLaunch(
  definition: Pick<AgentDefinition, 'id' | 'name'> & { remote: RemoteDefinition; startedByWorkspace?: true },
  { environment, folders, inputs, network, secrets }: RemoteLaunchOptions,
): Promise<AgentLaunch> {
  const { id, name, remote } = definition
  const variables = { folders, userHome: homedir(), env: environment.env, platform: environment.platform }
  const { text: url, problems } = substitute(remote.url, variables)
  const where = settingPath('parley.agents', [id, 'url'])
  const [problem] = problems
  if (problem) throw fail(l10n.t('{0}: {1}: {2}.', where, problem.variable, problem.message))
  if (url.includes('${') || !isAgentAddress(url))
    throw fail(
      l10n.t(
        '{0}: expected a wss or https URL, or a ws or http URL of this machine, without a user name.',
        where,
      ),
    )
  const pathMappings = remote.pathMappings && resolveMappings(id, remote.pathMappings, variables)
  const { protocol, host, pathname } = new URL(url)
  const server: RemoteServerDefinition = {
    ...{ type: 'http', name, disabled: false, headers: remote.headers },
    url: url.replace(/^ws/i, 'http'),
    scope: definition.startedByWorkspace ? 'workspace' : 'user',
    // the origin is a part of the storage key, so that a value for one server is never sent to another server
    file: `${settingPath('parley.agents', [encodeURIComponent(id)])} ${protocol}//${host}`,
  }
  const used: McpInput[] = []
  const resolution = await resolveServer(server, {
    environment,
    folders,
    userHome: homedir(),
    input: (inputId, of) => {
      const input: McpInput = {
        ...{ id: inputId, scope: of.scope, type: 'promptString', password: true, options: [] },
        ...(of.file !== undefined && { file: of.file }),
        title: l10n.t('Agent "{0}"', name),
        description: l10n.t('"{0}" for {1}', inputId, host),
      }
      used.push(input)
      return inputs.value(inputId, of, [input])
    },
  })
  if ('reason' in resolution) throw fail(resolution.reason)
  if (resolution.server.type === 'stdio') throw fail(where)
  const { headers } = resolution.server
  for (const { value } of headers) secrets.add(value)
  return {
    command: `${protocol}//${host}${pathname}`,
    ...{ args: [], env: {} },
    cwd: folders[0]?.path ?? homedir(),
    remote: {
      url,
      headers,
      sharesFiles: remote.sharesFiles ?? false,
      ...(pathMappings && { pathMappings }),
      acceptsAnyCertificate: network.strictSSL === false,
      onRefused: () => {
        for (const input of used) void inputs.forget(input.id, server, used)
      },
    },
  }
}

function fail(message: string): AgentStartError {
  return new AgentStartError({ kind: 'spawn', command: '', message }, message)
}

/** @throws AgentStartError */
function resolveMappings(
  id: string,
  mappings: readonly PathMapping[],
  variables: VariableContext,
): PathMapping[] {
  const root = (index: number, side: 'local' | 'remote') => {
    const key = `${side}Root` as const
    const where = settingPath('parley.agents', [id, 'pathMappings', index, key])
    const { text, problems } = substitute(mappings[index]?.[key] ?? '', variables)
    const [problem] = problems
    if (problem) throw fail(l10n.t('{0}: {1}: {2}.', where, problem.variable, problem.message))
    if (!isMappedRoot(text, side)) throw fail(l10n.t('{0}: expected an absolute path.', where))
    return text
  }
  return mappings.map((_, index) => ({ localRoot: root(index, 'local'), remoteRoot: root(index, 'remote') }))
}
