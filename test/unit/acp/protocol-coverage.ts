/**
 * The protocol coverage table: every method, update, capability and kind of content in the official schemas,
 * released (`stable`) or not, with the file that handles it and the test that covers it. A test fails if a row is
 * missing, if no schema has it, or if its file or test doesn't contain it. `npm run test:mutation` fails if a row's
 * test passes without its handler. Only tests import this table.
 *
 * Where the schemas are ambiguous, or differ from earlier documentation:
 * - Of the `annotations`, the audience of content is used, and of resources when they were modified and whether they have the
 * highest priority. Of the `icons` of links, those in the message are shown; no other is fetched. `_meta` is read where there
 * is a known convention.
 * - v2 has no batches, but a batch is handled anyway, message by message.
 * - An early draft of v2 had the agent's name in `agentInfo`, `session/load` with `session.load`, `auth.logout`, and
 * a response to a prompt at the end of its turn. Parley uses that draft with agents whose name is only in `agentInfo`.
 * - In v2 the agent cancels its requests (`$/cancel_request`). If the user stops a turn, requests that aren't known to be
 * for background work are answered `cancelled` immediately, and so are those that an idle session leaves open.
 * - Messages of a subagent's session are part of its parent's conversation. Its plans, options and usage are read but
 * not shown.
 * - Config options, groups and sign-in methods may have the property names of either version.
 */

export interface Coverage {
  what: 'method' | 'update' | 'capability' | 'kind'
  /**
   * A method (`session/new`), the `sessionUpdate` of an update, the path of a capability after `agent` or `client`,
   * or a variant of a union of the schema (`ContentBlock.text`).
   */
  name: string
  versions: ReadonlyArray<1 | 2>
  /** the file in `src/acp` that handles it; if there is none, `note` says why */
  at?: string
  /** the test in `test/unit/acp` that covers it */
  test?: string
  /** the handler's name in `at`, if it isn't the name itself */
  handler?: string
  /** its name in the code, or why it isn't handled */
  note?: string
}

/** The name that code and tests use for a row. */
export const wordOf = ({ what, name }: Coverage): string =>
  what === 'method' || what === 'update' ? name : (name.split('.').at(-1) ?? name)

const BOTH = [1, 2] as const
const V1 = [1] as const
const V2 = [2] as const

function rows(
  what: Coverage['what'],
  versions: Coverage['versions'],
  at: string,
  test: string,
  ...names: string[]
): Coverage[] {
  return names.map(name => ({ what, name, versions, at, test }))
}

function left(
  what: Coverage['what'],
  versions: Coverage['versions'],
  note: string,
  ...names: string[]
): Coverage[] {
  return names.map(name => ({ what, name, versions, note }))
}

