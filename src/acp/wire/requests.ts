import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import { parseTimestamp } from '../../common/timestamp.ts'
import { NotSupportedError, RpcCode, RpcError } from '../errors.ts'
import type {
  AcpMcpServer,
  AgentCapabilities,
  AuthStatus,
  ContentBlock,
  McpServer,
  PermissionOption,
  PermissionOutcome,
  Provider,
  SessionInfo,
  SessionSetup,
} from '../model.ts'
import { blockToWire, given } from './content.ts'
import {
  anything,
  maybe,
  maybeFlag,
  maybeShown,
  maybeText,
  type Report,
  readList,
  readLongList,
  validationProblem,
} from './lenient.ts'

/** Answers a request whose parameters match the schema. If they don't, rejects with an error that describes the mismatch. */
export async function answer<T extends z.ZodType>(
  schema: T,
  params: unknown,
  use: (params: z.output<T>) => Promise<unknown>,
): Promise<unknown> {
  const parsed = schema.safeParse(params)
  if (!parsed.success) {
    throw new RpcError(RpcCode.invalidParams, `Invalid params: ${validationProblem(parsed.error)}`)
  }
  return (await use(parsed.data)) ?? {}
}

export const optionSchema = z.object({ optionId: z.string(), name: maybeShown, kind: maybeText })

export function readPermissionOptions(raw: unknown, report: Report): PermissionOption[] {
  return readList(raw, readOption, report, 'options')
}

function readOption(raw: unknown): PermissionOption | undefined {
  const option = optionSchema.safeParse(raw).data
  if (!option) return undefined
  return { optionId: option.optionId, name: option.name ?? option.optionId, kind: option.kind ?? '' }
}

/** Returns the response to a permission request, which is the same in both versions. */
export function outcomeToWire(outcome: PermissionOutcome) {
  return outcome.type === 'cancelled'
    ? { outcome: { outcome: 'cancelled' as const } }
    : { outcome: { outcome: 'selected' as const, optionId: outcome.optionId } }
}

/**
 * Returns the parameters that `session/new`, `load`, `resume` and `fork` share. A parameter that needs a capability is omitted if the agent
 * lacks it.
 * @param serverToWire returns an MCP server in the form of the protocol version
 */
export function setupToWire<Server>(
  setup: SessionSetup,
  can: AgentCapabilities,
  serverToWire: (server: McpServer | AcpMcpServer) => Server,
) {
  const { cwd, additionalDirectories, systemPrompt } = setup
  // Relative folders are rejected here, because several agents accept them and fail later.
  for (const folder of [cwd, ...additionalDirectories]) {
    if (!path.isAbsolute(folder)) throw new NotSupportedError(l10n.t("{0} isn't an absolute path.", folder))
  }
  const takes = can.systemPrompt && (systemPrompt?.mode === 'append' || can.systemPrompt.override)
  const prompted = takes && systemPrompt && systemPrompt.content.length > 0
  return {
    cwd,
    mcpServers: setup.mcpServers.filter(server => can.mcp[server.type]).map(serverToWire),
    ...(can.additionalDirectories && additionalDirectories.length > 0 ? { additionalDirectories } : {}),
    ...(prompted
      ? { systemPrompt: { mode: systemPrompt.mode, content: promptToWire(systemPrompt.content, can) } }
      : {}),
  }
}

/** Returns the blocks of a prompt. Throws {@link NotSupportedError} if the agent doesn't accept a block's kind. */
export function promptToWire(content: ContentBlock[], can: AgentCapabilities) {
  if (content.length === 0) throw new NotSupportedError(l10n.t('The prompt is empty.'))
  return content.map(block => acceptedBlock(block, can))
}

function acceptedBlock(block: ContentBlock, can: AgentCapabilities) {
  switch (block.type) {
    case 'image':
      if (!can.prompt.image) throw new NotSupportedError(l10n.t("The agent doesn't support images."))
      break
    case 'audio':
      if (!can.prompt.audio) throw new NotSupportedError(l10n.t("The agent doesn't support audio."))
      break
    case 'resource':
      if (!can.prompt.embeddedContext)
        throw new NotSupportedError(l10n.t("The agent doesn't support embedded resources."))
      break
    case 'unknown':
      throw new NotSupportedError(l10n.t("Content of type “{0}” can't be sent.", block.kind))
  }
  return blockToWire(block)
}

export const sessionInfoSchema = z.object({
  sessionId: z.string().min(1),
  cwd: maybeText,
  additionalDirectories: maybe(z.array(z.string())),
  title: maybeShown,
  updatedAt: anything,
  archived: maybeFlag,
})

/** Reads a page of `session/list`. If the agent repeats the cursor that was just used, omits it, to avoid an endless loop. */
export async function readSessionPage(raw: unknown, cursor: string | undefined, report: Report) {
  const page = isRecord(raw) ? raw : {}
  const sessions = await readLongList(page.sessions, readSessionInfo, report, 'sessions')
  const next = page.nextCursor
  const more = typeof next === 'string' && next !== '' && next !== cursor
  return { sessions, ...(more ? { nextCursor: next } : {}) }
}

function readSessionInfo(raw: unknown): SessionInfo | undefined {
  const wire = sessionInfoSchema.safeParse(raw).data
  if (!wire) return undefined
  return {
    sessionId: wire.sessionId,
    cwd: wire.cwd ?? '',
    additionalDirectories: wire.additionalDirectories ?? [],
    ...given('title', wire.title?.trim() || undefined),
    ...given('updatedAt', parseTimestamp(wire.updatedAt)),
    ...given('archived', wire.archived),
  }
}

export const authStatusSchema = z.object({ state: z.string(), accounts: anything })
export const accountSchema = z.object({
  label: z.string(),
  active: maybeFlag,
  name: maybeText,
  email: maybeText,
  organization: maybeText,
})

/** Reads `auth/status` or `auth/status_update`; returns `undefined` if there is no state. */
export function readAuthStatus(raw: unknown, report: Report): AuthStatus | undefined {
  const wire = authStatusSchema.safeParse(raw).data
  return wire && { state: wire.state, accounts: readList(wire.accounts, readAccount, report, 'accounts') }
}

function readAccount(raw: unknown): AuthStatus['accounts'][number] | undefined {
  const account = accountSchema.safeParse(raw).data
  return (
    account && {
      label: account.label,
      ...given('active', account.active),
      ...given('name', account.name),
      ...given('email', account.email),
      ...given('organization', account.organization),
    }
  )
}

export const providerSchema = z.object({
  providerId: z.string(),
  supported: anything,
  required: maybeFlag,
  current: maybe(z.object({ apiType: z.string(), baseUrl: z.string() })),
})

export function readProviders(raw: unknown, report: Report): Provider[] {
  return readList(isRecord(raw) ? raw.providers : undefined, readProvider, report, 'providers')
}

function readProvider(raw: unknown): Provider | undefined {
  const wire = providerSchema.safeParse(raw).data
  if (!wire) return undefined
  const { supported } = wire
  return {
    providerId: wire.providerId,
    supported: Array.isArray(supported) ? supported.filter(api => typeof api === 'string') : [],
    required: wire.required === true,
    ...given('current', wire.current),
  }
}
