/**
 * Forking at a message: an extension of claude-agent-acp, the same in both versions. The fork has the conversation up to and
 * including a message of the agent, which has forgotten the rest. The agent doesn't advertise it, but does it for every client.
 */

const NAME = /^(?:@[\w-]+\/)?claude-agent-acp$/
/** The first version that was measured: an earlier one might ignore the point and fork the whole conversation. */
const SINCE = [0, 101]

export function canForkAt({ name, version }: { name: string; version?: string }): boolean {
  if (!NAME.test(name)) return false
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  return major > SINCE[0]! || (major === SINCE[0] && minor >= SINCE[1]!)
}

/** `messageId`: of the last message of the agent that the fork has. */
export function forkPointToWire(messageId: string) {
  return { jetbrains: { air: { fork: { version: 1, messageId } } } }
}