export const COVERAGE: readonly Coverage[] = [
  // ---- methods of the agent
  ...rows('method', BOTH, 'start-agent.ts', 'start-agent.test.ts', 'initialize'),
  ...rows('method', V1, 'v1/agent-v1.ts', 'v1/agent-v1.test.ts', 'authenticate', 'logout'),
  ...rows('method', V2, 'v2/agent-v2.ts', 'v2/agent-v2.test.ts', 'auth/login', 'auth/logout'),
  ...rows(
    'method',
    V1,
    'agent-base.ts',
    'v1/agent-v1.test.ts',
    'session/new',
    'session/list',
    'session/close',
  ),
  ...rows(
    'method',
    V2,
    'agent-base.ts',
    'v2/agent-v2.test.ts',
    'session/new',
    'session/list',
    'session/close',
  ),
  ...rows('method', V1, 'agent-base.ts', 'v1/agent-v1.test.ts', 'session/delete', 'session/cancel'),
  ...rows('method', V2, 'agent-base.ts', 'v2/agent-v2.test.ts', 'session/delete', 'session/cancel'),
  ...rows('method', V1, 'v1/agent-v1.ts', 'v1/agent-v1.test.ts', 'session/load', 'session/prompt'),
  ...rows('method', V1, 'agent-base.ts', 'v1/agent-v1.test.ts', 'session/resume'),
  ...rows('method', V2, 'v2/agent-v2.ts', 'v2/agent-v2.test.ts', 'session/resume', 'session/prompt'),
  ...rows('method', V2, 'v2/agent-v2.ts', 'v2/agent-v2.test.ts', 'tool_call/cancel', 'terminal/cancel'),
  ...rows('method', V1, 'wire/session.ts', 'v1/agent-v1.test.ts', 'session/set_mode'),
  ...rows('method', V1, 'wire/session.ts', 'v1/agent-v1.test.ts', 'session/set_config_option'),
  ...rows('method', V2, 'wire/session.ts', 'v2/agent-v2.test.ts', 'session/set_config_option'),
  ...rows(
    'method',
    BOTH,
    'agent-base.ts',
    'unstable.test.ts',
    'session/fork',
    'session/set_title',
    'session/archive',
    'session/unarchive',
    'session/status',
    'auth/status',
    'providers/list',
    'providers/set',
    'providers/disable',
  ),

  // ---- methods of the client
  ...rows('method', BOTH, 'agent-base.ts', 'schema-messages.test.ts', 'session/update'),
  ...rows('method', V1, 'v1/client-requests.ts', 'v1/agent-v1.test.ts', 'session/request_permission'),
  ...rows('method', V2, 'v2/agent-v2.ts', 'v2/agent-v2.test.ts', 'session/request_permission'),
  ...rows(
    'method',
    V1,
    'v1/client-requests.ts',
    'v1/agent-v1.test.ts',
    'fs/read_text_file',
    'fs/write_text_file',
    'terminal/create',
    'terminal/output',
    'terminal/wait_for_exit',
    'terminal/kill',
    'terminal/release',
  ),
  ...rows(
    'method',
    BOTH,
    'agent-base.ts',
    'wire/elicitation.test.ts',
    'elicitation/create',
    'elicitation/complete',
  ),
  ...rows('method', BOTH, 'agent-base.ts', 'unstable.test.ts', 'auth/status_update'),
  ...rows('method', BOTH, 'connection.ts', 'connection.test.ts', '$/cancel_request'),
  ...rows('method', BOTH, 'wire/mcp.ts', 'unstable.test.ts', 'mcp/message'),
  ...left('method', BOTH, 'Between proxies; Parley is a client.', 'proxy/initialize', 'proxy/successor'),

  // ---- updates
  ...rows(
    'update',
    V1,
    'wire/update.ts',
    'v1/update.test.ts',
    'user_message_chunk',
    'agent_message_chunk',
    'agent_thought_chunk',
    'plan',
    'available_commands_update',
    'session_info_update',
    'usage_update',
    'notice',
    'compaction_update',
    'compaction_summary_chunk',
  ),
  ...rows('update', V1, 'wire/update.ts', 'v1/agent-v1.test.ts', 'config_option_update'),
  ...rows(
    'update',
    V1,
    'v1/update.ts',
    'v1/update.test.ts',
    'tool_call',
    'tool_call_update',
    'current_mode_update',
  ),
  ...rows(
    'update',
    V2,
    'wire/update.ts',
    'v2/update.test.ts',
    'user_message_chunk',
    'agent_message_chunk',
    'agent_thought_chunk',
    'available_commands_update',
    'config_option_update',
    'session_info_update',
    'usage_update',
    'notice',
    'compaction_update',
    'compaction_summary_chunk',
    'plan_update',
    'plan_removed',
  ),
  ...rows(
    'update',
    V2,
    'v2/update.ts',
    'v2/update.test.ts',
    'user_message',
    'agent_message',
    'agent_thought',
    'state_update',
    'tool_call_update',
    'tool_call_content_chunk',
    'terminal_update',
    'terminal_output_chunk',
  ),
  ...rows('update', V1, 'wire/update.ts', 'v1/update.test.ts', 'plan_update', 'plan_removed'),
  ...rows(
    'update',
    BOTH,
    'wire/update.ts',
    'unstable.test.ts',
    'subagent_update',
    'session_message',
    'session_message_chunk',
  ),

  // ---- capabilities of the agent
  ...rows(
    'capability',
    V1,
    'v1/agent-v1.ts',
    'v1/initialize.test.ts',
    'agent.loadSession',
    'agent.promptCapabilities.image',
    'agent.promptCapabilities.audio',
    'agent.promptCapabilities.embeddedContext',
    'agent.mcpCapabilities.http',
    'agent.mcpCapabilities.sse',
    'agent.sessionCapabilities.list',
    'agent.sessionCapabilities.delete',
    'agent.sessionCapabilities.additionalDirectories',
    'agent.sessionCapabilities.resume',
    'agent.sessionCapabilities.close',
    'agent.auth.logout',
  ),
  ...rows(
    'capability',
    V2,
    'v2/agent-v2.ts',
    'v2/agent-v2.test.ts',
    'agent.session.prompt.image',
    'agent.session.prompt.audio',
    'agent.session.prompt.embeddedContext',
    'agent.session.mcp.stdio',
    'agent.session.mcp.http',
    'agent.session.delete',
    'agent.session.additionalDirectories',
  ),
  ...rows(
    'capability',
    V1,
    'wire/initialize.ts',
    'unstable.test.ts',
    'agent.sessionCapabilities.fork',
    'agent.sessionCapabilities.archive',
    'agent.sessionCapabilities.status',
    'agent.sessionCapabilities.title',
    'agent.sessionCapabilities.systemPrompt.mode.override',
  ),
  ...rows(
    'capability',
    V2,
    'wire/initialize.ts',
    'unstable.test.ts',
    'agent.session.fork',
    'agent.session.archive',
    'agent.session.status',
    'agent.session.title',
    'agent.session.systemPrompt.mode.override',
  ),
  ...rows(
    'capability',
    BOTH,
    'wire/initialize.ts',
    'unstable.test.ts',
    'agent.auth.status',
    'agent.providers',
  ),
  ...rows('capability', V1, 'v1/agent-v1.ts', 'unstable.test.ts', 'agent.mcpCapabilities.acp'),
  ...rows('capability', V2, 'v2/agent-v2.ts', 'unstable.test.ts', 'agent.session.mcp.acp'),

  // ---- capabilities of the client: what Parley reports
  ...rows(
    'capability',
    V1,
    'wire/initialize.ts',
    'wire/initialize.test.ts',
    'client.fs.readTextFile',
    'client.fs.writeTextFile',
    'client.terminal',
    'client.session.compaction',
    'client.session.configOptions.boolean',
    'client.session.notices',
    'client.plan',
    'client.subagents',
  ),
  ...rows(
    'capability',
    BOTH,
    'wire/initialize.ts',
    'wire/initialize.test.ts',
    'client.auth.terminal',
    'client.elicitation.form',
    'client.elicitation.url',
  ),

  // ---- kinds of content
  ...rows(
    'kind',
    BOTH,
    'wire/content.ts',
    'v1/update.test.ts',
    'ContentBlock.text',
    'ContentBlock.image',
    'ContentBlock.audio',
    'ContentBlock.resource_link',
    'ContentBlock.resource',
  ),
  ...rows(
    'kind',
    V1,
    'wire/tool-call.ts',
    'v1/update.test.ts',
    'ToolCallContent.content',
    'ToolCallContent.diff',
  ),
  ...rows(
    'kind',
    V2,
    'wire/tool-call.ts',
    'v2/update.test.ts',
    'ToolCallContent.content',
    'ToolCallContent.diff',
  ),
  ...rows('kind', V1, 'wire/tool-call.ts', 'v1/update.test.ts', 'ToolCallContent.terminal'),
  ...rows('kind', V2, 'wire/tool-call.ts', 'v2/update.test.ts', 'ToolCallContent.terminal'),
  ...rows(
    'kind',
    V2,
    'wire/state.ts',
    'v2/update.test.ts',
    'StateUpdate.running',
    'StateUpdate.idle',
    'StateUpdate.requires_action',
    'StateUpdate.unknown',
    'BackgroundWork.tool_call',
    'BackgroundWork.terminal',
    'BackgroundWork.subagent',
  ).map(row => ({
    ...row,
    ...(/\.(?:running|requires_action|unknown)$/.test(row.name) ? { handler: 'state' } : {}),
    note: 'A state that is not idle is one of work, whatever its name.',
  })),
  ...rows(
    'kind',
    V1,
    'wire/state.ts',
    'unstable.test.ts',
    'StateUpdate.running',
    'StateUpdate.idle',
    'StateUpdate.requires_action',
    'StateUpdate.unknown',
  ).map(row => ({ ...row, handler: 'state', note: 'Only within `subagent_update`; kept by its name.' })),
  ...rows(
    'kind',
    V2,
    'v2/agent-v2.ts',
    'v2/agent-v2.test.ts',
    'RequestPermissionSubject.tool_call',
    'RequestPermissionSubject.command',
  ),
  ...rows(
    'kind',
    V2,
    'wire/update.ts',
    'v2/update.test.ts',
    'PlanUpdateContent.items',
    'PlanUpdateContent.file',
    'PlanUpdateContent.markdown',
  ),
  ...rows(
    'kind',
    V1,
    'wire/update.ts',
    'v1/update.test.ts',
    'PlanUpdateContent.items',
    'PlanUpdateContent.file',
    'PlanUpdateContent.markdown',
  ),
  ...rows('kind', V1, 'wire/session.ts', 'wire/session.test.ts', 'SessionConfigOption.select'),
  ...rows('kind', V1, 'wire/session.ts', 'wire/session.test.ts', 'SessionConfigOption.boolean'),
  ...rows('kind', V2, 'wire/session.ts', 'v2/update.test.ts', 'SessionConfigOption.select'),
  ...rows('kind', V2, 'wire/session.ts', 'v2/agent-v2.test.ts', 'SessionConfigOption.boolean'),
  ...rows('kind', V1, 'wire/initialize.ts', 'v1/initialize.test.ts', 'AuthMethod.terminal'),
  ...rows('kind', V2, 'wire/initialize.ts', 'v1/initialize.test.ts', 'AuthMethod.terminal'),
  ...rows('kind', V2, 'wire/initialize.ts', 'v2/agent-v2.test.ts', 'AuthMethod.agent').map(row => ({
    ...row,
    handler: 'type',
  })),
  ...rows(
    'kind',
    BOTH,
    'wire/elicitation.ts',
    'wire/elicitation.test.ts',
    'CreateElicitationRequest.form',
    'CreateElicitationRequest.url',
    'ElicitationPropertySchema.string',
    'ElicitationPropertySchema.number',
    'ElicitationPropertySchema.integer',
    'ElicitationPropertySchema.boolean',
    'ElicitationPropertySchema.array',
  ),
  ...rows(
    'kind',
    BOTH,
    'wire/requests.ts',
    'v1/agent-v1.test.ts',
    'RequestPermissionOutcome.selected',
    'RequestPermissionOutcome.cancelled',
  ),
  ...rows(
    'kind',
    BOTH,
    'wire/elicitation.ts',
    'wire/elicitation.test.ts',
    'CreateElicitationResponse.accept',
    'CreateElicitationResponse.decline',
    'CreateElicitationResponse.cancel',
  ),
  ...rows('kind', V1, 'wire/session.ts', 'v1/agent-v1.test.ts', 'SetSessionConfigOptionRequest.boolean'),
  ...rows(
    'kind',
    V2,
    'v2/agent-v2.ts',
    'v2/agent-v2.test.ts',
    'SetSessionConfigOptionRequest.id',
    'SetSessionConfigOptionRequest.boolean',
  ),
  ...rows('kind', V1, 'v1/agent-v1.ts', 'v1/agent-v1.test.ts', 'McpServer.http', 'McpServer.sse').map(
    row => ({
      ...row,
      note: 'Written as the model has it, where the agent has the capability.',
    }),
  ),
  ...rows('kind', V2, 'v2/agent-v2.ts', 'v2/agent-v2.test.ts', 'McpServer.stdio', 'McpServer.http'),
  ...rows('kind', V1, 'v1/agent-v1.ts', 'unstable.test.ts', 'McpServer.acp'),
  ...rows('kind', V2, 'v2/agent-v2.ts', 'unstable.test.ts', 'McpServer.acp'),
  ...rows('kind', V2, 'v2/agent-v2.ts', 'v2/agent-v2.test.ts', 'ReplayFrom.start'),
  ...rows(
    'kind',
    V2,
    'wire/update.ts',
    'v2/update.test.ts',
    'AvailableCommand.command',
    'AvailableCommandInput.text',
  ).map(row => ({
    ...row,
    handler: row.name === 'AvailableCommand.command' ? 'name' : 'hint',
    note: 'A command of any kind is shown by its name and description, with its hint.',
  })),
  ...rows('kind', BOTH, 'wire/elicitation.ts', 'wire/elicitation.test.ts', 'MultiSelectItems.string'),
  ...rows(
    'kind',
    V2,
    'wire/tool-call.ts',
    'v2/update.test.ts',
    'DiffChange.add',
    'DiffChange.delete',
    'DiffChange.modify',
    'DiffChange.move',
    'DiffChange.copy',
  ).map(row => ({ ...row, handler: 'operation', note: 'A change of any kind is kept with its paths.' })),
]
