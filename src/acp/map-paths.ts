import { CHANGES_FIELDS, fieldName, isPathField, URL_FIELDS } from '../common/field-name.ts'
import { isRecord } from '../common/is-record.ts'
import type { PathMapper } from '../common/path-mapping.ts'
import type { AgentClient } from './agent.ts'
import type {
  ContentBlock,
  PermissionRequest,
  SessionInfo,
  SessionUpdate,
  SubagentPatch,
  ToolCallContent,
  ToolCallPatch,
} from './model.ts'

/** Translates a path or a `file:` URI. */
type Translate = (text: string) => string

/** The maximum depth at which a tool's input is searched for paths. Permission rules don't search deeper. */
const MAX_DEPTH = 8

/** Returns the content of a prompt with the agent's paths. Text isn't changed. */
export function contentForAgent(content: readonly ContentBlock[], paths: PathMapper): ContentBlock[] {
  return content.map(block => mapBlock(block, text => paths.toRemote(text)))
}

/** Returns a listed session with paths of this machine. */
export function listedHere(session: SessionInfo, paths: PathMapper): SessionInfo {
  return {
    ...session,
    cwd: paths.toLocal(session.cwd),
    additionalDirectories: session.additionalDirectories.map(folder => paths.toLocal(folder)),
  }
}

/** Returns a client for an agent on another machine. `client` gets the agent's requests with paths of this machine. */
export function clientWithPaths(client: AgentClient, paths: PathMapper): AgentClient {
  const toLocal: Translate = text => paths.toLocal(text)
  return {
    requestPermission: (request, signal) => client.requestPermission(mapRequest(request, toLocal), signal),
    readTextFile: (request, signal) =>
      client.readTextFile({ ...request, path: toLocal(request.path) }, signal),
    writeTextFile: (request, signal) =>
      client.writeTextFile({ ...request, path: toLocal(request.path) }, signal),
    createTerminal: request => client.createTerminal(inFolder(request, toLocal)),
    terminalOutput: (...terminal) => client.terminalOutput(...terminal),
    waitForTerminalExit: (...terminal) => client.waitForTerminalExit(...terminal),
    killTerminal: (...terminal) => client.killTerminal(...terminal),
    releaseTerminal: (...terminal) => client.releaseTerminal(...terminal),
    ...(client.createElicitation && { createElicitation: client.createElicitation.bind(client) }),
    ...(client.mcpMessage && { mcpMessage: client.mcpMessage.bind(client) }),
    ...(client.elicitationComplete && { elicitationComplete: client.elicitationComplete.bind(client) }),
  }
}

/** Returns an update of the agent with paths of this machine. Text, command lines and patches aren't changed. */
export function updateHere(update: SessionUpdate, paths: PathMapper): SessionUpdate {
  const to: Translate = text => paths.toLocal(text)
  const blocks = (content: readonly ContentBlock[]) => content.map(block => mapBlock(block, to))
  switch (update.type) {
    case 'message_chunk':
    case 'compaction_chunk':
    case 'session_message_chunk':
      return { ...update, content: mapBlock(update.content, to) }
    case 'message':
      return update.content ? { ...update, content: blocks(update.content) } : update
    case 'session_message': {
      const { message } = update
      return message.content
        ? { ...update, message: { ...message, content: blocks(message.content) } }
        : update
    }
    case 'compaction':
      return update.summary ? { ...update, summary: blocks(update.summary) } : update
    case 'tool_call':
      return { ...update, toolCall: mapToolCall(update.toolCall, to) }
    case 'tool_call_content':
      return { ...update, content: mapToolContent(update.content, to) }
    case 'terminal':
      return { ...update, terminal: inFolder(update.terminal, to) }
    case 'plan': {
      const { plan } = update
      return plan.uri === undefined ? update : { ...update, plan: { ...plan, uri: to(plan.uri) } }
    }
    case 'subagent':
      return { ...update, subagent: mapSubagent(update.subagent, to) }
    default:
      return update
  }
}

function mapRequest(request: PermissionRequest, to: Translate): PermissionRequest {
  const { subject } = request
  if (subject.type === 'tool_call')
    return { ...request, subject: { ...subject, toolCall: mapToolCall(subject.toolCall, to) } }
  return subject.type === 'command' ? { ...request, subject: inFolder(subject, to) } : request
}

function mapBlock(block: ContentBlock, to: Translate): ContentBlock {
  switch (block.type) {
    case 'image':
      return block.uri === undefined ? block : { ...block, uri: to(block.uri) }
    case 'resource_link':
    case 'resource':
      return { ...block, uri: to(block.uri) }
    default:
      return block
  }
}

function mapToolCall(toolCall: ToolCallPatch, to: Translate): ToolCallPatch {
  const { content, locations, rawInput } = toolCall
  return {
    ...toolCall,
    ...(content && { content: content.map(one => mapToolContent(one, to)) }),
    ...(locations && { locations: locations.map(one => ({ ...one, path: to(one.path) })) }),
    ...(rawInput !== undefined && { rawInput: mapInput(rawInput, to) }),
  }
}

function mapToolContent(content: ToolCallContent, to: Translate): ToolCallContent {
  if (content.type === 'content') return { ...content, content: mapBlock(content.content, to) }
  if (content.type !== 'diff') return content
  const changes = content.changes.map(change => ({
    ...change,
    path: to(change.path),
    ...(change.oldPath !== undefined && { oldPath: to(change.oldPath) }),
  }))
  return { ...content, changes }
}

/**
 * Translates the paths in a tool's input. Changes only fields that are known to contain paths, because any other text may be a file's
 * content.
 */
function mapInput(input: unknown, to: Translate, depth = 0): unknown {
  if (depth > MAX_DEPTH) return input
  if (Array.isArray(input)) return input.map(one => mapInput(one, to, depth + 1))
  if (!isRecord(input)) return input
  const entries = Object.entries(input).map(([key, value]): [string, unknown] => {
    const name = fieldName(key)
    if (isPathField(key) || URL_FIELDS.has(name)) {
      if (typeof value === 'string') return [key, to(value)]
      if (Array.isArray(value) && value.every(one => typeof one === 'string')) return [key, value.map(to)]
    }
    const within = mapInput(value, to, depth + 1)
    if (!CHANGES_FIELDS.has(name) || !isRecord(within)) return [key, within]
    return [key, Object.fromEntries(Object.entries(within).map(([path, change]) => [to(path), change]))]
  })
  return Object.fromEntries(entries)
}

function mapSubagent(subagent: SubagentPatch, to: Translate): SubagentPatch {
  const { additionalDirectories } = subagent
  return {
    ...inFolder(subagent, to),
    ...(additionalDirectories && { additionalDirectories: additionalDirectories.map(to) }),
  }
}

function inFolder<T extends { cwd?: string | null }>(value: T, to: Translate): T {
  return typeof value.cwd === 'string' ? { ...value, cwd: to(value.cwd) } : value
}
