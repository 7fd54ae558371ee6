import type { HostedAgentInfo } from '../../acp/start-hosted.ts'
import type { SessionRecords } from '../../sessions/ports.ts'

/** Returns the directories in which an agent in the agent host works. */
export function directoriesOf(
  { cwd, tag, sessions }: HostedAgentInfo,
  records: Pick<SessionRecords, 'get'>,
): string[] {
  return [cwd, ...sessions.flatMap(sessionId => records.get(tag.agentId, sessionId)?.cwd ?? [])]
}
