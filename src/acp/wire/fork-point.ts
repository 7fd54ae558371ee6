/**
 * Forking at a message: an extension of claude-agent-acp, the same in both versions. The fork has the conversation up to and including a
 * message of the agent; the agent forgets the rest. The agent doesn't advertise this extension, but supports it for every client.
 */

const NAME = /^(?:@[\w-]+\/)?claude-agent-acp$/
/** The first version of which the support was measured. An earlier version might ignore the message and fork the whole conversation. */
const SINCE = [0, 101]

export function canForkAt({ name, version }: { name: string; version?: string }): boolean {
  if (!NAME.test(name)) return false
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  return major > SINCE[0]! || (major === SINCE[0] && minor >= SINCE[1]!)
}

/** Returns the `_meta` for a fork. `messageId` is the id of the last agent message that the fork contains. */
export function forkPointToWire(messageId: string) {
  return { jetbrains: { air: { fork: { version: 1, messageId } } } }
}
