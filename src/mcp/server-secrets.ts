import type { McpServer } from '../acp/model.ts'
import { isSecretKey } from '../acp/redact-text.ts'
import { SecretRegistry } from '../common/secrets.ts'

/** The secrets that a server may repeat in its output: its headers, and the variables with the name of a secret. */
export function secretsOf(server: McpServer): SecretRegistry {
  const secrets = new SecretRegistry()
  if (server.type === 'stdio') {
    for (const { name, value } of server.env) if (isSecretKey(name)) secrets.add(value)
  } else {
    for (const { value } of server.headers) secrets.add(value)
  }
  return secrets
}
