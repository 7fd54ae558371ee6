import type { AgentCapabilities } from '../model.ts'
import { has, readUnstable, type WireInitialize } from '../wire/initialize.ts'
import { isRecord } from '../wire/lenient.ts'

/**
 * Whether the agent speaks an early draft of v2. It named itself in `agentInfo`, had `session/load`, and of the
 * session methods only new, prompt and cancel were part of every agent.
 */
export function isEarlyDraft(wire: WireInitialize): boolean {
  return !wire.info && Boolean(wire.agentInfo)
}

/**
 * v2 has few markers: an agent with `session` has new, list, resume, close, prompt and cancel, and one that names ways
 * to sign in can sign in and out.
 */
export function readCapabilities(wire: WireInitialize): AgentCapabilities {
  const agent = [wire.capabilities, wire.agentCapabilities].find(isRecord) ?? {}
  const { session, auth } = agent
  const baseline = has(agent, 'session') && !isEarlyDraft(wire)
  const { prompt, mcp } = isRecord(session) ? session : {}
  return {
    load: baseline || has(session, 'load'),
    resume: baseline || has(session, 'resume'),
    list: baseline || has(session, 'list'),
    close: baseline || has(session, 'close'),
    delete: has(session, 'delete'),
    additionalDirectories: has(session, 'additionalDirectories'),
    logout: (Array.isArray(wire.authMethods) && wire.authMethods.length > 0) || has(auth, 'logout'),
    mcp: { stdio: has(mcp, 'stdio'), http: has(mcp, 'http'), sse: false },
    prompt: {
      image: has(prompt, 'image'),
      audio: has(prompt, 'audio'),
      embeddedContext: has(prompt, 'embeddedContext'),
    },
    ...readUnstable(agent, session, auth),
  }
}
