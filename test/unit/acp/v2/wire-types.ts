/**
 * Compares Parley's v2 wire schemas with the official types when this file is compiled. The schemas must accept
 * everything that the types allow an agent to send, and everything that Parley sends must match the types.
 */
import type * as sdk from '@agentclientprotocol/sdk/experimental/v2'
import type * as unstable from '@agentclientprotocol/sdk/experimental/v2/unstable'
import type { z } from 'zod'
import type * as permission from '../../../../src/acp/v2/agent-v2.ts'
import type { serverToWire, valueToWire } from '../../../../src/acp/v2/agent-v2.ts'
import type * as updateV2 from '../../../../src/acp/v2/update.ts'
import type * as content from '../../../../src/acp/wire/content.ts'
import type * as elicitation from '../../../../src/acp/wire/elicitation.ts'
import type * as initialize from '../../../../src/acp/wire/initialize.ts'
import type * as mcp from '../../../../src/acp/wire/mcp.ts'
import type * as requests from '../../../../src/acp/wire/requests.ts'
import type { promptToWire, setupToWire } from '../../../../src/acp/wire/requests.ts'
import type * as options from '../../../../src/acp/wire/session.ts'
import type * as state from '../../../../src/acp/wire/state.ts'
import type * as toolCall from '../../../../src/acp/wire/tool-call.ts'
import type * as update from '../../../../src/acp/wire/update.ts'

/** `true` if the schema accepts every value of the type. */
type Takes<Schema extends z.ZodType, Value> = [Value] extends [z.input<Schema>] ? true : false
/** A compile error if one in the list isn't `true`. */
type All<T extends true[]> = T

