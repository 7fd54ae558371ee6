/** Converts the demo's v1 messages to v2. */
import type * as v1 from '@agentclientprotocol/sdk'
import type * as v2 from '@agentclientprotocol/sdk/experimental/v2'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { STOPPED } from '../tool-call.ts'

/** In v1, a session has one plan; in v2, any number of plans with ids. */
const PLAN_ID = 'plan'

/** `undefined` for updates that v2 doesn't have. */
export function updateToV2(update: v1.SessionUpdate): v2.SessionUpdate | undefined {
  switch (update.sessionUpdate) {
    case 'user_message_chunk':
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
      // all messages of the demo have an id
      return {
        sessionUpdate: update.sessionUpdate,
        messageId: update.messageId ?? '',
        content: update.content,
      } as v2.SessionUpdate
    case 'tool_call':
    case 'tool_call_update':
      return { sessionUpdate: 'tool_call_update', ...toolCallToV2(update) }
    case 'plan':
      return {
        sessionUpdate: 'plan_update',
        plan: { type: 'items', planId: PLAN_ID, entries: update.entries },
      }
    case 'available_commands_update':
      return {
        sessionUpdate: 'available_commands_update',
        availableCommands: update.availableCommands.map(commandToV2),
      }
    case 'config_option_update':
      return {
        sessionUpdate: 'config_option_update',
        configOptions: update.configOptions.map(optionToV2),
      }
    case 'session_info_update':
    case 'usage_update':
    case 'notice':
    case 'compaction_update':
    case 'compaction_summary_chunk':
      return update
    default:
      // of the drafts of both versions
      if ((update.sessionUpdate as string) === 'subagent_update') return update as unknown as v2.SessionUpdate
      // In v2, a mode is a config option like any other.
      return undefined
  }
}

export function toolCallToV2(call: v1.ToolCallUpdate): v2.ToolCallUpdate {
  const { toolCallId, title, kind, content, locations, rawInput, rawOutput, _meta } = call
  const status = _meta?.[STOPPED] === true ? 'cancelled' : call.status
  return {
    toolCallId,
    ...(title == null ? {} : { title }),
    ...(kind == null ? {} : { kind }),
    ...(status == null ? {} : { status }),
    ...(content == null ? {} : { content: content.map(contentToV2) }),
    ...(locations == null ? {} : { locations }),
    ...(rawInput === undefined ? {} : { rawInput }),
    ...(rawOutput === undefined ? {} : { rawOutput }),
  }
}

function contentToV2(content: v1.ToolCallContent): v2.ToolCallContent {
  if (content.type !== 'diff') return content
  const { path, oldText, newText } = content
  const isNew = oldText == null
  const before = isNew ? '/dev/null' : path
  const lines = createTwoFilesPatch(before, path, oldText ?? '', newText, undefined, undefined, {
    headerOptions: FILE_HEADERS_ONLY,
  })
  return {
    type: 'diff',
    changes: [isNew ? { operation: 'add', path } : { operation: 'modify', path }],
    patch: { format: 'git_patch', text: `diff --git ${path} ${path}\n${lines}` },
  }
}

export function optionToV2({ id, ...option }: v1.SessionConfigOption): v2.SessionConfigOption {
  if (option.type === 'boolean') return { ...option, configId: id }
  const options = option.options.filter(choice => 'value' in choice)
  return { ...option, configId: id, options }
}

export function commandToV2({ name, description, input }: v1.AvailableCommand): v2.AvailableCommand {
  return {
    type: 'command',
    name,
    description,
    ...(input ? { input: { type: 'text' as const, hint: input.hint } } : {}),
  }
}

const BLOCKS = new Set(['text', 'image', 'audio', 'resource_link', 'resource'])

/** `undefined` if a part of a prompt is of a kind that the demo doesn't know. */
export function promptToV1(prompt: v2.ContentBlock[]): v1.ContentBlock[] | undefined {
  return prompt.every(isKnown) ? prompt : undefined
}

function isKnown(block: v2.ContentBlock): block is v2.ContentBlock & v1.ContentBlock {
  return BLOCKS.has(block.type)
}

/** The state of a session without a running turn. */
export const IDLE = { sessionUpdate: 'state_update', state: 'idle' } as const
