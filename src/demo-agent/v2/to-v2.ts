/** Converts the demo's v1 messages to v2. */
import type * as v1 from '@agentclientprotocol/sdk'
import type * as v2 from '@agentclientprotocol/sdk/experimental/v2'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { STOPPED } from '../tool-call.ts'

export function updateToV2(update: v1.SessionUpdate): v2.SessionUpdate {
  switch (update.sessionUpdate) {
    case 'tool_call':
    case 'tool_call_update':
      return { sessionUpdate: 'tool_call_update', ...toolCallToV2(update) }
    case 'plan':
      // In v1, a session has one plan; in v2, any number of plans with ids.
      return {
        sessionUpdate: 'plan_update',
        plan: { type: 'items', planId: 'plan', entries: update.entries },
      }
    default:
      // The demo agent's other updates are the same in both versions.
      return update as v2.SessionUpdate
  }
}

export function toolCallToV2(call: v1.ToolCallUpdate): v2.ToolCallUpdate {
  const { toolCallId, title, kind, content, locations, rawInput, rawOutput, _meta } = call
  const status = _meta?.[STOPPED] === true ? 'cancelled' : call.status
  const fields = { title, kind, status, content: content?.map(contentToV2), locations, rawInput, rawOutput }
  // A missing field leaves the client's value unchanged.
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { toolCallId, ...Object.fromEntries(known) }
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
  const text = input ? { input: { type: 'text' as const, hint: input.hint } } : {}
  return { type: 'command', name, description, ...text }
}

const BLOCKS = new Set(['text', 'image', 'audio', 'resource_link', 'resource'])

/** Returns a prompt as v1 content; `undefined` if a part of the prompt is of a kind that the demo agent doesn't know. */
export function promptToV1(prompt: v2.ContentBlock[]): v1.ContentBlock[] | undefined {
  return prompt.every(({ type }) => BLOCKS.has(type)) ? (prompt as v1.ContentBlock[]) : undefined
}
