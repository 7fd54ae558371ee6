/**
 * Compares Parley's v1 wire schemas with the official types when this file is compiled. The schemas must accept
 * everything that the types allow an agent to send, and everything that Parley sends must match the types.
 */
import type * as sdk from '@agentclientprotocol/sdk'
import type * as unstable from '@agentclientprotocol/sdk/unstable'
import type { z } from 'zod'
import type { serverToWire } from '../../../../src/acp/v1/agent-v1.ts'
import type * as requests from '../../../../src/acp/v1/client-requests.ts'
import type { AskPermission } from '../../../../src/acp/v1/client-requests.ts'
import type * as updateV1 from '../../../../src/acp/v1/update.ts'
import type * as content from '../../../../src/acp/wire/content.ts'
import type * as elicitation from '../../../../src/acp/wire/elicitation.ts'
import type * as initialize from '../../../../src/acp/wire/initialize.ts'
import type * as mcp from '../../../../src/acp/wire/mcp.ts'
import type * as shared from '../../../../src/acp/wire/requests.ts'
import type { promptToWire, setupToWire } from '../../../../src/acp/wire/requests.ts'
import type * as options from '../../../../src/acp/wire/session.ts'
import type { SetVia } from '../../../../src/acp/wire/session.ts'
import type * as state from '../../../../src/acp/wire/state.ts'
import type * as toolCall from '../../../../src/acp/wire/tool-call.ts'
import type * as update from '../../../../src/acp/wire/update.ts'

/** `true` if the schema accepts every value of the type. */
type Takes<Schema extends z.ZodType, Value> = [Value] extends [z.input<Schema>] ? true : false
/** A compile error if one in the list isn't `true`. */
type All<T extends true[]> = T
type Kind<K extends sdk.SessionUpdate['sessionUpdate']> = Extract<sdk.SessionUpdate, { sessionUpdate: K }>

