import type { AgentCapabilities } from '../model.ts'
import { has, readUnstable, type WireInitialize } from '../wire/initialize.ts'
import { isRecord } from '../wire/lenient.ts'

/** An absent capability is one the agent has not. */
export function readCapabilities(wire: WireInitialize): AgentCapabilities {
  const agent = isRecord(wire.agentCapabilities) ? wire.agentCapabilities : {}
  const { promptCapabilities: prompt, mcpCapabilities: mcp, sessionCapabilities: session, auth } = agent
  return {
    load: agent.loadSession === true,
    resume: has(session, 'resume'),
    list: has(session, 'list'),
    close: has(session, 'close'),
    delete: has(session, 'delete'),
    additionalDirectories: has(session, 'additionalDirectories'),
    logout: has(auth, 'logout'),
    // Every agent must take stdio servers.
    mcp: { stdio: true, http: flag(mcp, 'http'), sse: flag(mcp, 'sse') },
    prompt: {
      image: flag(prompt, 'image'),
      audio: flag(prompt, 'audio'),
      embeddedContext: flag(prompt, 'embeddedContext'),
    },
    ...readUnstable(agent, session, auth),
  }
}

/** Of the older capabilities each is a boolean. */
function flag(parent: unknown, key: string): boolean {
  return isRecord(parent) && parent[key] === true
}
