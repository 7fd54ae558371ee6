import * as z from 'zod'
import type { AgentClient, ConnectOptions } from '../agent.ts'
import type { AgentCapabilities } from '../model.ts'
import { given } from './content.ts'
import { anything, isRecord, maybe, maybeText } from './lenient.ts'

/**
 * What Parley can do, as v1 wants it told. A capability stands here when it works, and not before. `_meta` has two
 * conventions of no specification: output of the agent's own terminals beside a tool call, and commands to sign in.
 */
export function clientCapabilitiesV1(client: Partial<AgentClient>, features: ConnectOptions['features']) {
  const terminalAuth = features?.terminalAuth === true
  return {
    fs: { readTextFile: true, writeTextFile: true },
    terminal: true,
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    // Not released yet: plans by id, and plans that are documents; sessions within a session.
    plan: {},
    subagents: {},
    auth: { terminal: terminalAuth },
    ...(client.createElicitation ? { elicitation: { form: {}, url: {} } } : {}),
    _meta: { terminal_output: true, ...(terminalAuth ? { 'terminal-auth': true } : {}) },
  }
}

/** The same as v2 wants it told: all else is part of every client there. */
export function clientCapabilitiesV2(client: Partial<AgentClient>, features: ConnectOptions['features']) {
  return {
    ...(features?.terminalAuth ? { auth: { terminal: {} } } : {}),
    ...(client.createElicitation ? { elicitation: { form: {}, url: {} } } : {}),
  }
}

/** One `initialize` that agents of both versions understand: it has the fields of each. */
export function initializeRequest(
  protocolVersion: number,
  client: Partial<AgentClient>,
  options: Pick<ConnectOptions, 'clientInfo' | 'features'>,
) {
  const { clientInfo, features } = options
  return {
    protocolVersion,
    clientInfo,
    clientCapabilities: clientCapabilitiesV1(client, features),
    info: clientInfo,
    capabilities: clientCapabilitiesV2(client, features),
  }
}

const implementation = maybe(z.object({ name: maybeText, title: maybeText, version: maybeText }))

/** v1 has `agentInfo` and `agentCapabilities`, v2 `info` and `capabilities`; a draft of v2 mixed them. */
export const initializeSchema = z.object({
  protocolVersion: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]),
  authMethods: anything,
  agentCapabilities: anything,
  agentInfo: implementation,
  capabilities: anything,
  info: implementation,
})
export type WireInitialize = z.output<typeof initializeSchema>

export function readInfo(wire: WireInitialize): { name: string; title?: string; version?: string } {
  const { name, title, version } = wire.info ?? wire.agentInfo ?? {}
  return { name: name ?? title ?? '', ...given('title', title), ...given('version', version) }
}

/** A capability that is an object where there is one. Agents have been seen to answer `true`, too. */
export function has(parent: unknown, key: string): boolean {
  const value = isRecord(parent) ? parent[key] : undefined
  return value !== undefined && value !== null && value !== false
}

/** Capabilities of no released schema, the same in both versions. `session`, `auth`: where that version has them. */
export function readUnstable(agent: unknown, session: unknown, auth: unknown): Partial<AgentCapabilities> {
  const can: Partial<AgentCapabilities> = {}
  if (has(session, 'fork')) can.fork = true
  if (has(session, 'title')) can.setTitle = true
  if (has(session, 'archive')) can.archive = true
  if (has(session, 'status')) can.sessionStatus = true
  if (has(auth, 'status')) can.authStatus = true
  if (has(agent, 'providers')) can.providers = true
  if (isRecord(session) && has(session, 'systemPrompt')) {
    const mode = isRecord(session.systemPrompt) ? session.systemPrompt.mode : undefined
    can.systemPrompt = { override: has(mode, 'override') }
  }
  return can
}