export type Incoming = All<
  [
    Takes<typeof initialize.initializeSchema, sdk.InitializeResponse>,
    Takes<typeof initialize.authMethodSchema, sdk.AuthMethod>,
    Takes<typeof options.startSchema, sdk.NewSessionResponse>,
    Takes<typeof options.startSchema, sdk.ResumeSessionResponse>,
    Takes<typeof options.setOptionResponseSchema, sdk.SetSessionConfigOptionResponse>,
    Takes<typeof options.configOptionSchema, sdk.SessionConfigOption>,
    Takes<typeof options.choiceSchema, sdk.SessionConfigSelectOption>,
    Takes<typeof options.choiceGroupSchema, sdk.SessionConfigSelectGroup>,
    Takes<typeof requests.sessionInfoSchema, sdk.SessionInfo>,
    Takes<typeof content.textSchema, sdk.TextContent>,
    Takes<typeof content.imageSchema, sdk.ImageContent>,
    Takes<typeof content.audioSchema, sdk.AudioContent>,
    Takes<typeof content.linkSchema, sdk.ResourceLink>,
    Takes<typeof content.iconSchema, sdk.Icon>,
    Takes<typeof content.resourceSchema, sdk.EmbeddedResource>,
    Takes<typeof update.chunkSchema, sdk.ContentChunk>,
    Takes<typeof updateV2.messageSchema, sdk.UserMessage>,
    Takes<typeof updateV2.messageSchema, sdk.AgentMessage>,
    Takes<typeof updateV2.messageSchema, sdk.AgentThought>,
    Takes<typeof state.stateSchema, sdk.StateUpdate>,
    Takes<typeof state.backgroundSchema, sdk.BackgroundWork>,
    Takes<typeof state.errorSchema, NonNullable<sdk.ErrorStopReason['error']>>,
    Takes<typeof toolCall.toolCallSchema, sdk.ToolCallUpdate>,
    Takes<typeof toolCall.diffChangesSchema, sdk.Diff>,
    Takes<typeof toolCall.diffChangeSchema, sdk.DiffChange>,
    Takes<typeof toolCall.terminalSchema, sdk.Terminal>,
    Takes<typeof toolCall.locationSchema, sdk.ToolCallLocation>,
    Takes<typeof updateV2.toolCallChunkSchema, sdk.ToolCallContentChunk>,
    Takes<typeof updateV2.terminalSchema, sdk.TerminalUpdate>,
    Takes<typeof updateV2.outputSchema, sdk.TerminalOutput>,
    Takes<typeof updateV2.exitSchema, sdk.TerminalExitStatus>,
    Takes<typeof updateV2.sizeSchema, sdk.TerminalSize>,
    Takes<typeof updateV2.outputChunkSchema, sdk.TerminalOutputChunk>,
    Takes<typeof update.planContentSchema, sdk.PlanUpdate['plan']>,
    Takes<typeof update.planContentSchema, unstable.PlanUpdate['plan']>,
    Takes<typeof update.planEntrySchema, sdk.PlanEntry>,
    Takes<typeof update.commandSchema, sdk.AvailableCommand>,
    Takes<typeof update.planRemovedSchema, unstable.PlanRemoved>,
    Takes<typeof update.infoSchema, sdk.SessionInfoUpdate>,
    Takes<typeof update.usageSchema, sdk.UsageUpdate>,
    Takes<typeof update.noticeSchema, sdk.Notice>,
    Takes<typeof update.compactionSchema, sdk.CompactionUpdate>,
    Takes<typeof update.compactionChunkSchema, sdk.CompactionSummaryChunk>,
    Takes<typeof update.subagentSchema, unstable.SubagentUpdate>,
    Takes<typeof update.sessionMessageSchema, unstable.SessionMessage>,
    Takes<typeof update.sessionMessageChunkSchema, unstable.SessionMessageChunk>,
    Takes<typeof state.tokensSchema, unstable.Usage>,
    Takes<typeof state.stateSchema, unstable.StateUpdate>,
    Takes<typeof state.backgroundSchema, unstable.BackgroundWork>,
    Takes<typeof permission.permissionSchema, sdk.RequestPermissionRequest>,
    Takes<typeof permission.commandSubjectSchema, sdk.CommandPermissionSubject>,
    Takes<typeof requests.optionSchema, sdk.PermissionOption>,
    Takes<typeof elicitation.elicitationSchema, sdk.CreateElicitationRequest>,
    Takes<typeof elicitation.formSchema, sdk.ElicitationSchema>,
    Takes<typeof elicitation.propertySchema, sdk.ElicitationPropertySchema>,
    Takes<typeof elicitation.itemsSchema, sdk.StringMultiSelectItems>,
    Takes<typeof elicitation.itemsSchema, sdk.TitledMultiSelectItems>,
    Takes<typeof elicitation.enumOptionSchema, sdk.EnumOption>,
    Takes<typeof elicitation.elicitationCompleteSchema, sdk.CompleteElicitationNotification>,
    Takes<typeof requests.authStatusSchema, unstable.AuthStatusResponse>,
    Takes<typeof requests.accountSchema, unstable.AuthAccount>,
    Takes<typeof mcp.mcpRequestSchema, unstable.MessageMcpRequest>,
    Takes<typeof requests.providerSchema, unstable.ProviderInfo>,
  ]
>

type Is<Value, Wanted> = [Value] extends [Wanted] ? true : false
type Setup = ReturnType<typeof setupToWire<ReturnType<typeof serverToWire>>>
type OneSession = { sessionId: string }

export type Outgoing = All<
  [
    Is<ReturnType<typeof initialize.initializeRequest>, sdk.InitializeRequest>,
    Is<ReturnType<typeof initialize.clientCapabilitiesV2>, sdk.ClientCapabilities>,
    Is<Setup, unstable.NewSessionRequest>,
    Is<Setup & OneSession, unstable.ForkSessionRequest>,
    Is<Setup & OneSession & { replayFrom: { type: 'start' } }, unstable.ResumeSessionRequest>,
    Is<OneSession & { configId: string } & ReturnType<typeof valueToWire>, sdk.SetSessionConfigOptionRequest>,
    Is<ReturnType<typeof promptToWire>[number], sdk.ContentBlock>,
    Is<ReturnType<typeof requests.outcomeToWire>, sdk.RequestPermissionResponse>,
    Is<ReturnType<typeof elicitation.outcomeToWire>, sdk.CreateElicitationResponse>,
  ]
>
