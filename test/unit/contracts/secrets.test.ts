import { secretsContract } from '../../support/contracts/secrets.ts'
import { MemorySecrets } from '../sessions/memory-secrets.ts'

// VS Code's own secret storage is tested with the same contract in `test/integration/secrets.test.ts`.
describe('the in-memory secrets', () => {
  secretsContract(async () => {
    const secrets = new MemorySecrets()
    return [secrets, secrets]
  })
})