export type Incoming = All<
  [
    Takes<typeof content.textSchema, sdk.TextContent>,
    Takes<typeof content.imageSchema, sdk.ImageContent>,
    Takes<typeof content.audioSchema, sdk.AudioContent>,
    Takes<typeof content.linkSchema, sdk.ResourceLink>,
    Takes<typeof content.resourceSchema, sdk.EmbeddedResource>,
    Takes<typeof update.chunkSchema, Kind<'user_message_chunk'>>,
    Takes<typeof update.chunkSchema, Kind<'agent_message_chunk'>>,
    Takes<typeof update.chunkSchema, Kind<'agent_thought_chunk'>>,
    Takes<typeof toolCall.toolCallSchema, Kind<'tool_call'>>,
    Takes<typeof toolCall.toolCallSchema, Kind<'tool_call_update'>>,
    Takes<typeof toolCall.diffSchema, sdk.Diff>,
    Takes<typeof toolCall.terminalSchema, sdk.Terminal>,
    Takes<typeof toolCall.locationSchema, sdk.ToolCallLocation>,
    Takes<typeof update.planEntrySchema, sdk.PlanEntry>,
    Takes<typeof update.commandSchema, sdk.AvailableCommand>,
    Takes<typeof updateV1.modeSchema, Kind<'current_mode_update'>>,
    Takes<typeof update.usageSchema, Kind<'usage_update'>>,
    Takes<typeof update.infoSchema, Kind<'session_info_update'>>,
    Takes<typeof update.noticeSchema, Kind<'notice'>>,
    Takes<typeof update.compactionSchema, Kind<'compaction_update'>>,
    Takes<typeof update.compactionChunkSchema, Kind<'compaction_summary_chunk'>>,
    Takes<typeof update.planContentSchema, unstable.PlanUpdate['plan']>,
    Takes<typeof update.planRemovedSchema, unstable.PlanRemoved>,
    Takes<typeof update.subagentSchema, unstable.SubagentUpdate>,
    Takes<typeof update.sessionMessageSchema, unstable.SessionMessage>,
    Takes<typeof update.sessionMessageChunkSchema, unstable.SessionMessageChunk>,
    Takes<typeof state.tokensSchema, unstable.Usage>,
    Takes<typeof state.stateSchema, unstable.StateUpdate>,
    Takes<typeof options.configOptionSchema, sdk.SessionConfigOption>,
    Takes<typeof options.choiceSchema, sdk.SessionConfigSelectOption>,
    Takes<typeof options.choiceGroupSchema, sdk.SessionConfigSelectGroup>,
    Takes<typeof options.modesSchema, sdk.SessionModeState>,
    Takes<typeof options.startSchema, sdk.NewSessionResponse>,
    Takes<typeof options.startSchema, sdk.LoadSessionResponse>,
    Takes<typeof options.startSchema, sdk.ResumeSessionResponse>,
    Takes<typeof options.setOptionResponseSchema, sdk.SetSessionConfigOptionResponse>,
    Takes<typeof initialize.initializeSchema, sdk.InitializeResponse>,
    Takes<typeof initialize.authMethodSchema, sdk.AuthMethod>,
    Takes<typeof requests.permissionSchema, sdk.RequestPermissionRequest>,
    Takes<typeof shared.optionSchema, sdk.PermissionOption>,
    Takes<typeof requests.readFileSchema, sdk.ReadTextFileRequest>,
    Takes<typeof requests.writeFileSchema, sdk.WriteTextFileRequest>,
    Takes<typeof requests.createTerminalSchema, sdk.CreateTerminalRequest>,
    Takes<typeof requests.envVariableSchema, sdk.EnvVariable>,
    Takes<typeof requests.terminalSchema, sdk.TerminalOutputRequest>,
    Takes<typeof requests.terminalSchema, sdk.KillTerminalRequest>,
    Takes<typeof requests.terminalSchema, sdk.ReleaseTerminalRequest>,
    Takes<typeof requests.terminalSchema, sdk.WaitForTerminalExitRequest>,
    Takes<typeof shared.sessionInfoSchema, sdk.SessionInfo>,
    Takes<typeof elicitation.elicitationSchema, sdk.CreateElicitationRequest>,
    Takes<typeof elicitation.formSchema, sdk.ElicitationSchema>,
    Takes<typeof elicitation.propertySchema, sdk.ElicitationPropertySchema>,
    Takes<typeof elicitation.itemsSchema, sdk.StringMultiSelectItems>,
    Takes<typeof elicitation.itemsSchema, sdk.TitledMultiSelectItems>,
    Takes<typeof elicitation.enumOptionSchema, sdk.EnumOption>,
    Takes<typeof elicitation.elicitationCompleteSchema, sdk.CompleteElicitationNotification>,
    Takes<typeof update.planContentSchema, unstable.PlanUpdate['plan']>,
    Takes<typeof update.planRemovedSchema, unstable.PlanRemoved>,
    Takes<typeof shared.authStatusSchema, unstable.AuthStatusResponse>,
    Takes<typeof shared.accountSchema, unstable.AuthAccount>,
    Takes<typeof shared.providerSchema, unstable.ProviderInfo>,
    Takes<typeof mcp.mcpRequestSchema, unstable.MessageMcpRequest>,
  ]
>

type SetParams<M extends SetVia['method']> = { sessionId: string } & Extract<SetVia, { method: M }>['params']
type Setup = ReturnType<typeof setupToWire<ReturnType<typeof serverToWire>>>
type Is<Value, Wanted> = [Value] extends [Wanted] ? true : false

export type Outgoing = All<
  [
    Is<ReturnType<typeof initialize.initializeRequest>, sdk.InitializeRequest>,
    Is<ReturnType<typeof initialize.clientCapabilitiesV1>, unstable.ClientCapabilities>,
    Is<Setup, unstable.NewSessionRequest>,
    Is<Setup & { sessionId: string }, unstable.ForkSessionRequest>,
    Is<ReturnType<typeof elicitation.outcomeToWire>, sdk.CreateElicitationResponse>,
    Is<Setup & { sessionId: string }, unstable.LoadSessionRequest>,
    Is<Setup & { sessionId: string }, unstable.ResumeSessionRequest>,
    Is<ReturnType<typeof promptToWire>[number], sdk.ContentBlock>,
    Is<SetParams<'session/set_mode'>, sdk.SetSessionModeRequest>,
    Is<SetParams<'session/set_config_option'>, sdk.SetSessionConfigOptionRequest>,
    Is<Awaited<ReturnType<AskPermission>>, sdk.RequestPermissionResponse>,
  ]
>
