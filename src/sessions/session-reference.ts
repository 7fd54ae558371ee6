import type { SecretRegistry } from '../common/secrets.ts'
import type { OpenSession } from './open-session.ts'
import type { Keep } from './ports.ts'
import type { SessionReference } from './session-manager.ts'
import { titleOf } from './session-title.ts'

/** What names a session that is open, to reopen it. */
export function referenceOf(open: OpenSession): SessionReference {
  return {
    agentId: open.agentId,
    sessionId: open.session.sessionId,
    cwd: open.plan.setup.cwd,
    title: titleOf(open.session),
  }
}

/** For references, whose titles may hold a secret. */
export function keepReferences(keep: Keep, secrets: SecretRegistry): Keep {
  const redacted = (key: string, value: unknown) =>
    key === 'title' && typeof value === 'string' ? secrets.redact(value) : value
  return {
    get: key => keep.get(key),
    set: (key, value) => keep.set(key, value && JSON.parse(JSON.stringify(value, redacted))),
  }
}
