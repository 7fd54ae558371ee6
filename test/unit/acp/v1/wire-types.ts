/**
 * Our schemas of the v1 wire held against the official types, at compile time: whatever the types allow an agent to
 * send, a schema takes, and whatever we send is what the types ask for. This file compiles, or the check fails.
 */
import type * as sdk from '@agentclientprotocol/sdk'
import type { z } from 'zod'
import type { CLIENT_CAPABILITIES } from '../../../../src/acp/v1/capabilities.ts'
import type * as requests from '../../../../src/acp/v1/client-requests.ts'
import type { AskPermission } from '../../../../src/acp/v1/client-requests.ts'
import type * as options from '../../../../src/acp/v1/config-options.ts'
import type * as initialize from '../../../../src/acp/v1/initialize.ts'
import type { SetVia } from '../../../../src/acp/v1/session-options.ts'
import type { promptToWire, setupToWire } from '../../../../src/acp/v1/to-wire.ts'
import type * as toolCall from '../../../../src/acp/v1/tool-call.ts'
import type * as update from '../../../../src/acp/v1/update.ts'
import type * as content from '../../../../src/acp/wire/content.ts'
import type * as plan from '../../../../src/acp/wire/plan.ts'

/** `true` when the schema takes every value of the type. */
type Takes<Schema extends z.ZodType, Value> = [Value] extends [z.input<Schema>] ? true : false
/** An error where one of the list is not `true`. */
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
    Takes<typeof plan.planEntrySchema, sdk.PlanEntry>,
    Takes<typeof plan.commandSchema, sdk.AvailableCommand>,
    Takes<typeof update.modeSchema, Kind<'current_mode_update'>>,
    Takes<typeof update.usageSchema, Kind<'usage_update'>>,
    Takes<typeof update.infoSchema, Kind<'session_info_update'>>,
    Takes<typeof update.noticeSchema, Kind<'notice'>>,
    Takes<typeof update.compactionSchema, Kind<'compaction_update'>>,
    Takes<typeof update.compactionChunkSchema, Kind<'compaction_summary_chunk'>>,
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
    Takes<typeof requests.optionSchema, sdk.PermissionOption>,
    Takes<typeof requests.readFileSchema, sdk.ReadTextFileRequest>,
    Takes<typeof requests.writeFileSchema, sdk.WriteTextFileRequest>,
    Takes<typeof requests.createTerminalSchema, sdk.CreateTerminalRequest>,
    Takes<typeof requests.terminalSchema, sdk.TerminalOutputRequest>,
    Takes<typeof requests.terminalSchema, sdk.KillTerminalRequest>,
    Takes<typeof requests.terminalSchema, sdk.ReleaseTerminalRequest>,
    Takes<typeof requests.terminalSchema, sdk.WaitForTerminalExitRequest>,
  ]
>

type SetParams<M extends SetVia['method']> = { sessionId: string } & Extract<SetVia, { method: M }>['params']
type Is<Value, Wanted> = [Value] extends [Wanted] ? true : false

export type Outgoing = All<
  [
    Is<typeof CLIENT_CAPABILITIES, sdk.ClientCapabilities>,
    Is<ReturnType<typeof setupToWire>, sdk.NewSessionRequest>,
    Is<ReturnType<typeof setupToWire> & { sessionId: string }, sdk.LoadSessionRequest>,
    Is<ReturnType<typeof setupToWire> & { sessionId: string }, sdk.ResumeSessionRequest>,
    Is<ReturnType<typeof promptToWire>[number], sdk.ContentBlock>,
    Is<SetParams<'session/set_mode'>, sdk.SetSessionModeRequest>,
    Is<SetParams<'session/set_config_option'>, sdk.SetSessionConfigOptionRequest>,
    Is<Awaited<ReturnType<AskPermission>>, sdk.RequestPermissionResponse>,
  ]
>
